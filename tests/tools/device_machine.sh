#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A machine measured with arrays on the device says so, has rates for kernels, and prices a network.
# usage: device_machine.sh MPIEXEC NUMPROC_FLAG TENON_ON_DEVICE TENON
set -u
mpiexec=$1 flag=$2 measures=$3 plans=$4
file=$(mktemp)
trap 'rm -f "$file"' EXIT

"$mpiexec" "$flag" 2 "$measures" bench -machine_out "$file" -space device -repeat 1 || exit 1
grep -q '"arrays": "device"' "$file" || { echo "the file does not say where the arrays were" >&2; exit 1; }
said=$("$plans" plan network -network lenet5 -input 1,28,28 -batch 64 -processes 2 -model own -machine "$file") || exit 1
grep -E '^  plan +[0-9.]+ ms ' <<<"$said" || { echo "no time: $said" >&2; exit 1; }
