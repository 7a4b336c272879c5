# SPDX-License-Identifier: BSD-2-Clause
"""Tenon as long as it is used."""
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
    """What Tenon prints goes where Python prints: into a notebook's cell, and in the order of print()."""
    if sys.stdout is not None:
        sys.stdout.write(said)
        sys.stdout.flush()


# Unless Python runs within a program that uses Tenon by itself, which says where text goes.
is_redirected = ends.is_main = not initialized()
if is_redirected:
    set_output_handler(show)


def initialize(comm: MPI.Comm | None = None) -> None:
    """Initialises Tenon on the ranks of a communicator of mpi4py, by default MPI.COMM_WORLD, until finalize() or the end
    of the program. Errors are exceptions from then on, and one that nobody catches ends all ranks. Options are those of the
    environment variable TENON_OPTIONS, which can name an options file. Collective on comm.

    TenonInitializeWithComm()
    """
    global depth
    check(initialize_with(to_communicator(comm), None, None, None))
    check(push_handler(library.TenonReturnErrorHandler, None))
    depth += 1
    if ends.is_main:
        ends.watch(comm if comm is not None else MPI.COMM_WORLD)


def finalize() -> None:
    """Finalises Tenon: prints the log (-tenon_log_view) and unused options. Objects that still exist are destroyed before.
    Collective on the communicator of initialize().

    TenonFinalize()
    """
    global depth
    depth -= 1
    if depth == 0:
        ends.unwatch()
        for left in list(Object._live):
            left.destroy()
        arrays.sweep()
        if arrays.lenders:  # all that is left are tensors of arrays that somebody still holds
            set_error_output_handler(complain)
    pop_handler()
    check(finalize_c())
    if depth == 0 and arrays.lenders:
        set_error_output_handler(None)


def complain(said: str) -> None:
    """What Tenon has to say at its end, without the objects that it thinks were forgotten."""
    if ' never destroyed on rank ' not in said and sys.stderr is not None:
        sys.stderr.write(said)


class Session:
    """Tenon for a block: `with tenon.Session(comm):`. A block that an exception leaves is not finalised, since other ranks may
    not take part; if nobody catches it, or it is that of sys.exit() with a status, all ranks end."""

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
    """At the end of the program, before mpi4py finalises MPI."""
    try:
        while depth > 0 and not _failed():
            finalize()
    finally:
        Object._is_open = False
        if is_redirected:
            set_output_handler(None)


def _failed() -> bool:
    """Whether an exception ends the program: then other ranks may not take part."""
    return ends.is_failed or getattr(sys, 'last_value', None) is not None
