#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_arguments.py INCLUDE
Checks that the comments of public functions, and of types of user functions, describe each argument as
generators of interfaces for other languages require. INCLUDE is the folder of the headers. The rules:
 1. The @param lines name all arguments of the prototype, in their order.
 2. The description of an array begins with its length: @param[in] shape  [ndim] extents.
 3. An argument that can be left out says so in its own @param: "May be NULL, in which case ...".
 4. A text is returned in one way: char text[], TenonInt length, TenonInt* needed.
 5. A pointer to a constant is [in]."""
import re
import sys
from pathlib import Path

COMMENT = r'/\*\*((?:(?!\*/).)*)\*/\s*'
FUNCTION = re.compile(COMMENT + r'TENON_EXTERN\s+(?P<result>[\w\s*]+?)\b(?P<name>Tenon\w+)\s*'
                      r'\((?P<arguments>[^()]*)\)\s*TENON_NOEXCEPT\s*;', re.S)
USER_FUNCTION = re.compile(COMMENT + r'typedef\s+\w+\s+\(\*(?P<name>Tenon\w+)\)\s*'
                           r'\((?P<arguments>[^()]*)\)\s*;', re.S)
DECLARED = re.compile(r'\bTENON_EXTERN\s+[\w\s*]+?\b(Tenon\w+)\s*\(|'
                      r'\btypedef[^;{}]*?\(\*(Tenon\w+)\)')
ARGUMENT = re.compile(r'(?P<type>(?:const )?(?:struct )?\w+(?: ?\*(?: ?const)?)*) ?'
                      r'(?P<name>\w+)(?P<array>\[\])?')
PARAM = re.compile(r'@param\[(in|out|in,out)\]\s+(\w+(?:, \w+)*)\s*(.*?)(?=\s@\w|\Z)', re.S)
# The sentence of an error code is a constant of the program, as that of strerror() is.
CONSTANT_TEXTS = {'TenonErrorString', 'TenonErrorName'}


class Faults:
    def __init__(self):
        self.count = 0

    def add(self, place, text):
        print(f'fault: {place}: {text}')
        self.count += 1


def documented(comment):
    """[(name, direction, description)] of a comment, where "low, high" are two."""
    found = []
    for direction, names, text in PARAM.findall(comment):
        found += [(name, direction, text) for name in names.split(', ')]
    return found


def arguments_of(text, place, faults):
    """[(name, type, is array)] of a prototype's list."""
    found = []
    for argument in [] if text.strip() == 'void' else text.split(','):
        match = ARGUMENT.fullmatch(' '.join(argument.split()))
        if match:
            found.append((match['name'], match['type'], bool(match['array'])))
        else:
            faults.add(place, f'cannot read the argument "{" ".join(argument.split())}"')
    return found


def check_returned_texts(arguments, place, faults):
    for i, (name, kind, is_array) in enumerate(arguments):
        if kind in ('const char**', 'char**', 'char*'):
            faults.add(place, f'{name} returns a text; write char {name}[], TenonInt length, '
                              'TenonInt* needed')
        if kind == 'char' and is_array and arguments[i + 1:i + 3] != [
                ('length', 'TenonInt', False), ('needed', 'TenonInt*', False)]:
            faults.add(place, f'{name}[] must be followed by TenonInt length, TenonInt* needed')


def check_function(match, place, faults):
    # Without the stars of the comment, so that a description is one line of text.
    comment = ' '.join(re.sub(r'\n\s*\*', ' ', match[1]).split())
    arguments = arguments_of(match['arguments'], place, faults)
    described = documented(comment)
    names = [name for name, _, _ in arguments]
    if [name for name, _, _ in described] != names:
        faults.add(place, 'the @param lines name ({}); the arguments are ({})'.format(
            ', '.join(name for name, _, _ in described), ', '.join(names)))
        return
    for (name, kind, is_array), (_, direction, text) in zip(arguments, described):
        is_pointer = '*' in kind or is_array
        if is_array and not re.match(r'\[[^\]]+\] ', text):
            faults.add(place, f'the @param of {name} does not begin with its [length]')
        if not is_array and text.startswith('['):
            faults.add(place, f'{name} has a [length] but is not an array; write {name}[]')
        if is_pointer and kind.startswith('const ') and '**' not in kind and direction != 'in':
            faults.add(place, f'{name} points to constants; its @param must be [in]')
        rest = re.sub('(May|Elements can) be NULL, in which case .*', '', text)
        if re.search(r'\bNULL\b' if direction == 'in' else r'\bmay be NULL\b', rest, re.I):
            faults.add(place, f'the @param of {name} mentions NULL; write "May be NULL, in which '
                              'case ..." if it can be left out')
    check_returned_texts(arguments, place, faults)
    if re.search(r'\bmay be NULL\b', PARAM.sub('', comment), re.I):
        faults.add(place, '"may be NULL" stands outside the @param of the argument')


def check_header(path, name, faults):
    text = path.read_text()
    seen = set()
    for match in FUNCTION.finditer(text):
        seen.add(match['name'])
        check_function(match, f'{name}: {match["name"]}', faults)
        if 'char' in match['result'] and match['name'] not in CONSTANT_TEXTS:
            faults.add(f'{name}: {match["name"]}', 'returns a text as its value')
    for match in USER_FUNCTION.finditer(text):
        seen.add(match['name'])
        check_function(match, f'{name}: {match["name"]}', faults)
    declared = {a or b for a, b in DECLARED.findall(text)}
    for missed in declared - seen:
        faults.add(f'{name}: {missed}', 'has no comment, or a prototype of another form')
    return len(seen)


def main():
    include = Path(sys.argv[1])
    faults = Faults()
    functions = sum(check_header(path, path.relative_to(include), faults)
                    for path in sorted(include.rglob('*.h')))
    print(f'{functions} functions, {faults.count} faults')
    return 1 if faults.count or not functions else 0


sys.exit(main())
