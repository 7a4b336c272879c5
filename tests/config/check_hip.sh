#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_hip.sh WANTED CMAKE BUILD
# Compiles the device code for AMD's devices (config/cmake/TenonHIP.cmake) in the folder BUILD, where WANTED says so.
set -euo pipefail
case $1 in
  ON | TRUE | YES | 1) ;;
  *) echo "skipped: TENON_HIP is $1" && exit 77 ;;
esac
"$2" --build "$3" --target tenon_hip_objects
