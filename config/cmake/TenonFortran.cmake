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

# How an array of Fortran is described to C differs between compilers, so the header must be the Fortran compiler's own,
# whichever compiler is taken for C: that of GCC beside flang would be read without an error, and wrongly. It is copied
# into a folder of its own, TENON_FORTRAN_DESCRIPTORS, since beside it lie headers of that compiler that are not for
# another. Compilers of other makers are used with the C compiler of the same maker, which knows the header.
function(tenon_find_fortran_descriptors)
  set(TENON_FORTRAN_DESCRIPTORS "" PARENT_SCOPE)
  set(name ISO_Fortran_binding.h)
  set(header "")
  if(CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
    execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include/${name}
      OUTPUT_VARIABLE header OUTPUT_STRIP_TRAILING_WHITESPACE)
  elseif(CMAKE_Fortran_COMPILER_ID STREQUAL LLVMFlang)
    get_filename_component(compiler "${CMAKE_Fortran_COMPILER}" REALPATH)
    get_filename_component(folder "${compiler}" DIRECTORY)
    file(GLOB found "${folder}/../include/flang/${name}" "${folder}/../lib/clang/*/include/${name}")
    if(found)
      list(GET found 0 header)
    endif()
  elseif(NOT CMAKE_Fortran_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
    message(STATUS "${name} is that of ${CMAKE_C_COMPILER}; check that it fits ${CMAKE_Fortran_COMPILER}")
  endif()
  if(EXISTS "${header}")
    configure_file("${header}" "${PROJECT_BINARY_DIR}/fortran/descriptors/${name}" COPYONLY)
    set(TENON_FORTRAN_DESCRIPTORS "${PROJECT_BINARY_DIR}/fortran/descriptors" PARENT_SCOPE)
  endif()
endfunction()

set(missing "")
check_language(Fortran)
if(CMAKE_Fortran_COMPILER)
  enable_language(Fortran)
  find_package(MPI QUIET COMPONENTS Fortran)
  tenon_find_fortran_descriptors()
  set(CMAKE_REQUIRED_INCLUDES ${TENON_FORTRAN_DESCRIPTORS})
  check_source_compiles(C "#include <ISO_Fortran_binding.h>
    int main(void) { return CFI_MAX_RANK < 15; }" TENON_HAS_FORTRAN_DESCRIPTORS)
  unset(CMAKE_REQUIRED_INCLUDES)
  if(NOT MPI_Fortran_FOUND OR NOT MPI_Fortran_HAVE_F08_MODULE)
    set(missing "no module mpi_f08 for ${CMAKE_Fortran_COMPILER}")
  elseif(NOT TENON_HAS_FORTRAN_DESCRIPTORS)
    set(missing "no ISO_Fortran_binding.h of ${CMAKE_Fortran_COMPILER}")
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
