# SPDX-License-Identifier: BSD-2-Clause
"""Initialisation and finalisation of Tenon."""
from __future__ import annotations

import atexit
import sys

from mpi4py import MPI

from . import arrays, ends
from .calls import initialized, set_error_output_handler, set_output_handler
from .objects import Object
from .runtime import address, check, communicator, function, int as c_int, library, text, to_communicator

initialize_with = function('TenonInitializeWithComm', c_int, communicator, address, address, text)
finalize_c = function('TenonFinalize', c_int)
push_handler = function('TenonPushErrorHandler', c_int, address, address)
pop_handler = function('TenonPopErrorHandler', c_int)

depth = 0


def show(said: str) -> None:
    """Prints the output of Tenon through Python: into a notebook's cell, and in the order of
    print()."""
    if sys.stdout is not None:
        sys.stdout.write(said)
        sys.stdout.flush()


# Not if Python runs within a program that uses Tenon itself, which decides where text is printed.
is_redirected = ends.is_main = not initialized()
if is_redirected:
    set_output_handler(show)


def initialize(comm: MPI.Comm | None = None) -> None:
    """Initialises Tenon on the ranks of a communicator of mpi4py, by default MPI.COMM_WORLD, until
    finalize() or the end of the program. From then on errors are exceptions, and an uncaught one
    ends all ranks. Options come from the environment variable TENON_OPTIONS, which can name an
    options file. Collective on comm.

    TenonInitializeWithComm()
    """
    global depth
    check(initialize_with(to_communicator(comm), None, None, None))
    check(push_handler(library.TenonReturnErrorHandler, None))
    depth += 1
    if ends.is_main:
        ends.watch(comm if comm is not None else MPI.COMM_WORLD)


def finalize() -> None:
    """Finalises Tenon: prints the log (-tenon_log_view) and unused options, after destroying the
    remaining objects. Collective on the communicator of initialize().

    TenonFinalize()
    """
    global depth
    depth -= 1
    if depth == 0:
        ends.unwatch()
        for left in list(Object._live):
            left.destroy()
        arrays.sweep()
        if arrays.lenders:  # the remaining objects are tensors whose arrays are still referenced
            set_error_output_handler(complain)
    pop_handler()
    check(finalize_c())
    if depth == 0 and arrays.lenders:
        set_error_output_handler(None)


def complain(said: str) -> None:
    """Prints the messages of Tenon at its end, except those about objects that were not
    destroyed."""
    if ' never destroyed on rank ' not in said and sys.stderr is not None:
        sys.stderr.write(said)


class Session:
    """Tenon for a block: `with tenon.Session(comm):`. A block that an exception leaves is not
    finalised, since other ranks need not take part. All ranks end if the exception is not
    caught, or is that of sys.exit() with a nonzero status."""

    def __init__(self, comm: MPI.Comm | None = None) -> None:
        self.comm = comm if comm is not None else MPI.COMM_WORLD
        initialize(comm)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, type: object, failure: BaseException | None, trace: object) -> None:
        if failure is None and depth > 0:
            finalize()
        elif ends.is_main:
            ends.leave(self.comm, failure)


@atexit.register
def _end() -> None:
    """Runs at the end of the program, before mpi4py finalises MPI."""
    try:
        while depth > 0 and not _failed():
            finalize()
    finally:
        Object._is_open = False
        if is_redirected:
            set_output_handler(None)


def _failed() -> bool:
    """Whether an exception ends the program, in which case other ranks need not take part."""
    return ends.is_failed or getattr(sys, 'last_value', None) is not None
