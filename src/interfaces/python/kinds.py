# SPDX-License-Identifier: BSD-2-Clause
"""One argument of a C function in Python. Each kind defines up to five things: its type for
ctypes, the parameter, the statements before the call, the actual argument, and the result that
it becomes. An argument form without a kind ends the generator with a message."""
import re

from headers import words
from member import RETURNED, class_of
from tables import DEFAULTS, RESERVED

# Names in Python, and of the ctypes types in runtime.py.
NUMBERS = {'int': ('int', '_int'), 'TenonInt': ('int', '_long'), 'double': ('float', '_double'),
           'size_t': ('int', '_size'), 'TenonBool': ('bool', '_int'), 'TenonErrorCode': ('ErrorCode', '_int')}


def snake(name, reserved=RESERVED):
    """TestAdjoint is test_adjoint, AXPBY axpby, ghostsLow ghosts_low."""
    name = name.replace('DTensor', 'Dtensor').replace('LinearOp', 'Linearop')
    result = '_'.join(words(name)).lower()
    return result + '_' * (result in reserved)


class Kind:
    """The base class of all kinds: an address that is passed unchanged."""
    c_type = '_address'

    def __init__(self, call, argument):
        self.call, self.argument, self.name = call, argument, snake(argument.name)
        self.parameter = self.result = None
        self.before, self.actual = [], self.name
        self.set_up()

    def set_up(self):
        self.takes('int')

    def takes(self, annotation):
        """Adds a parameter, which can be omitted where NULL is allowed."""
        default = DEFAULTS.get((self.call.function.name, self.argument.name))
        if self.argument.is_nullable:
            annotation, default = f'{annotation} | None', 'None'
        self.parameter = (self.name, annotation, default)

    def refuse(self, why):
        raise SystemExit(f'{self.call.function.name}: {self.name}: {why}; see src/interfaces/python')


class Implied(Kind):
    """An argument that other arguments imply, which set the actual argument."""

    def set_up(self):
        self.c_type = NUMBERS.get(self.argument.base, ('', '_address'))[1]
        if self.argument.stars:
            self.c_type = '_address'


class This(Kind):
    def set_up(self):
        self.actual = 'self._handle'


class Made(Kind):
    """The handle that a constructor creates."""

    def set_up(self):
        self.actual = '_ref(handle)'


class Handle(Kind):
    def set_up(self):
        argument, name = self.argument, class_of(self.argument.base)
        if not argument.stars:
            self.takes(name)
            self.actual = f'_handle({self.name}, {name})'
            return
        is_new = argument.text.startswith('new ')
        if argument.direction != 'out' or not (is_new or 'must not be destroyed' in argument.text):
            self.refuse('the comment says neither "new ..." nor that it must not be destroyed')
        self.before = [f'{self.name} = _pointer()']
        self.actual = f'_ref({self.name})'
        self.result = (name, f'{name}._{"own" if is_new else "share"}({self.name}.value)')


class Number(Kind):
    """A number, a truth value or an enumeration."""

    def set_up(self):
        argument = self.argument
        is_enum = argument.base in self.call.headers.enums and argument.base != 'TenonErrorCode'
        python, c_type = (class_of(argument.base), '_int') if is_enum else NUMBERS[argument.base]
        if not argument.stars:
            self.c_type = c_type
            self.takes(python)
            if is_enum:
                is_type = python == 'DataType'
                self.parameter = (self.name, 'DataTypeLike' if is_type else f'{python} | str', self.parameter[2])
                self.actual = f'_data_type({self.name})' if is_type else f'_member({python}, {self.name})'
            return
        if argument.direction != 'out':
            self.refuse('a value is changed in place')
        if RETURNED.get(self.call.function.name, argument.name) != argument.name:
            self.actual = 'None'  # it only explains the result
            return
        self.before = [f'{self.name} = {c_type}()']
        self.actual = f'_ref({self.name})'
        value = f'{self.name}.value'
        self.result = (python, f'{python}({value})' if is_enum or python in ('bool', 'ErrorCode') else value)


class Communicator(Kind):
    def set_up(self):
        if self.argument.stars:
            self.before = [f'{self.name} = _communicator()']
            self.actual, self.result = f'_ref({self.name})', ('MPI.Comm', f'_from_communicator({self.name})')
        else:
            self.c_type, self.actual = '_communicator', f'_to_communicator({self.name})'
            self.parameter = (self.name, 'MPI.Comm | None', None)


class Address(Kind):
    """Memory of the program, by its address."""

    def set_up(self):
        if self.argument.stars > 1:
            self.before = [f'{self.name} = _pointer()']
            self.actual, self.result = f'_ref({self.name})', ('int | None', f'{self.name}.value')
        else:
            self.takes('int')


class Text(Kind):
    c_type = '_text'

    def set_up(self):
        self.takes('str | os.PathLike[str]')
        self.actual = f'_encode({self.name})'


class CountedText(Kind):
    """A text with its length, which needs no NUL."""
    c_type = '_text'

    def set_up(self):
        self.takes('str | bytes')
        self.before = [f'{self.name} = _encode({self.name}) or b""']


