#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: [mpiexec -n RANKS] env PYTHONPATH=BUILD/python OMP_NUM_THREADS=1 python3 tests/bench/sphere_block.py [ROUNDS]
Forward and backward of one block of a spherical Fourier neural operator with 64 channels on a Gauss grid of 180 x 360
points: by tenon.torch.distribute(), on rows of the grid, beside the same module with the transforms of torch-harmonics, on
one process, or of torch_harmonics.distributed, whose processes exchange by gloo. Milliseconds of processor time of the
slowest process, the median of rounds in which both take turns, and the quartiles of the ratios of the rounds."""
import os
import sys
import time

import torch
import torch_harmonics
from mpi4py import MPI

import tenon
import tenon.torch as tt

COMM = MPI.COMM_WORLD
ROWS, CHANNELS = 180, 64


class Block(torch.nn.Module):
    """A spherical convolution with a weight of each degree, and two pointwise products with a GELU between them."""

    def __init__(self, transforms, dtype):
        super().__init__()
        size = dict(lmax=ROWS, mmax=ROWS, grid='legendre-gauss')
        self.sht = getattr(transforms, f'{self.prefix(transforms)}RealSHT')(ROWS, 2 * ROWS, **size).to(dtype)
        self.inverse = getattr(transforms, f'{self.prefix(transforms)}InverseRealSHT')(ROWS, 2 * ROWS, **size).to(dtype)
        # The same values on every process and in both networks.
        generator = torch.Generator().manual_seed(1)
        self.weight = torch.nn.Parameter(torch.randn(CHANNELS, CHANNELS, ROWS, 2, generator=generator).to(dtype) / CHANNELS)
        self.wide = torch.nn.Conv2d(CHANNELS, 2 * CHANNELS, 1, dtype=dtype)
        self.narrow = torch.nn.Conv2d(2 * CHANNELS, CHANNELS, 1, dtype=dtype)
        for parameter in (*self.wide.parameters(), *self.narrow.parameters()):
            parameter.data.copy_(torch.randn(parameter.shape, generator=generator) / CHANNELS)
        self.degrees = slice(None)

    @staticmethod
    def prefix(transforms):
        return 'Distributed' if transforms is not torch_harmonics else ''

    def forward(self, x):
        weight = torch.view_as_complex(self.weight)[:, :, self.degrees]
        y = self.inverse(torch.einsum('bilm,oil->bolm', self.sht(x), weight))
        return x + self.narrow(torch.nn.functional.gelu(self.wide(y)))


def peer_block(dtype):
    """The block of torch-harmonics, and this process's rows and degrees."""
    if COMM.size == 1:
        return Block(torch_harmonics, dtype), (0, ROWS)
    import torch_harmonics.distributed as distributed
    os.environ.setdefault('MASTER_ADDR', 'localhost')
    os.environ.setdefault('MASTER_PORT', '29517')
    if not torch.distributed.is_initialized():
        torch.distributed.init_process_group('gloo', rank=COMM.rank, world_size=COMM.size)
        distributed.init(torch.distributed.group.WORLD, None)
    block = Block(distributed, dtype)
    rows, degrees = block.sht.lat_shapes, block.sht.l_shapes
    begin = sum(degrees[:COMM.rank])
    block.degrees = slice(begin, begin + degrees[COMM.rank])
    begin = sum(rows[:COMM.rank])
    return block, (begin, begin + rows[COMM.rank])


def compare(dtype, rounds):
    torch.set_default_dtype(dtype)
    peer, (begin, end) = peer_block(dtype)
    shape = [1, CHANNELS, ROWS, 2 * ROWS]
    layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), shape, 'S2')
    networks = [tt.distribute(Block(torch_harmonics, dtype), layout), peer]
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2), dtype=dtype)[:, :, begin:end].contiguous()
    sums, times = [0, 0], [[], []]
    for number in range(rounds + 3):
        for which in ((0, 1), (1, 0))[number % 2]:
            COMM.barrier()
            start = time.process_time()
            y = networks[which](x.requires_grad_())
            (y * y).mean().backward()
            seconds = time.process_time() - start
            if number > 2:
                times[which].append(1e3 * COMM.allreduce(seconds, MPI.MAX))
            sums[which] = COMM.allreduce(float((y.detach().double() ** 2).sum()))
    ratios = sorted(a / b for a, b in zip(*times))
    ours, theirs = (sorted(t)[len(t) // 2] for t in times)
    low, middle, high = (ratios[int(share * (len(ratios) - 1))] for share in (0.25, 0.5, 0.75))
    if COMM.rank == 0:
        print(f'| {COMM.size} | {str(dtype).removeprefix("torch.")} | {ours:.1f} | {theirs:.1f} '
              f'| {middle:.2f} ({low:.2f} to {high:.2f}) | {abs(sums[0] / sums[1] - 1):.0e} |', flush=True)


def main():
    torch.set_num_threads(1)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    if COMM.rank == 0:
        print('| ranks | type | tenon.torch, ms | torch-harmonics, ms | ratio (quartiles) | outputs apart |\n'
              '| --- | --- | --- | --- | --- | --- |')
    with tenon.Session():
        for dtype in (torch.float32, torch.float64):
            compare(dtype, rounds)


main()
