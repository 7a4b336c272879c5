#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: ran.py RAN FILE.ptx ...

Checks that tests run all CUDA kernels. RAN is the file in which the stand-in for CUDA has noted the names of the
kernels that ran in any test (TENON_STANDIN_RAN); the PTX files contain all kernels of the library. Prints the kernels
that are not in RAN and fails if there are any: such a kernel needs a test, or is an instance of a template that is
never launched and must be removed."""
import re
import shutil
import subprocess
import sys
from pathlib import Path


def readable(names):
    """Returns names for messages: entry<EachElement<Relu<float>>> for the mangled name of the kernel
    void tenon::device::entry<tenon::device::EachElement<...> >(...)"""
    if names and shutil.which('c++filt'):
        names = subprocess.run(['c++filt'], input='\n'.join(names), capture_output=True, text=True,
                               check=True).stdout.splitlines()
    return [re.sub(r'^void |\w+::|(?<=>) (?=>)', '', name.partition('(')[0]) for name in names]


def main(ran, *files):
    there = {(Path(file).name, name) for file in files
             for name in re.findall(r'\.entry\s+([\w$]+)', Path(file).read_text())}
    seen = set(Path(ran).read_text().split()) if Path(ran).exists() else set()
    missing = sorted(kernel for kernel in there if kernel[1] not in seen)
    for (file, _), name in zip(missing, readable([name for _, name in missing])):
        print(f'{file}: no test runs {name}')
    print(f'{len(there) - len(missing)} of {len(there)} kernels ran')
    return 1 if missing else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
