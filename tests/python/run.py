# SPDX-License-Identifier: BSD-2-Clause
"""usage: run.py MODULE...
Runs test modules on all ranks within one session. The program fails if a test fails on any rank. The exit status 77 means that a module
was skipped."""
import importlib
import io
import sys
import unittest
from pathlib import Path

from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parent))
import tenon  # noqa: E402

try:
    for name in sys.argv[1:]:
        importlib.import_module(name)
except unittest.SkipTest as reason:
    print(f'skipped: {reason}')
    sys.exit(77)
with tenon.Session():
    suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:])
    said = io.StringIO()
    result = unittest.TextTestRunner(stream=said).run(suite)
    reports = MPI.COMM_WORLD.gather((result.wasSuccessful(), said.getvalue()))
    if reports:  # of the first rank, and of those with failures
        print(*[f'rank {rank}\n{text}' for rank, (is_good, text) in enumerate(reports) if rank == 0 or not is_good])
    is_good = MPI.COMM_WORLD.allreduce(result.wasSuccessful(), MPI.LAND)
sys.exit(not is_good)
