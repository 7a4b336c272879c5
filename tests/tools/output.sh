#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What the commands print: nothing on standard error where all is well, the help that is asked for, and
# a failure where the output cannot be written.
# usage: output.sh MPIEXEC NUMPROC_FLAG TENON
set -u
mpiexec=$1 flag=$2 tenon=$3
status=0

fail() {
  printf '%s\n' "$@" >&2
  status=1
}

# lost WORD...: a lost output is no success.
lost() {
  local said
  said=$("$tenon" "$@" 2>&1 >/dev/full)
  [[ $? == 1 && $said == *"cannot write the output"* ]] ||
    fail "tenon $* with a full output should end with 1, but says:" "$said"
}
if [[ -w /dev/full ]]; then
  lost help
  lost version
  lost options
  lost info
  lost check -n 1
  lost plan placements -system 4 -axes 4
  lost check -help
  lost bench -help
  lost info -help
  lost plan simulate -help
fi

# helped PATTERN WORD...
helped() {
  local pattern=$1 said
  shift
  said=$("$mpiexec" "$flag" 2 "$tenon" "$@" 2>&1)
  [[ $? == 0 && $said == *$pattern* && $said == *"default: "* ]] ||
    fail "tenon $* should print its help, but says:" "$said"
  [[ $(grep -c -e "$pattern" <<<"$said") == 1 ]] || fail "several ranks print the help:" "$said"
}
helped "tenon check: " check -help
helped "tenon bench: " bench --help
helped "tenon info: " info -h

# on_screen STATUS PATTERN WORD...: no more than 24 lines of 80 columns.
on_screen() {
  local expected=$1 pattern=$2 said
  shift 2
  said=$("$tenon" "$@" 2>&1)
  [[ $? == "$expected" && $said == *$pattern* && $(wc -l <<<"$said") -le 24 && $(wc -L <<<"$said") -le 80 ]] ||
    fail "tenon $* should end with $expected and print '$pattern' on one screen, but says:" "$said"
}
on_screen 2 "usage: tenon COMMAND"
for word in -h -help --help help; do
  on_screen 0 "usage: tenon COMMAND" $word
done
for words in "help plan" "plan -help" "plan -h" "plan --help"; do
  # shellcheck disable=SC2086
  on_screen 0 "  network      choose the parallelism" $words
done
on_screen 0 "usage: tenon checkpoint FILE" checkpoint -help
on_screen 0 "usage: tenon checkpoint FILE" help checkpoint
on_screen 0 "tenon errors: print the error codes" help errors
on_screen 0 "tenon version: print the version" version -h
said=$("$tenon" help plam 2>&1)
[[ $? == 2 && $said == *"unknown command 'plam'; did you mean 'plan'"* ]] || fail "tenon help plam says:" "$said"
[[ $("$tenon" help plan network) == "$("$tenon" plan network -help)" ]] || fail "two helps of tenon plan network"
helped "tenon check: " help check

said=$("$tenon" plan simulate -help 2>&1)
[[ $? == 0 && $said == *"tenon plan simulate: "*"-chart <text>"* ]] ||
  fail "tenon plan simulate -help says:" "$said"

said=$("$mpiexec" "$flag" 2 "$tenon" bench -repeat 1 2>&1 >/dev/null)
[[ $said != *TENON_ERR* ]] || fail "tenon bench prints errors:" "$said"
exit $status
