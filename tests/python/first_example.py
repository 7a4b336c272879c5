# SPDX-License-Identifier: BSD-2-Clause
"""usage: first_example.py PAGE
Runs the first program of a page of the manual on these ranks. Its losses must decrease, and be those of the same program on
one rank, which the first rank runs before."""
import contextlib
import io
import re
import sys
from pathlib import Path
from unittest import mock

from mpi4py import MPI

try:
    import torch  # noqa: F401
except ImportError:
    print('skipped: PyTorch is not installed')
    sys.exit(77)


def losses(comm, text):
    """Returns what the first rank of a communicator prints."""
    printed = io.StringIO()
    with mock.patch.object(MPI, 'COMM_WORLD', comm), contextlib.redirect_stdout(printed):
        exec(compile(text, 'the first example', 'exec'), {'__name__': '__main__'})
    return [float(value) for value in re.findall(r'loss (\S+)', printed.getvalue())]


def main():
    text = re.search(r'```python\n(.*?)```', Path(sys.argv[1]).read_text(), re.S)[1]
    found = losses(MPI.COMM_WORLD, text)
    alone = losses(MPI.COMM_SELF, text)
    if MPI.COMM_WORLD.rank == 0:
        print(found)
    is_good = MPI.COMM_WORLD.rank > 0 or len(found) == 10 and found[-1] < 0.5 * found[0] and all(
        abs(a - b) <= 1e-4 for a, b in zip(found, alone, strict=True))
    return int(not MPI.COMM_WORLD.allreduce(is_good, MPI.LAND))


sys.exit(main())
