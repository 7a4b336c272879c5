#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: sbatch_restart.sh SLURM_TEST FOLDER SCRIPT TUTORIALS
# The job script of lenet5, interrupted as at a time limit and submitted again: it continues from the
# checkpoint that it wrote on SIGTERM.
# shellcheck source=tests/slurm/common.sh
source "$(dirname "$0")/common.sh"
export TENON_TUTORIALS=$2
script=$1

# submit OUTPUT OPTIONS...: prints the number of the job.
submit() {
  local output=$1
  shift
  sbatch --parsable --time=60 --output="$output" "$script" -network linear -batch 500 "$@"
}

job=$(submit first -epochs 4000) || fail "not submitted: $job"
until grep -qs "^epoch" first; do # it trains
  sleep 0.1
  squeue -h -j "$job" 2>/dev/null | grep -q . || fail "the job has ended:" "$(cat first)"
done
scancel --signal=TERM "$job"
while squeue -h -j "$job" 2>/dev/null | grep -q .; do sleep 0.1; done
step=$(sed -n 's/^signal 15: stopped after step \([0-9]*\);.*/\1/p' first)
[[ -n $step ]] || fail "not stopped by SIGTERM:" "$(cat first)"
sbatch --wait --time=60 --output=second "$script" -network linear -batch 500 -epochs 1 >submitted ||
  fail "the second job ended with $?" "$(cat submitted second)"
grep -q "restart from run1: step $step" second || fail "no restart from step $step:" "$(cat second)"
