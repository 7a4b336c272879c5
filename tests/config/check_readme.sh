#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# check_readme.sh SOURCE_DIR: the C lines of the README and those of the page on C++ occur in the example programs, one after the other;
# those of the quick start in its programs, in their order, and those of the page on a layer of one's own in its sources,
# which its difference fits; and the files to which the manual refers exist. Long pages of the manual
# begin with a table of contents, and its figures are those that their script draws.
# Comments and white space do not count.
set -euo pipefail
source=$1
faults=0

fault() {
  echo "$*" >&2
  faults=1
}

# The code of a language in a page.
code() {
  sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$source/$2" | sed '/^```/d'
}

plain() {
  sed 's|//.*||' | tr -d '[:space:]' | sed 's|/\*[^*]*\*/||g'
}

# compare LANGUAGE PAGE PROGRAM: the first piece of code of the page.
compare() {
  local lines program
  lines=$(sed -n "/^\`\`\`$1\$/,/^\`\`\`\$/p" "$source/$2" | sed '1d; /^```$/,$d' | plain)
  program=$(plain <"$source/tests/capi/$3")
  if [[ -z $lines || $program != *"$lines"* ]]; then
    fault "the lines of $1 in $2 are not those of tests/capi/$3"
  fi
}

# One line after the other.
plain_lines() {
  sed 's|//.*||; s|/\*[^*]*\*/||g; s|[[:space:]]! .*||; s|[[:space:]]||g; /^$/d'
}

# excerpt PAGE LANGUAGE PROGRAM...: the page has lines of the programs, in their order.
excerpt() {
  local page=$1 language=$2
  shift 2
  local line
  local -a left
  mapfile -t left < <(cd "$source" && cat "$@" | plain_lines)
  [[ -n $(code "$language" "$page") ]] || fault "$page has no lines of $language"
  while read -r line; do
    while [[ ${#left[@]} -gt 0 && ${left[0]} != "$line" ]]; do left=("${left[@]:1}"); done
    if [[ ${#left[@]} -eq 0 ]]; then
      fault "$page has a line of $language that $* does not have there: $line"
      return
    fi
  done < <(code "$language" "$page" | plain_lines)
}

# Relative links of a page.
links() {
  local target
  while read -r target; do
    [[ $target == *://* || -e $(dirname "$1")/$target ]] || fault "$1 refers to $target, which does not exist"
  done < <(sed '/^```/,/^```/d' "$1" | grep -oE '\]\([^)#[:space:]]+' | sed 's/^](//')
}

# contents PAGE: one of more than 250 lines begins with links to all of its parts.
contents() {
  local heading anchor
  [[ $(wc -l <"$1") -gt 250 ]] || return 0
  while read -r heading; do
    anchor=$(tr '[:upper:]' '[:lower:]' <<<"$heading" | sed -E 's/[^a-z0-9_ -]//g; s/ /-/g')
    sed '/^## /,$d' "$1" | grep -F "](#$anchor)" >/dev/null || fault "$1 does not name its part \"$heading\" before the first one"
  done < <(sed '/^```/,/^```/d' "$1" | sed -n 's/^## //p')
}

compare c README.md readme_example.c
compare cpp doc/cxx.md readme_example_hpp.cpp
excerpt doc/quickstart.md fortran tests/install/field.f90
excerpt doc/quickstart.md cpp tests/install/field.cpp
excerpt doc/quickstart.md c tests/install/field_petsc.c
# The declaration comes first on the page, and the kernel in the file.
excerpt doc/own_layer.md cpp src/declaration/types/coordinates.cpp{,} src/compile/program/rewriting.cpp
cd "$source"
if command -v patch >/dev/null && ! code diff doc/own_layer.md | patch --dry-run --fuzz=0 -s -p1 >&2; then
  fault "the difference in doc/own_layer.md does not fit the sources"
fi
while read -r page; do links "$page"; done < <(
  find . -path ./build -prune -o -path './.?*' -prune -o -name '*.md' -print)
for page in doc/*.md; do contents "$page"; done
if command -v python3 >/dev/null; then
  drawn=$(mktemp -d)
  python3 doc/figures/draw.py "$drawn"
  for figure in "$drawn"/*.svg; do
    cmp -s "$figure" "doc/figures/${figure##*/}" || fault "doc/figures/${figure##*/} is not what doc/figures/draw.py draws; run it"
  done
  rm -rf "$drawn"
fi
exit $faults
