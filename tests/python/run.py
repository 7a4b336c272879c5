# SPDX-License-Identifier: BSD-2-Clause
"""usage: run.py MODULE...
Runs test modules on all ranks within one session. The program fails if a test fails on any rank, and ends at once if one rank
fails in a test or an import in which the others wait for it. The exit status 77 means that a module was skipped."""
import importlib
import io
import sys
import time
import traceback
import unittest
from pathlib import Path

from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).parent))
import tenon  # noqa: E402

WAIT = 60  # seconds for which a rank that has failed waits for the others
COMM = MPI.COMM_WORLD.Dup()


def meet(failure):
    """Waits for the other ranks. After a failure here they can be in a collective call, in which they wait for this rank."""
    request, began = COMM.Ibarrier(), time.monotonic()
    while failure and not request.Test():
        if time.monotonic() - began > WAIT:
            print(f'rank {COMM.rank} has failed, and others wait for it:\n{failure}', file=sys.stderr, flush=True)
            COMM.Abort(1)
        time.sleep(0.01)
    request.Wait()


class Result(unittest.TextTestResult):
    def stopTest(self, test):
        super().stopTest(test)
        meet('\n'.join(text for failed, text in self.errors + self.failures if failed is test or getattr(failed, 'test_case', None) is test))


def load(names):
    """Returns the tests of modules, or the reason for which one is skipped."""
    failure, reason = '', None
    try:
        for name in names:
            importlib.import_module(name)
    except unittest.SkipTest as skipped:
        reason = str(skipped)
    except Exception:
        failure = traceback.format_exc()
    meet(failure)
    failures, reasons = COMM.allgather(failure), COMM.allgather(reason)
    if any(failures):
        print(failure, file=sys.stderr)
        sys.exit(1)
    reason = next((each for each in reasons if each is not None), None)
    return unittest.defaultTestLoader.loadTestsFromNames(names if reason is None else []), reason


def main():
    suite, reason = load(sys.argv[1:])
    if reason is not None:
        print(f'skipped: {reason}')
        return 77
    with tenon.Session():
        said = io.StringIO()
        result = unittest.TextTestRunner(stream=said, resultclass=Result).run(suite)
        reports = COMM.gather((result.wasSuccessful(), said.getvalue()))
        if reports:  # of the first rank, and of those with failures
            print(*[f'rank {rank}\n{text}' for rank, (is_good, text) in enumerate(reports) if rank == 0 or not is_good])
        is_good = COMM.allreduce(result.wasSuccessful(), MPI.LAND)
    return int(not is_good)


sys.exit(main())
