# SPDX-License-Identifier: BSD-2-Clause
"""Reads the declarations of the public headers, for the generators of the interfaces to other
languages: functions with the comments of their arguments, handles, enumerations, types of user
functions and tables of them. The test `arguments` checks that the headers have the form that is
read here; any other form is an error. Relations between arguments are found here as well, once
for all languages: the argument that is the length of a list (Argument.lists, Argument.factors),
and the text or list that a call returns in a buffer whose size it returns (Argument.buffer)."""
import re

COMMENT = r'/\*\*((?:(?!\*/).)*)\*/\s*'
FUNCTION = re.compile(COMMENT + r'TENON_EXTERN\s+([\w\s*]+?)\b(Tenon\w+)\s*\(([^()]*)\)\s*'
                      r'TENON_NOEXCEPT\s*;', re.S)
DECLARED = re.compile(r'\bTENON_EXTERN\s+[\w\s*]+?\b(Tenon\w+)\s*\(')
ARGUMENT = re.compile(r'(const )?(?:struct )?(\w+) ?((?:\* ?(?:const ?)?)*)(\w+)(\[\])?')
USER_FUNCTION = re.compile(COMMENT + r'typedef\s+([\w\s*]+?)\s*\(\*(Tenon\w+)\)\s*\(([^()]*)\)\s*;', re.S)
PARAM = re.compile(r'@param\[(in|out|in,out)\]\s+(\w+(?:, \w+)*)\s*(.*?)(?=\s@\w|\Z)', re.S)


def write(path, lines):
    """Writes a generated file if its contents change; otherwise its dependents need not be built
    again."""
    text = '\n'.join(lines) + '\n'
    if not path.is_file() or path.read_text() != text: # a device or a pipe is not read
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def words(name):
    """Splits a name in C into words: DTensorAXPBY is D, Tensor, AXPBY; ghostsLow is ghosts, Low."""
    return re.findall(r'[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+', name)


class Argument:
    """One argument: its C type in parts, and the contents of its @param."""

    def __init__(self, where, text):
        match = ARGUMENT.fullmatch(' '.join(text.split()))
        if not match:
            raise SystemExit(f'{where}: cannot read the argument "{text.strip()}"')
        self.is_const, self.base, stars, self.name, array = match.groups()
        self.stars = stars.count('*')
        self.is_list = bool(array)
        self.direction, self.text, self.length, self.is_nullable = 'in', '', None, False
        self.lists, self.factors, self.buffer = [], [], None

    def describe(self, direction, text):
        self.direction = direction
        length = re.match(r'\[([^\]]+)\] ', text)
        if self.is_list and length:
            self.length, text = length[1], text[length.end():]
        self.text = text
        self.is_nullable = 'May be NULL, in which case' in text
        self.counts_from_0 = 'counted from 0' in text

    @property
    def is_text(self):
        """Whether the argument is a text that the call writes."""
        return self.base == 'char' and self.is_list and not self.stars and not self.is_const


