# SPDX-License-Identifier: BSD-2-Clause
# How a room and a test are built: one function each.
include(TenonPrograms)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <source_location>
int main() { return std::source_location::current().line() == 0; }" TENON_HAS_SOURCE_LOCATION)
if(NOT TENON_HAS_SOURCE_LOCATION)
  message(FATAL_ERROR "${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, which lacks a part of C++20 "
    "(std::source_location); Tenon needs GCC 12, Clang 16 or a newer compiler: set CMAKE_CXX_COMPILER")
endif()
set(CMAKE_C_STANDARD 99)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

add_library(tenon_warnings INTERFACE)
set(not_cuda $<NOT:$<COMPILE_LANGUAGE:CUDA>>)
target_compile_options(tenon_warnings INTERFACE $<${not_cuda}:-Wall -Wextra -Wpedantic>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>
  $<$<AND:${not_cuda},$<BOOL:${TENON_WERROR}>>:-Werror>
  # The host's compiler, which reads the code of the device too, does not know its pragmas.
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-Wno-unknown-pragmas --expt-relaxed-constexpr>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${TENON_WERROR}>>:-Werror=all-warnings>
  # GCC 12 warns falsely on the sentinel pointers of mpi.h and on string concatenation (PR 105651).
  $<$<AND:${not_cuda},$<CXX_COMPILER_ID:GNU>>:-Wno-stringop-overread -Wno-stringop-overflow -Wno-restrict>
  # Where sources are joined, it takes the unnamed namespaces of each for those of a header.
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-subobject-linkage>
  # Joined sources fill more memory than GCC waits for before it collects garbage: a tenth of its time or more.
  $<$<AND:$<BOOL:${CMAKE_UNITY_BUILD}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:SHELL:--param ggc-min-heapsize=1048576>)

