#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: options.sh MPIEXEC FLAG PROGRAM SCRATCH
# The options of a network and of the library come from PETSc's command line, PETSC_OPTIONS, -options_file and .petscrc; PETSc
# reports none of them as left over, and an error is printed once.
set -uo pipefail
mpiexec=$1 flag=$2 program=$3 scratch=$4
rm -rf "$scratch"
mkdir -p "$scratch"
cd "$scratch" || exit 1

# shows NAME COMMAND...: Tenon's log, which -tenon_log_view asks for, and no complaint. -tenon_check_ghosts is the network's.
shows() {
  local name=$1 said
  shift
  said=$("$@" 2>&1) || { printf 'fault: %s: the program failed\n%s\n' "$name" "$said"; exit 1; }
  if [[ $said != *"stage main"* || $said != *"There are no unused options"* ]]; then
    printf 'fault: %s: no log, or a complaint:\n%s\n' "$name" "$said"
    exit 1
  fi
}
run=("$mpiexec" "$flag" 2 "$program" -options_left)
both='-tenon_log_view -tenon_check_ghosts'
# shellcheck disable=SC2086
shows "command line" "${run[@]}" $both
PETSC_OPTIONS=$both shows "PETSC_OPTIONS" "${run[@]}"
printf -- '%s\n' $both >file.opt
shows "-options_file" "${run[@]}" -options_file file.opt
printf -- '%s\n' $both >.petscrc
shows ".petscrc" "${run[@]}"
rm .petscrc
# The command line precedes the others, as in PETSc.
PETSC_OPTIONS="-tenon_log_view true" "${run[@]}" -tenon_log_view false 2>&1 | grep -q "stage main" &&
  { echo "fault: PETSC_OPTIONS precedes the command line"; exit 1; }
# An option that Tenon does not know is one error, and is printed once.
said=$("$mpiexec" "$flag" 1 "$program" -tenon_log_vieuw 2>&1) && { echo "fault: a misspelt option was taken"; exit 1; }
count=$(grep -c "tenon_log_vieuw'\? \|unknown option" <<<"$said")
[[ $said != *"called from"* ]] || { printf 'fault: Tenon prints a frame of the error too:\n%s\n' "$said"; exit 1; }
[[ $count -eq 1 ]] || { printf 'fault: the error is printed %s times:\n%s\n' "$count" "$said"; exit 1; }
