#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_names.py ROOT
Checks that each name Tenon... or tenon_... in the manual, the READMEs, comments of public headers and texts of the library is
declared: in a public header, in the Fortran module, in CMake's files, or as a command of config/environment.sh. Before "..." it
need only be the beginning of such a name. Not checked are options (the programs that use them check them) and names that the
code on a page declares itself."""
import re
import sys
from pathlib import Path

NAME = re.compile(r'(?<![\w\-./])(Tenon[A-Z]\w*|tenon_\w+)(\.\.\.|\*|…)?(\.\w+)?')
DECLARED = re.compile(r'\b(?:Tenon|tenon_)\w*')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.DOTALL)
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# In the fenced code of a page: functions, types and variables of the reader's program.
OWN = re.compile(r'^(?:subroutine|static \w+|def|typedef|type\b.*::) *\*?(\w+)', re.MULTILINE)


def declared_names(root):
    names = set()
    sources = [*root.glob('include/**/*.h*'), *root.glob('src/petsc/include/*.h'), *root.glob('src/petsc/*.c'), *root.glob('src/preload/*.c'), *root.glob('src/fortran/*.f90'),
               *root.glob('doc/fortran_calls.md'), *root.glob('config/cmake/*'), *root.glob('src/*/CMakeLists.txt'),
               root / 'config/environment.sh']
    for source in sources:
        text = source.read_text()
        if source.suffix in ('.h', '.hpp'):
            text = COMMENT.sub('', text)
        names |= {name.lower() if source.suffix == '.f90' else name for name in DECLARED.findall(text)}
    # The types of the Fortran module are made from the handles.
    return names | {re.sub(r'(?<=[a-z])(?=[A-Z])', '_', name.replace('DTensor', 'Dtensor').replace('LinearOp', 'Linearop')).lower()
                    for name in names if re.fullmatch(r'Tenon[A-Za-z]+', name)}


def read_text(page):
    """What a reader sees: of a source of the library its texts alone, on their lines."""
    text = page.read_text()
    if page.suffix not in ('.cpp', '.cu'):
        return text
    return '\n'.join(' '.join(TEXT.findall(line)) for line in text.splitlines())


def faults_of(page, names):
    text = read_text(page)
    own = set(OWN.findall(text))
    for number, line in enumerate(text.splitlines(), 1):
        for name, more, ending in NAME.findall(line):
            if more and any(known.startswith(name) for known in names):
                continue
            if name in names or name in own or (ending and name + ending in names):
                continue
            yield f'{page}:{number}: {name} is declared nowhere'


def main():
    root = Path(sys.argv[1])
    names = declared_names(root)
    # The page of all calls in Fortran is made from the headers, as another test checks.
    pages = [root / 'README.md', *sorted(set(root.glob('doc/*.md')) - {root / 'doc/fortran_calls.md'}), *sorted(root.glob('tutorials/**/README.md')),
             *sorted(root.glob('include/tenon/**/*.h')), *sorted(root.glob('src/**/*.cpp')), *sorted(root.glob('src/**/*.cu'))]
    faults = [fault for page in pages for fault in faults_of(page, names)]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
