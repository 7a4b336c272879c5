# SPDX-License-Identifier: BSD-2-Clause
"""One argument of a C function in C++. Each kind defines up to five things: the parameter, the
checks before the call, the actual argument, the result that it becomes, and the declaration of
that result. An argument form without a kind ends the generator with a message."""
import re

from member import RETURNED, class_of
from tables import DEFAULTS

SCALARS = {'int': 'int', 'TenonInt': 'TenonInt', 'double': 'double', 'size_t': 'std::size_t',
           'TenonBool': 'bool', 'TenonErrorCode': 'TenonErrorCode'}


class Kind:
    """The base class of all kinds: an argument that is passed unchanged."""

    def __init__(self, call, argument):
        self.call, self.argument, self.name = call, argument, argument.name
        self.type = self.default = self.result = None
        self.declared, self.checks, self.actual = [], [], argument.name
        self.set_up()

    def set_up(self):
        pass

    def refuse(self, why):
        raise SystemExit(f'{self.call.function.name}: {self.name}: {why}; see src/interfaces/cxx')

    def returned(self, type, declared, value=None):
        """Returns the argument as a result, from a local variable of the same name."""
        self.declared, self.result = declared, (type, self.name, value or self.name)


class Left(Kind):
    """An argument that other arguments imply; they set the actual argument."""


class This(Kind):
    def set_up(self):
        self.actual = 'get()'
        if self.argument.base == 'TenonObject':
            self.actual = 'this->object()'


class Made(Kind):
    """The handle that a constructor creates."""

    def set_up(self):
        self.actual = 'out()'


class Handle(Kind):
    """Another object; an empty one represents NULL where that is allowed."""

    def set_up(self):
        argument, type = self.argument, class_of(self.argument.base)
        if not argument.stars:
            self.type = f'const {type}&' if argument.direction == 'in' else f'{type}&'
            self.actual = f'{self.name}.get()'
        elif argument.direction != 'out':
            self.refuse('the handle is changed in place')
        elif argument.text.startswith('new '):
            self.returned(type, [f'{type} {self.name};'])
            self.actual = f'{self.name}.out()'
        elif 'must not be destroyed' in argument.text:
            self.returned(f'Borrowed<{type}>', [f'{argument.base} {self.name} = nullptr;'],
                          f'Borrowed<{type}>({self.name})')
            self.actual = f'&{self.name}'
        else:
            self.refuse('the comment says neither "new ..." nor that it must not be destroyed')


class Scalar(Kind):
    """A number, a truth value, an enumeration, a communicator or an address."""

    def __init__(self, call, argument, type):
        self.value_type = type
        super().__init__(call, argument)

    def set_up(self):
        argument, key = self.argument, (self.call.function.name, self.name)
        is_address = self.value_type.endswith('*')
        if argument.stars <= is_address:
            self.type, self.default = self.value_type, DEFAULTS.get(key)
            if is_address and argument.is_nullable:
                self.default = 'nullptr'
            if argument.base == 'TenonBool':
                self.actual = f'detail::truth({self.name})'
        elif argument.direction != 'out':
            self.refuse('a value is changed in place')
        elif RETURNED.get(key[0], self.name) != self.name:
            self.type, self.default = f'{self.value_type}*', 'nullptr'
            if argument.base == 'TenonBool' or not argument.is_nullable:
                self.refuse('only a number that may be NULL can be an optional pointer')
        else:
            value = {'MPI_Comm': 'MPI_COMM_NULL'}.get(argument.base, 'nullptr' if is_address else '')
            value = f' = {value}' if value else '{}'
            type = 'TenonBool' if argument.base == 'TenonBool' else self.value_type
            self.returned(self.value_type, [f'{type} {self.name}{value};'],
                          f'{self.name} != TENON_FALSE' if type == 'TenonBool' else self.name)
            self.actual = f'&{self.name}'


class Text(Kind):
    def set_up(self):
        self.type, self.actual = 'Text', f'{self.name}.get()'
        self.default = '{}' if self.argument.is_nullable else None


