#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: generate.py INCLUDE FOLDER [PROGRAM]
Writes the members of the classes of tenon.hpp for every public function, from the headers in INCLUDE, into FOLDER:
  object.hpp   how handles are destroyed, and the members that all classes have
  classes.hpp  the classes and the free functions, with the first sentence of each function's documentation
  calls.hpp    the bodies
and PROGRAM, a source that uses each of them, for the test that compares the functions it calls with those of the
headers. Handles, lists, texts, loans, errors and the session are written by hand, in include/tenon/cxx. An argument form
without a rule ends this script with a message: add a kind to arguments.py, or a row to tables.py."""
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))
from call import Call
from headers import Headers, write
from member import CONSTRUCTORS, ENDS_WITHIN, MEMBERS_OF, NAMES, RETURNED, class_of
from tables import BASES, BY_HAND, DEFAULTS, SETTERS

NOTE = 'Made by src/interfaces/cxx/generate.py from the public headers. Do not edit.'


def file(guard, brief, includes, body):
    guard = f'TENON_CXX_GENERATED_{guard}_HPP'
    return ['// SPDX-License-Identifier: BSD-2-Clause', f'// {NOTE}', '// clang-format off', '/** @file',
            f' *  @brief Part of tenon.hpp: {brief} */', f'#ifndef {guard}', f'#define {guard}', '',
            *[f'#include <{name}>' if name else '' for name in includes], '', 'namespace tenon {', '', *body, '',
            '} // namespace tenon', '', '#endif']


def is_generated(function, headers):
    destroys = {handle + 'Destroy' for handle in headers.handles}
    return function.name not in BY_HAND and function.name not in destroys


def of(calls, owner):
    return [call for call in calls if call.owner == owner]


def check_names(calls):
    """Checks that two members of one name differ in their types and are both static or both not,
    and that no member hides one that all objects have."""
    overloads, members = {}, {}
    of_all = {call.name: call for call in of(calls, 'TenonObject')}
    for call in calls:
        name = '' if call.is_constructor else call.name
        first = members.setdefault((call.owner, name), call)
        others = [first] if bool(first.this) != bool(call.this) else []
        others += [of_all[name]] if call.owner and name in of_all else []
        for kinds in call.overloads():
            types = ' '.join(type.replace('const ', '').rstrip('&') for type in call.types(kinds))
            others.append(overloads.setdefault((call.owner, name, types), call))
        for other in others:
            if other is not call:
                raise SystemExit(f'{call.function.name}: {call.shown()} is {other.function.name} already; '
                                 'add a row to NAMES')


def object_header(headers, calls):
    body = ['namespace detail {', '']
    for handle in headers.handles:
        body += ['template <>', f'struct Destroy<{handle}> {{',
                 f'  static void call({handle}* handle) noexcept {{', f'    {handle}Destroy(handle);', '  }', '};']
    body += ['', '} // namespace detail', '',
             '/** @brief One reference to an object: what all classes have. */', 'template <class Class, class C>',
             'class Object : public Handle<C> {', 'public:', '  using Handle<C>::Handle;', '']
    for call in of(calls, 'TenonObject'):
        body += call.declarations()
    body += ['};', '']
    for call in of(calls, 'TenonObject'):
        body += call.definitions()
    return file('OBJECT', 'what all objects have.', ['tenon/cxx/handle.hpp', '', 'string'], body)


def base_of(handle, headers):
    """Returns the base class: the members of all objects, set() and other hand-written members."""
    name = class_of(handle)
    base = f'Object<{name}, {handle}>'
    declared = {function.name for function in headers.functions}
    if any(SETTERS <= {name[len(owner):] for name in declared if name.startswith(owner)}
           for owner in ('TenonObject', handle)):
        base = f'Settings<{name}, {base}>'
    return f'{BASES[handle]}<{base}>' if handle in BASES else base


def class_body(handle, headers, calls):
    name, base, brief = class_of(handle), base_of(handle, headers), headers.briefs.get(handle)
    constructor = base.split('<')[0].split('::')[-1]
    lines = [f'/** @brief {handle}{": " + brief if brief else ""}. */', f'class {name} : public {base} {{', 'public:',
             f'  using {constructor}::{constructor};',
             '  /** A second reference to the same object. */',
             f'  {name} share(const Where& where = Where::current()) const {{',
             f'    return {name}(this->retained(where));', '  }']
    for call in sorted(of(calls, handle), key=lambda c: (not c.is_constructor, not c.is_static)):
        lines += call.declarations()
    return lines + ['};', '']


def classes_header(headers, calls):
    body = [f'class {class_of(handle)};' for handle in headers.handles] + ['']
    for handle in headers.handles:
        body += class_body(handle, headers, calls)
    for call in of(calls, None):
        body += call.declarations('')
    includes = ['tenon/cxx/generated/object.hpp', 'tenon/cxx/loan.hpp', 'tenon/cxx/settings.hpp', 'tenon/ext/error.h',
                'tenon/ext/fortran.h', 'tenon/ext/layer.h', 'tenon/ext/linearop.h', 'tenon/ext/machine.h', 'tenon/ext/options.h',
                'tenon/ext/reduction.h', '', 'string', 'string_view', 'vector']
    return file('CLASSES', 'the classes, with a member for each function.', includes, body)


def calls_header(headers, calls):
    body = []
    for call in calls:
        if call.owner != 'TenonObject':
            body += call.definitions()
    includes = ['tenon/cxx/generated/classes.hpp', '', 'utility']
    return file('CALLS', 'the bodies of the members.', includes, body)


def program(headers, calls):
    body = ['// SPDX-License-Identifier: BSD-2-Clause', f'// {NOTE}',
            '// The address of each member, so that the compiler has to find it and to call the function of C.',
            '// clang-format off', '#include <tenon.hpp>', '', 'namespace tenon {', 'namespace every {', '']
    for handle in headers.handles:
        body.append(f'{class_of(handle)} share{class_of(handle)}(const {class_of(handle)}& x) {{ return x.share(); }}')
    for number, call in enumerate(calls):
        if call.owner != 'TenonObject':
            body += [f'// {call.function.name}', *call.uses(number)]
    body += ['', '} // namespace every', '']
    body += [f'template class Object<{class_of(handle)}, {handle}>;' for handle in headers.handles]
    return body + ['', '} // namespace tenon']


def report_rows(headers):
    """Reports rows of tables.py for functions that are not declared, which can be removed."""
    rows = {*BY_HAND, *MEMBERS_OF, *CONSTRUCTORS, *RETURNED, *ENDS_WITHIN, *(name for name, _ in DEFAULTS),
            *(name for name in NAMES if name.startswith('Tenon'))}
    for name in sorted(rows - {function.name for function in headers.functions}):
        print(f'tables.py has a row for {name}, which is not declared')


def main():
    include, folder = Path(sys.argv[1]), Path(sys.argv[2])
    headers = Headers(include)
    calls = [Call(function, headers) for function in headers.functions if is_generated(function, headers)]
    check_names(calls)
    files = {folder / 'object.hpp': object_header(headers, calls),
             folder / 'classes.hpp': classes_header(headers, calls),
             folder / 'calls.hpp': calls_header(headers, calls)}
    if len(sys.argv) > 3:
        files[Path(sys.argv[3])] = program(headers, calls)
    for path, lines in files.items():
        write(path, lines)
    report_rows(headers)
    print(f'{len(calls)} members and functions of {len(headers.functions)}, {len(headers.handles)} classes')


main()
