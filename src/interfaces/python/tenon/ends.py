# SPDX-License-Identifier: BSD-2-Clause
"""Ends all ranks when an exception ends one of them, since the others would wait forever.

Python prints the exception as usual, and mpi4py aborts MPI instead of finalising it when the
interpreter ends: as `python -m mpi4py` does, but only for the part of a program that uses Tenon."""
from __future__ import annotations

import os
import sys
import traceback
from types import TracebackType

from mpi4py import MPI
from mpi4py.run import set_abort_status

before = None  # the previous exception hook, or None if this one is not installed
process = 0  # the process that called watch()
is_failed = False  # set by fail(): session.py then finalises nothing, which other ranks may not do
is_main = False  # set by session.py: whether the program is Python's, and does not embed it


def watch(comm: MPI.Comm) -> None:
    """From now on an uncaught exception ends all ranks, if there are several. Not in a terminal
    or notebook, where the program continues."""
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
    # Not after unwatch(), which the previous hook has called if it finalised Tenon, and not in a
    # child process, such as that of a data loader.
    if before is not None and os.getpid() == process:
        fail(1)


def fail(status: int) -> None:
    """Lets all ranks end with this program. Only the status is set here: mpi4py aborts MPI when the
    interpreter ends."""
    global is_failed
    is_failed = True
    set_abort_status(status)


def leave(comm: MPI.Comm, thrown: BaseException | None) -> None:
    """Called when an exception leaves a session. sys.exit() with a nonzero status ends all ranks,
    as other exceptions do by hook(): the other ranks need not exit, and would wait for this one."""
    if isinstance(thrown, SystemExit) and thrown.code not in (None, 0) and comm.size > 1:
        fail(status_of(thrown, 1))


def status_of(thrown: BaseException, otherwise: int) -> int:
    code = getattr(thrown, 'code', None) if isinstance(thrown, SystemExit) else None
    return code if isinstance(code, int) and code else otherwise


def end_now(thrown: BaseException, code: int) -> None:
    """Within a call in which other ranks wait: prints the exception of a user function, and ends
    all ranks."""
    sys.stderr.write(f'[{MPI.COMM_WORLD.rank}] An exception in a function that Tenon has called ends all ranks, which wait for it:\n')
    traceback.print_exception(type(thrown), thrown, thrown.__traceback__)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    MPI.COMM_WORLD.Abort(status_of(thrown, code))
