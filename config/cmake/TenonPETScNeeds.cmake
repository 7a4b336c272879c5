# SPDX-License-Identifier: BSD-2-Clause
# The target Tenon::petsc: PETSc as the library was built with it, of the build and of the installed package.
if(NOT TARGET Tenon::petsc)
  add_library(Tenon::petsc INTERFACE IMPORTED)
  target_include_directories(Tenon::petsc SYSTEM INTERFACE ${TENON_PETSC_INCLUDE_DIRS})
  target_link_libraries(Tenon::petsc INTERFACE ${TENON_PETSC_LIBRARIES})
endif()
