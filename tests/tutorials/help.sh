#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A program that owns its command line prints its help and options for -help, once, and ends well; a
# misspelt option is an error that names the nearest.
# usage: help.sh MPIEXEC NUMPROC_FLAG PROGRAM OPTION
set -u
mpiexec=$1 flag=$2 program=$3 option=$4
name=$(basename "$program")

said=$("$mpiexec" "$flag" 2 "$program" -help 2>&1)
if [[ $? != 0 || $said != *"  -$option "*"(default: "*"-tenon_help"* ||
      $(grep -c -- "^  -$option " <<<"$said") != 1 ]]; then
  printf '%s -help should print its options and end with 0, but says:\n%s\n' "$name" "$said" >&2
  exit 1
fi
said=$("$mpiexec" "$flag" 2 "$program" "-x$option" 3 2>&1)
if [[ $? == 0 || $said != *"unknown option '-x$option'"*"did you mean '-$option'"* ]]; then
  printf '%s -x%s should be refused, but says:\n%s\n' "$name" "$option" "$said" >&2
  exit 1
fi
