#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# check_readme.sh SOURCE_DIR: the C lines of the README occur in the example program, one after the other.
# Comments and white space do not count.
set -euo pipefail
source=$1

plain() {
  tr -d '[:space:]' | sed 's|/\*[^*]*\*/||g'
}

lines=$(sed -n '/^```c$/,/^```$/p' "$source/README.md" | sed '/^```/d' | plain)
program=$(plain <"$source/tests/capi/readme_example.c")
if [[ -z $lines || $program != *"$lines"* ]]; then
  echo "the C lines of README.md are not those of tests/capi/readme_example.c" >&2
  exit 1
fi
