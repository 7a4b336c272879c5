# SPDX-License-Identifier: BSD-2-Clause
# FFTW for spectral convolutions: the target FFTW::FFTW, if there is one.
set(TENON_FFTW AUTO CACHE STRING
  "Fourier transforms by FFTW, which is under the GPL, or a library with its interface: AUTO, ON (required) or OFF")
set_property(CACHE TENON_FFTW PROPERTY STRINGS AUTO ON OFF)
if(NOT TENON_FFTW MATCHES "^(AUTO|ON|OFF)$")
  message(FATAL_ERROR "TENON_FFTW is ${TENON_FFTW}; expected AUTO, ON or OFF")
endif()
if(TENON_FFTW STREQUAL ON)
  find_package(FFTW REQUIRED)
elseif(TENON_FFTW STREQUAL AUTO)
  find_package(FFTW)
endif()
