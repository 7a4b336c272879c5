#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: page.py INCLUDE [PAGE]
Writes to PAGE, or without it to the standard output, the page of the manual that lists every call
of the Fortran module, one per row, with its arguments in Fortran's order. Calls made from the
headers are described by the parts that make their subroutines; hand-written calls are read from the
sources next to this script."""
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parent / 'interfaces'))
from calls import Call
from generate import BY_HAND, LEFT_OUT
from headers import Headers, write

INTRODUCTION = """# Fortran: all calls

Made by `src/fortran/page.py` from the public headers; the test `fortran_interfaces` compares them. [Fortran](fortran.md) explains
how arguments of C become arguments of Fortran; what a call does in full is in the header that heads its table.

- The arguments are in the order of Fortran. Those in brackets are optional and follow the others; with one of them
  omitted, pass the next by its name: `call tenon_layer_test_adjoint(layer, seed, relative=difference)`.
- Every call but a function has a last optional argument `ierr`, which is not repeated here. Without it, an error ends the program.
- `name(:)` is a list; its length is its size. `name(..)` is an array of any rank and type.
- The second column names the arguments that return something. Texts and lists that return something are allocatable.
- `call tenon_destroy(object)`, `tenon_view`, `tenon_set_name` and the other calls of `tenon/object.h` take objects of all classes.
"""
SUBROUTINE = re.compile(r'^ *(subroutine|function) (\w+) *\(([^)]*)\)', re.M)
GENERIC = re.compile(r'^ *interface (\w+)\n(.*?)^ *end interface', re.M | re.S)
# Declarations of dummies, their types without parentheses inside those of the type.
DECLARATION = re.compile(r'^ *(?:type|class|integer|real|logical|character|procedure)\b[^\n]*?::[^\n]*', re.M)


def joined(text):
    """Returns a Fortran source without comments, with continued lines joined."""
    text = re.sub(r'&\s*\n\s*&?', '', text)
    return re.sub(r'^\s*!.*\n', '', text, flags=re.M)


def dummies_of(names, declarations):
    """Returns (name, shape, whether optional, whether returned) of each dummy argument except
    ierr."""
    found = {}
    for line in declarations:
        attributes, _, declared = line.partition('::')
        for item in re.split(r',\s*(?![^()]*\))', declared):
            name = item.split('(')[0].strip()
            any_rank = 'dimension(..)' in attributes or '(..)' in item
            shape = '(..)' if any_rank else '(:)' if '(:)' in item else ''
            returns = 'intent(out)' in attributes or ('intent(inout)' in attributes and 'class(*)' not in attributes
                                                      and not any_rank)
            found[name] = (name, shape, 'optional' in attributes, returns)
    return [found[name] for name in names if name != 'ierr']


def signature(name, dummies):
    """Returns the text of a call, with optional arguments in brackets, and the names of those that return
    something."""
    required = ', '.join(n + shape for n, shape, optional, _ in dummies if not optional)
    text = f'{name}({required}'
    for n, shape, optional, _ in dummies:
        if optional:
            text += f' [, {n}{shape}]' if required or '[' in text else f'[{n}{shape}]'
    returned = ', '.join(f'`{n}`' for n, _, _, returns in dummies if returns)
    return f'{text})', returned


def by_hand():
    """Returns the signatures of the calls in the hand-written sources, by the names that users call."""
    found = {}
    for path in ('tenon_arrays.f90', 'tenon_procedures.f90', 'tenon_start.f90'):
        text = joined((HERE / path).read_text())
        specific = {}
        for match in SUBROUTINE.finditer(text):
            names = [name.strip() for name in match[3].split(',') if name.strip()]
            end = text.find('end ' + match[1], match.end())
            declarations = DECLARATION.findall(text[match.end():end])
            specific.setdefault(match[2], signature(match[2], dummies_of(names, declarations)))
        found.update((name, value) for name, value in specific.items() if name.startswith('tenon_'))
        for name, body in GENERIC.findall(text):
            first = re.search(r'procedure (\w+)', body) or re.search(r'subroutine (\w+)', body)
            if name.startswith('tenon_') and first[1] in specific:
                call, returned = specific[first[1]]
                found[name] = call.replace(first[1], name, 1), returned
    return found


def made(call):
    """Returns the signature of a call that is generated from the headers."""
    for kind in call.kinds:
        kind.object_class = 'TenonLayer' if kind.argument.base == 'TenonObject' else None
    parts = call.parts('int64')
    return signature(call.public_name(), dummies_of(parts.dummies, parts.declarations))


def first_sentence(text):
    text = re.sub(r'\s*\(in [\w/.]+\)', '', text)
    match = re.match(r'.*?[.:](?=\s|$)', text)
    return (match[0] if match else text).rstrip('.:').replace('|', '\\|').replace('<', '&lt;')


def row(text, does):
    """Returns a row of the table: call, results, description."""
    call, returned = text
    return f'| `{call}` | {returned} | {does} |'


def main():
    headers = Headers(Path(sys.argv[1]))
    hand, lines, header, listed = by_hand(), [], None, set()
    for function in headers.functions:
        if function.name in LEFT_OUT:
            continue
        if function.header != header:
            header = function.header
            lines += ['', f'## {header}', '', '| call | returns | what it does |', '| --- | --- | --- |']
            if header == 'tenon/dtensor.h':
                lines += [row(hand[name], 'see [Arrays](fortran.md#arrays)') for name in sorted(hand)
                          if re.match(r'tenon_(place|get_(local_)?array|restore_array)', name)]
        call = Call(function, headers)
        name = call.public_name()
        if function.name in BY_HAND and name not in hand:
            raise SystemExit(f'{name} is written by hand, but no source beside page.py has it')
        if name not in listed:
            lines.append(row(hand[name] if function.name in BY_HAND else made(call), first_sentence(function.brief)))
        listed.add(name)
    contents = ', '.join(f'[{name}](#{re.sub("[^a-z_]", "", name)})' for name in
                         dict.fromkeys(f.header for f in headers.functions if f.name not in LEFT_OUT))
    write(Path(sys.argv[2] if len(sys.argv) > 2 else '/dev/stdout'), [INTRODUCTION + '\n' + contents, *lines])


if __name__ == '__main__':
    main()
