# SPDX-License-Identifier: BSD-2-Clause
"""Building blocks of the generated calls: types of ctypes, and conversions of Python values to
arguments of C."""
from __future__ import annotations

import ctypes
import itertools
import os
import threading
from typing import Any

from mpi4py import MPI

from . import ends
from .errors import Error, in_python
from .library import library

DataTypeLike = Any  # a DataType, its name, or an element type of numpy or torch: see data_type()
ref = ctypes.byref
int, long, double, size = ctypes.c_int, ctypes.c_int64, ctypes.c_double, ctypes.c_size_t
address = pointer = ctypes.c_void_p
text = ctypes.c_char_p
# An MPI_Comm is an address in Open MPI and a number in MPICH.
communicator = ctypes.c_int if MPI._sizeof(MPI.Comm) == ctypes.sizeof(ctypes.c_int) else ctypes.c_void_p

names: dict[str, Any] = {}  # classes and enumerations of calls.py by name


class State(threading.local):
    thrown: BaseException | None = None  # an exception that passes through C


state = State()


def function(name, result, *arguments):
    """Returns a function of the library, with its types."""
    found = getattr(library, name, None)
    if found is None:
        raise ImportError(f'{library._name} has no {name}: it is of another version than this package')
    found.restype, found.argtypes = result, arguments
    return found


# Errors.

def raise_error(code):
    thrown, state.thrown = state.thrown, None
    if thrown is not None and ends.is_main:
        library.TenonSetFatalErrorHandler(None, None)
    if thrown is not None and not (code and isinstance(thrown, Exception)):
        raise thrown  # the end of the program (SystemExit, KeyboardInterrupt), or an exception of a
                      # function without an error code
    raise Error(names['ErrorCode'](code), in_python(last_text('TenonGetLastError', None), names['NAMES']),
                last_text('TenonGetLastErrorReport')) from thrown


def last_text(name, *before):
    needed = long()
    ask = getattr(library, name)
    ask(*before, None, long(0), ref(needed))
    into = ctypes.create_string_buffer(max(needed.value, 1))
    ask(*before, into, long(len(into)), None)
    return into.value.decode(errors='replace')


def check(code):
    if code or state.thrown is not None:
        raise_error(code)


# Communicators.

def to_communicator(comm):
    """Returns the C handle of a communicator of mpi4py; None is MPI.COMM_WORLD."""
    comm = MPI.COMM_WORLD if comm is None else comm
    if not isinstance(comm, MPI.Comm):
        raise TypeError(f'a communicator of mpi4py is expected, not {type(comm).__name__}')
    return communicator.from_address(MPI._addressof(comm)).value


def from_communicator(handle):
    comm = MPI.Intracomm()
    communicator.from_address(MPI._addressof(comm)).value = handle.value
    return comm


# Objects.

def handle(value, of):
    """Returns the C handle of an object; None is NULL."""
    if value is None:
        return None
    if not isinstance(value, of):
        raise TypeError(f'an object of tenon.{of.__name__} is expected, not {type(value).__name__}')
    if not value._handle:
        raise ValueError(f'this {of.__name__} has been destroyed')
    return value._handle


def handles(values, of):
    return None if values is None else [handle(value, of) for value in values]


# Numbers, texts and lists.

def data_type(value):
    """Returns the DataType of a name or of an element type of numpy or torch: "float64",
    numpy.float64, torch.float64."""
    of = names['DataType']
    if isinstance(value, of):
        return value
    name = getattr(value, 'name', None) or getattr(value, '__name__', None) or str(value)
    return member(of, str(name).rpartition('.')[2])


def member(of, value):
    """Returns an item of an enumeration, also by its name."""
    if isinstance(value, str):
        try:
            return of[value.upper()]
        except KeyError:
            known = ', '.join(item.name.lower() for item in of)
            raise ValueError(f'"{value}" is none of {of.__name__}: {known}') from None
    return of(value)


def encode(value):
    if value is None or isinstance(value, bytes):
        return value
    if isinstance(value, (str, os.PathLike)):
        return os.fsencode(value) if isinstance(value, os.PathLike) else value.encode()
    raise TypeError(f'a text is expected, not {type(value).__name__}')


def encoded(values):
    return None if values is None else [encode(value) for value in values]


def buffer(length):
    return ctypes.create_string_buffer(length)


def list(of, values, name=None, wanted=None):
    """Returns a C array, or None. If `wanted` is given, the length is checked."""
    if values is None:
        return None
    values = tuple(values)
    if wanted is not None and len(values) != wanted:
        raise ValueError(f'{name} has {len(values)} entries, and {wanted} are expected')
    return (of * len(values))(*values)


def length(values):
    return 0 if values is None else len(values)


def product(values):
    result = 1
    for value in values or ():
        result *= value
    return result


# Functions of the program. Tenon calls them by address; the context, a number, represents their
# lifetime.

held: Any = {}
numbers = itertools.count(1)
kept: Any = []  # functions that are stored until the process ends


def callback(name, called):
    """Returns a C function that calls a Python function, with the arguments and the result of
    the signature."""
    if called is None:
        return None
    has_result, parts = names['SIGNATURES'][name]
    types = [int if kind == 'enum' else NUMBERS.get(what, pointer) for kind, what in parts]

    def call(*given):
        try:
            passed, places = [], []
            for (kind, what), value in zip(parts, given):
                if kind in ('result', 'new'):
                    places.append((kind, what, value))
                elif kind != 'context':
                    passed.append(to_python(kind, what, value, given))
            returned = called(*passed)
            for kind, what, place in places:
                value = returned._give() if kind == 'new' else returned
                (pointer if kind == 'new' else NUMBERS[what[1:]]).from_address(place).value = value
            return 0
        except BaseException as thrown:  # C cannot propagate it: check() raises it again
            state.thrown = thrown
            if ends.is_main:
                library.TenonSetFatalErrorHandler(end_now, None)
            return code_of(thrown) if has_result else None

    return ctypes.CFUNCTYPE(int if has_result else None, *types)(call)


def code_of(thrown):
    """Returns the error code of an exception. Only errors of Tenon have one: the attribute
    `code` of other exceptions can have another meaning."""
    code = thrown.code if isinstance(thrown, Error) else 0
    return code or names['ErrorCode'].ERR_USER


@ctypes.CFUNCTYPE(None, int, int, text, text, text, int, pointer)
def end_now(code, *of_error):
    """The handler of fatal errors while an exception passes through C, which could only report
    that there is one."""
    ends.end_now(state.thrown, code)


NUMBERS = {'int': int, 'long': long, 'double': double, 'size': size}


def to_python(kind, what, value, given):
    if kind == 'handle':
        return names[what]._share(value) if value else None
    if kind == 'enum':
        return names[what](value)
    if kind == 'text':  # its length is the next argument
        return ctypes.string_at(value, given[given.index(value) + 1]).decode(errors='replace')
    return value


def hold(*callbacks):
    """Stores functions until Tenon releases the returned number."""
    if not any(callbacks):
        return None
    number = next(numbers)
    held[number] = callbacks
    return number


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def release(number):
    held.pop(number, None)


def check_held(code, number):
    """Releases the functions if the call failed, since Tenon does not have them."""
    if code:
        held.pop(number, None)
    check(code)


def keep(*callbacks):
    """Stores functions until the process ends."""
    kept.extend(callbacks)
