# SPDX-License-Identifier: BSD-2-Clause
# Debian's packages by CPack: `cpack -G DEB` in the build folder makes one for run time, one to build with, and one of the
# command, one for Python, and two each for Fortran and PETSc where they are built. Configured with the prefix /usr, libraries lie in the
# folder of their processor (multiarch), as Debian has it.
set(type "")
if(TARGET tenon)
  get_target_property(type tenon TYPE)
endif()
if(NOT type STREQUAL SHARED_LIBRARY)
  return()
endif()
find_program(TENON_DPKG_QUERY dpkg-query)
find_program(TENON_GZIP gzip)
mark_as_advanced(TENON_DPKG_QUERY TENON_GZIP)
if(NOT TENON_DPKG_QUERY OR NOT TENON_GZIP)
  message(STATUS "Debian packages cannot be made: there is no dpkg-query or no gzip")
  return()
endif()
set(TENON_MAINTAINER "${TENON_CONTACT}")
if(NOT TENON_MAINTAINER)
  set(TENON_MAINTAINER "The Tenon developers <nobody@localhost.localdomain>")
endif()

set(CPACK_PACKAGE_NAME tenon)
set(CPACK_PACKAGE_VENDOR "The Tenon developers")
set(CPACK_PACKAGE_CONTACT "${TENON_MAINTAINER}")
set(CPACK_PACKAGE_HOMEPAGE_URL "${TENON_URL}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES TRUE)
set(CPACK_GENERATOR DEB)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/TenonPackageFiles.cmake)
set(CPACK_DEB_COMPONENT_INSTALL TRUE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS TRUE)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR}/src)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS TRUE)

# Each package has the licence as Debian writes it, and a change log.
set(papers ${PROJECT_BINARY_DIR}/package)
set(source "")
if(TENON_URL)
  set(source "Source: ${TENON_URL}\n")
endif()
file(READ ${PROJECT_SOURCE_DIR}/LICENSE licence)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]+)\n+(.*[^\n])" matched "${licence}")
set(holder "${CMAKE_MATCH_1}")
string(REPLACE "\n\n" "\n.\n" licence "${CMAKE_MATCH_2}")
string(REPLACE "\n" "\n " licence "${licence}")
string(CONCAT copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
  "Upstream-Name: Tenon\n${source}\nFiles: *\nCopyright: ${holder}\nLicense: BSD-2-Clause\n ${licence}\n")
file(WRITE ${papers}/copyright "${copyright}")
string(TIMESTAMP today "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${papers}/changelog "tenon (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
  "  * The file CHANGELOG.md of the sources lists the changes.\n\n -- ${TENON_MAINTAINER}  ${today}\n")
execute_process(COMMAND ${TENON_GZIP} -9nf ${papers}/changelog COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${papers}/triggers "activate-noawait ldconfig\n")

# tenon_debian_owner(RESULT FILE): the package that has the file, or nothing.
function(tenon_debian_owner result file)
  file(REAL_PATH "${file}" file)
  execute_process(COMMAND ${TENON_DPKG_QUERY} --search ${file} OUTPUT_VARIABLE owner ERROR_QUIET)
  string(REGEX MATCH "^[^:,\n]+" owner "${owner}")
  set(${result} "${owner}" PARENT_SCOPE)
endfunction()

# tenon_debian_package(COMPONENT NAME SECTION SUMMARY TEXT DEPENDS...): empty dependencies do not count.
function(tenon_debian_package component name section summary text)
  string(TOUPPER ${component} upper)
  list(REMOVE_ITEM ARGN "")
  list(JOIN ARGN ", " depends)
  set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section} PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}" PARENT_SCOPE)
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${text}" PARENT_SCOPE)
  if(section STREQUAL libs)
    set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_EXTRA ${papers}/triggers PARENT_SCOPE)
  endif()
  install(FILES ${papers}/copyright ${papers}/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${name} COMPONENT ${component} EXCLUDE_FROM_ALL)
endfunction()

string(CONCAT what "Tenon fits distributed neural-network layers into MPI simulation codes,\n"
  "on the domain decomposition that the solver already uses.")
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(same "(= ${PROJECT_VERSION})")
tenon_debian_owner(mpi "${MPI_C_HEADER_DIR}/mpi.h")
tenon_debian_package(runtime libtenon${abi} libs "distributed neural-network layers beside MPI solvers"
  "${what}\n.\nThis package has the library that programs need to run.")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_RECOMMENDS "tenon ${same}") # descriptions of machines and networks
tenon_debian_package(tool tenon science "command that verifies, measures and plans distributed networks"
  "${what}\n.\nThis package has the command tenon, with descriptions of machines and networks." "libtenon${abi} ${same}")
tenon_debian_package(dev libtenon-dev libdevel "headers of Tenon, distributed neural-network layers"
  "${what}\n.\nThis package has the headers for C and C++, and files for CMake and\npkg-config." "libtenon${abi} ${same}" "${mpi}")
if(TARGET tenon_fortran)
  string(REGEX MATCH "^[0-9]+" version "${CMAKE_Fortran_COMPILER_VERSION}")
  set(compiler "")
  if(CMAKE_Fortran_COMPILER_ID STREQUAL GNU)
    set(compiler gfortran-${version}) # modules serve the compiler that made them
  endif()
  tenon_debian_package(fortran libtenon-fortran${abi} libs "Fortran library of Tenon, distributed neural-network layers"
    "${what}\n.\nThis package has the library that programs in Fortran need to run." "libtenon${abi} ${same}")
  tenon_debian_package(fortran_dev libtenon-fortran-dev libdevel "Fortran module of Tenon, distributed neural-network layers"
    "${what}\n.\nThis package has the module for programs in Fortran."
    "libtenon-fortran${abi} ${same}" "libtenon-dev ${same}" "${compiler}")
endif()
if(TENON_HAS_PYTHON)
  tenon_debian_package(python_debian python3-tenon python "Tenon, distributed neural-network layers, in Python"
    "${what}\n.\nThis package has the module for Python, and that for PyTorch."
    "libtenon${abi} ${same}" "python3 (>= 3.10)" python3-mpi4py python3-numpy)
  set(CPACK_DEBIAN_PYTHON_DEBIAN_PACKAGE_SUGGESTS "python3-torch, python3-matplotlib")
endif()
if(TARGET tenon_petsc)
  find_file(header petsc.h PATHS ${TENON_PETSC_INCLUDE_DIRS} NO_CACHE)
  tenon_debian_owner(petsc "${header}")
  tenon_debian_package(petsc libtenon-petsc${abi} libs "Tenon, distributed neural-network layers, for PETSc programs"
    "${what}\n.\nThis package has the library that PETSc programs need to run." "libtenon${abi} ${same}")
  tenon_debian_package(petsc_dev libtenon-petsc-dev libdevel "headers of Tenon for PETSc programs"
    "${what}\n.\nThis package has the header for PETSc programs."
    "libtenon-petsc${abi} ${same}" "libtenon-dev ${same}" "${petsc}")
endif()
include(CPack)
