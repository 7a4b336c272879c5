#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_licence.sh ROOT
# Every source file, script and build file names its licence within its first three lines.
set -euo pipefail
cd "$1"
status=0
while IFS= read -r file; do
  if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-2-Clause'; then
    echo "fault: $file has no line 'SPDX-License-Identifier: BSD-2-Clause' at its top"
    status=1
  fi
done < <(find CMakeLists.txt .ci config include src tests tutorials -type f \
  \( -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\|f90\|sh\|py\|cmake\|in\|map\)' -o -name CMakeLists.txt \
  -o -path 'config/*' -o -path '.ci/*' \) | sort)
exit "$status"
