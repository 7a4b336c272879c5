#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_licence.sh ROOT
# Every source file, script and build file names its licence within its first three lines.
set -euo pipefail
cd "$1"
find CMakeLists.txt .ci config include src tests tutorials -type f \
  \( -regex '.*\.\(c\|h\|cpp\|hpp\|cu\|cuh\|f90\|sh\|py\|cmake\|in\|map\)' -o -name CMakeLists.txt \
  -o -path 'config/*' -o -path '.ci/*' \) -print0 |
  sort -z | xargs -0 awk '
    FNR == 1 { files[++n] = FILENAME }
    FNR <= 3 && /SPDX-License-Identifier: BSD-2-Clause/ { named[FILENAME] }
    FNR == 3 { nextfile }
    END {
      for (i = 1; i <= n; ++i)
        if (!(files[i] in named)) {
          print "fault: " files[i] " has no line \047SPDX-License-Identifier: BSD-2-Clause\047 at its top"
          status = 1
        }
      exit status
    }'
