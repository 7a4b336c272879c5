# SPDX-License-Identifier: BSD-2-Clause
"""One public function in Python: its parameters, its result, its documentation and its body. Its
class and its name are determined by member.py, with words separated by underscores."""
import keyword
import re
import textwrap

from kinds import NUMBERS, Callable, Implied, kind_of, snake
from member import ENDS_WITHIN, Member, class_of
from tables import NAMES

WIDTH = 120


class Call(Member):
    def __init__(self, function, headers):
        super().__init__(function, headers)
        self.is_constructor = self.rest == 'Create'
        self.made = function.arguments[-1] if self.is_constructor else None
        if function.name in NAMES:
            self.name = NAMES[function.name]
        self.name = snake(self.name, keyword.kwlist)
        self.asks = self.fills = None
        self.between = []
        self.kinds = [self.kind(argument) for argument in function.arguments]
        self.results = [kind.result for kind in self.kinds if kind.result]
        if function.result not in ('TenonErrorCode', 'void', 'const char*'):
            raise SystemExit(f'{function.name}: no rule for a result "{function.result}"')

    def kind(self, argument):
        arguments = self.function.arguments
        has_callables = any(a.base in self.headers.callbacks for a in arguments)
        if has_callables and argument in (self.context, self.destroyer):
            implied = Implied(self, argument)
            implied.actual = 'context' if self.destroyer else 'None'
            if argument is self.destroyer:
                implied.actual = '_release'
            return implied
        if any(argument in other.buffer for other in arguments if other.buffer):
            return Implied(self, argument)
        if argument.lists and not self.is_given(argument):
            implied = Implied(self, argument)
            implied.actual = f'_length({snake(self.counted(argument).name)})'
            return implied
        return kind_of(self, argument)

    # Text.

    def full_name(self):
        """The name of the function in the documentation."""
        if self.is_constructor:
            return class_of(self.owner)
        return f'{class_of(self.owner)}.{self.name}' if self.owner else self.name

    def declaration(self):
        result = {'TenonErrorCode': '_int', 'void': 'None', 'const char*': '_text'}[self.function.result]
        types = ''.join(f', {kind.c_type}' for kind in self.kinds)
        return f"_{self.function.name} = _function('{self.function.name}', {result}{types})"

    def result_class(self):
        """Returns the name and the fields of several results."""
        fields = [(kind.name, kind.result[0]) for kind in self.kinds if kind.result]
        if [name for name, _ in fields] == ['low', 'high']:
            return 'Box', None
        return f'{class_of(self.owner or "")}{"".join(word.title() for word in self.name.split("_"))}', fields

    def returns(self):
        if self.function.result == 'const char*':
            return 'str'
        if self.returns_itself:
            return class_of(self.owner) if self.owner != 'TenonObject' else 'Self'
        if len(self.results) > 1:
            return self.result_class()[0]
        return self.results[0][0] if self.results else 'None'

    @property
    def returns_itself(self):
        """Calls that prepare an object return it, for chains: Layer(...).set_up(layout),
        DTensor(...).fill(1)."""
        return bool(self.this) and not self.results and self.verb in ('Set', 'Add', 'Fill')

    def parameters(self):
        """The parameters in the order of C, with defaults for those at the end that can be
        omitted."""
        found, is_last = [], True
        for kind in reversed([kind for kind in self.kinds if kind.parameter]):
            name, annotation, default = kind.parameter
            is_last = is_last and default is not None
            found.insert(0, f'{name}: {annotation}' + f' = {default}' * is_last)
        return found

    def lines(self, names, indent):
        """Returns the lines of the function, or of the member of a class."""
        lines = self.head(indent) + ['    ' + line if line else '' for line in self.documentation(names) + self.body()]
        return [indent + line if line else '' for line in lines]

    def stub(self, indent):
        """Returns the same for type checkers."""
        *before, last = self.head(indent)
        return [indent + line for line in [*before, f'{last} ...']]

    def head(self, indent):
        first = ['self'] if self.is_constructor or self.owner and not self.is_static else []
        name = '__init__' if self.is_constructor else self.name
        parameters = ', '.join(first + self.parameters())
        lines = ['@staticmethod'] * (self.is_static and not self.is_constructor)
        returns = 'None' if self.is_constructor else self.returns()
        broken = textwrap.wrap(f'def {name}({parameters})', WIDTH - len(indent) - len(f' -> {returns}: ...'),
                               subsequent_indent=' ' * 8, break_long_words=False, break_on_hyphens=False)
        return lines + broken[:-1] + [f'{broken[-1]} -> {returns}:']

    def documentation(self, names):
        """Returns the comment of C in the terms of Python."""
        text = '\n'.join(self.function.comment)
        text = re.sub(r'\bNULL\b', 'None', text.replace('@brief ', ''))
        shown = {kind.argument.name: kind for kind in self.kinds}
        blocks, fields = re.split(r'\n(?=@)', text), []
        for block in blocks[1:]:
            param = re.match(r'@param\[[a-z,]+\]\s+(\w+(?:, \w+)*)\s+(.*)', block, re.S)
            if param:
                named = [shown[n] for n in param[1].split(', ')]
                said = re.sub(r'[;.] destroy it with \w+\(\)|^\[length\] ', '', ' '.join(param[2].split()))
                for word, described in (('param', [k for k in named if k.parameter]), ('returns', [k for k in named if k.result])):
                    if described:
                        fields.append(f':{word} {", ".join(kind.name for kind in described)}: {said}')
            elif match := re.match(r'@return\s+TENON_(\w+)\s+(.*)', block, re.S):
                fields.append(f':raises {match[1]}: ' + ' '.join(match[2].split()))
            elif match := re.match(r'@(note|see|return)\s+(.*)', block, re.S):
                fields.append({'note': 'Note: ', 'see': 'See ', 'return': ':returns: '}[match[1]] + ' '.join(match[2].split()))
        brief, _, more = blocks[0].strip().partition('\n\n')
        brief = re.sub(r'\n\s+', ' ', brief)  # C indents its second line
        body = self.translated(f'{brief}\n\n{more}'.strip(), names).split('\n')
        lines = body + ([''] if fields else [])
        for text in fields:
            lines += textwrap.wrap(self.translated(text, names), WIDTH - 12, subsequent_indent='    ')
        lines = [line.replace('\\', '\\\\').replace('"""', "'''").rstrip() for line in lines]
        return ['"""' + lines[0], *lines[1:], '', f'{self.function.name}()', '"""']

    @staticmethod
    def translated(text, names):
        text = re.sub(r'\bTenon\w+\(\)', lambda m: names.get(m[0][:-2], m[0][:-2]) + '()', text)
        return re.sub(r'\bTENON_(ERR_\w+|TRUE|FALSE)', lambda m: {'TRUE': 'True', 'FALSE': 'False'}.get(m[1], m[1]), text)

    def body(self):
        lines = [line for kind in self.kinds for line in kind.before]
        if self.is_constructor:
            lines.append('handle = _pointer()')
        called = f'_{self.function.name}'
        is_held = bool(self.destroyer)
        callables = [kind.name for kind in self.kinds if isinstance(kind, Callable)]
        if callables and self.context and is_held:
            lines.append(f'context = _hold({", ".join(callables)})')
        elif callables and self.function.name not in ENDS_WITHIN:
            lines.append(f"_keep({', '.join(callables)})")
        if self.asks:
            lines += self.checked(called, self.asks, False) + self.between
        if self.function.result == 'const char*':
            return lines + [f'return {called}({self.given({})}).decode()']
        if self.function.result == 'void':
            return lines + [f'{called}({self.given({})})']
        lines += self.checked(called, self.fills or {}, is_held)
        if self.is_constructor:
            lines.append('self._handle = handle.value')
        elif self.returns_itself:
            lines.append('return self')
        elif len(self.results) == 1:
            lines.append(f'return {self.results[0][1]}')
        elif self.results:
            lines.append(f'return {self.result_class()[0]}({", ".join(value for _, value in self.results)})')
        return lines

    def given(self, replaced):
        return ', '.join(replaced.get(kind.argument, kind.actual) for kind in self.kinds)

    def checked(self, called, replaced, is_held):
        if is_held:
            return [f'_check_held({called}({self.given(replaced)}), context)']
        return [f'_check({called}({self.given(replaced)}))']


def signature(of_user, headers):
    """Returns the signature of a type of user function for callback() of runtime.py: whether it
    returns a code, and for each argument its kind and class or type. The type of a result, which
    is an address, has a star."""
    parts = []
    for argument in of_user.arguments:
        name = class_of(argument.base)
        if argument.name == 'context' or argument.base == 'void' or argument.name == 'length':
            part = ('context', 'int' * (argument.name == 'length'))
        elif argument.base in headers.handles:
            part = ('new' if argument.stars else 'handle', name)
        elif argument.base in headers.enums:
            part = ('enum', name)
        elif argument.base == 'char':
            part = ('text', '')
        elif argument.base in NUMBERS:
            part = ('result' if argument.stars else 'number', '*' * argument.stars + NUMBERS[argument.base][1][1:])
        else:
            raise SystemExit(f'{of_user.name}: no rule for the argument {argument.name}')
        parts.append(part)
    return f"    {class_of(of_user.name)!r}: ({of_user.result != 'void'}, {parts}),"
