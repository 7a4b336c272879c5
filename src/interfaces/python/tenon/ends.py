# SPDX-License-Identifier: BSD-2-Clause
"""How all ranks end when an exception ends one of them, for which the others would wait for ever.

Python prints the exception as always, and mpi4py aborts MPI when the interpreter ends, in place of finalising it: what
`python -m mpi4py` does, for the part of a program in which Tenon is used."""
from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType

from mpi4py import MPI
from mpi4py.run import set_abort_status

before = None  # the hook of exceptions whose place this one has taken
process = 0
is_failed = False
is_main = False  # whether the program is one of Python, not one that has Python within it


def watch(comm: MPI.Comm) -> None:
    """From now on an exception that nobody catches ends all ranks, if there are several. Not in a terminal or notebook, where the
    program goes on."""
    global before, process
    if comm.size > 1 and before is None and not (sys.flags.interactive or hasattr(sys, 'ps1')):
        before, process = sys.excepthook, os.getpid()
        sys.excepthook = hook


def unwatch() -> None:
    global before
    if before is not None and sys.excepthook is hook:
        sys.excepthook = before
        before = None


def hook(type: type[BaseException], thrown: BaseException, trace: TracebackType | None) -> None:
    if before is not None:
        before(type, thrown, trace)
    if before is not None and os.getpid() == process:  # and not a child, as of a data loader
        fail(1)


def fail(status: int) -> None:
    """All ranks end with this program."""
    global is_failed
    is_failed = True
    set_abort_status(status)


def leave(comm: MPI.Comm, thrown: BaseException | None) -> None:
    """What sys.exit(1) within a session does on several ranks: others may not take part."""
    if isinstance(thrown, SystemExit) and thrown.code not in (None, 0) and comm.size > 1:
        fail(status_of(thrown, 1))


def status_of(thrown: BaseException, otherwise: int) -> int:
    code = getattr(thrown, 'code', None) if isinstance(thrown, SystemExit) else None
    return code if isinstance(code, int) and code else otherwise


def end_now(thrown: BaseException, code: int) -> None:
    """In a call in which other ranks wait: what a function of the program has thrown is printed, and all ranks end."""
    sys.stderr.write(f'[{MPI.COMM_WORLD.rank}] An exception in a function that Tenon has called ends all ranks, which wait for it:\n')
    traceback.print_exception(type(thrown), thrown, thrown.__traceback__)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    MPI.COMM_WORLD.Abort(status_of(thrown, code))