# tenon_add_room(NAME [APART] SOURCES ... LINK ...): an object library for src/NAME. What stands APART is no part of
# the library.
function(tenon_add_room name)
  cmake_parse_arguments(ROOM "APART" "" "SOURCES;LINK" ${ARGN})
  add_library(tenon_${name} OBJECT ${ROOM_SOURCES})
  target_include_directories(tenon_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
  target_link_libraries(tenon_${name} PRIVATE tenon_warnings ${TENON_FMT} ${ROOM_LINK})
  target_compile_definitions(tenon_${name} PRIVATE TENON_BUILDING)
  # In a static library these names become local (src/CMakeLists.txt), which a unique one would not.
  if(TENON_LIBRARY STREQUAL STATIC)
    target_compile_options(tenon_${name} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>
      $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CXX_COMPILER_ID:GNU>>:-Xcompiler=-fno-gnu-unique>)
  endif()
  # A room's sources are many and short. The loops of kernels are compiled as in every other build.
  set_target_properties(tenon_${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 40)
  if(name STREQUAL "kernels")
    set_target_properties(tenon_${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  if(NOT ROOM_APART)
    set_property(GLOBAL APPEND PROPERTY TENON_ROOMS tenon_${name})
  endif()
endfunction()

# A shared library stays loaded where a host program closes the plugin that brought it: what the program has handed to
# the library, or the library to MPI and PETSc, is called until the end of the process.
include(CheckLinkerFlag)
check_linker_flag(CXX LINKER:-z,nodelete TENON_LINKER_HAS_NODELETE)

# tenon_export_symbols(TARGET MAP): what a shared library exports, and that it stays loaded. A static one has no such list.
function(tenon_export_symbols target map)
  if(TENON_LIBRARY STREQUAL SHARED)
    set(file ${PROJECT_SOURCE_DIR}/config/cmake/${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${file})
    target_link_options(${target} PRIVATE LINKER:--version-script=${file}
      $<$<BOOL:${TENON_LINKER_HAS_NODELETE}>:LINKER:-z,nodelete>)
  endif()
endfunction()

set(TENON_TEST_LAUNCHER "" CACHE STRING
  "Program with arguments that every test program and tutorial runs under, such as valgrind")
set(TENON_TEST_RANKS_DEEP "" CACHE STRING
  "Numbers of ranks above those of the other tests, for those that gain from them, such as 12;16")
set(TENON_TEST_DRAWS 15 CACHE STRING
  "Percentage of the draws that the tests' widest sweeps make; 100 has more numbers of ranks and more tests, too")
set(TENON_TEST_RANKS_ALL "") # numbers of ranks that only runs with all draws have, where fewer show nearly as much
if(TENON_TEST_DRAWS EQUAL 100)
  set(TENON_TEST_RANKS_ALL 2 3 4 6 8)
endif()
option(TENON_TEST_DELAYS "Let the ranks of tests fall behind now and then, so that messages arrive in other orders" OFF)
option(TENON_TEST_TRAPS "Let floating-point exceptions end the test programs, as some hosts do" OFF)
option(TENON_TEST_KEEP_PLUGINS
  "Run the tests with libraries never closed, so that LeakSanitizer can name MPI's plugins" OFF)
set(TENON_TEST_NETWORKS ${PROJECT_SOURCE_DIR}/share/tenon/networks CACHE STRING
  "Folder in which the tests of networks find them; elsewhere in a bundle (config/gpu_bundle)")
set(TENON_TEST_TIMEOUT_FACTOR 1 CACHE STRING
  "Factor on the tests' time limits, for sanitizers, valgrind and slow machines")

# tenon_add_test(NAME SOURCES ... [RANKS 1 2 ...] [LINK ...] [ARGS ...])
# A GoogleTest program against the rooms' objects. With RANKS it runs under mpiexec, once for each
# number of ranks; without RANKS it is a serial program that links no MPI main.
function(tenon_add_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;RANKS;LINK;ARGS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE 24)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  if(TEST_RANKS)
    list(REMOVE_DUPLICATES TEST_RANKS)
    target_link_libraries(${name} PRIVATE tenon_warnings tenon_objects tenon_test_mpi ${TEST_LINK})
  else()
    target_link_libraries(${name} PRIVATE tenon_warnings tenon_objects GTest::gtest_main ${TEST_LINK})
    target_compile_definitions(${name} PRIVATE TENON_TEST_DRAWS=${TENON_TEST_DRAWS})
  endif()
  tenon_add_runs(${name} ${name} "${TEST_RANKS}" "${TEST_ARGS}")
endfunction()

# tenon_compile_absent(SOURCE): what stands in src for a library where it is not found. It is compiled wherever tests
# are, so that it stays right; the library does not have it.
function(tenon_compile_absent source)
  cmake_path(GET source STEM name)
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/src/${source})
  target_link_libraries(${name} PRIVATE tenon_warnings tenon_objects)
endfunction()

# tenon_add_runs(NAME PROGRAM RANKS ARGS): tests NAME.<ranks>, or NAME without ranks, that run the program.
function(tenon_add_runs name program ranks args)
  if(NOT ranks)
    tenon_own_folder(${name} folder)
    add_test(NAME ${name} WORKING_DIRECTORY ${folder}
      COMMAND ${TENON_TEST_LAUNCHER} $<TARGET_FILE:${program}> ${args})
    tenon_test_environment(${name})
  endif()
  foreach(count IN LISTS ranks)
    tenon_own_folder(${name}.${count} folder)
    add_test(NAME ${name}.${count} WORKING_DIRECTORY ${folder}
      COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${count}
      ${TENON_TEST_LAUNCHER} $<TARGET_FILE:${program}> ${args})
    set_tests_properties(${name}.${count} PROPERTIES LABELS mpi PROCESSORS ${count})
    tenon_test_environment(${name}.${count})
  endforeach()
endfunction()

# tenon_add_trapped(PROGRAM RANKS ARGS...): tests PROGRAM_trapped, in which floating-point exceptions end the program
# (tests/support/traps.c). With TENON_TEST_TRAPS they do so in all tests.
function(tenon_add_trapped program ranks)
  if(NOT TARGET tenon_test_traps OR TENON_TEST_TRAPS)
    return()
  endif()
  tenon_add_runs(${program}_trapped ${program} "${ranks}" "${ARGN}")
  if(NOT ranks)
    set(tests ${program}_trapped)
  else()
    list(TRANSFORM ranks PREPEND ${program}_trapped. OUTPUT_VARIABLE tests)
  endif()
  tenon_trap(${tests})
endfunction()

# tenon_trap(TESTS...): in these tests MPI must not raise what would end the program. MPI_Init() of Open MPI 5 does: it reads the
# machine by hwloc, and hwloc by libxml2, which divides zero by zero when it starts; with HWLOC_LIBXML=0 by hwloc's own reader.
function(tenon_trap)
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT_MODIFICATION
    LD_PRELOAD=path_list_append:$<TARGET_FILE:tenon_test_traps> HWLOC_LIBXML=set:0)
endfunction()

# tenon_add_device_test(NAME ...): a test of device code, with the arguments of tenon_add_test() and the label device.
# It links the stand-in for the CUDA runtime and runs in each of TENON_STANDIN_MODES; with TENON_TEST_ON_GPU the
# runtime itself, and is skipped where there is no device. There is none without CUDA.
option(TENON_TEST_ON_GPU "Run the tests of device code on a GPU in place of the stand-in" OFF)
set(TENON_STANDIN_MODES lazy CACHE STRING
  "In what orders the stand-in runs the work of streams: lazy, others, eager, random:SEED; the presets for them have more")
set(TENON_STANDIN_PTX OFF CACHE STRING
  "Architecture, 80 or 90, whose PTX the tests of device code run, translated for the host, in place of the kernels' twins")
if(NOT TENON_STANDIN_PTX MATCHES "^(OFF|80|90)$")
  message(FATAL_ERROR "TENON_STANDIN_PTX is ${TENON_STANDIN_PTX}; expected OFF, 80 or 90")
endif()
set(TENON_KERNELS_RAN ${PROJECT_BINARY_DIR}/kernels_ran.txt)
function(tenon_add_device_test name)
  if(NOT TENON_HAS_CUDA)
    return()
  endif()
  cmake_parse_arguments(DEVICE "" "" "SOURCES;RANKS;LINK;ARGS" ${ARGN})
  string(JOIN " " ranks ${DEVICE_RANKS})
  if(NOT ranks)
    set(ranks 1)
  endif()
  set_property(GLOBAL APPEND PROPERTY TENON_DEVICE_TESTS "${name}:${ranks}")
  if(TENON_TEST_ON_GPU)
    tenon_add_test(${name} ${ARGN})
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/needs_device.cpp)
    tenon_label_device_tests(${name} "${DEVICE_RANKS}" "")
    return()
  endif()
  list(GET TENON_STANDIN_MODES 0 first)
  tenon_add_test(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES TENON_STANDIN ON)
  tenon_label_device_tests(${name} "${DEVICE_RANKS}" ${first})
  foreach(mode IN LISTS TENON_STANDIN_MODES)
    if(NOT mode STREQUAL first)
      string(MAKE_C_IDENTIFIER ${name}_${mode} other)
      tenon_add_runs(${other} ${name} "${DEVICE_RANKS}" "${DEVICE_ARGS}")
      tenon_label_device_tests(${other} "${DEVICE_RANKS}" ${mode})
    endif()
  endforeach()
endfunction()

# tenon_add_standin_test(NAME ...): a test of what the stand-in alone can show, with the arguments of tenon_add_test() and
# the label device; in the default order unless it chooses others itself.
function(tenon_add_standin_test name)
  if(NOT TENON_HAS_CUDA OR TENON_TEST_ON_GPU)
    return()
  endif()
  cmake_parse_arguments(STANDIN "" "" "SOURCES;RANKS;LINK;ARGS" ${ARGN})
  tenon_add_test(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES TENON_STANDIN ON)
  tenon_label_device_tests(${name} "${STANDIN_RANKS}" lazy)
  set_property(GLOBAL APPEND PROPERTY TENON_STANDIN_TESTS ${name})
endfunction()

# The label of the tests of these ranks, and the stand-in's mode, or how they tell that there is no device.
function(tenon_label_device_tests name ranks mode)
  set(tests ${name})
  if(ranks)
    list(TRANSFORM ranks PREPEND ${name}. OUTPUT_VARIABLE tests)
  endif()
  set_property(TEST ${tests} APPEND PROPERTY LABELS device)
  if(mode)
    set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT TENON_STANDIN=${mode})
  else()
    set_property(TEST ${tests} PROPERTY SKIP_REGULAR_EXPRESSION "needs_device.cpp:[0-9]+: Skipped")
  endif()
  if(mode AND TENON_STANDIN_PTX)
    tenon_run_translated("${tests}" ${mode})
  endif()
endfunction()

# The kernels that run in the tests are noted for the test kernels_ran. In all modes but the first the threads of a block
# run in the other order.
function(tenon_run_translated tests mode)
  list(GET TENON_STANDIN_MODES 0 first)
  if(NOT mode STREQUAL first)
    set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT TENON_STANDIN_THREADS=reverse)
  endif()
  set_property(TEST ${tests} APPEND PROPERTY ENVIRONMENT TENON_STANDIN_RAN=${TENON_KERNELS_RAN})
  set_property(TEST ${tests} APPEND PROPERTY DEPENDS kernels_forgotten)
  set_property(TEST ${tests} APPEND PROPERTY FIXTURES_SETUP kernels)
