# SPDX-License-Identifier: BSD-2-Clause
"""Trains the closure of tutorial 05 in PyTorch and writes closure.pt2: train.py PATH_TO_share/tenon"""
import sys

import torch
from torch import nn

sys.path.insert(0, sys.argv[1])
from export_torch import export_model

ROWS, COLUMNS, STEP = 32, 48, 0.2
torch.set_default_dtype(torch.float64)
torch.manual_seed(1)
laplacian = torch.tensor([[0., 1, 0], [1, -4, 1], [0, 1, 0]])[None, None]
mean = torch.full((1, 1, 3, 3), 1 / 9)
y, x = torch.meshgrid(torch.arange(ROWS), torch.arange(COLUMNS), indexing="ij")


def around(u, stencil):
    return nn.functional.conv2d(u, stencil, padding=1)  # zero: it is cold outside


def radiation(u):
    return -0.05 * around(u, mean)**4


def simulate(steps):
    u, samples = torch.zeros(1, 1, ROWS, COLUMNS), []
    for step in range(1, steps + 1):
        angle = torch.tensor(0.11 * STEP * step)
        source = 0.25 * torch.exp(-((x - COLUMNS * (0.5 + 0.25 * torch.cos(angle)))**2 +
                                    (y - ROWS * (0.5 + 0.25 * torch.sin(angle)))**2) / 18)
        if step % 10 == 0:
            samples.append(u)
        u = u + STEP * (0.5 * around(u, laplacian) + source + radiation(u))
    return torch.cat(samples)


class Closure(nn.Module):
    """The normalisation is part of the model: mean and deviation of the samples, and the unit of the radiation."""

    def __init__(self, samples):
        super().__init__()
        self.register_buffer("mean", samples.mean())
        self.register_buffer("deviation", samples.std())
        self.first = nn.Conv2d(1, 16, 3)
        self.last = nn.Conv2d(16, 1, 1)

    def forward(self, u):
        cold = nn.functional.pad(u, (1, 1, 1, 1))
        return 0.02 * self.last(torch.tanh(self.first((cold - self.mean) / self.deviation)))


samples = simulate(1200)
wanted = radiation(samples)
model = Closure(samples)
optimizer = torch.optim.LBFGS(model.parameters(), max_iter=600, line_search_fn="strong_wolfe")


def loss():
    optimizer.zero_grad()
    value = ((model(samples) - wanted) / 0.02).square().mean()
    value.backward()
    return value


optimizer.step(loss)
print(f"error of the closure {float((model(samples) - wanted).square().mean().sqrt()):.2e}")
print(export_model(model, (samples[20:22, :, :, :20].clone(),), "closure.pt2", names=["u"],
                   about="radiation of a plate (tutorial 05)"))