class ReturnedText(Kind):
    """A text in a buffer whose size is queried first."""

    def set_up(self):
        length, needed = self.argument.buffer
        self.before = [f'{self.name}, needed = None, _long()']
        self.result = ('str', f'{self.name}.value.decode()')
        self.call.asks = {self.argument: 'None', length: '0', needed: '_ref(needed)'}
        self.call.fills = {self.argument: self.name, length: 'needed', needed: 'None'}
        self.call.between = [f'{self.name} = _buffer(needed.value)']


class List(Kind):
    """Numbers, enumerations, handles or texts. The length is checked if an argument or object
    determines it."""

    def set_up(self):
        argument, headers = self.argument, self.call.headers
        base = argument.base
        if base in headers.handles:
            self.element, self.element_type, python = '_pointer', f'_handles({{}}, {class_of(base)})', class_of(base)
        elif base == 'char':
            self.element, self.element_type, python = '_text', '_encoded({})', 'str'
        elif base in headers.enums:
            self.element, self.element_type, python = '_int', '{}', class_of(base)
        else:
            python, self.element = NUMBERS[base]
            self.element_type = '{}'
        if argument.direction == 'in':
            self.takes(f'Sequence[{python}]')
            wanted = self.wanted()
            checked = f', {self.name!r}, {wanted}' if wanted else ''
            self.before = [f'{self.name} = _list({self.element}, {self.element_type.format(self.name)}{checked})']
            return
        if argument.direction != 'out':
            self.refuse('a list is changed in place')
        if argument.buffer:
            self.set_up_allocated()
            return
        wanted = self.from_object()
        if wanted is None:
            wanted = f'{self.name}_length'
            self.parameter = (wanted, 'int', None)
        self.before = [f'{self.name} = ({self.element} * ({wanted}))()']
        self.result = (f'list[{python}]', f'list({self.name})')

    def set_up_allocated(self):
        length, needed = self.argument.buffer
        needed_type = NUMBERS[needed.base][1]
        self.before = [f'{self.name}, needed = None, {needed_type}()']
        self.result = ('list[int]', f'list({self.name})')
        self.call.asks = {self.argument: 'None', length: '0', needed: '_ref(needed)'}
        self.call.fills = {self.argument: self.name, length: 'needed.value', needed: 'None'}
        self.call.between = [f'{self.name} = ({self.element} * needed.value)()']

    def wanted(self):
        """Returns the required length of the list."""
        owner = [a for a in self.call.function.arguments if self.argument in a.lists]
        if owner:
            first = self.call.counted(owner[0])
            return None if first is self.argument else f'_length({snake(first.name)})'
        if self.argument.factors:
            names = [snake(factor.name) for factor in self.argument.factors]
            if self.argument.factors[0].is_list:
                return f'_product({names[0]})'
            return ' * '.join(names)
        return self.from_object()

    def from_object(self):
        given = self.call.given_length(self.argument)
        if given:
            return snake(given.name)
        argument, length = self.call.told_length(self.argument)
        if length is None:
            return None
        counted = re.sub(r'\.(\w+)', lambda m: '.' + snake(m[1]), length.removesuffix('.size()'))
        counted = counted.format('self' if argument is self.call.this else snake(argument.name))
        return f'len({counted})' if length.endswith('.size()') else counted


class Callable(Kind):
    """A Python function, which the call stores as long as Tenon can call it."""

    def set_up(self):
        of_user = self.call.headers.callbacks[self.argument.base]
        self.takes('Callable[..., Any]')
        # Functions that share a context are stored until it is released; others until the process
        # or the call ends.
        self.before = [f'{self.name} = _callback({class_of(self.argument.base)!r}, {self.name})']
        self.of_user = of_user


def kind_of(call, argument):
    headers, base, stars = call.headers, argument.base, argument.stars
    if argument is call.this:
        return This(call, argument)
    if argument is call.made:
        return Made(call, argument)
    if base == 'TenonObject' and not argument.is_list:
        return Handle(call, argument)
    if base in headers.handles and not argument.is_list and stars <= 1:
        return Handle(call, argument)
    if base == 'MPI_Comm' and not argument.is_list and stars <= 1:
        return Communicator(call, argument)
    if argument.is_list and base == 'char' and not stars and argument.is_const:
        return CountedText(call, argument)
    if argument.is_text and argument.buffer:
        return ReturnedText(call, argument)
    is_known = base in NUMBERS or base in headers.enums
    if argument.is_list and (not stars and (is_known or base in headers.handles) or base == 'char' and stars == 1):
        return List(call, argument)
    if is_known and not argument.is_list and stars <= 1:
        return Number(call, argument)
    if base == 'char' and argument.is_const and stars == 1 and not argument.is_list:
        return Text(call, argument)
    if base == 'void' and not argument.is_list and stars <= 2:
        return Address(call, argument)
    if base in headers.callbacks and not stars and not argument.is_list:
        return Callable(call, argument)
    raise SystemExit(f'{call.function.name}: no kind for the argument {argument.name} of type '
                     f'"{base}{"*" * stars}{"[]" * argument.is_list}"; see src/interfaces/python/kinds.py')
