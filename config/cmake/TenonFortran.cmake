# SPDX-License-Identifier: BSD-2-Clause
# Whether the Fortran module can be built: TENON_HAS_FORTRAN. CMake enables a language for the folder where it is
# asked to and those below, so this file is included at the top.
include(CheckLanguage)
include(CheckSourceCompiles)
set(TENON_FORTRAN AUTO CACHE STRING
  "Build the Fortran module: AUTO (where there are a compiler and mpi_f08), ON or OFF")
set(TENON_HAS_FORTRAN FALSE)
if(NOT TENON_FORTRAN)
  return()
endif()

set(missing "")
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  find_package(MPI QUIET COMPONENTS Fortran)
  check_source_compiles(C "#include <ISO_Fortran_binding.h>
    int main(void) { return CFI_MAX_RANK < 15; }" TENON_HAS_FORTRAN_DESCRIPTORS)
  if(NOT MPI_Fortran_FOUND OR NOT MPI_Fortran_HAVE_F08_MODULE)
    set(missing "no module mpi_f08 for ${CMAKE_Fortran_COMPILER}")
  elseif(NOT TENON_HAS_FORTRAN_DESCRIPTORS)
    set(missing "no ISO_Fortran_binding.h for ${CMAKE_C_COMPILER}")
  endif()
else()
  set(missing "no Fortran compiler")
endif()

if(NOT missing)
  set(TENON_HAS_FORTRAN TRUE)
elseif(TENON_FORTRAN STREQUAL AUTO)
  message(STATUS "The Fortran module is not built: there is ${missing}")
else()
  message(FATAL_ERROR "TENON_FORTRAN is ${TENON_FORTRAN}, but there is ${missing}")
endif()