class CountedText(Kind):
    """A text with its length, which needs no NUL."""

    def set_up(self):
        self.type, self.actual = 'std::string_view', f'{self.name}.data()'
        self.default = '{}' if self.argument.is_nullable else None


class ReturnedText(Kind):
    """A text in a buffer whose size is queried first."""

    def set_up(self):
        length, needed = self.argument.buffer
        self.returned('std::string', [f'detail::TextBuffer {self.name};'], f'{self.name}.take()')
        self.call.asks = {self.argument: 'nullptr', length: '0', needed: f'{self.name}.needed()'}
        self.call.fills = {self.argument: f'{self.name}.allocate()', length: f'{self.name}.length()',
                           needed: 'nullptr'}


class List(Kind):
    """Numbers, enumerations, handles or texts. The length is checked if an argument or object
    determines it."""

    def __init__(self, call, argument, element, type=None):
        self.element = element
        self.list_type = type or ('Ints' if element == 'TenonInt' else f'List<{element}>')
        super().__init__(call, argument)

    def set_up(self):
        if self.argument.direction == 'in,out':
            self.refuse('a list is changed in place')
        if self.argument.direction == 'in':
            self.set_up_passed()
        elif self.argument.buffer:
            self.set_up_allocated()
        else:
            self.set_up_filled()

    def set_up_passed(self):
        self.type, self.actual = self.list_type, f'{self.name}.data()'
        if self.argument.is_nullable:
            self.default, self.actual = '{}', f'detail::orNull({self.name})'
        wanted = self.wanted()
        if wanted:
            check = 'checkLengthIfAny' if self.argument.is_nullable else 'checkLength'
            self.checks = [f'detail::{check}("{self.call.shown()}: {self.name}", {self.name}.size(), {wanted});']

    def wanted(self):
        """Returns the required length of the list."""
        owner = [a for a in self.call.function.arguments if self.argument in a.lists]
        if owner:
            first = self.call.counted(owner[0])
            return None if first is self.argument else f'{first.name}.size()'
        if self.argument.factors:
            if self.argument.factors[0].is_list:
                return f'detail::product({self.argument.factors[0].name})'
            return ' * '.join(f'detail::size({factor.name})' for factor in self.argument.factors)
        return self.from_object()

    def from_object(self):
        argument, length = self.call.told_length(self.argument)
        owner = 'this' if argument is self.call.this else argument.name
        if length is None:
            return None
        # Each call of Tenon gets the source position of the program's call.
        length = re.sub(r'(\w+)\((.*?)\)', lambda m: m[0] if m[1] == 'size' else f'{m[1]}({m[2]}{", " * bool(m[2])}where)', length)
        return f'detail::size({length.format(owner)})'.replace('this.', 'this->')

    def set_up_filled(self):
        given = self.call.given_length(self.argument)
        length = f'detail::size({given.name})' if given else self.from_object()
        if length:
            self.returned(f'std::vector<{self.element}>',
                          [f'std::vector<{self.element}> {self.name}({length});'])
            self.actual = f'{self.name}.data()'
        else:
            self.type, self.actual = f'Array<{self.element}>', f'{self.name}.data()'

    def set_up_allocated(self):
        length, needed = self.argument.buffer
        self.returned(f'std::vector<{self.element}>', [f'{needed.base} {needed.name} = 0;'])
        self.call.between = [f'std::vector<{self.element}> {self.name}(detail::size({needed.name}));']
        self.call.asks = {self.argument: 'nullptr', length: '0', needed: f'&{needed.name}'}
        self.call.fills = {self.argument: f'{self.name}.data()', length: needed.name, needed: 'nullptr'}


class Table(Kind):
    """A table of user functions, which the call copies."""

    def set_up(self):
        self.type, self.actual = f'const {self.argument.base}&', f'&{self.name}'


class Pointer(Kind):
    """A user function as in C."""

    def set_up(self):
        self.type, self.default = self.argument.base, 'nullptr' if self.argument.is_nullable else None


