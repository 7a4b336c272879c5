# SPDX-License-Identifier: BSD-2-Clause
# HIP: with TENON_HIP the target tenon_hip_objects compiles the sources of the device for AMD's devices, by the names in
# sys/cuda/runtime.hpp, so that they stay such that they can be. Nothing is linked with the objects.
option(TENON_HIP "Add the target tenon_hip_objects, which compiles the device code for AMD's devices by hipcc; nothing is linked \
with it" OFF)
set(TENON_HIP_ARCHITECTURE gfx90a CACHE STRING "The device of AMD's that tenon_hip_objects is compiled for")
if(NOT TENON_HIP)
  return()
endif()
find_program(TENON_HIPCC hipcc REQUIRED)
mark_as_advanced(TENON_HIPCC)

# All but what calls NVIDIA's libraries.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/sys/cuda/*.cpp ${PROJECT_SOURCE_DIR}/src/kernels/cuda/*.cu)
list(REMOVE_ITEM sources ${PROJECT_SOURCE_DIR}/src/sys/cuda/library.cpp)
get_target_property(headers fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
list(TRANSFORM headers PREPEND -I)
# HIP marks the status of each call as one to be read and its functions of contexts as deprecated, which CUDA does not.
set(options -x hip --offload-arch=${TENON_HIP_ARCHITECTURE} -std=c++20 -O1 -fPIC -Wall -Wextra -Werror
  -Wno-deprecated-declarations -Wno-unused-result
  -DTENON_HIP -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include -I${PROJECT_BINARY_DIR}/include ${headers})
set(objects "")
foreach(source IN LISTS sources)
  cmake_path(GET source FILENAME name)
  set(object ${PROJECT_BINARY_DIR}/hip/${name}.o)
  add_custom_command(OUTPUT ${object} DEPENDS ${source} DEPFILE ${object}.d
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/hip
    COMMAND ${TENON_HIPCC} ${options} -MD -MF ${object}.d -MT ${object} -c ${source} -o ${object}
    COMMENT "Building HIP object ${name}.o" COMMAND_EXPAND_LISTS VERBATIM)
  list(APPEND objects ${object})
endforeach()
add_custom_target(tenon_hip_objects DEPENDS ${objects})
