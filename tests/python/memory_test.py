# SPDX-License-Identifier: BSD-2-Clause
"""How many copies of its parameters a distributed module has, by the memory of all ranks."""
import copy
import ctypes
import gc
import os
import unittest

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt
from tenon.torch.archives import drop_parameters, pages_of_parameters

COMM = MPI.COMM_WORLD
CHANNELS, LAYERS = 1000, 8
WEIGHTS = 4 * LAYERS * CHANNELS**2  # bytes of a copy
ROLLUP = '/proc/self/smaps_rollup'
IS_READ = tuple(int(part) for part in torch.__version__.split('.')[:2]) >= (2, 9)


def wide(channels=CHANNELS):
    return torch.nn.Sequential(torch.nn.Conv2d(1, channels, 1), *[torch.nn.Conv2d(channels, channels, 1) for _ in range(LAYERS)])


def copies():
    """The memory of all ranks, in copies of the weights for each: a page that ranks share counts once."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    with open(ROLLUP) as file:
        kib = sum(int(line.split()[1]) for line in file if line.startswith(('Pss_Anon:', 'Pss_Shmem:')))  # not of libraries
    return COMM.allreduce(1024 * kib) / (COMM.size * WEIGHTS)


@unittest.skipUnless(IS_READ, 'an older PyTorch exports other graphs')
@unittest.skipUnless(os.path.exists(ROLLUP), 'the system does not tell the memory of processes')
class Copies(unittest.TestCase):
    def setUp(self):
        usual = torch.get_default_dtype()
        torch.set_default_dtype(torch.float32)
        self.addCleanup(torch.set_default_dtype, usual)
        torch.manual_seed(3)
        self.layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), [1, 1, 2 * COMM.size, 2], 'S2')
        self.x = torch.ones(1, 1, 2, 2)

    def test_copies_of_parameters(self):
        small = tt.distribute(wide(2), self.layout)  # what libraries allocate once
        small(self.x).sum().backward()
        del small
        before = copies()
        network = tt.distribute(wide(), self.layout)
        self.assertLess(abs(copies() - before - 1), 0.5)  # the values, in Tenon's memory, once the module is gone
        network(self.x).sum().backward()
        self.assertLess(abs(copies() - before - 3), 0.5)  # and the gradients, Tenon's and torch's
        network.zero_grad()
        self.assertLess(abs(copies() - before - 2), 0.5)

    def test_the_file_has_no_values(self):
        """Blocks of parameters in the file are given back. Copies of the network, and other batches, need none."""
        layers = [torch.nn.Conv2d(1, 512, 1), torch.nn.BatchNorm2d(512), torch.nn.Conv2d(512, 512, 1)]
        network = tt.distribute(torch.nn.Sequential(*layers).eval(), self.layout)
        y = network(self.x).detach()
        for path in network.graph.written:
            with open(path, 'rb') as file:
                values = [file.seek(first) and file.read(last - first) for first, last in pages_of_parameters(path)]
            self.assertGreaterEqual(sum(map(len, values)), 4 * 512**2 - 2**18)
            drop_parameters(path)  # again, which changes nothing
            if os.uname().sysname == 'Linux':
                self.assertFalse(any(map(any, values)))
        twice = copy.deepcopy(copy.deepcopy(network))
        self.assertTrue(torch.equal(twice(self.x).detach(), y))
        self.assertTrue(torch.equal(network(self.x.expand(3, 1, 2, 2).contiguous()).detach()[2], y[0]))


if __name__ == '__main__':
    unittest.main()
