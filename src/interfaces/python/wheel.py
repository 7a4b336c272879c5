#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: wheel.py VERSION PACKAGE LIBRARY LICENCE FOLDER
Writes tenon-VERSION-py3-none-PLATFORM.whl into FOLDER: the Python package PACKAGE with the shared library inside, for pip
(PEP 427). The library still needs MPI and the others that it was linked to."""
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
    version, package, library, licence, folder = sys.argv[1], *map(Path, sys.argv[2:])
    tag = 'py3-none-' + sysconfig.get_platform().replace('-', '_').replace('.', '_')
    info = f'tenon-{version}.dist-info'
    members = {f'tenon/{path.relative_to(package)}': path.read_bytes() for path in sorted(package.rglob('*'))
               if path.is_file() and '__pycache__' not in path.parts and path.name != 'built.py'}
    members['tenon/built.py'] = f"LIBRARY = 'lib/libtenon.so'\nVERSION = '{version}'\n".encode()
    members['tenon/lib/libtenon.so'] = library.read_bytes()
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
