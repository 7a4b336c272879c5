#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: sbatch_heat.sh SLURM_TEST FOLDER SCRIPT TUTORIALS EXPECTED
# The job script of tutorial 05.
# shellcheck source=tests/slurm/common.sh
source "$(dirname "$0")/common.sh"
export TENON_TUTORIALS=$2
sbatch --wait --time=60 --output=printed --error=errors "$1" >submitted || fail "the job ended with $?" "$(cat submitted printed errors)"
diff "$3" printed
