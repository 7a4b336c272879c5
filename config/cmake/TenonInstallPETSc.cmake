# SPDX-License-Identifier: BSD-2-Clause
# What the target `tenon_petsc` is to its users: its version, its symbols and its header, and how CMake (the
# component PETSc) and pkg-config find it once installed.
if(NOT TARGET tenon_petsc)
  return()
endif()
add_library(Tenon::tenon_petsc ALIAS tenon_petsc)
set_target_properties(tenon_petsc PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  INSTALL_RPATH "$ORIGIN")
tenon_export_symbols(tenon_petsc tenon.map)
target_include_directories(tenon_petsc PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src/petsc/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
install(TARGETS tenon_petsc EXPORT TenonPETScTargets LIBRARY COMPONENT petsc NAMELINK_COMPONENT petsc_dev)
install(FILES ${PROJECT_SOURCE_DIR}/src/petsc/include/tenon_petsc.h TYPE INCLUDE COMPONENT petsc_dev)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/TenonPETScNeeds.cmake DESTINATION ${package} COMPONENT petsc_dev)
install(EXPORT TenonPETScTargets NAMESPACE Tenon:: DESTINATION ${package} COMPONENT petsc_dev)

list(TRANSFORM TENON_PETSC_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
list(JOIN includes " " TENON_PETSC_PC_CFLAGS)
list(JOIN TENON_PETSC_LIBRARIES " " TENON_PETSC_PC_LIBS)
tenon_install_pc(tenon_petsc petsc_dev)
