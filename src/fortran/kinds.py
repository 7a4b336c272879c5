# SPDX-License-Identifier: BSD-2-Clause
"""The translation of one argument of a C function to Fortran. kind_of() chooses the class of an argument: Communicator,
Handle, Scalar, List, Text, ReturnedText, TextList or Address. Each class implements four steps. For the argument `dim`
of TenonLayoutSetHalo(), a dimension that C counts from 0 and Fortran from 1 in reverse order, they give

    raw()      integer(c_int), value                    in the interface of the C function (module tenon_c)
    declare()  integer(c_int), intent(in) :: dim        the dummy argument of the subroutine
    prepare()  c_dim = c_dimension(dim, c_extent)       statements that convert it before or after the call
    actual()   c_dim                                    the actual argument of the call

What differs between C and Fortran: dimensions and lists with an entry for each dimension are reversed; indices are
counted from 1; the length of a list is not an argument; integers can have 32 or 64 bits; texts have no NUL; results of
unknown length are allocatable."""
import re

from names import class_name, snake, wrap

# Lists with these lengths have an entry for each dimension of a tensor, and are reversed: the first index of Fortran is
# the last one of C.
TENSOR_LENGTHS = {'ndim', 'spatial', 'rank', 'dimensions'}
# Ranks, axes of process grids and positions on them are counted from 0, as in MPI.
AS_IN_MPI = {'axis', 'coordinates', 'device', 'position'}
# Lists of nodes of a graph, in which negative numbers are inputs of the graph.
NODES = {('TenonLayerGraphAddNode', 'inputs')}
# Values of settings, whose names are arguments. For some names the value is a list with an entry for each dimension, or
# of dimensions; turned_setting() and turned_text() of tenon_convert.f90 convert it.
SETTINGS = {(f'TenonObject{verb}{kind}', argument) for verb in ('Set', 'Get')
            for kind, argument in (('Integers', 'values'), ('Text', 'text'))}
# Classes that store values of any name as settings; those have no entry for each dimension.
WITH_VALUES = {'TenonCheckpoint'}
# Lists of indices that can be below 1: boxes with a halo, which can extend beyond the domain.
UNBOUNDED = {('TenonLayoutSetHaloBoxes', 'low')}
# The texts by which the comments of the headers describe lists of indices.
INDEX = re.compile(r'first (local )?index|local index')
# Fortran intrinsics that the subroutines use, which must not be names of dummies.
USED = {'int', 'len', 'present', 'product', 'size', 'trim'}
SCALARS = {'int': 'integer(c_int)', 'TenonInt': 'integer(c_int64_t)', 'double': 'real(c_double)',
           'TenonBool': 'integer(c_int)', 'size_t': 'integer(c_size_t)',
           'TenonErrorCode': 'integer(c_int)'}


class Parts:
    """The parts of a subroutine under construction: lists of lines. `before` and `after` are the statements before
    and after the call, `last` those that are executed even after an error. is_checked says that statements before the
    call can set tenon_code. `integer` is int64 or int32, the kind of the user's long integers."""

    def __init__(self, function, integer, communicator):
        self.function, self.integer, self.communicator = function, integer, communicator
        self.dummies, self.declarations, self.locals = [], [], []
        self.before, self.after, self.last, self.is_checked = [], [], [], False

    def dummy(self, name, declaration):
        self.dummies.append(name)
        self.declarations.append(f'    {declaration} :: {name}')

    def ask(self, call):
        """Adds a call that queries the number of entries of an object's lists and stores it in c_extent."""
        if call not in self.before:
            self.is_checked = True
            self.local('c_extent', 'integer(c_int)')
            self.before.append(call)

    def local(self, name, declaration):
        self.locals.append(f'    {declaration} :: {name}')


