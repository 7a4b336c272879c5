# SPDX-License-Identifier: BSD-2-Clause
# The Python package, which is made of the public headers and needs no compiler: in the folder python of the build, and with
# the target wheel as a file for pip that has the library inside. It runs where there are mpi4py and NumPy.
set(TENON_PYTHON AUTO CACHE STRING "The Python package: AUTO, ON (required) or OFF")
set_property(CACHE TENON_PYTHON PROPERTY STRINGS AUTO ON OFF)
if(NOT TENON_PYTHON MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TENON_PYTHON is ${TENON_PYTHON}; expected AUTO, ON or OFF")
endif()
set(TENON_HAS_PYTHON FALSE)
if(TENON_PYTHON STREQUAL OFF)
  return()
endif()
find_program(TENON_PYTHON3 python3)
if(TENON_PYTHON3 AND TENON_LIBRARY STREQUAL SHARED)
  set(TENON_HAS_PYTHON TRUE)
elseif(TENON_PYTHON STREQUAL ON)
  message(FATAL_ERROR "TENON_PYTHON is ON, and there is no python3, or BUILD_SHARED_LIBS is OFF: Python loads a shared library")
endif()
