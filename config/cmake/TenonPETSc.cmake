# SPDX-License-Identifier: BSD-2-Clause
# Whether the library for PETSc programs can be built: TENON_HAS_PETSC, with TENON_PETSC_INCLUDE_DIRS and
# TENON_PETSC_LIBRARIES. The PETSc is that of pkg-config; it must have real numbers and the MPI found here.
include(CheckSourceCompiles)
set(TENON_PETSC AUTO CACHE STRING
  "Build the library for PETSc programs: AUTO (where pkg-config finds PETSc), ON or OFF")
set_property(CACHE TENON_PETSC PROPERTY STRINGS AUTO ON OFF)
set(TENON_HAS_PETSC FALSE)
if(NOT TENON_PETSC)
  return()
endif()

set(missing "")
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(PETSC QUIET PETSc>=3.18 petsc>=3.18)
endif()
if(NOT PETSC_FOUND)
  set(missing "no PETSc of version 3.18 or newer known to pkg-config")
else()
  set(TENON_PETSC_INCLUDE_DIRS ${PETSC_INCLUDE_DIRS})
  set(TENON_PETSC_LIBRARIES ${PETSC_LINK_LIBRARIES})
  set(CMAKE_REQUIRED_INCLUDES ${TENON_PETSC_INCLUDE_DIRS})
  set(CMAKE_REQUIRED_LIBRARIES ${TENON_PETSC_LIBRARIES} MPI::MPI_C)
  check_source_compiles(C "#include <petsctao.h>
    #if defined(PETSC_USE_COMPLEX)
    #error
    #endif
    int main(void) { Tao tao; return TaoCreate(PETSC_COMM_WORLD, &tao); }" TENON_PETSC_WORKS)
  unset(CMAKE_REQUIRED_INCLUDES)
  unset(CMAKE_REQUIRED_LIBRARIES)
  if(NOT TENON_PETSC_WORKS)
    set(missing "a PETSc at ${PETSC_LIBDIR}, but none with real numbers for ${MPI_C_COMPILER}")
  endif()
endif()

if(NOT missing)
  set(TENON_HAS_PETSC TRUE)
elseif(TENON_PETSC STREQUAL AUTO)
  message(STATUS "The library for PETSc programs is not built: there is ${missing}")
else()
  message(FATAL_ERROR "TENON_PETSC is ${TENON_PETSC}, but there is ${missing}")
endif()
