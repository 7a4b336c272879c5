# SPDX-License-Identifier: BSD-2-Clause
"""usage: processes_test.py PYTHON MPIEXEC FLAG
Tests that start processes. Tenon is used together with packages that have their own HDF5, imported in both orders. If an
exception ends one rank, all ranks end; otherwise these programs would wait forever."""
import importlib.util
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PYTHON, MPIEXEC, FLAG = sys.argv[1:4]

# Both HDF5s write and read a file, while the other is there.
BESIDE = '''
import {first}
import {second}
import numpy
def tenon_works():
    with tenon.Session():
        layout = tenon.Layout.sharded(tenon.Partition(None, [1]), [6, 4], 'S0')
        x = tenon.DTensor(layout, 'float64').fill(3)
        tenon.Checkpoint(None).add_tensor(x, 'x').write('own.h5')
        assert (tenon.CheckpointFile('own.h5')['tensors/x'] == 3).all()
def h5py_works():
    with h5py.File('other.h5', 'w') as file:
        file['x'] = numpy.arange(4.0)
    assert h5py.File('other.h5')['x'][3] == 3
def netCDF4_works():
    with netCDF4.Dataset('other.nc', 'w') as file:
        file.createDimension('n', 4)
        file.createVariable('x', 'f8', ('n',))[:] = numpy.arange(4.0)
    assert netCDF4.Dataset('other.nc')['x'][3] == 3
def xarray_works():
    xarray.Dataset({{'x': ('n', numpy.arange(4.0))}}).to_netcdf('other.nc')
    assert float(xarray.load_dataset('other.nc').x[3]) == 3
{second}_works()
{first}_works()
'''

# One rank fails, and the other waits for it.
FAILING = '''
import sys
import tenon
from mpi4py import MPI
world = MPI.COMM_WORLD
def fail_within(x, y):
    if world.rank == 1:
        sys.exit(5)
def call_back():
    layout = tenon.Layout.sharded(tenon.Partition(None, [2]), [4], 'S0')
    op = tenon.LinearOp.shell(layout, layout, 'float64', 'float64', fail_within)
    op.apply(tenon.DTensor(layout, 'float64'), tenon.DTensor(layout, 'float64'))
def use():
    if world.rank == 1:
        {fails}
    world.barrier()
if {has_session}:
    with tenon.Session():
        use()
tenon.initialize()
use()
'''


class Processes(unittest.TestCase):
    def run_program(self, text, *before):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, 'program.py').write_text(text)
            return subprocess.run([*before, PYTHON, 'program.py'], cwd=folder, capture_output=True, text=True)

    def test_import_orders(self):
        for package, needed in (('h5py', []), ('netCDF4', []), ('xarray', ['netCDF4'])):
            missing = [name for name in [package, *needed] if not importlib.util.find_spec(name)]
            if missing:
                print(f'skipped: {", ".join(missing)} is not installed')
                continue
            for first, second in (('tenon', package), (package, 'tenon')):
                with self.subTest(f'{first} before {second}'):
                    ended = self.run_program(BESIDE.format(first=first, second=second))
                    self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)

    def test_the_end_of_one_rank_ends_all(self):
        for has_session, fails, status, said in ((True, 'sys.exit(7)', 7, ''), (True, 'raise KeyError("mine")', 1, "KeyError: 'mine'"),
                                                 (False, 'tenon.Partition(3, [1])', 1, 'a communicator of mpi4py')):
            with self.subTest(fails):
                ended = self.run_program(FAILING.format(has_session=has_session, fails=fails), MPIEXEC, FLAG, '2')
                self.assertEqual(ended.returncode, status, ended.stderr)
                self.assertIn(said, ended.stderr)

    def test_an_exception_in_a_function_of_one_rank_ends_all(self):
        program = FAILING.format(has_session=True, fails='pass').replace('world.barrier()', 'call_back()')
        ended = self.run_program(program, MPIEXEC, FLAG, '2')
        self.assertEqual(ended.returncode, 5, ended.stderr)
        self.assertIn('SystemExit: 5', ended.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