class Kind:
    """The base class of all kinds, and common code of scalars and lists.

    implied_by    the lists whose length the argument is; the subroutine has no such argument then
    length        an expression for the length of a list, of other arguments
    count         the statement that queries this length from an object instead
    needed        of a result that is allocated: the argument that returns its size
    is_consumed   the argument is such a size, or the size of the buffer, and omitted in Fortran
    is_asking     while the first of the two calls is written, which asks for the size
    object_class  of a TenonObject: the class in this subroutine"""
    is_handle = is_communicator = is_long = False

    def __init__(self, function, argument):
        self.function, self.argument = function, argument
        self.c_name, self.name = argument.name, snake(argument.name)
        self.is_list = argument.is_list
        self.is_dimension = False
        self.implied_by, self.length, self.count, self.needed = [], None, None, None
        self.is_asking = self.is_consumed = False
        self.object_class = self.class_of_call = None

    # Whether the subroutine omits the argument.
    @property
    def is_left_out(self):
        return self.is_consumed or bool(self.implied_by)

    @property
    def is_optional(self):
        return self.argument.is_nullable and not self.needed

    # Whether C counts from 0, so 1 is subtracted or added.
    @property
    def is_shifted(self):
        argument = self.argument
        if (self.function.name, self.c_name) in NODES or self.c_name in AS_IN_MPI:
            return False
        return argument.counts_from_0 or bool(argument.length and INDEX.match(argument.text))

    @property
    def is_setting(self):
        return (self.function.name, self.c_name) in SETTINGS and self.class_of_call not in WITH_VALUES

    # Whether the list has an entry for each dimension.
    @property
    def is_reversed(self):
        return self.argument.length in TENSOR_LENGTHS or (
            self.needed and self.needed.c_name in TENSOR_LENGTHS)

    @property
    def is_of_forms(self):
        """Whether the list has an entry for each dimension, one form of an array after the other."""
        return self.argument.length == 'forms * ndim'

    def allocated_with(self, length, needed):
        self.needed, length.owner = needed, self
        length.is_consumed = needed.is_consumed = True
        length.implied_by = []

    def option(self):
        return ', optional' if self.is_optional else ''

    # Type, parameter and argument in C, for the functions of communicators.c.

    def c_type(self):
        argument = self.argument
        stars = '*' * argument.stars
        if argument.is_list and argument.stars:
            stars = '* const' if argument.base in ('char', 'void') else stars
        return f'{argument.is_const or ""}{argument.base}{stars}'

    def c_parameter(self):
        return f'{self.c_type()} {self.c_name}{"[]" * self.is_list}'

    def c_argument(self):
        return self.c_name

    def raw_shape(self):
        return ''

    def prepare(self, parts, public):
        pass

    def actual(self):
        return self.name


class Communicator(Kind):
    """An MPI communicator: an integer, or type(MPI_Comm) of mpi_f08."""
    is_communicator = True

    def raw(self):
        return 'integer(c_int), ' + ('intent(out)' if self.argument.stars else 'value')

    def c_parameter(self):
        return 'int* comm' if self.argument.stars else f'int {self.c_name}'

    def c_argument(self):
        return '&handle' if self.argument.stars else 'handle'

    def declare(self, parts):
        parts.dummy(self.name, f'{parts.communicator}, intent({self.argument.direction})')


class Handle(Kind):
    """An object: a derived type with the component `handle`, the C pointer."""
    is_handle = True

    def raw(self):
        if self.argument.stars:
            return 'type(c_ptr), intent(inout)' + self.option()
        return 'type(c_ptr), value'

    def declare(self, parts):
        name = class_name(self.object_class or self.argument.base)
        direction = self.argument.direction if self.argument.stars else 'in'
        intent = direction.replace(',', '')
        parts.dummy(self.name, f'type({name}), intent({intent}){self.option()}')

    def prepare(self, parts, public):
        if not self.is_optional:
            return
        parts.local(f'c_{self.name}', 'type(c_ptr)')
        parts.before.append(f'    c_{self.name} = c_null_ptr')
        if self.argument.stars:
            parts.after.append(f'      if (present({self.name})) {self.name}%handle = c_{self.name}')
        else:
            parts.before.append(f'    if (present({self.name})) c_{self.name} = {self.name}%handle')

    def actual(self):
        return f'c_{self.name}' if self.is_optional else f'{self.name}%handle'


