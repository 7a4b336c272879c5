#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: PYTHONPATH=BUILD/python OMP_NUM_THREADS=1 python3 tests/bench/unet_torch.py [ROUNDS]
A training step (forward, backward, Adam) of a U-Net on a field of 64 x 64 by tenon.torch.distribute(), beside the same module in
PyTorch, on one thread: processor time in milliseconds, the median of rounds in which both take turns, and the quartiles of the
ratios of the rounds."""
import statistics
import sys
import time

import torch
from mpi4py import MPI

import tenon
import tenon.torch as tt


class Level(torch.nn.Sequential):
    def __init__(self, inputs, outputs):
        super().__init__(torch.nn.Conv2d(inputs, outputs, 3, padding=1, padding_mode='circular'), torch.nn.GroupNorm(4, outputs),
                         torch.nn.GELU(), torch.nn.Conv2d(outputs, outputs, 3, padding=1, padding_mode='circular'), torch.nn.GELU())


class UNet(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.down = torch.nn.ModuleList([Level(2, width), Level(width, 2 * width), Level(2 * width, 4 * width)])
        self.up = torch.nn.ModuleList([Level(6 * width, 2 * width), Level(3 * width, width)])
        self.head = torch.nn.Conv2d(width, 2, 1)

    def forward(self, x):
        first = self.down[0](x)
        second = self.down[1](torch.nn.functional.max_pool2d(first, 2))
        y = self.down[2](torch.nn.functional.max_pool2d(second, 2))
        for level, skip in zip(self.up, (second, first)):
            y = level(torch.cat([torch.nn.functional.interpolate(y, scale_factor=2), skip], 1))
        return self.head(y)


def step(network, optimizer, x, target):
    optimizer.zero_grad()
    loss = ((network(x) - target) ** 2).mean()
    loss.backward()
    optimizer.step()
    return float(loss.detach())


def compare(width, batch, dtype, rounds):
    torch.set_default_dtype(dtype)
    torch.manual_seed(1)
    one = UNet(width)
    shape = [batch, 2, 64, 64]
    layout = tenon.Layout.sharded(tenon.Partition(MPI.COMM_SELF, [1]), shape, 'S2')
    networks = [tt.distribute(one, layout), one]
    optimizers = [torch.optim.Adam(network.parameters(), lr=1e-3) for network in networks]
    x, target = torch.randn(shape), torch.randn(shape)
    losses = [[], []]
    times = [[], []]
    for number in range(rounds + 3):
        for which in ((0, 1), (1, 0))[number % 2]:
            begin = time.process_time()
            losses[which].append(step(networks[which], optimizers[which], x, target))
            if number > 2:
                times[which].append(1e3 * (time.process_time() - begin))
    apart = max(abs(a - b) for a, b in zip(*losses)) / losses[1][0]
    ratios = sorted(a / b for a, b in zip(*times))
    low, middle, high = (ratios[int(share * (len(ratios) - 1))] for share in (0.25, 0.5, 0.75))
    print(f'| {width} | {batch} | {str(dtype).removeprefix("torch.")} | {statistics.median(times[0]):.1f} | {statistics.median(times[1]):.1f} '
          f'| {middle:.2f} ({low:.2f} to {high:.2f}) | {apart:.0e} |', flush=True)


def main():
    torch.set_num_threads(1)
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print('| width | batch | type | tenon.torch, ms | PyTorch, ms | ratio (quartiles) | losses apart |\n| --- | --- | --- | --- | --- | --- | --- |')
    with tenon.Session():
        for width, batch, dtype in ((8, 4, torch.float32), (8, 1, torch.float32), (8, 4, torch.float64), (8, 1, torch.float64),
                                    (32, 4, torch.float32)):
            compare(width, batch, dtype, rounds)


main()
