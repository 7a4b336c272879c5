# SPDX-License-Identifier: BSD-2-Clause
# How the longer tutorials run as tests, in C and in Fortran: arguments with which they take a second, and what they then print.
set(TENON_WATER_TEST -cells 16 -refinement 2 -spinup 10 -online 40 -in_loop 8 -use 16 -stable 20)
set(TENON_WATER_EXPECTED ${CMAKE_CURRENT_LIST_DIR}/expected/06_shallow_water.short)
set(TENON_IMPORT_MODEL ${CMAKE_CURRENT_LIST_DIR}/09_import/closure.pt2)
set(TENON_SPHERE_TEST -level 2 -train 60)
set(TENON_SPHERE_EXPECTED ${CMAKE_CURRENT_LIST_DIR}/expected/10_unstructured.short)
set(TENON_VORTICITY_TEST -degrees 11 -train 100)
set(TENON_VORTICITY_EXPECTED ${CMAKE_CURRENT_LIST_DIR}/expected/11_sphere.short)
set(TENON_VORTICITY_IMPORT -degrees 11 -closure ${CMAKE_CURRENT_LIST_DIR}/11_sphere/closure.pt2)
set(TENON_VORTICITY_IMPORTED ${CMAKE_CURRENT_LIST_DIR}/expected/11_sphere.import.txt)
