# SPDX-License-Identifier: BSD-2-Clause
# What is made from the public headers: the members of tenon.hpp, and the sources of the Fortran module. A source tarball
# (config/release) has them beside the sources that are written by hand; a clone makes them, for which it needs python3.
find_program(TENON_PYTHON3 python3)
file(GLOB_RECURSE TENON_PUBLIC_HEADERS CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/*.h)

# tenon_generate(RESULT INSIDE GENERATOR ARGUMENTS ... FILES ...): the paths of FILES in RESULT, which are in the folder
# INSIDE of the sources, or are made below the build folder by the script GENERATOR with ARGUMENTS behind the folder of headers.
function(tenon_generate result inside generator)
  cmake_parse_arguments(MADE "" "FOLDER" "ARGUMENTS;FILES" ${ARGN})
  list(GET MADE_FILES 0 first)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${inside}/${first})
    list(TRANSFORM MADE_FILES PREPEND ${PROJECT_SOURCE_DIR}/${inside}/)
  else()
    if(NOT TENON_PYTHON3)
      message(FATAL_ERROR "A clone of Tenon makes sources from its headers by python3, which is missing: install it, or build from "
        "a source tarball, which has them")
    endif()
    get_filename_component(scripts ${PROJECT_SOURCE_DIR}/${generator} DIRECTORY)
    file(GLOB scripts CONFIGURE_DEPENDS ${scripts}/*.py ${PROJECT_SOURCE_DIR}/src/interfaces/*.py)
    list(TRANSFORM MADE_FILES PREPEND ${MADE_FOLDER}/)
    add_custom_command(OUTPUT ${MADE_FILES} DEPENDS ${TENON_PUBLIC_HEADERS} ${scripts} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 ${TENON_PYTHON3} ${PROJECT_SOURCE_DIR}/${generator}
        ${PROJECT_SOURCE_DIR}/include ${MADE_ARGUMENTS}
      COMMENT "Reading the public headers: ${generator}")
  endif()
  set(${result} ${MADE_FILES} PARENT_SCOPE)
endfunction()

set(folder ${PROJECT_BINARY_DIR}/include/tenon/cxx/generated)
tenon_generate(TENON_CXX_MEMBERS include/tenon/cxx/generated src/interfaces/cxx/generate.py FOLDER ${folder}
  ARGUMENTS ${folder} FILES object.hpp classes.hpp calls.hpp)
add_custom_target(tenon_cxx_members DEPENDS ${TENON_CXX_MEMBERS})
