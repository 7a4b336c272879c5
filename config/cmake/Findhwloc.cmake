# SPDX-License-Identifier: BSD-2-Clause
# Finds hwloc and defines hwloc::hwloc. Its CMake package exists on few systems, its pkg-config file
# on nearly all; without pkg-config the header and the library are looked for.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(PC_HWLOC QUIET hwloc)
endif()
find_path(HWLOC_INCLUDE_DIR NAMES hwloc.h HINTS ${PC_HWLOC_INCLUDE_DIRS})
find_library(HWLOC_LIBRARY NAMES hwloc HINTS ${PC_HWLOC_LIBRARY_DIRS})

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(hwloc REQUIRED_VARS HWLOC_LIBRARY HWLOC_INCLUDE_DIR)

if(hwloc_FOUND AND NOT TARGET hwloc::hwloc)
  add_library(hwloc::hwloc UNKNOWN IMPORTED)
  set_target_properties(hwloc::hwloc PROPERTIES IMPORTED_LOCATION ${HWLOC_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${HWLOC_INCLUDE_DIR})
endif()
mark_as_advanced(HWLOC_INCLUDE_DIR HWLOC_LIBRARY)