class Scalar(Kind):
    """A number or a truth value, passed or returned."""

    def __init__(self, function, argument, is_enum):
        super().__init__(function, argument)
        self.type = 'integer(c_int)' if is_enum else SCALARS[argument.base]
        self.is_long = argument.base in ('TenonInt', 'size_t')
        self.is_dimension = argument.name == 'dim' and not argument.stars

    def raw(self):
        if self.argument.stars:
            intent = 'inout' if self.argument.direction == 'in,out' else 'out'
            return f'{self.type}, intent({intent}){self.option()}'
        return f'{self.type}, value'

    def user_type(self, parts):
        if self.argument.base == 'TenonBool':
            return 'logical'
        return f'integer(c_{parts.integer}_t)' if self.is_long else self.type

    def declare(self, parts):
        intent = self.argument.direction.replace(',', '') if self.argument.stars else 'in'
        parts.dummy(self.name, f'{self.user_type(parts)}, intent({intent}){self.option()}')

    def prepare(self, parts, public):
        if self.implied_by:
            parts.local(f'c_{self.name}', 'integer(c_int)')
            self.prepare_count(parts, public)
        elif self.is_dimension:
            parts.local(f'c_{self.name}', 'integer(c_int)')
            parts.ask('    ' + self.count)
            parts.before.append(f'    c_{self.name} = c_dimension({self.name}, c_extent)')
        elif self.argument.stars and not self.is_consumed:
            self.prepare_result(parts)
        elif self.is_shifted and not self.is_consumed:
            # The message of C would have the number minus 1.
            parts.is_checked = True
            parts.before += wrap('    call check_counted(', [
                'tenon_code', f"'{public}'", f"'{self.name}'", f'int({self.name}, c_int64_t)'], ')')

    def prepare_count(self, parts, public):
        lists = sorted(self.implied_by, key=lambda kind: kind.is_optional)
        parts.before.append(f'    c_{self.name} = {lists[0].extent()}')
        for other in lists[1:]:
            other.check(parts, public, f'c_{self.name}')

    def prepare_result(self, parts):
        local, base = f'c_{self.name}', self.argument.base
        parts.local(local, self.type)
        if self.argument.direction == 'in,out':
            parts.before.append(f'    {local} = {self.name}')
        value = local + ' + 1' if self.is_shifted else local
        line = f'{self.name} = {value}'
        if base == 'TenonBool':
            line = f'{self.name} = {local} /= TENON_FALSE'
        elif self.is_long:
            line = f"call give({value}, {self.name}, '{self.name}', tenon_code)"
        guard = f'if (present({self.name})) ' if self.is_optional else ''
        parts.after.append(f'      {guard}{line}')

    def actual(self):
        if self.implied_by and self.is_long:
            return f'int(c_{self.name}, c_int64_t)'
        if self.implied_by or self.is_dimension or (self.argument.stars and not self.is_consumed):
            return f'c_{self.name}'
        if self.is_consumed:
            return 'c_needed' if self.argument.stars else self.length_actual()
        if self.argument.base == 'TenonBool':
            return f'c_bool_of({self.name})'
        value = f'{self.name} - 1' if self.is_shifted else self.name
        if self.is_long:
            return f'int({value}, {"c_size_t" if self.argument.base == "size_t" else "c_int64_t"})'
        return value

    def length_actual(self):
        """The length of an allocated result: 0 in the query, then the length returned by it."""
        return '0_c_int64_t' if self.owner.is_asking else 'int(c_needed, c_int64_t)'


