#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# check_readme.sh SOURCE_DIR: the C and C++ lines of the README occur in the example programs, one after the other.
# Comments and white space do not count.
set -euo pipefail
source=$1

plain() {
  sed 's|//.*||' | tr -d '[:space:]' | sed 's|/\*[^*]*\*/||g'
}

# compare LANGUAGE PROGRAM
compare() {
  local lines program
  lines=$(sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$source/README.md" | sed '/^```/d' | plain)
  program=$(plain <"$source/tests/capi/$2")
  if [[ -z $lines || $program != *"$lines"* ]]; then
    echo "the lines of $1 in README.md are not those of tests/capi/$2" >&2
    exit 1
  fi
}
compare c readme_example.c
compare cpp readme_example_hpp.cpp
