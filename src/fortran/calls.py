# SPDX-License-Identifier: BSD-2-Clause
"""Call: one function of the C API in Fortran. generate.py writes, for each Call, its C interface into the module
tenon_c and the subroutine that users call into tenon_calls. For example, TenonLayoutSetHalo(layout, dim, low, ...) with
TenonInt low becomes one generic name with two subroutines, one per kind of integers:

    subroutine tenon_layout_set_halo_int64(layout, dim, low, ..., ierr)
      ...                                                  declarations: Kind.declare()
      call layout_dimensions(layout%handle, tenon_code, c_extent)
      c_dim = c_dimension(dim, c_extent)                   conversions before the call: Kind.prepare()
      if (tenon_code == TENON_SUCCESS) tenon_code = TenonLayoutSetHalo(layout%handle, c_dim, int(low, c_int64_t), ...)
      call finish(tenon_code, ierr)                        sets ierr, or ends the program

A function with a communicator has two subroutines for each of these: one for a communicator of the module mpi (an
integer, suffix _mpi) and one for mpi_f08 (type(MPI_Comm), suffix _f08), which calls the first. A function with a
TenonObject has one for each class. Where C has an argument that can be left out before one that cannot, a further
subroutine (suffix _c) has all arguments in the order of C, and raises an error with the order of Fortran. The arguments
are translated by their kinds, see kinds.py."""
import re

from kinds import Kind, Parts, kind_of
from names import comment, fortran_name, snake, wrap

# Lists have no argument for a length that the object knows: by the class of the object and the name of the length, the
# subroutine of tenon_convert.f90 that queries it.
COUNTS = {('TenonLayout', 'ndim'): 'layout_dimensions',
          ('TenonDTensor', 'ndim'): 'tensor_dimensions',
          ('TenonLayer', 'spatial'): 'spatial_dimensions',
          ('TenonPartition', 'axes'): 'partition_axes',
          ('TenonMachine', 'devices'): 'machine_devices'}
# The classes that the calls for "an object of a class with settings" accept.
WITH_SETTINGS = ('TenonCheckpoint', 'TenonDataset', 'TenonFieldSeries', 'TenonLayer',
                 'TenonOptimizer', 'TenonPlan')
# The type of a communicator in Fortran, by the suffix of the subroutine.
SUFFIXES = {'f08': 'type(MPI_Comm)', 'mpi': 'integer(c_int)'}


def type_and_rank(declaration):
    """Returns what distinguishes a dummy argument from another: its type, and whether it is a list."""
    attributes, name = declaration.split(' :: ')
    return re.match(r'\s*\w+\([^)]*\)|\s*\w+', re.sub(r'len=[^,)]*', 'len=*', attributes))[0], '(' in name


