# SPDX-License-Identifier: BSD-2-Clause
# What the target `tenon`, the library, is to its users: its version, its exported symbols, what a static one needs,
# its headers, and how CMake (find_package) and pkg-config find it once installed.
if(NOT TARGET tenon)
  return()
endif()
include(CMakePackageConfigHelpers)

add_library(Tenon::tenon ALIAS tenon)
set_target_properties(tenon PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
tenon_export_symbols(tenon tenon.map)
target_include_directories(tenon PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
# The headers name MPI_Comm; nothing else of what the library uses shows in them. A C++ user must not
# be drawn into mpi.h's old C++ bindings, which would ask for one more library.
target_link_libraries(tenon PUBLIC MPI::MPI_C)
add_dependencies(tenon tenon_cxx_members)
set(no_bindings OMPI_SKIP_MPICXX=1 MPICH_SKIP_MPICXX=1)
target_compile_definitions(tenon INTERFACE ${no_bindings})

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Tenon)
install(TARGETS tenon EXPORT TenonTargets LIBRARY COMPONENT runtime NAMELINK_COMPONENT dev)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ TYPE INCLUDE FILES_MATCHING PATTERN *.h PATTERN *.hpp)
install(FILES ${TENON_CXX_MEMBERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tenon/cxx/generated)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC COMPONENT licence)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/share/tenon TYPE DATA COMPONENT tool PATTERN fortran EXCLUDE)
install(EXPORT TenonTargets NAMESPACE Tenon:: DESTINATION ${package})

# A program that links the static library links what that needs: TenonConfig.cmake finds the same packages by the same
# modules, and the pkg-config file names the files.
set(TENON_DEPENDENCIES "")
set(TENON_PC_LIBS_PRIVATE "")
set(TENON_PC_FORTRAN_NEEDS "")
if(TENON_LIBRARY STREQUAL STATIC)
  include(TenonStatic)
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/TenonConfig.cmake.in
  ${PROJECT_BINARY_DIR}/TenonConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TenonConfig.cmake
  ${PROJECT_BINARY_DIR}/TenonConfigVersion.cmake DESTINATION ${package})

# tenon_install_pc(NAME COMPONENT): NAME.pc. Its folders begin with the prefix as it is when the library is installed. Paths
# from the file's own place would stay right in a tree that is moved, but stand in compilers' messages with all their "..".
function(tenon_install_pc name component)
  configure_file(${PROJECT_SOURCE_DIR}/config/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  set(folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${folder} COMPONENT ${component})
  install(CODE "
    set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/${name}.pc\")
    file(READ \"\${file}\" text)
    string(REPLACE \"\\\${CMAKE_INSTALL_PREFIX}\" \"\${CMAKE_INSTALL_PREFIX}\" text \"\${text}\")
    file(WRITE \"\${file}\" \"\${text}\")" COMPONENT ${component})
endfunction()

# MPI has no pkg-config name that all its implementations share, so its flags are written out.
list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE includes)
list(TRANSFORM no_bindings PREPEND "-D")
list(JOIN includes " " TENON_PC_CFLAGS)
list(JOIN no_bindings " " TENON_PC_DEFINITIONS)
list(JOIN MPI_C_LIBRARIES " " TENON_PC_LIBS)
tenon_install_pc(tenon dev)

# The built library finds its data files as the installed one does, from where it lies.
file(GLOB_RECURSE data RELATIVE ${PROJECT_SOURCE_DIR} CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/share/tenon/*)
foreach(file IN LISTS data)
  configure_file(${PROJECT_SOURCE_DIR}/${file} ${PROJECT_BINARY_DIR}/${file} COPYONLY)
endforeach()
