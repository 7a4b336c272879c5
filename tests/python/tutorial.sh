#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: tutorial.sh EXPECTED COMMAND...
# The command prints what stands in the file EXPECTED. It may be skipped (77), where a package of Python is missing.
set -uo pipefail
expected=$1
shift
printed=$("$@")
status=$?
[[ $status -eq 0 ]] || exit "$status"
diff "$expected" - <<<"$printed"
