# SPDX-License-Identifier: BSD-2-Clause
# CUDA: TENON_HAS_CUDA, and the target tenon_cuda with its headers and the runtime. The runtime is linked
# statically, so that the library starts where there is no CUDA; cuBLAS, cuDNN and cuFFT are opened when they are
# needed, and only their headers are read here.
set(TENON_WITH_CUDA AUTO CACHE STRING
  "Kernels for CUDA devices: AUTO (where nvcc and the headers of cuBLAS, cuDNN and cuFFT are found), ON (required), OFF, or \
STANDIN (for tests: everything is linked with the stand-in for the runtime in tests/standin)")
set_property(CACHE TENON_WITH_CUDA PROPERTY STRINGS AUTO ON OFF STANDIN)
if(NOT TENON_WITH_CUDA MATCHES "^(AUTO|ON|OFF|STANDIN)$")
  message(FATAL_ERROR "TENON_WITH_CUDA is ${TENON_WITH_CUDA}; expected AUTO, ON, OFF or STANDIN")
endif()

set(TENON_HAS_CUDA FALSE)
set(missing "")
if(TENON_WITH_CUDA STREQUAL OFF)
  set(missing "TENON_WITH_CUDA is OFF")
else()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90) # and 90 as PTX, for later ones
    endif()
    set(CMAKE_CUDA_RUNTIME_LIBRARY None) # linked by tenon_cuda
    enable_language(CUDA)
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION) # CMake 3.25 does not know that nvcc has it
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    find_package(CUDAToolkit QUIET)
    foreach(header cublas_v2.h cudnn.h cufftXt.h)
      find_path(TENON_FOLDER_OF_${header} ${header} HINTS ${CUDAToolkit_INCLUDE_DIRS})
      mark_as_advanced(TENON_FOLDER_OF_${header})
      if(NOT TENON_FOLDER_OF_${header})
        string(APPEND missing " no ${header}")
      endif()
    endforeach()
    if(TENON_FOLDER_OF_cudnn.h) # from 9.8 on plans are made for a described device
      file(STRINGS ${TENON_FOLDER_OF_cudnn.h}/cudnn_version.h cudnn REGEX "define CUDNN_(MAJOR|MINOR) ")
      list(TRANSFORM cudnn REPLACE "[^0-9]" "")
      string(REPLACE ";" "." cudnn "${cudnn}")
      if(cudnn VERSION_LESS 9.8)
        string(APPEND missing " no cuDNN 9.8 or later (${cudnn} was found)")
      endif()
    endif()
    if(NOT TARGET CUDA::cudart_static)
      string(APPEND missing " no static CUDA runtime")
    endif()
  else()
    set(missing " no nvcc")
  endif()
  if(missing AND NOT TENON_WITH_CUDA STREQUAL AUTO)
    message(FATAL_ERROR "TENON_WITH_CUDA is ${TENON_WITH_CUDA}, but there is${missing}")
  endif()
endif()
if(NOT missing)
  set(TENON_HAS_CUDA TRUE)
  # The tests of device code link the stand-in in place of the runtime: those with the property
  # TENON_STANDIN, and with TENON_WITH_CUDA=STANDIN all programs.
  set(real "$<NOT:$<OR:$<STREQUAL:${TENON_WITH_CUDA},STANDIN>,$<BOOL:$<TARGET_PROPERTY:TENON_STANDIN>>>>")
  add_library(tenon_cuda INTERFACE)
  target_include_directories(tenon_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS}
    ${TENON_FOLDER_OF_cublas_v2.h} ${TENON_FOLDER_OF_cudnn.h} ${TENON_FOLDER_OF_cufftXt.h})
  target_link_libraries(tenon_cuda INTERFACE $<IF:${real},CUDA::cudart_static,tenon_standin>)
elseif(TENON_WITH_CUDA STREQUAL AUTO)
  message(STATUS "CUDA devices are not supported: there is${missing}")
endif()

string(TOLOWER ${TENON_HAS_CUDA} TENON_HAS_DEVICE)
configure_file(${PROJECT_SOURCE_DIR}/src/sys/tenon_features.hpp.in
  ${PROJECT_BINARY_DIR}/include/tenon_features.hpp @ONLY)
