# SPDX-License-Identifier: BSD-2-Clause
# Finds a BLAS with the C interface (cblas.h) and defines CBLAS::CBLAS.
# Set BLA_VENDOR to choose a vendor, as for CMake's own FindBLAS.
find_package(BLAS QUIET)
find_path(CBLAS_INCLUDE_DIR NAMES cblas.h PATH_SUFFIXES openblas)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CBLAS REQUIRED_VARS CBLAS_INCLUDE_DIR BLAS_LIBRARIES)

if(CBLAS_FOUND AND NOT TARGET CBLAS::CBLAS)
  add_library(CBLAS::CBLAS INTERFACE IMPORTED)
  target_include_directories(CBLAS::CBLAS INTERFACE ${CBLAS_INCLUDE_DIR})
  target_link_libraries(CBLAS::CBLAS INTERFACE BLAS::BLAS)
endif()
mark_as_advanced(CBLAS_INCLUDE_DIR)
