#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_spack.py ROOT
The Spack recipe is valid Python; each TENON_ option that it sets is one of CMake's, each variant is used, and each
package that the build requires has its depends_on."""
import ast
import re
import sys
from pathlib import Path

# What CMakeLists.txt finds, and the packages of Spack that provide it.
PROVIDED = {'MPI': 'mpi', 'fmt': 'fmt', 'DNNL': 'onednn', 'CBLAS': 'blas', 'nlohmann_json': 'nlohmann-json',
            'ZLIB': 'zlib-api', 'hwloc': 'hwloc'}


def first_arguments(tree, function):
    return [call.args[0].value for call in ast.walk(tree)
            if isinstance(call, ast.Call) and call.args and isinstance(call.args[0], ast.Constant)
            and getattr(call.func, 'id', getattr(call.func, 'attr', '')) == function]


def main():
    root = Path(sys.argv[1])
    text = (root / 'share/spack/packages/tenon/package.py').read_text()
    tree = ast.parse(text)
    faults = []
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    if classes != ['Tenon']:
        faults.append(f'the recipe has the classes {classes}; it must have Tenon')
    sources = [root / 'CMakeLists.txt', *sorted((root / 'config/cmake').glob('*.cmake'))]
    cmake = '\n'.join(path.read_text() for path in sources)
    options = set(re.findall(r'^\s*(?:option|set)\((TENON_\w+)', cmake, re.MULTILINE))
    for option in re.findall(r'"(TENON_\w+)"', text):
        if option not in options:
            faults.append(f'{option} is no option of CMake')
    for variant in first_arguments(tree, 'variant'):
        if f'"{variant}")' not in text and f'~{variant}' not in text:
            faults.append(f'the variant {variant} has no effect')
    packages = {re.match(r'[\w-]+', name).group() for name in first_arguments(tree, 'depends_on')}
    for found in re.findall(r'^find_package\((\w+)', (root / 'CMakeLists.txt').read_text(), re.MULTILINE):
        if found != 'OpenMP' and PROVIDED.get(found) not in packages:
            faults.append(f'nothing that the recipe depends on provides {found}')
    for fault in faults:
        print('fault:', fault)
    sys.exit(1 if faults else 0)


main()
