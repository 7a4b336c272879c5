# SPDX-License-Identifier: BSD-2-Clause
# What the target `tenon_fortran` is to its users: modules in a folder of their compiler, symbols, and
# how CMake (the component Fortran) and pkg-config find it once installed.
if(NOT TARGET tenon_fortran)
  return()
endif()
add_library(Tenon::tenon_fortran ALIAS tenon_fortran)
set_target_properties(tenon_fortran PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN")
tenon_export_symbols(tenon_fortran tenon_fortran.map)

target_include_directories(tenon_fortran PUBLIC
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/fortran>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/${TENON_MODULES}>)
install(TARGETS tenon_fortran EXPORT TenonFortranTargets LIBRARY COMPONENT fortran NAMELINK_COMPONENT fortran_dev)
install(DIRECTORY ${PROJECT_BINARY_DIR}/fortran/
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${TENON_MODULES} COMPONENT fortran_dev FILES_MATCHING PATTERN *.mod)
install(EXPORT TenonFortranTargets NAMESPACE Tenon::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon COMPONENT fortran_dev)
tenon_install_pc(tenon_fortran fortran_dev)

# The sources, from which share/tenon/fortran/build_module makes the module for another compiler.
get_property(sources GLOBAL PROPERTY TENON_FORTRAN_SOURCES)
set(folder ${PROJECT_SOURCE_DIR}/src/fortran)
install(FILES ${sources} ${folder}/arrays.c ${folder}/arrays.h ${folder}/pointers.c ${folder}/tenon_mpi_integers.f90
  ${PROJECT_SOURCE_DIR}/share/tenon/fortran/CMakeLists.txt
  ${CMAKE_CURRENT_LIST_DIR}/TenonFortranCompiler.cmake ${CMAKE_CURRENT_LIST_DIR}/tenon_fortran.pc.in
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/fortran COMPONENT fortran_dev)
install(PROGRAMS ${PROJECT_SOURCE_DIR}/share/tenon/fortran/build_module
  DESTINATION ${CMAKE_INSTALL_DATADIR}/tenon/fortran COMPONENT fortran_dev)