class Function:
    """One function, or one type of user function: `brief` is the first paragraph of its comment,
    `comment` the whole comment, line by line."""

    def __init__(self, comment, result, name, arguments):
        self.name, self.result = name, ' '.join(result.split())
        first = re.split(r'\n\s*\*\s*\n|\s@(?!brief)', comment)[0]
        self.brief = ' '.join(re.sub(r'\n\s*\*|@brief', ' ', first).split())
        self.comment = [re.sub(r'^ {0,2}', '', re.sub(r'^\s*\*', '', line)) for line in comment.split('\n')]
        comment = ' '.join(re.sub(r'\n\s*\*', ' ', comment).split())
        listed = [] if arguments.strip() == 'void' else arguments.split(',')
        self.arguments = [Argument(name, text) for text in listed]
        described = [(n, direction, text) for direction, names, text in PARAM.findall(comment)
                     for n in names.split(', ')]
        if [a.name for a in self.arguments] != [n for n, _, _ in described]:
            raise SystemExit(f'{name}: the @param lines are not those of the arguments')
        for argument, (_, direction, text) in zip(self.arguments, described):
            argument.describe(direction, text)
        self.relate()

    def relate(self):
        """Finds the relations between the arguments. The length of a list is an argument, whose
        `lists` then has the list, or an expression of arguments, the list's `factors` ("axes *
        levels", "product of extents"), or neither: then an object knows it. `buffer` is (length,
        needed) of the idioms `char text[], length, needed` and `length, values[], count`."""
        by_name = {argument.name: argument for argument in self.arguments}
        for i, argument in enumerate(self.arguments):
            names = argument.length.replace('product of ', '').split(' * ') if argument.length else []
            if names and all(name in by_name for name in names):
                if names == [argument.length] and not by_name[names[0]].is_list:
                    by_name[names[0]].lists.append(argument)
                else:
                    argument.factors = [by_name[name] for name in names]
            before, after = self.arguments[i - 1:i], self.arguments[i + 1:i + 3]
            if argument.is_text and len(after) == 2:
                argument.buffer = tuple(after)
            elif (argument.is_list and argument.direction == 'out' and before and after and
                  before[0].name == argument.length == 'length' and after[0].stars == 1):
                argument.buffer = before[0], after[0]


class Headers:
    """All headers below a folder."""

    def __init__(self, folder):
        self.functions, self.handles, self.constants = [], [], []
        self.enums, self.structs, self.callbacks, self.briefs = {}, set(), {}, {}
        for path in sorted(folder.rglob('*.h')):
            self.read(path.read_text(), str(path.relative_to(folder)))
        self.handles.remove('TenonObject')

    def read(self, text, name):
        functions = [Function(*found) for found in FUNCTION.findall(text)]
        if {f.name for f in functions} != set(DECLARED.findall(text)):
            raise SystemExit(f'{name}: a function has no comment, or another form')
        for function in functions:
            function.header = name
        self.functions += functions
        plain = re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)
        self.handles += re.findall(r'typedef struct \w+_s\*\s+(Tenon\w+);', plain)
        self.briefs.update((handle, brief) for brief, handle in re.findall(
            r'/\*\* @brief ([^*]*?)\. \*/\s*typedef struct \w+_s\* (Tenon\w+);', text))
        self.briefs.update(re.findall(r'typedef struct \w+_s\* (Tenon\w+);\s*/\*\*<\s*([^*]*?)\s*\*/', text))
        self.callbacks.update((found[2], Function(*found)) for found in USER_FUNCTION.findall(text))
        if missing := set(re.findall(r'typedef[^;{}]*?\(\*(Tenon\w+)\)', plain)) - set(self.callbacks):
            raise SystemExit(f'{name}: {missing.pop()} has no comment, or another form')
        self.structs.update(re.findall(r'typedef struct (Tenon\w+) \{', plain))
        for body, enum in re.findall(r'typedef enum \w+[^{]*\{(.*?)\}\s*(\w+);', plain, re.S):
            self.enums[enum] = self.items(enum, body)
            self.constants += self.enums[enum]
        for body in re.findall(r'\benum \{(.*?)\}\s*;', plain, re.S):
            self.constants += self.items('enum', body)
        codes = [('TENON_' + code, number) for code, number in re.findall(r'X\((\w+), (\d+), "', plain)]
        if codes:
            self.enums['TenonErrorCode'] = codes
        self.constants += codes

    @staticmethod
    def items(enum, body):
        """Returns the names and values of an enumeration, except the one that fixes its range."""
        if '#' in body:
            return []  # TenonErrorCode: its table is read instead
        found = []
        for item in body.split(','):
            match = re.fullmatch(r'\s*(TENON_\w+)\s*=\s*(\w+)\s*', item)
            if not match:
                raise SystemExit(f'{enum}: the item "{item.strip()}" has no number')
            if not match[1].endswith('_MAX_'):
                found.append(match.groups())
        return found
