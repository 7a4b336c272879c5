#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_stability.py SOURCE_DIR
Checks that each public header says in its first 20 lines whether it is stable or experimental, and that the table of
doc/1.0.md lists exactly these headers with the same words."""
import re
import sys
from pathlib import Path

# They declare nothing that is called.
WITHOUT = {'tenon/export.h', 'tenon/mpi.h'}
LINE = re.compile(r'^ \*  This header is (stable|experimental) \(doc/1\.0\.md\)\.$', re.M)

source = Path(sys.argv[1])
said = {}
for path in sorted((source / 'include').glob('tenon/**/*.h')):
    found = LINE.findall('\n'.join(path.read_text().splitlines()[:20]))
    said[path.relative_to(source / 'include').as_posix()] = found[0] if len(found) == 1 else None
table = {}
for names, state in re.findall(r'^\| ((?:tenon/\S+\.h(?:, )?)+) \|.*\| (\w+) \|$', (source / 'doc/1.0.md').read_text(), re.M):
    for name in names.split(', '):
        if name in table:
            print(f'fault: doc/1.0.md names {name} twice')
            sys.exit(1)
        table[name] = state
faults = [f'fault: {name} says "{said.get(name)}", doc/1.0.md "{table.get(name)}"'
          for name in sorted((said.keys() | table.keys()) - WITHOUT) if said.get(name) is None or said[name] != table.get(name)]
print('\n'.join(faults) if faults else f'{len(table)} headers are stable or experimental as doc/1.0.md says')
sys.exit(bool(faults) or not table)
