#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: house_counts_test.sh SCRATCH
# Tests house_counts.py on a repository of two commits, whose files are small enough to count by hand.
set -euo pipefail
counter=$(cd "$(dirname "$0")" && pwd)/house_counts.py
command -v git >/dev/null || { echo "skipped: there is no git"; exit 77; }
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a \
  GIT_COMMITTER_EMAIL=a@b
rm -rf "$1"
mkdir -p "$1"
cd "$1"
git init --quiet .
failed=0

commit() { # NAME
  git add --all && git commit --quiet --message "$1" && git tag "$1"
}

# expect TABLE WORD...: what the script prints for these words.
expect() {
  local output
  output=$("$counter" "${@:2}")
  [[ $output == "$1" ]] && return
  printf 'house_counts.py %s: expected, then found:\n%s\n---\n%s\n' "${*:2}" "$1" "$output"
  failed=1
}

mkdir -p src/comm src/linop/exchange src/fortran/generated include/tenon/ext
echo 'ignored.hpp' >.gitignore
# 8 lines, 7 without the licence, of which 6 are not empty and 4 are comments alone.
cat >src/comm/send.cpp <<'END'
// SPDX-License-Identifier: BSD-2-Clause
// Sends.

/* Two lines
 * of words. */
const char* text = "// no comment"; // behind code
int x; /* beside code */
  // alone
END
printf 'int a;\nint b;\n' >src/comm/send.hpp
printf 'int a;\n' >src/linop/exchange/part.cpp
printf '// a\nint b;\n// c\nint d;\n' >src/linop/exchange/run.cpp
printf 'int a;\n%.0s' 1 2 3 4 5 6 >src/linop/exchange/walk.cu
printf 'page\n' >src/comm/README.md
printf 'a\nb\nc\n' >src/fortran/generated/calls.f90
printf '#define TENON_EXTERN extern\n' >include/tenon/export.h
printf 'TENON_EXTERN int TenonSend(int a,\n  int b);\nTENON_EXTERN const char* TenonName(void);\nint TenonOther(void);\n' \
  >include/tenon/send.h
printf 'TENON_EXTERN int TenonWait(void);\n' >include/tenon/ext/wait.h
printf '#include <tenon/send.h>\n' >include/tenon.h
commit first

# A room less, a source more, and a file that only the working tree has.
git rm --quiet src/comm/send.cpp
printf '// a\n// b\n\nint c;\n' >src/linop/move.cpp
printf 'TENON_EXTERN int TenonMove(void);\n' >>include/tenon/send.h
commit second
printf 'int a;\n' >src/linop/new.hpp
printf 'int a;\n' >src/linop/ignored.hpp
rm src/linop/exchange/walk.cu

expect '| | first | second |
| --- | --- | --- |
| files | 5 | 5 |
| headers | 1 | 1 |
| lines written by hand | 21 | 17 |
| lines generated | 3 | 3 |
| lines of a file, median | 4 | 4 |
| lines of a header, median | 2 | 2 |
| files in a folder, median | 2.5, at most 3 (src/linop/exchange) | 1, at most 3 (src/linop/exchange) |
| sources (.cpp, .cu) in a folder, median | 2, at most 3 (src/linop/exchange) | 2, at most 3 (src/linop/exchange) |
| public headers in C | 4 | 4 |
| public C calls | 3 | 4 |
| comment lines of .cpp | 54.5 % | 50.0 % |
| comment lines of .cpp, comm | 66.7 % | - |
| comment lines of .cpp, linop | 40.0 % | 50.0 % |' first second
expect '| | working tree |
| --- | --- |
| files | 5 |
| headers | 2 |
| lines written by hand | 12 |
| lines generated | 3 |
| lines of a file, median | 2 |
| lines of a header, median | 1.5 |
| files in a folder, median | 2, at most 2 (src/linop) |
| sources (.cpp, .cu) in a folder, median | 1.5, at most 2 (src/linop/exchange) |
| public headers in C | 4 |
| public C calls | 4 |
| comment lines of .cpp | 50.0 % |
| comment lines of .cpp, linop | 50.0 % |'
if "$counter" third 2>output || ! grep -q 'with commits that it has' output; then
  echo "a commit that is not there is no error:"
  cat output
  failed=1
fi
exit "$failed"
