#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: lenet5.sh SLURM_TEST FOLDER LENET5
# LeNet-5 on two nodes learns as on one process.
# shellcheck source=tests/slurm/common.sh
source "$(dirname "$0")/common.sh"
# The loss of the epoch to four digits.
loss() {
  sed -n 's/^epoch  1 of .*: loss \([0-9]*\.[0-9]\{4\}\).*/\1/p'
}
alone=$(TENON_OPTIONS='' "$1" -epochs 1 -batch 1000) || fail "$alone"
said=$(on_two_nodes "$1" -epochs 1 -batch 1000 -grid 2x2) || fail "$said"
[[ -n $(loss <<<"$alone") && $(loss <<<"$said") == "$(loss <<<"$alone")" ]] || fail "another loss:" "$alone" "$said"
