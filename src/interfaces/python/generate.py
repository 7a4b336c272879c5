#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: generate.py INCLUDE FILE
Writes the module calls.py of the Python package: a class for each class of the public headers in INCLUDE, with a
member for each function, its documentation included, and the enumerations; and the stubs calls.pyi for type checkers.
The hand-written part is in the folder tenon: the library, errors, arrays, the session. An argument form without a rule
ends the script with a message: add a kind to kinds.py, or a row to tables.py."""
import re
import sys
import textwrap
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from call import Call, signature
from headers import Headers
from member import class_of
from tables import BASES, BY_HAND

NOTE = 'Made by src/interfaces/python/generate.py from the public headers of C.'
HEAD = f'''# SPDX-License-Identifier: BSD-2-Clause
"""{NOTE} Do not edit."""
# ruff: noqa
from __future__ import annotations

import enum
import os
from typing import Any, Callable, NamedTuple, Sequence, TYPE_CHECKING

from .arrays import Arrays as _Arrays
from .objects import Grid as _Grid, Laid as _Laid, Object as _Object, Typed as _Typed
from .plans import Planned as _Planned
'''
RUNTIME = '''from .runtime import (address as _address, buffer as _buffer, check as _check, check_held as _check_held,
                      communicator as _communicator, data_type as _data_type, double as _double,
                      encode as _encode, encoded as _encoded, from_communicator as _from_communicator,
                      function as _function, handle as _handle, handles as _handles, hold as _hold, int as _int,
                      keep as _keep, length as _length, list as _list, long as _long, member as _member,
                      pointer as _pointer, product as _product, ref as _ref, release as _release, size as _size,
                      text as _text, to_communicator as _to_communicator, callback as _callback)

if TYPE_CHECKING:
    from typing_extensions import Self
    from mpi4py import MPI
    from .runtime import DataTypeLike
'''
STUBS = '''from mpi4py import MPI
from typing_extensions import Self

from .runtime import DataTypeLike
'''


def enumeration(name, items):
    """Returns the lines of an enumeration, whose items omit the common part of their names."""
    first = [item.split('_') for item, _ in items]
    shared = 1
    while len(items) > 1 and name != 'TenonErrorCode' and len({tuple(parts[:shared + 1]) for parts in first}) == 1:
        shared += 1
    lines = [f'class {class_of(name)}(enum.IntEnum):']
    return lines + [f'    {"_".join(item.split("_")[shared:])} = {value}' for item, value in items] + ['', '']


def is_generated(function, headers):
    return function.name not in BY_HAND and function.name not in {handle + 'Destroy' for handle in headers.handles}


def named_tuples(calls):
    lines, seen = ['class Box(NamedTuple):', '    """First indices, and one past the last ones."""',
                   '    low: list[int]', '    high: list[int]', '', ''], {}
    for call in calls:
        if len(call.results) > 1 and call.result_class()[1]:
            name, fields = call.result_class()
            if seen.setdefault(name, call) is not call:
                raise SystemExit(f'{call.function.name}: {name} is of {seen[name].function.name} already')
            lines += [f'class {name}(NamedTuple):', f'    """What {call.full_name()}() returns."""',
                      *[f'    {field}: {type}' for field, type in fields], '', '']
    return lines


def members_of(handle, calls):
    """Returns the members of a class: constructors first, then static members."""
    own = [call for call in calls if call.owner == handle]
    return sorted(own, key=lambda call: (not call.is_constructor, not call.is_static))


def class_lines(handle, headers, calls, names):
    brief = headers.briefs.get(handle, '')
    lines = [f'class {class_of(handle)}({BASES.get(handle, "_Object")}):',
             f'    """{brief[:1].upper()}{brief[1:]}."""', f"    _class, __slots__ = '{handle}', ()", '']
    own = members_of(handle, calls)
    if handle not in BASES and not any(call.is_constructor for call in own):
        makers = sorted(call.full_name() + '()' for call in own if call.is_static and call.returns() == class_of(handle))
        made = ', '.join(makers) if makers else 'other objects'
        lines += ['    def __init__(self) -> None:', f"        raise TypeError('{class_of(handle)} objects are made by {made}')", '']
    for call in own:
        lines += call.lines(names, '    ') + ['']
    return lines + ['']


def stubs(headers, calls):
    """Returns the stubs for type checkers: calls.py without bodies. Members of all classes are
    in the base of Object."""
    lines = [HEAD + STUBS, *public_names(headers, calls), '', '']
    lines += [line for name, items in headers.enums.items() for line in enumeration(name, items)]
    lines += named_tuples(calls)
    lines += ['class _Members:', *[line for call in members_of('TenonObject', calls) for line in call.stub('    ')], '', '']
    for handle in headers.handles:
        own = [line for call in members_of(handle, calls) for line in call.stub('    ')]
        lines += [f'class {class_of(handle)}({BASES.get(handle, "_Object")}):', *(own or ['    ...']), '', '']
    lines += [line for call in calls if not call.owner for line in call.stub('')]
    return lines


def public_names(headers, calls):
    found = [class_of(name) for name in [*headers.enums, *headers.handles]] + ['Box']
    found += [call.result_class()[0] for call in calls if len(call.results) > 1 and call.result_class()[1]]
    found = ', '.join(map(repr, sorted(found + [call.name for call in calls if not call.owner])))
    return ['__all__ = [', *textwrap.wrap(found, 116, initial_indent='    ', subsequent_indent='    '), ']']


def main():
    headers = Headers(Path(sys.argv[1]))
    calls = [Call(function, headers) for function in headers.functions if is_generated(function, headers)]
    names = {call.function.name: call.full_name() for call in calls}
    names |= {name: place.split(',')[0].split('()')[0] for name, place in BY_HAND.items() if re.match(r'\w+(\.\w+)?\(\)', place)}
    seen = {}
    for call in calls:
        if seen.setdefault((call.owner, call.name), call) is not call:
            raise SystemExit(f'{call.function.name}: {call.full_name()} is {seen[call.owner, call.name].function.name} '
                             'already; add a row to NAMES')
    lines = [HEAD + RUNTIME, '', *public_names(headers, calls), '', '']
    lines += [line for name, items in headers.enums.items() for line in enumeration(name, items)]
    lines += [call.declaration() for call in calls] + ['', '']
    lines += named_tuples(calls)
    of_all = [call for call in calls if call.owner == 'TenonObject']
    lines += ['class _Members:', '    """What all classes have."""', '    __slots__ = ()', '']
    lines += [line for call in of_all for line in call.lines(names, '    ') + ['']] + ['']
    lines += [line for handle in headers.handles for line in class_lines(handle, headers, calls, names)]
    lines += [line for call in calls if not call.owner for line in call.lines(names, '') + ['', '']]
    lines += ['# The members by the calls of C that error messages name.', 'NAMES = {',
              *[f'    {name!r}: {own!r},' for name, own in sorted(names.items())], '}', '']
    lines += ['SIGNATURES = {', *[signature(c, headers) for c in headers.callbacks.values()], '}', '']
    lines += ['_Object._complete(globals())']
    for ending, text in (('.py', lines), ('.pyi', stubs(headers, calls))):
        Path(sys.argv[2]).with_suffix(ending).write_text('\n'.join(text) + '\n')
    print(f'{len(calls)} members and functions of {len(headers.functions)}, {len(headers.handles)} classes')


main()
