#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_format.sh ROOT
# The public headers have lines of at most 100 columns, comments too, and every C and C++ file is as
# clang-format 14 writes it. Exits 77, which ctest counts as skipped, where another version or none is
# installed, since versions differ in what they write.
set -euo pipefail
cd "$1"
status=0
while IFS= read -r line; do
  echo "fault: $line columns; a public header has at most 100"
  status=1
done < <(find include src/petsc/include -name '*.h' -exec awk 'length > 100 { print FILENAME ":" FNR ": " length }' {} +)
for tool in clang-format-14 clang-format ''; do
  if command -v "$tool" >/dev/null && "$tool" --version | grep -q 'version 14\.'; then break; fi
done
if [[ -z $tool ]]; then
  echo "skipped: clang-format 14 is not installed"
  [[ $status -ne 0 ]] || exit 77
  exit "$status"
fi
unformatted=0
output=$(find include src tests tutorials -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\)' -print0 | sort -z |
  xargs -0 "$tool" --dry-run -Werror 2>&1) || unformatted=1
faulty=$(sed -nE 's/^([^:]+):[0-9]+:[0-9]+: error: .*/\1/p' <<<"$output" | sort -u)
for file in $faulty; do
  echo "fault: $file differs from its formatted form; run: $tool -i $file"
done
[[ $unformatted -eq 0 || -n $faulty ]] || printf '%s\n' "$output"
[[ $unformatted -eq 0 ]] || status=1
exit "$status"