class Call:
    """A function of the C API: self.function as headers.py has read it, and a Kind for each of its arguments."""

    def __init__(self, function, headers):
        self.function = function
        self.kinds = [kind_of(function, argument, headers) for argument in function.arguments]
        self.find_lengths()
        self.find_idioms()

    # Relations between the arguments.

    def find_lengths(self):
        """Sets the source of the length of each list; a scalar that is only a length becomes
        implicit, unless all lists that could tell it may be left out."""
        by_name = {kind.c_name: kind for kind in self.kinds}
        for kind in self.kinds:
            argument = kind.argument
            kind.implied_by = [by_name[other.name] for other in argument.lists]
            if kind.implied_by and all(other.argument.is_nullable for other in kind.implied_by):
                for other in kind.implied_by:
                    other.length = kind.name
                kind.implied_by = []
            factors = [by_name[factor.name] for factor in argument.factors]
            if factors and factors[0].is_list:
                kind.length = f'product({factors[0].name})'
            elif factors:
                kind.length = ' * '.join(factor.name for factor in factors)
            elif argument.length and not any(argument in other.lists for other in self.function.arguments):
                kind.count = self.count_of(argument.length)
            if kind.is_of_forms:
                kind.length, kind.count = 'forms * c_extent', self.count_of('ndim')
            if kind.is_dimension:
                kind.count = self.count_of('ndim')
                if not kind.count:
                    raise SystemExit(f'{self.function.name}: the dimension {kind.name} is of no layout '
                                     'or tensor, which tells how many there are')

    def count_of(self, length):
        """Returns the statement that queries a length from the object that is an argument; None if there is none."""
        for kind in self.kinds:
            if kind.is_handle and (kind.argument.base, length) in COUNTS:
                return f'call {COUNTS[kind.argument.base, length]}({kind.name}%handle, tenon_code, c_extent)'
        return None

    def find_idioms(self):
        """Finds a text or list that the C function writes to a buffer of the caller, whose size it returns. In
        Fortran it is an allocatable argument, and buffer size and returned size are omitted."""
        by_name = {kind.c_name: kind for kind in self.kinds}
        for kind in self.kinds:
            if kind.argument.buffer:
                length, needed = kind.argument.buffer
                kind.allocated_with(length=by_name[length.name], needed=by_name[needed.name])

    # The C function.

    def has_communicator(self):
        return any(kind.is_communicator for kind in self.kinds)

    def interface(self):
        """Returns the interface of the C function, for the module tenon_c."""
        name, result = self.function.name, self.function.result
        symbol = name.replace('Tenon', 'TenonF', 1) if self.has_communicator() else name
        word = 'subroutine' if result == 'void' else 'function'
        lines = wrap(f'    {word} {name}(', [kind.name for kind in self.kinds],
                     f') bind(C, name="{symbol}")' + (' result(answer)' * (word == 'function')))
        lines += ['      import'] + [f'      {kind.raw()} :: {kind.name}{kind.raw_shape()}'
                                     for kind in self.kinds]
        if word == 'function':
            answer = 'type(c_ptr)' if '*' in result else 'integer(c_int)'
            lines.append(f'      {answer} :: answer')
        return lines + [f'    end {word} {name}']

    def communicator_function(self):
        """Returns the C function TenonF... that has integers in place of communicators, for communicators.c."""
        if not self.has_communicator():
            return []
        name = self.function.name
        parameters = ', '.join(kind.c_parameter() for kind in self.kinds)
        arguments = ', '.join(kind.c_argument() for kind in self.kinds)
        lines = ['', f'TenonErrorCode {name.replace("Tenon", "TenonF", 1)}({parameters}) {{',
                 '  MPI_Comm handle = MPI_COMM_NULL;']
        if '&handle' not in arguments:
            return lines + ['  const TenonErrorCode code = TenonCommFromFortran(comm, &handle);',
                            f'  return code == TENON_SUCCESS ? {name}({arguments}) : code;', '}']
        return lines + [f'  const TenonErrorCode code = {name}({arguments});',
                        '  if (code == TENON_SUCCESS)', '    *comm = MPI_Comm_c2f(handle);',
                        '  return code;', '}']

    # The subroutines.

    def public_name(self):
        return fortran_name(self.function.name.replace('TenonObject', 'Tenon'))

    def subroutines(self, classes, generics):
        """Returns the subroutines of the function, for the module tenon_calls. Adds their names to `generics`, a
        dictionary from each generic name to its subroutines."""
        name, lines = self.public_name(), []
        objects = [k for k in self.kinds if k.argument.base == 'TenonObject']
        for of in self.classes_of(objects, classes):
            base = name if of is None else f'{name}_{snake(of)[6:]}'
            for kind in objects:
                kind.object_class = of
            for kind in self.kinds:
                kind.class_of_call = of
            lines += self.of_class(name, base, generics)
        if name.endswith('_destroy'):
            generics.setdefault('tenon_destroy', []).append(name)
        return lines

    # For an argument TenonObject: the classes that have a subroutine.
    @staticmethod
    def classes_of(objects, classes):
        if not objects:
            return [None]
        has_settings = objects[0].argument.text.startswith('object of a class with settings')
        return [name for name in classes if not has_settings or name in WITH_SETTINGS]

    def of_class(self, name, base, generics):
        """Returns the subroutines of the generic name `name` for one class of objects; their names begin with
        `base`."""
        integers = any(k.is_long and not k.is_left_out and not k.is_optional for k in self.kinds)
        lines = []
        for suffix in ['int64', 'int32'] if integers else ['']:
            specific = '_'.join(word for word in [base, suffix] if word)
            if self.has_communicator():
                specific += '_mpi'
                other = specific[:-len('mpi')] + 'f08'
                lines += self.with_f08(other, specific, suffix)
                generics.setdefault(name, []).append(other)
            lines += self.subroutine(specific, name, suffix or 'int64')
            generics.setdefault(name, []).append(specific)
            for communicator in ['f08', 'mpi'] if self.has_communicator() else ['']:
                refusing = '_'.join(word for word in [base, suffix, communicator, 'c'] if word)
                refused = self.refusal(refusing, name, suffix or 'int64', communicator or 'mpi')
                generics[name] += [refusing] * bool(refused)
                lines += refused
        return lines

    # The order of C.

    def refusal(self, name, public, integer, communicator):
        """Returns the subroutine that has the arguments in the order of C and raises an error; no lines if both orders
        are the same, or if a compiler could not tell them apart: an argument that cannot be left out in the order of
        Fortran must be of another type or rank than the one at its place in C, and the names must differ."""
        if self.function.result != 'TenonErrorCode':
            return []
        passed = [kind for kind in self.kinds if not kind.is_left_out]
        required = [kind for kind in passed if not kind.is_optional]
        parts = Parts(self.function.name, integer, SUFFIXES[communicator])
        for kind in passed:
            kind.declare(parts)
        types = dict(zip(passed, map(type_and_rank, parts.declarations)))
        if all(types[ours] == types[other] for ours, other in zip(required, passed)):
            return []
        # Those after the last required one can be left out in both orders, and have the same names.
        last = max(passed.index(kind) for kind in required) + 1
        renamed = [re.sub(r'intent\(\w+\)', 'intent(in)', line).replace(', optional', '').replace(' :: ', ' :: c_')
                   for line in parts.declarations[:last]]
        declared = renamed + parts.declarations[last:]
        dummies = ['c_' + dummy for dummy in parts.dummies[:last]] + parts.dummies[last:]
        listed = ', '.join(kind.name for kind in required) + ''.join(
            f' [, {kind.name}]' for kind in passed if kind.is_optional)
        return (wrap(f'  subroutine {name}(', dummies + ['ierr'], ')') + declared +
                ['    integer(c_int), intent(out), optional :: ierr'] +
                wrap('    call refuse_order(', [f"'{public}'", f"'{listed}'", 'ierr'], ')') +
                [f'  end subroutine {name}'])

    def head(self, name, parts):
        if '*' in self.function.result:
            return wrap(f'  function {name}(', parts.dummies, ') result(answer)')
        return wrap(f'  subroutine {name}(', parts.dummies, ')')

    def with_f08(self, name, called, integer):
        """Returns the subroutine for communicators of mpi_f08, which calls the one for integers."""
        parts = self.parts(integer or 'int64', 'f08')
        actual = ['comm%MPI_VAL' if dummy == 'comm' else dummy for dummy in parts.dummies]
        return (self.head(name, parts) + parts.declarations +
                wrap(f'    call {called}(', actual, ')') + [f'  end subroutine {name}'])

    def parts(self, integer, communicator='mpi'):
        """Returns the dummy arguments and their declarations; optional arguments follow the others."""
        parts = Parts(self.function.name, integer, SUFFIXES[communicator])
        for kind in [k for k in self.kinds if not k.is_optional] + [
                k for k in self.kinds if k.is_optional]:
            if not kind.is_left_out:
                kind.declare(parts)
        if self.function.result == 'TenonErrorCode':
            parts.dummy('ierr', 'integer(c_int), intent(out), optional')
        return parts

    def subroutine(self, name, public, integer):
        """Returns the subroutine `name`; `public` is the generic name, for messages."""
        parts = self.parts(integer)
        lines = comment(self.function.brief) + self.head(name, parts)
        if '*' in self.function.result:
            return lines + parts.declarations + [
                '    character(len=:), allocatable :: answer',
                f'    answer = text_at({self.function.name}({self.actual()}))', f'  end function {name}']
        for kind in self.kinds:
            kind.prepare(parts, public)
        if self.function.result == 'void':
            return (lines + parts.declarations + parts.before +
                    wrap(f'    call {self.function.name}(', self.actual_list(), ')') +
                    [f'  end subroutine {name}'])
        lines += parts.declarations + ['    integer(c_int) :: tenon_code'] + parts.locals
        lines += ['    tenon_code = TENON_SUCCESS'] * bool(parts.is_checked)
        lines += parts.before + self.call(parts)
        if parts.after:
            lines += ['    if (tenon_code == TENON_SUCCESS) then'] + parts.after + ['    end if']
        return lines + parts.last + ['    call finish(tenon_code, ierr)',
                                     f'  end subroutine {name}']

    def actual_list(self):
        return [kind.actual() for kind in self.kinds]

    def actual(self):
        return ', '.join(self.actual_list())

    def call(self, parts):
        """Returns the call of the C function. If the subroutine allocates a result, the function is called twice: for
        the size of the result (is_asking), and for the result."""
        start = f'tenon_code = {self.function.name}('
        allocated = [kind for kind in self.kinds if kind.needed]
        if not allocated:
            before = '    if (tenon_code == TENON_SUCCESS) ' if parts.is_checked else '    '
            return wrap(before + start, self.actual_list(), ')')
        kind, lines = allocated[0], []
        kind.is_asking = True
        guard = 'if (tenon_code == TENON_SUCCESS) ' if parts.is_checked else ''
        lines += wrap('    ' + guard + start, self.actual_list(), ')')
        kind.is_asking = False
        return lines + ['    if (tenon_code == TENON_SUCCESS) then',
                        f'      allocate (c_{kind.name}(c_needed))'] + wrap(
                            '      ' + start, self.actual_list(), ')') + ['    end if']
