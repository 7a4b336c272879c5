# SPDX-License-Identifier: BSD-2-Clause
# Run by CPack on the files of each package, which lie in its own folder: in /usr the loader finds libraries by itself,
# Debian has no paths beside, and the files for pkg-config name the folders of the installed package.
file(GLOB_RECURSE programs LIST_DIRECTORIES FALSE ${CPACK_TEMPORARY_DIRECTORY}/*/usr/bin/tenon
  ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib*/libtenon*.so.*)
foreach(program IN LISTS programs)
  if(NOT IS_SYMLINK ${program})
    file(RPATH_REMOVE FILE ${program})
  endif()
endforeach()
file(GLOB files LIST_DIRECTORIES FALSE ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib*/pkgconfig/tenon*.pc
  ${CPACK_TEMPORARY_DIRECTORY}/*/usr/lib*/*/pkgconfig/tenon*.pc)
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(REGEX REPLACE "(^|\n)prefix=[^\n]*" "\\1prefix=/usr" text "${text}")
  file(WRITE ${file} "${text}")
endforeach()
