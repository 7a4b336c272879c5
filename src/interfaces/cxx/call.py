# SPDX-License-Identifier: BSD-2-Clause
"""One public function in C++: whose member it is, its name, its parameters, its results and its body.

The name is that of the function without its class: a leading Get is dropped (norm() of TenonDTensorNorm, layout()
of TenonDTensorGetLayout), and a Create makes a constructor, a static member (TenonLinearOpCreateHalo is
LinearOp::halo()) or, if its first argument is of the class itself, a member (op.adjoint()). A function is a member
of the object that it changes, or else of the first of its class."""
import textwrap

from arguments import Callable, Left, class_of, kind_of
from headers import words
from tables import (CONST_VERBS, CONSTRUCTORS, ENDS_WITHIN, KEYWORDS, MEMBERS_OF, NAMES, TAKEN,
                    TYPE_WORDS)

WIDTH = 100


def wrapped(start, items, end, indent=''):
    """start, items separated by commas, and end, on as few lines as fit."""
    lines, line = [], indent + start
    for i, item in enumerate(items):
        piece = item + (', ' if i + 1 < len(items) else end)
        if len(line) + len(piece.rstrip()) > WIDTH and line.strip():
            lines.append(line.rstrip())
            line = indent + '    '
        line += piece
    return lines + [line.rstrip() if items else indent + start + end]


def is_owner(type):
    """Whether a result has what only a move can pass on: memory, or the reference of a handle."""
    return type.startswith('std::vector') or (
        type[0].isupper() and not type.startswith(('Borrowed', 'MPI_', 'Tenon')))


class Call:
    def __init__(self, function, headers):
        self.function, self.headers = function, headers
        self.asks = self.fills = None
        self.between = []
        self.find_owner()
        self.find_name()
        self.find_callables()
        self.kinds = [self.kind(argument) for argument in function.arguments]
        self.check_result()

    # Whose it is.

    def find_owner(self):
        """The class, the object and what a constructor makes."""
        name = self.function.name
        owners = [h for h in ['TenonObject', *self.headers.handles]
                  if name.startswith(h) and name[len(h):len(h) + 1].isupper()]
        self.owner = max(owners, key=len, default=None)
        self.rest = name[len(self.owner or 'Tenon'):]
        if name in MEMBERS_OF:
            self.owner = MEMBERS_OF[name][0]
        ours = [a for a in self.function.arguments
                if a.base == self.owner and not a.stars and not a.is_list]
        self.words = words(self.rest)
        self.verb = self.words[0]
        if self.verb != 'Apply' and self.words[1:] and self.words[1] in ('Get', 'Set', 'Add'):
            self.verb = self.words[1]  # of a type of object or of the process: ShellGetValue, OptionsGetFlag
        is_first = ours and self.function.arguments[0] is ours[0]
        if self.words[0] == 'Create' and not is_first:
            ours = []
        changed = [a for a in ours if a.direction != 'in']
        self.this = (changed or ours or [None])[0]
        self.is_constructor = self.rest == 'Create' or name in CONSTRUCTORS
        self.made = None
        if self.is_constructor:
            self.made = self.function.arguments[-1]
            if self.this or (self.made.base, self.made.stars) != (self.owner, 1):
                raise SystemExit(f'{name}: a constructor makes a handle of its class, its last argument')

    def find_name(self):
        name = self.function.name
        plain = list(self.words)
        if name in MEMBERS_OF:
            self.name = MEMBERS_OF[name][1]
        elif name in NAMES or self.rest in NAMES:
            self.name = NAMES.get(name) or NAMES[self.rest]
        else:
            after = plain.index(self.verb) + 1
            if self.verb == 'Get' and plain[after:] and (plain[after] not in TYPE_WORDS or plain[after + 1:]):
                del plain[after - 1]
            elif plain[0] == 'Create' and plain[1:] and (not self.this or self.this.base == self.made_class()):
                plain = plain[1:]
            self.name = plain[0].lower() + ''.join(plain[1:])
        if self.name in KEYWORDS | TAKEN:
            raise SystemExit(f'{name}: {self.name} is taken or a keyword; add a row to NAMES')

    def made_class(self):
        last = self.function.arguments[-1]
        return last.base if last.stars == 1 else None

    def shown(self):
        """What messages call it."""
        if self.is_constructor:
            return f'tenon::{class_of(self.owner)}'
        return 'tenon::' + (f'{class_of(self.owner)}::' if self.owner else '') + self.name

    # Arguments.

    def find_callables(self):
        """User functions that share a context which they own, or that the call needs no longer."""
        arguments = self.function.arguments
        functions = [a for a in arguments if a.base in self.headers.callbacks]
        self.destroyer = next((a for a in functions if self.is_destroyer(a)), None)
        self.context = next((a for a in arguments if a.name == 'context' and a.base == 'void'), None)
        self.callables = []
        if self.context and (self.destroyer or self.function.name in ENDS_WITHIN):
            self.callables = [a for a in functions if a is not self.destroyer]

    def is_destroyer(self, argument):
        of_user = self.headers.callbacks[argument.base]
        return of_user.result == 'void' and [a.name for a in of_user.arguments] == ['context']

    def counted(self, owner):
        """The list whose length is passed as `owner`: one that is always there."""
        lists = sorted(owner.lists, key=lambda a: a.is_nullable)
        if lists[0].is_nullable and len(lists) > 1:
            raise SystemExit(f'{self.function.name}: no list tells {owner.name}, since all may be NULL')
        return lists[0]

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
        if argument.lists:
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
    def is_static(self):
        return bool(self.owner) and not self.this and not self.is_constructor

    @property
    def is_const(self):
        return bool(self.this) and self.this.direction == 'in' and self.verb in CONST_VERBS or (
            self.function.name in MEMBERS_OF)

    @property
    def returns_itself(self):
        """Setters give their object, for chains of calls."""
        sets = self.verb in ('Set', 'Add') and 'Up' not in self.words
        return bool(self.this) and not self.results and sets

    def struct(self):
        """The name and the fields of several results, and whether all classes have that struct."""
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
        """The parameters, and again without a last object that may be left out."""
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
        """The struct of the user functions, which is the context, and a function of C for each of them."""
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

    # Use, for the test that takes the address of each.

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