class List(Kind):
    """A list of numbers or of handles."""

    def __init__(self, function, argument, element, is_handles):
        super().__init__(function, argument)
        self.element, self.are_handles = element, is_handles
        self.is_long = argument.base == 'TenonInt'

    def raw(self):
        intent = self.argument.direction.replace(',', '')
        option = ', optional' if self.argument.is_nullable else ''
        return f'{self.element}, intent({intent}){option}'

    def raw_shape(self):
        return '(*)'

    def user_type(self, parts):
        if self.are_handles:
            return f'type({class_name(self.argument.base)})'
        return f'integer(c_{parts.integer}_t)' if self.is_long else self.element

    def declare(self, parts):
        intent = self.argument.direction
        kind = f'{self.user_type(parts)}, '
        if self.needed:
            parts.dummy(self.name, kind + 'allocatable, intent(out)')
        else:
            parts.dummy(self.name, kind + f'intent({intent}){self.option()}')
        parts.declarations[-1] += '(:)'

    def extent(self):
        return f'size({self.name})'

    def check(self, parts, public, wanted):
        parts.is_checked = True
        guard = f'if (present({self.name})) ' if self.is_optional else ''
        parts.before += wrap(f'    {guard}call check_length(', [
            'tenon_code', f"'{public}'", f"'{self.name}'", f'size({self.name})', wanted], ')')

    def prepare(self, parts, public):
        if self.needed:
            self.prepare_allocated(parts)
            return
        if self.count:
            parts.ask('    ' + self.count)
        if self.length or self.count:
            self.check(parts, public, self.length or 'c_extent')
        if (self.function.name, self.c_name) in NODES:
            parts.is_checked = True
            parts.before += wrap('    call check_nodes(', [
                'tenon_code', f"'{public}'", f"'{self.name}'", self.name], ')')
        if (self.argument.direction == 'in' and self.is_shifted
                and (self.function.name, self.c_name) not in UNBOUNDED):
            self.explain(parts, public)
        if self.argument.direction == 'out':
            self.prepare_result(parts)
        elif self.is_optional:
            parts.local(f'c_{self.name}(:)', f'{self.element}, allocatable')
            parts.before.append(f'    if (present({self.name})) c_{self.name} = {self.value()}')

    def explain(self, parts, public):
        """Explains an index below 1: the call fails on all ranks, and its message has the number
        of C."""
        present = f' .and. present({self.name})' if self.is_optional else ''
        condition = f'tenon_code /= TENON_SUCCESS{present}'
        parts.last += [f'    if ({condition}) then'] + wrap('      call explain_counted(', [
            'tenon_code', f"'{public}'", f"'{self.name}'", f'int({self.name}, c_int64_t)'], ')') + ['    end if']

    def prepare_allocated(self, parts):
        needed = 'integer(c_int64_t)' if self.needed.argument.base == 'TenonInt' else 'integer(c_int)'
        parts.local('c_needed', needed)
        parts.local(f'c_{self.name}(:)', f'{self.element}, allocatable')
        parts.after += [f'      allocate ({self.name}(c_needed))', self.give()]

    def prepare_result(self, parts):
        parts.local(f'c_{self.name}(:)', f'{self.element}, allocatable')
        guard = f'if (present({self.name})) ' if self.is_optional else ''
        parts.before.append(f'    {guard}allocate (c_{self.name}(size({self.name})))')
        parts.after.append(self.give())

    def give(self):
        guard = f'if (present({self.name})) ' if self.is_optional else ''
        value = f'reverse(c_{self.name})' if self.is_reversed else f'c_{self.name}'
        if self.is_setting:
            value = f'turned_setting(name, {value})'
        value += ' + 1' * self.is_shifted
        if self.is_long:
            return f"      {guard}call give({value}, {self.name}, '{self.name}', tenon_code)"
        return f'      {guard}{self.name} = {value}'

    def value(self):
        if self.are_handles:
            return f'{self.name}%handle'
        if (self.function.name, self.c_name) in NODES:
            return f'c_nodes({self.name})'
        value = f'reverse({self.name})' if self.is_reversed else self.name
        if self.is_of_forms:
            value = f'reverse_each({self.name}, c_extent)'
        if self.is_long:
            value = f'int({value}, c_int64_t)'
        if self.is_setting:
            value = f'turned_setting(name, {value})'
        return value + ' - 1' * self.is_shifted

    def actual(self):
        if self.needed or self.is_optional or self.argument.direction == 'out':
            return f'c_{self.name}'
        return self.value()


class Text(Kind):
    """A text that is passed, without trailing blanks, or unchanged if C has its length."""

    def raw(self):
        return 'character(kind=c_char), intent(in)' + ', optional' * self.argument.is_nullable

    def raw_shape(self):
        return '(*)'

    @property
    def is_optional(self):
        return self.argument.is_nullable and not self.is_list

    def declare(self, parts):
        parts.dummy(self.name, f'character(len=*), intent(in){self.option()}')

    def extent(self):
        return f'len({self.name})'

    def prepare(self, parts, public):
        if self.is_optional:
            parts.local(f'c_{self.name}', 'character(len=:), allocatable')
            parts.before.append(f'    if (present({self.name})) '
                                f'c_{self.name} = trim({self.name})//c_null_char')

    def actual(self):
        if self.is_list:
            return self.name
        if self.is_setting:
            return f'turned_text(name, trim({self.name}))//c_null_char'
        return f'c_{self.name}' if self.is_optional else f'trim({self.name})//c_null_char'


