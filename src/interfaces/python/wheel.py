#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: wheel.py VERSION PACKAGE LICENCE FOLDER ABI=LIBRARY...
Writes tenon-VERSION-py3-none-PLATFORM.whl into FOLDER: the Python package PACKAGE with a shared library for each ABI of MPI,
openmpi or mpich, for pip (PEP 427). The libraries still need MPI and the others that they were linked to."""
import base64
import hashlib
import sys
import sysconfig
import zipfile
from pathlib import Path

METADATA = '''Metadata-Version: 2.1
Name: tenon
Version: {version}
Summary: Distributed neural-network layers for MPI simulation codes
License: BSD-2-Clause
Requires-Python: >=3.10
Requires-Dist: mpi4py
Requires-Dist: numpy
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
'''
WHEEL = 'Wheel-Version: 1.0\nGenerator: tenon\nRoot-Is-Purelib: false\nTag: {tag}\n'


def main():
    version, package, licence, folder = sys.argv[1], *map(Path, sys.argv[2:5])
    libraries = dict(argument.split('=', 1) for argument in sys.argv[5:])
    tag = 'py3-none-' + sysconfig.get_platform().replace('-', '_').replace('.', '_')
    info = f'tenon-{version}.dist-info'
    members = {f'tenon/{path.relative_to(package)}': path.read_bytes() for path in sorted(package.rglob('*'))
               if path.is_file() and '__pycache__' not in path.parts and path.name != 'built.py'}
    members['tenon/built.py'] = f"LIBRARY = None  # of a wheel: see library.py\nVERSION = '{version}'\n".encode()
    for abi, library in libraries.items():
        members[f'tenon/lib/{abi}/libtenon.so'] = Path(library).read_bytes()
    members[f'{info}/METADATA'] = METADATA.format(version=version).encode()
    members[f'{info}/WHEEL'] = WHEEL.format(tag=tag).encode()
    members[f'{info}/LICENSE'] = licence.read_bytes()
    record = [f'{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()},{len(data)}'
              for name, data in members.items()]
    members[f'{info}/RECORD'] = '\n'.join([*record, f'{info}/RECORD,,', '']).encode()
    path = folder / f'tenon-{version}-{tag}.whl'
    with zipfile.ZipFile(path, 'w', zipfile.ZIP_DEFLATED) as wheel:
        for name, data in members.items():
            wheel.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
    print(path)


main()
