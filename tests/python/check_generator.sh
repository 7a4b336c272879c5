#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# usage: check_generator.sh PYTHON SOURCE SCRATCH
# Every call of the headers is in the Python package, by the generator or by a row that says where, and in its stubs as in
# its code; a declaration of which the generator does not know what it becomes ends it with a message that names the function.
set -euo pipefail
python=$1 source=$2 scratch=$3
rm -rf "$scratch"
mkdir -p "$scratch/include"
export PYTHONDONTWRITEBYTECODE=1
generate=$source/src/interfaces/python/generate.py
"$python" "$generate" "$source/include" "$scratch/calls.py"
"$python" -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "$scratch/calls.py"
"$python" - "$source" "$scratch/calls.py" <<'CHECK'
import ast
import re
import sys
from pathlib import Path
source, made = Path(sys.argv[1]), Path(sys.argv[2]).read_text()
sys.path[:0] = [str(source / 'src/interfaces/python'), str(source / 'src/interfaces')]
from tables import BY_HAND
declared = set()
for header in (source / 'include/tenon').rglob('*.h'):
    declared |= set(re.findall(r'TENON_EXTERN[^;]*?\b(Tenon\w+)\(', header.read_text()))
missing = {name for name in declared if f"_function('{name}'" not in made} - set(BY_HAND)
missing = {name for name in missing if not name.endswith('Destroy')}
stale = set(BY_HAND) - declared
if missing or stale:
    raise SystemExit(f'fault: not in Python: {sorted(missing)}; rows of calls that are not declared: {sorted(stale)}')


def heads(path):
    """Classes with their bases, and functions with their arguments, defaults and annotations."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, [ast.unparse(base) for base in node.bases]
            members = [member for member in node.body if isinstance(member, ast.FunctionDef)]
        else:
            members = [node] if isinstance(node, ast.FunctionDef) else []
        for f in members:
            yield getattr(node, 'name'), f.name, ast.unparse(f.args), ast.unparse(f.returns), [ast.unparse(d) for d in f.decorator_list]


made, stub = (list(map(str, heads(Path(sys.argv[2]).with_suffix(ending)))) for ending in ('.py', '.pyi'))
raising = [head for head in made if "'__init__', 'self', 'None'" in head]  # of classes whose objects others make
if [head for head in made if head not in raising] != stub:
    raise SystemExit(f'fault: calls.pyi and calls.py differ: {sorted(set(made) - set(raising) ^ set(stub))[:5]}')
CHECK

generator=("$python" "$generate")
# shellcheck source=tests/support/refused_declarations.sh
source "$source/tests/support/refused_declarations.sh"
refuse_common "$scratch/odd.py"
refused 'no kind for the argument value' "$scratch/odd.py" <<'HEADER'
/** @brief Does something.
 *  @param[in] layer  layer
 *  @param[in] value  an argument of a type that no rule knows */
TENON_EXTERN TenonErrorCode TenonLayerOdd(TenonLayer layer, float value) TENON_NOEXCEPT;
HEADER
