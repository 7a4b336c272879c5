# SPDX-License-Identifier: BSD-2-Clause
# Finds NetCDF's library for C and defines NetCDF::NetCDF. Debian has a build for MPI, netcdf_mpi, beside the serial one; set
# NETCDF_LIBRARY to choose. NETCDF_NEEDS lists the HDF5 and MPI libraries that a shared NetCDF brings, by their sonames.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  foreach(module netcdf-mpi netcdf)
    pkg_get_variable(prefix ${module} prefix)
    list(APPEND netcdf_prefixes ${prefix})
  endforeach()
endif()
find_library(NETCDF_LIBRARY NAMES netcdf_mpi netcdf HINTS ${netcdf_prefixes} PATH_SUFFIXES lib)
find_path(NETCDF_INCLUDE_DIR NAMES netcdf.h HINTS ${netcdf_prefixes} PATH_SUFFIXES include)

set(NETCDF_NEEDS "")
if(NETCDF_LIBRARY MATCHES "\\.so" AND CMAKE_READELF)
  execute_process(COMMAND ${CMAKE_READELF} -d ${NETCDF_LIBRARY} OUTPUT_VARIABLE netcdf_dynamic ERROR_QUIET)
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[lib(hdf5|mpi)[^]]*\\]" NETCDF_NEEDS "${netcdf_dynamic}")
  list(TRANSFORM NETCDF_NEEDS REPLACE ".*\\[(.*)\\]" "\\1")
  list(FILTER NETCDF_NEEDS EXCLUDE REGEX "_hl|mpi_")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(NetCDF REQUIRED_VARS NETCDF_LIBRARY NETCDF_INCLUDE_DIR)

if(NetCDF_FOUND AND NOT TARGET NetCDF::NetCDF)
  add_library(NetCDF::NetCDF INTERFACE IMPORTED)
  target_include_directories(NetCDF::NetCDF INTERFACE ${NETCDF_INCLUDE_DIR})
  target_link_libraries(NetCDF::NetCDF INTERFACE ${NETCDF_LIBRARY})
endif()
mark_as_advanced(NETCDF_INCLUDE_DIR NETCDF_LIBRARY)
