# SPDX-License-Identifier: BSD-2-Clause
# Finds FFTW 3, or a library with its interface, in both precisions and defines FFTW::FFTW. For MKL:
#   -DFFTW_INCLUDE_DIR=$MKLROOT/include/fftw -DFFTW_LIBRARY=$MKLROOT/lib/libmkl_rt.so
#   -DFFTW_SINGLE_LIBRARY=$MKLROOT/lib/libmkl_rt.so
find_path(FFTW_INCLUDE_DIR NAMES fftw3.h)
find_library(FFTW_LIBRARY NAMES fftw3)
find_library(FFTW_SINGLE_LIBRARY NAMES fftw3f)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFTW
  REQUIRED_VARS FFTW_LIBRARY FFTW_SINGLE_LIBRARY FFTW_INCLUDE_DIR)

if(FFTW_FOUND AND NOT TARGET FFTW::FFTW)
  add_library(FFTW::FFTW INTERFACE IMPORTED)
  target_include_directories(FFTW::FFTW INTERFACE ${FFTW_INCLUDE_DIR})
  target_link_libraries(FFTW::FFTW INTERFACE ${FFTW_LIBRARY} ${FFTW_SINGLE_LIBRARY})
endif()
mark_as_advanced(FFTW_INCLUDE_DIR FFTW_LIBRARY FFTW_SINGLE_LIBRARY)
