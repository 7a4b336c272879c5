# SPDX-License-Identifier: BSD-2-Clause
# What the Fortran module needs to know of its compiler, in this build and in that of the module alone
# (share/tenon/fortran): TENON_MODULES, the folder of its module files below that of headers, and the header that describes
# its arrays to C.

# Modules serve only the compiler that made them.
string(REGEX MATCH "^[0-9]+" compiler_version "${CMAKE_Fortran_COMPILER_VERSION}")
string(TOLOWER tenon/fortran/${CMAKE_Fortran_COMPILER_ID}-${compiler_version} TENON_MODULES)

# How an array of Fortran is described to C differs between compilers, so the header must be the Fortran compiler's own,
# whichever compiler is taken for C: that of GCC beside flang would be read without an error, and wrongly. It is copied
# into a folder of its own, TENON_FORTRAN_DESCRIPTORS, since beside it are headers of that compiler that are not for
# another. The C compiler of the same maker knows it without a copy. TENON_FORTRAN_DESCRIPTORS_FOUND says whether there is one.
set(TENON_ISO_FORTRAN_BINDING "" CACHE FILEPATH
  "ISO_Fortran_binding.h of the Fortran compiler, where it is not found by itself")
function(tenon_find_fortran_descriptors)
  set(name ISO_Fortran_binding.h)
  set(found "${TENON_ISO_FORTRAN_BINDING}")
  if(NOT found AND CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
    execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include/${name}
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
  elseif(NOT found AND CMAKE_Fortran_COMPILER_ID STREQUAL LLVMFlang)
    execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-resource-dir
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE)
    get_filename_component(flang "${folder}/../../../include/flang" ABSOLUTE) # the folder itself may be missing
    set(found "${flang}/${name}" "${folder}/include/${name}")
  elseif(NOT found)
    get_filename_component(compiler "${CMAKE_Fortran_COMPILER}" REALPATH)
    get_filename_component(folder "${compiler}" DIRECTORY)
    set(found "${folder}/../include/${name}" "${folder}/../opt/compiler/include/${name}")
  endif()
  set(TENON_FORTRAN_DESCRIPTORS "" PARENT_SCOPE)
  set(TENON_FORTRAN_DESCRIPTORS_FOUND FALSE PARENT_SCOPE)
  foreach(header IN LISTS found)
    if(EXISTS "${header}")
      configure_file("${header}" "${PROJECT_BINARY_DIR}/fortran/descriptors/${name}" COPYONLY)
      set(TENON_FORTRAN_DESCRIPTORS "${PROJECT_BINARY_DIR}/fortran/descriptors" PARENT_SCOPE)
      set(TENON_FORTRAN_DESCRIPTORS_FOUND TRUE PARENT_SCOPE)
      return()
    endif()
  endforeach()
  if(CMAKE_Fortran_COMPILER_ID STREQUAL CMAKE_C_COMPILER_ID)
    check_source_compiles(C "#include <ISO_Fortran_binding.h>
      int main(void) { return CFI_MAX_RANK < 15; }" TENON_HAS_FORTRAN_DESCRIPTORS)
    set(TENON_FORTRAN_DESCRIPTORS_FOUND ${TENON_HAS_FORTRAN_DESCRIPTORS} PARENT_SCOPE)
  endif()
endfunction()