class ReturnedText(Kind):
    """A text that the call returns, allocatable in Fortran."""
    def raw(self):
        return 'character(kind=c_char), intent(out), optional'

    def raw_shape(self):
        return '(*)'

    def declare(self, parts):
        parts.dummy(self.name, 'character(len=:), allocatable, intent(out)')

    def prepare(self, parts, public):
        parts.local('c_needed', 'integer(c_int64_t)')
        parts.local(f'c_{self.name}(:)', 'character(kind=c_char), allocatable')
        parts.last.append(f'    call give_text(c_{self.name}, tenon_code, {self.name})')
        if self.is_setting:
            parts.last.append(f'    {self.name} = turned_text(name, {self.name})')

    def actual(self):
        return f'c_{self.name}'


class TextList(Kind):
    """A list of texts that is passed."""
    def raw(self):
        return 'type(c_ptr), intent(in)'

    def raw_shape(self):
        return '(*)'

    def declare(self, parts):
        parts.dummy(self.name, 'character(len=*), intent(in)')
        parts.declarations[-1] += '(:)'

    def extent(self):
        return f'size({self.name})'

    def check(self, parts, public, wanted):
        List.check(self, parts, public, wanted)

    def prepare(self, parts, public):
        parts.local(f'c_{self.name}(size({self.name}))', f'character(len=len({self.name}) + 1), target')
        parts.before.append(f'    c_{self.name} = terminated({self.name})')

    def actual(self):
        return f'addresses(c_{self.name})'


class Address(Kind):
    """An address of memory, a user function or a table of functions: type(c_ptr) or type(c_funptr) in Fortran
    too."""

    def __init__(self, function, argument, type):
        super().__init__(function, argument)
        self.type = type

    def raw(self):
        if self.argument.is_list:
            return f'{self.type}, intent(in)'
        if self.argument.stars > 1:
            return f'{self.type}, intent(inout){self.option()}'
        return f'{self.type}, value'

    def raw_shape(self):
        return '(*)' if self.argument.is_list else ''

    def declare(self, parts):
        intent = self.argument.direction.replace(',', '') if self.argument.stars > 1 else 'in'
        parts.dummy(self.name, f'{self.type}, intent({intent}){self.option()}')
        parts.declarations[-1] += '(:)' * self.argument.is_list

    def extent(self):
        return f'size({self.name})'

    def prepare(self, parts, public):
        if not self.is_optional:
            return
        null = 'c_null_funptr' if self.type == 'type(c_funptr)' else 'c_null_ptr'
        parts.local(f'c_{self.name}', self.type)
        parts.before += [f'    c_{self.name} = {null}',
                         f'    if (present({self.name})) c_{self.name} = {self.name}']

    def actual(self):
        return f'c_{self.name}' if self.is_optional else self.name


def kind_of(function, argument, headers):
    """Returns the Kind of an argument, by its type in C: its name without pointers (base), the number of stars, and
    whether it is an array. A type without a rule ends the script."""
    base, stars = argument.base, argument.stars
    is_plain = stars + argument.is_list <= 1
    if base == 'MPI_Comm' and is_plain and not argument.is_list:
        return Communicator(function, argument)
    if base == 'TenonObject' or base in headers.handles:
        if argument.is_list and not stars and argument.is_const:
            return List(function, argument, 'type(c_ptr)', True)
        if not argument.is_list and stars <= 1:
            return Handle(function, argument)
    if base in SCALARS or base in headers.enums:
        if argument.is_list and not stars and base not in ('TenonBool', 'size_t'):
            return List(function, argument, SCALARS.get(base, 'integer(c_int)'), False)
        if not argument.is_list and stars <= 1:
            return Scalar(function, argument, base in headers.enums)
    if base == 'char' and argument.is_const:
        if argument.is_list and stars == 1:
            return TextList(function, argument)
        if is_plain:
            return Text(function, argument)
    if base == 'char' and argument.is_list and not stars:
        return ReturnedText(function, argument)
    if base == 'void' or base in headers.structs or (base == 'char' and stars == 3):
        return Address(function, argument, 'type(c_ptr)')
    if base in headers.callbacks and is_plain and not stars:
        return Address(function, argument, 'type(c_funptr)')
    raise SystemExit(f'{function.name}: no kind for the argument {argument.name} of type '
                     f'"{base}{"*" * stars}{"[]" * argument.is_list}"; see kinds.py')
