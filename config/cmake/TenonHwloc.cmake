# SPDX-License-Identifier: BSD-2-Clause
# hwloc for the computer's packages, caches and cores: the target hwloc::hwloc, if there is one.
set(TENON_HWLOC AUTO CACHE STRING "The computer's packages, caches and cores by hwloc: AUTO, ON (required) or OFF")
set_property(CACHE TENON_HWLOC PROPERTY STRINGS AUTO ON OFF)
if(NOT TENON_HWLOC MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TENON_HWLOC is ${TENON_HWLOC}; expected AUTO, ON or OFF")
endif()
if(TENON_HWLOC STREQUAL ON)
  find_package(hwloc REQUIRED)
elseif(TENON_HWLOC STREQUAL AUTO)
  find_package(hwloc)
endif()
