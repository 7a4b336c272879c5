#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_stability.py SOURCE_DIR [--record]
Checks that each public header says in its first 20 lines whether it is stable or experimental, and that the table of
doc/1.0.md lists exactly these headers with the same words. Also that the enumerators listed in config/abi/enumerators have the
numbers of this list, which programs contain once they are compiled; --record writes it."""
import re
import sys
from pathlib import Path

# They declare nothing that is called.
WITHOUT = {'tenon/export.h', 'tenon/mpi.h'}
LINE = re.compile(r'^ \*  This header is (stable|experimental) \(doc/1\.0\.md\)\.$', re.M)

# In an enumeration, and in the table of error codes.
ENUMERATOR = re.compile(r'^  (TENON_\w+) = (\d+),?(?= |$)|^  X\((\w+), (\d+), ', re.M)

source = Path(sys.argv[1])
record = source / 'config/abi/enumerators'
said, numbers = {}, {}
for path in sorted((source / 'include').glob('tenon/**/*.h')):
    numbers.update((name or f'TENON_{code}', number or code_number)
                   for name, number, code, code_number in ENUMERATOR.findall(path.read_text()))
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
if sys.argv[2:] == ['--record']:
    record.write_text('# SPDX-License-Identifier: BSD-2-Clause\n' + ''.join(f'{name} {numbers[name]}\n' for name in sorted(numbers)))
recorded = dict(line.split() for line in record.read_text().splitlines() if not line.startswith('#'))
faults += [f'fault: {name} is {numbers.get(name, "removed")}, and was {number}; append new enumerators, or, where no release had '
           f'this one yet: {sys.argv[0]} {source} --record' for name, number in recorded.items() if numbers.get(name) != number]
print('\n'.join(faults) if faults else f'{len(table)} headers are stable or experimental as doc/1.0.md says, and {len(recorded)} '
      'enumerators have their numbers')
sys.exit(bool(faults) or not table or not recorded)
