# SPDX-License-Identifier: BSD-2-Clause
# oneDNN for convolution and pooling in float32: the target DNNL::DNNL, if there is one that fits. One that was found and
# does not fit (another version, headers without their library) is told, and with AUTO done without.
set(TENON_ONEDNN AUTO CACHE STRING
  "Convolution and pooling of many channels in float32 by oneDNN 2 (from 2.6) or 3: AUTO, ON (required) or OFF")
set_property(CACHE TENON_ONEDNN PROPERTY STRINGS AUTO ON OFF)
if(NOT TENON_ONEDNN MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TENON_ONEDNN is ${TENON_ONEDNN}; expected AUTO, ON or OFF")
endif()
if(TENON_ONEDNN STREQUAL OFF)
  return()
endif()
find_package(DNNL 2.6...<4 QUIET)
if(NOT DNNL_FOUND)
  set(why "was not found")
  if(DNNL_LIBRARY AND DNNL_VERSION)
    set(why "${DNNL_VERSION} was found, but 2.6 to 3 is needed")
  elseif(DNNL_LIBRARY OR DNNL_INCLUDE_DIR)
    set(why "was found without its header or its library")
  endif()
  if(TENON_ONEDNN STREQUAL ON)
    message(FATAL_ERROR "TENON_ONEDNN is ON, but oneDNN ${why}; install it (on Debian libdnnl-dev) or set "
      "DNNL_INCLUDE_DIR and DNNL_LIBRARY")
  endif()
  message(STATUS "oneDNN ${why}: convolutions of more than some 32 channels in float32 will be slower")
else()
  message(STATUS "oneDNN ${DNNL_VERSION}: ${DNNL_LIBRARY}")
endif()