class Callable(Kind):
    """A user function that can be any callable, stored in the context of the call."""

    def set_up(self):
        self.of_user = self.call.headers.callbacks[self.argument.base]
        self.signature = f'{self.result_type()}({", ".join(self.parameters())})'
        self.called = f'call{self.name[0].upper()}{self.name[1:]}'
        self.type, self.actual = f'Function<{self.signature}>', self.called
        if self.argument.is_nullable:
            self.default = '{}'
            self.actual = f'context.get()->{self.name} ? {self.called} : nullptr'

    def passed(self):
        return [argument for argument in self.of_user.arguments if argument.name != 'context']

    def result_type(self):
        results = [a.base for a in self.passed() if a.stars]
        if self.of_user.result != 'TenonErrorCode' or len(results) > 1 or not set(results) <= {'int', 'double', 'TenonInt'}:
            self.refuse(f'no rule for the results of {self.argument.base}')
        return results[0] if results else 'TenonErrorCode'

    def parameters(self):
        found = []
        for i, argument in enumerate(self.passed()):
            headers = self.call.headers
            if argument.stars:
                continue
            if argument.base in headers.handles and not argument.is_nullable:
                is_own = i == 0 and argument.base == self.call.owner
                is_const = argument.direction == 'in' and not is_own
                found.append(f'{"const " * is_const}{class_of(argument.base)}&')
            elif argument.base in headers.enums or argument.base in ('int', 'double', 'TenonInt'):
                found.append(argument.base)
            else:
                self.refuse(f'no rule for the argument {argument.name} of {self.argument.base}')
        return found

    def arguments_of_c(self):
        return ['void* context' if a.name == 'context' else f'{a.base}{"*" * a.stars} {a.name}'
                for a in self.of_user.arguments]

    def body(self):
        """Returns the body of the C function, which finds the callable in its context."""
        lines, given = [], []
        for argument in self.passed():
            if argument.base in self.call.headers.handles:
                lines.append(f'Borrowed<{class_of(argument.base)}> {argument.name}Lent({argument.name});')
                given.append(f'*{argument.name}Lent')
            elif not argument.stars:
                given.append(argument.name)
        results = [f'*{argument.name} = ' for argument in self.passed() if argument.stars]
        call = f'static_cast<Functions*>(context)->{self.name}({", ".join(given)});'
        if results:
            return lines + [results[0] + call, 'return TENON_SUCCESS;']
        return lines + ['return ' + call]


def kind_of(call, argument):
    """Returns the kind of an argument that no other argument implies."""
    headers, base, stars = call.headers, argument.base, argument.stars
    const = 'const ' if argument.is_const else ''
    if argument is call.this:
        return This(call, argument)
    if argument is call.made:
        return Made(call, argument)
    if base in headers.handles:
        if argument.is_list and not stars and argument.is_const:
            return List(call, argument, base, f'Handles<{base}>')
        if not argument.is_list and stars <= 1:
            return Handle(call, argument)
    if argument.is_list and not stars and base != 'TenonBool' and (base in SCALARS or base in headers.enums):
        return List(call, argument, SCALARS.get(base, base))
    if not argument.is_list and (base in SCALARS or base in headers.enums or base == 'MPI_Comm') and stars <= 1:
        return Scalar(call, argument, SCALARS.get(base, base))
    if base == 'void' and not argument.is_list and stars <= 2:
        return Scalar(call, argument, f'{const}void*')
    if base == 'char' and argument.is_const:
        if argument.is_list and stars == 1:
            return List(call, argument, 'const char*')
        if argument.is_list and any(argument in other.lists for other in call.function.arguments):
            return CountedText(call, argument)
        if not argument.is_list and stars == 1:
            return Text(call, argument)
    if argument.is_text and argument.buffer:
        return ReturnedText(call, argument)
    if base in headers.structs and argument.is_const and stars == 1 and not argument.is_list:
        return Table(call, argument)
    if base in headers.callbacks and not stars and not argument.is_list:
        return Callable(call, argument) if argument in call.callables else Pointer(call, argument)
    raise SystemExit(f'{call.function.name}: no kind for the argument {argument.name} of type '
                     f'"{base}{"*" * stars}{"[]" * argument.is_list}"; see src/interfaces/cxx/arguments.py')