endfunction()

# tenon_run_on_standin(PROGRAM): tests PROGRAM_<mode>.2, in which a program that is linked with the shared library finds the
# stand-in in each of TENON_STANDIN_MODES.
function(tenon_run_on_standin program)
  if(NOT TARGET tenon_on_standin)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY TENON_PROGRAMS_ON_STANDIN ${program} tenon_on_standin)
  foreach(mode IN LISTS TENON_STANDIN_MODES)
    string(MAKE_C_IDENTIFIER ${program}_${mode} name)
    tenon_add_runs(${name} ${program} 2 "")
    tenon_label_device_tests(${name} 2 ${mode})
    tenon_find_standin(${name}.2)
  endforeach()
endfunction()

# The test's program, which is linked with the shared library, finds the one with the stand-in.
function(tenon_find_standin test)
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT_MODIFICATION
    LD_LIBRARY_PATH=path_list_prepend:$<TARGET_FILE_DIR:tenon_on_standin>)
endfunction()

# tenon_tutorial_on_device(NAME RANKS MODE EXPECTED ARGS...): by an option alone the tutorial's networks run on the device, here the
# stand-in in that mode, and it prints what it prints on the host.
function(tenon_tutorial_on_device name ranks mode expected)
  if(NOT TARGET tenon_on_standin)
    return()
  endif()
  set(test tutorial_${name}_device.${ranks})
  tenon_add_compared(${test} ${name} ${ranks} ${expected} "${ARGN}")
  tenon_label_device_tests(${test} "" ${mode})
  tenon_find_standin(${test})
  set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT "TENON_OPTIONS=-tenon_space device")
endfunction()
