# SPDX-License-Identifier: BSD-2-Clause
"""One public function in C++: its parameters, its results and its body. Its class and its name
are determined by member.py."""
import textwrap

from arguments import Callable, Left, kind_of
from member import MEMBERS_OF, Member, class_of
from tables import CONST_VERBS, KEYWORDS, TAKEN

WIDTH = 100


def wrapped(start, items, end, indent=''):
    """Joins start, items separated by commas, and end, with as few line breaks as possible."""
    lines, line = [], indent + start
    for i, item in enumerate(items):
        piece = item + (', ' if i + 1 < len(items) else end)
        if len(line) + len(piece.rstrip()) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent + '    '
        line += piece
    return lines + [line.rstrip() if items else indent + start + end]


def is_owner(type):
    """Whether a result owns memory or a reference and must be moved."""
    return type.startswith('std::vector') or (
        type[0].isupper() and not type.startswith(('Borrowed', 'MPI_', 'Tenon')))


class Call(Member):
    def __init__(self, function, headers):
        super().__init__(function, headers)
        if self.name in KEYWORDS | TAKEN:
            raise SystemExit(f'{function.name}: {self.name} is taken or a keyword; add a row to NAMES')
        self.asks = self.fills = None
        self.between = []
        self.kinds = [self.kind(argument) for argument in function.arguments]
        self.check_result()

    def shown(self):
        """The name of the function in messages."""
        if self.is_constructor:
            return f'tenon::{class_of(self.owner)}'
        return 'tenon::' + (f'{class_of(self.owner)}::' if self.owner else '') + self.name

    # Arguments.

    def kind(self, argument):
        arguments = self.function.arguments
        if self.callables and argument in (self.context, self.destroyer):
            left = Left(self, argument)
            left.actual = 'context.get()'
            if argument is self.destroyer:
                left.actual = 'detail::Context<Functions>::destroy'
            return left
        if any(argument in other.buffer for other in arguments if other.buffer):
            return Left(self, argument)
        if argument.lists and not self.is_given(argument):
            left = Left(self, argument)
            left.actual = f'static_cast<{argument.base}>({self.counted(argument).name}.size())'
            return left
        return kind_of(self, argument)

    def check_result(self):
        if self.function.result not in ('TenonErrorCode', 'void', 'const char*'):
            raise SystemExit(f'{self.function.name}: no rule for a result "{self.function.result}"')
        self.results = [kind.result for kind in self.kinds if kind.result]
        if len(self.results) > 1 and self.owner == 'TenonObject':
            raise SystemExit(f'{self.function.name}: no rule for several results of a call of all objects')
        for kind in self.kinds:
            if kind.name in KEYWORDS | {'where'} or kind.name == 'context' and self.callables and kind.type:
                raise SystemExit(f'{self.function.name}: an argument cannot be called {kind.name} in C++')

    # Text.

    @property
    def is_const(self):
        return bool(self.this) and self.this.direction == 'in' and self.verb in CONST_VERBS or (
            self.function.name in MEMBERS_OF)

    def struct(self):
        """Returns the name and the fields of several results; no fields if the struct exists for
        all classes."""
        if [(type, name) for type, name, _ in self.results] == [
                ('std::vector<TenonInt>', 'low'), ('std::vector<TenonInt>', 'high')]:
            return 'Box', None
        name = self.name[0].upper() + self.name[1:] + ('' if self.verb == 'Get' else 'Result')
        return name, [f'{type} {field}' for type, field, _ in self.results]

    def result_type(self, is_qualified):
        qualified = f'{class_of(self.owner)}::' if is_qualified and self.owner else ''
        if self.function.result == 'const char*':
            return 'std::string'
        if self.returns_itself:
            return 'Class&' if self.owner == 'TenonObject' else f'{class_of(self.owner)}&'
        if not self.results:
            return 'void'
        if len(self.results) == 1:
            return self.results[0][0]
        name, fields = self.struct()
        return qualified + name if fields else name

    def overloads(self):
        """Returns the parameters, and a second list without a last object that can be omitted."""
        full = [kind for kind in self.kinds if kind.type]
        found = [full]
        last = full[-1] if full else None
        if last and last.argument.base in self.headers.handles and last.argument.is_nullable and (
                not last.argument.is_list):
            found.append(full[:-1])
        return found

    def parameters(self, kinds, has_defaults):
        found, is_last = [], True
        for kind in reversed(kinds):
            is_last = is_last and kind.default is not None
            default = f' = {kind.default}' if is_last and has_defaults else ''
            found.insert(0, f'{kind.type} {kind.name}{default}')
        where = 'const Where& where' + ' = Where::current()' * has_defaults
        return found + [where] * self.has_where()

    def has_where(self):
        return self.function.result == 'TenonErrorCode'

    def types(self, kinds):
        return [kind.type for kind in kinds] + ['const Where&'] * self.has_where()

    def comment(self, indent):
        sentence = self.function.brief.split('. ')[0].rstrip('.')
        text = f'{sentence}. {self.function.name}()'
        lines = textwrap.wrap(f'/** {text}', WIDTH - len(indent) - len(' */'), subsequent_indent=' *  ')
        return [indent + line for line in lines[:-1]] + [f'{indent}{lines[-1]} */']

    def declarations(self, indent='  '):
        lines = []
        if len(self.results) > 1 and self.struct()[1]:
            name, fields = self.struct()
            lines += [f'{indent}/** What {self.name}() returns. */', f'{indent}struct {name} {{',
                      *[f'{indent}  {field};' for field in fields], f'{indent}}};']
        lines += self.comment(indent)
        for kinds in self.overloads():
            parameters = self.parameters(kinds, True)
            if self.is_constructor:
                required = [k for k in kinds if k.default is None]
                start = 'explicit ' * (len(required) <= 1) + f'{class_of(self.owner)}('
                lines += wrapped(start, parameters, ');', indent)
            else:
                start = 'static ' * self.is_static + f'{self.result_type(False)} {self.name}('
                lines += wrapped(start, parameters, ')' + ' const' * self.is_const + ';', indent)
        return lines

    def definitions(self):
        lines = []
        for kinds in self.overloads():
            parameters = self.parameters(kinds, False)
            scope, template = class_of(self.owner) + '::' if self.owner else '', []
            if self.owner == 'TenonObject':
                scope, template = 'Object<Class, C>::', ['template <class Class, class C>']
            if self.is_constructor:
                lines += wrapped(f'inline {scope}{class_of(self.owner)}(', parameters, ') {')
            else:
                start = 'inline ' * (not template) + f'{self.result_type(True)} {scope}{self.name}('
                lines += template + wrapped(start, parameters, ')' + ' const' * self.is_const + ' {')
            lines += self.body(kinds) + ['}']
        return lines

    def body(self, kinds):
        lines = []
        for kind in self.kinds:
            lines += kind.checks if kind in kinds else []
        text = self.forms_of_callables() if self.callables else []
        for line in lines + [line for kind in self.kinds for line in kind.declared]:
            text += self.broken(line)
        if self.asks:
            text += self.call(kinds, self.asks)
            for line in self.between:
                text += self.broken(line)
        text += self.call(kinds, self.fills or {})
        if self.callables and self.destroyer:
            text.append('  context.release();')
        return text + self.returning()

    def broken(self, line):
        if len(line) + 2 <= WIDTH:
            return ['  ' + line]
        head, _, tail = line.partition('(')
        return wrapped(head + '(', tail[:-2].split(', '), ');', '  ')

    def forms_of_callables(self):
        """Returns the struct of the user functions, which is the context, and a C function for
        each of them."""
        functions = [kind for kind in self.kinds if isinstance(kind, Callable)]
        lines = ['  struct Functions {', *[f'    {kind.type} {kind.name};' for kind in functions], '  };']
        for kind in functions:
            lines += wrapped(f'const {kind.argument.base} {kind.called} = [](', kind.arguments_of_c(),
                             ') -> TenonErrorCode {', '  ')
            lines += ['    ' + line for line in kind.body()] + ['  };']
        return lines + wrapped('detail::Context<Functions> context({', [
            f'std::move({kind.name})' for kind in functions], '});', '  ')

    def call(self, kinds, replaced):
        actual = []
        for kind in self.kinds:
            value = replaced.get(kind.argument, kind.actual)
            if kind.type and kind not in kinds:
                value = 'nullptr'
            actual.append(value)
        if self.function.result == 'TenonErrorCode':
            return wrapped(f'detail::Call(where).check({self.function.name}(', actual, '));', '  ')
        start = 'return ' if self.function.result == 'const char*' else ''
        return wrapped(f'{start}{self.function.name}(', actual, ');', '  ')

    def returning(self):
        if self.returns_itself:
            return ['  return static_cast<Class&>(*this);' if self.owner == 'TenonObject' else '  return *this;']
        values = [value for _, _, value in self.results]
        if not values:
            return []
        if len(values) == 1:
            return [f'  return {values[0]};']
        moved = [f'std::move({value})' if is_owner(type) else value for type, _, value in self.results]
        return wrapped('return {', moved, '};', '  ')

    # Uses, for the test that takes the address of each function.

    def uses(self, number):
        lines = []
        for i, kinds in enumerate(self.overloads()):
            name = f'm{number}{"" if i == 0 else "Short"}'
            if self.is_constructor:
                given = [kind.name for kind in kinds] + ['where']
                lines += wrapped(f'{class_of(self.owner)} {name}(', self.parameters(kinds, False), ') {')
                moved = [f'std::move({k.name})' if k.type.startswith('Function') else k.name for k in kinds]
                lines += wrapped(f'return {class_of(self.owner)}(', moved + ['where'], ');', '  ') + ['}']
                continue
            scope = class_of(self.owner) + '::' if self.owner else 'tenon::'
            pointer = f'{scope}*' if self.this else '*'
            const = ' const' * self.is_const
            lines += wrapped(f'{self.result_type(True)} ({pointer} {name})(', self.types(kinds),
                             f'){const} = &{scope}{self.name};')
        return lines
