# SPDX-License-Identifier: BSD-2-Clause
# Run by CPack on the files of each package: in /usr the loader finds libraries by itself, and Debian has no paths
# beside.
file(GLOB_RECURSE programs LIST_DIRECTORIES FALSE ${CPACK_TEMPORARY_DIRECTORY}/*/usr/bin/tenon
  ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib*/libtenon*.so.*)
foreach(program IN LISTS programs)
  if(NOT IS_SYMLINK ${program})
    file(RPATH_REMOVE FILE ${program})
  endif()
endforeach()
