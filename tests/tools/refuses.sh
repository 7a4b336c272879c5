#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Wrong words on the command line of check and bench: status 2, and a message that helps.
# usage: refuses.sh MPIEXEC NUMPROC_FLAG TENON
set -u
mpiexec=$1 flag=$2 tenon=$3
status=0

try() {
  local ranks=$1 pattern=$2 said
  shift 2
  said=$("$mpiexec" "$flag" "$ranks" "$tenon" "$@" 2>&1)
  [[ $? == 2 && $said == *"$pattern"* ]] && return
  printf 'tenon %s on %s ranks should be refused with "%s", but says:\n%s\n' "$*" "$ranks" \
    "$pattern" "$said" >&2
  return 1
}

# refused RANKS PATTERN WORD...: all at once, since the launcher takes its time to end after an error.
tries=()
refused() {
  try "$@" &
  tries+=($!)
}

refused 2 "'-only'" check -onli halo
refused 2 "expected an integer" check -n many
refused 2 "unknown argument 'halo'" check halo
refused 2 "unknown argument 'halo'" check -n 3 halo
refused 2 "-n is -3" check -n -3
refused 2 "-case -2" check -case -2
refused 2 "no kind of configuration contains 'hola'; the kinds are conversion, halo" check -only hola
refused 2 "-space is 'gpu'" check -space gpu
# Also where there is one, a GPU or the stand-in.
export CUDA_VISIBLE_DEVICES='' TENON_STANDIN_FAIL=cudaGetDeviceCount:1
refused 2 "there is no device: " check -space device
refused 2 "there is no device: " bench -space device
refused 1 "at least 2 ranks" bench
refused 2 "-repeat is 0" bench -repeat 0
refused 2 "-space is 'there'" bench -space there
refused 1 "did you mean 'check'" chek
# Of what a terminal would obey.
refused 1 "unknown command 'ch\x1b[2Jek'" $'ch\e[2Jek'
refused 2 "unknown argument 'ha\x1b[2Jlo'" check $'ha\e[2Jlo'
refused 2 "contains 'ho\x1b[2Jla'" check -only $'ho\e[2Jla'
for one in "${tries[@]}"; do
  wait "$one" || status=1
done
exit $status
