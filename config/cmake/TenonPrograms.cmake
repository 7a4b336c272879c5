# SPDX-License-Identifier: BSD-2-Clause
# How a program runs as a test: the environment of its ranks, and what a tutorial prints. Used by this build, and by the one
# that compiles the programs in Fortran with another compiler (tests/fortran/compiler).

# tenon_own_folder(TEST VARIABLE): a folder in which the test alone runs, since tests that run at the same time write files
# of the same names.
function(tenon_own_folder test variable)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/runs/${test})
  file(MAKE_DIRECTORY ${folder})
  set(${variable} ${folder} PARENT_SCOPE)
endfunction()

# More ranks than cores must yield, as root too, with one compute thread each. Open MPI does so when
# told; MPICH needs tests/support/yield_in_ucx.c. With libtenon_wait these yields are naps while others want the core.
# Open MPI would take 0.2 s of each start, more than most
# tests, to choose its way to send. The time limit is one for hangs.
function(tenon_test_environment name)
  math(EXPR limit "600 * ${TENON_TEST_TIMEOUT_FACTOR}")
  set_tests_properties(${name} PROPERTIES TIMEOUT ${limit})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
    OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_mpi_yield_when_idle=1
    OMPI_MCA_btl_base_warn_component_unused=0 OMPI_MCA_pml=ob1
    OMPI_MCA_hwloc_base_binding_policy=none OMP_NUM_THREADS=1)
  set(preloaded)
  foreach(library tenon_wait tenon_test_preload)
    if(TARGET ${library})
      list(APPEND preloaded $<TARGET_FILE:${library}>)
    endif()
  endforeach()
  if(preloaded)
    list(JOIN preloaded ":" preloaded)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT LD_PRELOAD=${preloaded})
  endif()
  if(TENON_TEST_TRAPS)
    tenon_trap(${name})
  endif()
endfunction()

# tenon_add_compared(TEST PROGRAM RANKS EXPECTED ARGS): the program prints what the file has.
function(tenon_add_compared test program ranks expected args)
  set(command ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} ${TENON_TEST_LAUNCHER}
    $<TARGET_FILE:${program}> ${args})
  tenon_own_folder(${test} folder)
  add_test(NAME ${test} WORKING_DIRECTORY ${folder} COMMAND ${CMAKE_COMMAND} "-DCOMMAND=${command}"
    -DEXPECTED=${expected} -P ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/CompareOutput.cmake)
  set_tests_properties(${test} PROPERTIES LABELS mpi PROCESSORS ${ranks})
  tenon_test_environment(${test})
endfunction()

# tenon_add_tutorial(NAME RANKS 1 2 ... [SOURCES ...] [LINK ...] [EXPECTED FILE] [ARGS ...])
# A program (of NAME.c by default), run for each number of ranks in a folder of its own; what it
# prints must be FILE.<ranks>.txt, or FILE.txt where all print the same; FILE is expected/NAME by default.
function(tenon_add_tutorial name)
  set(TUTORIAL_SOURCES ${name}.c)
  set(TUTORIAL_LINK tenon tenon_warnings m)
  set(TUTORIAL_EXPECTED ${CMAKE_CURRENT_SOURCE_DIR}/expected/${name})
  cmake_parse_arguments(given "" "EXPECTED" "RANKS;SOURCES;LINK;ARGS" ${ARGN})
  foreach(word EXPECTED RANKS SOURCES LINK ARGS)
    if(DEFINED given_${word})
      set(TUTORIAL_${word} ${given_${word}})
    endif()
  endforeach()
  add_executable(${name} ${TUTORIAL_SOURCES})
  target_link_libraries(${name} PRIVATE ${TUTORIAL_LINK})
  if(NOT TENON_BUILD_TESTS)
    return()
  endif()
  foreach(ranks IN LISTS TUTORIAL_RANKS)
    set(expected ${TUTORIAL_EXPECTED}.txt)
    if(NOT EXISTS ${expected})
      set(expected ${TUTORIAL_EXPECTED}.${ranks}.txt)
    endif()
    tenon_add_compared(tutorial_${name}.${ranks} ${name} ${ranks} ${expected} "${TUTORIAL_ARGS}")
    if(ranks EQUAL 4) # for tests/slurm
      string(JOIN "|" tutorial ${name} ${expected} ${TUTORIAL_ARGS})
      set_property(GLOBAL APPEND PROPERTY TENON_TUTORIALS_ON_4 ${tutorial})
    endif()
  endforeach()
endfunction()
