# SPDX-License-Identifier: BSD-2-Clause
"""Trains the closure in PyTorch, with the model of the atmosphere written in torch-harmonics, and writes closure.pt2:
train.py PATH_TO_share/tenon. At the end it prints the table that `11_sphere -degrees 11 -closure closure.pt2` prints."""
import math
import sys

import numpy
import torch
import torch_harmonics as th
from torch import nn

sys.path.insert(0, sys.argv[1])
from export_torch import export_model

DEGREES, TRAIN, USE, WINDOW, WINDOWS, UNSEEN = 11, 200, 40, 8, 5, 1000
STEP, DAMPING, RATE, ROTATION, LOSS_UNIT, SCALE, UNIT = 0.04, 10, 5e-3, 2 * math.pi, 0.1, 2, 0.03
torch.set_default_dtype(torch.float64)
torch.manual_seed(1)


def transforms(degrees, *kinds):
    rows = (3 * degrees + 1) // 2 + 1
    return [kind(rows, 2 * rows, lmax=degrees, mmax=degrees, grid="legendre-gauss").double() for kind in kinds]


class Solver:
    """solver.h: vorticity as coefficients [degrees, orders]; a step of Runge and Kutta, then damping."""

    def __init__(self, degrees):
        self.degrees = degrees
        self.points, self.wind, self.analysis = transforms(degrees, th.InverseRealSHT, th.InverseRealVectorSHT,
                                                           th.RealVectorSHT)
        l = torch.arange(float(degrees))[:, None]
        self.laplacian = l * (l + 1)
        self.inverse = torch.where(l > 0, 1 / self.laplacian.clamp_min(1), 0)
        self.damping = torch.exp(-STEP * DAMPING * (self.laplacian / (degrees * (degrees - 1)))**4)
        sines, _ = numpy.polynomial.legendre.leggauss((3 * degrees + 1) // 2 + 1)
        self.coriolis = torch.tensor(2 * ROTATION * sines[::-1].copy())[:, None]

    def rate(self, z):
        wind = self.wind(torch.stack([torch.zeros_like(z), self.inverse * z]))  # without divergence
        flux = (self.points(z) + self.coriolis) * wind
        return self.laplacian * self.analysis(flux)[0]  # minus the divergence

    def step(self, z):
        total, rate = z, 0
        for weight, shift in ((1 / 6, 0), (1 / 3, 0.5), (1 / 3, 0.5), (1 / 6, 1)):
            rate = self.rate(z + STEP * shift * rate)
            total = total + STEP * weight * rate
        return self.damping * total


def start(degrees, number):
    """flow.c: waves of degrees 2 to 8."""
    z = torch.zeros(degrees, degrees, dtype=torch.complex128)
    for l in range(2, 9):
        for m in range(l + 1):
            phase = 1.7 * (l * l) + 2.3 * m + 3.1 * number * (l + m + 1)
            z[l, m] = complex(0.6 * math.cos(phase), 0.6 * math.sin(phase) if m else 0)
    return z


class Block(nn.Module):
    """A spherical convolution, whose weights [in, out, degree, 2] depend on the degree, and gelu."""

    def __init__(self, analysis, synthesis, channels):
        super().__init__()
        self.analysis, self.synthesis = analysis, synthesis
        self.weight = nn.Parameter(torch.randn(channels, channels, analysis.lmax, 2) / math.sqrt(2 * channels))
        self.bias = nn.Parameter(torch.zeros(1, channels, 1, 1))

    def forward(self, x):
        c = torch.einsum("bixy,iox->boxy", self.analysis(x), torch.view_as_complex(self.weight)).contiguous()
        return nn.functional.gelu(self.synthesis(c) + self.bias)


class Closure(nn.Module):
    """closure.h: a network of vorticities, in units of SCALE, on the solver's points."""

    def __init__(self, degrees, channels=8, blocks=2):
        super().__init__()
        analysis, synthesis = transforms(degrees, th.RealSHT, th.InverseRealSHT)
        self.first = nn.Conv2d(1, channels, 1)
        self.blocks = nn.Sequential(*(Block(analysis, synthesis, channels) for _ in range(blocks)))
        self.last = nn.Conv2d(channels, 1, 1)

    def forward(self, vorticity):
        return self.last(self.blocks(self.first(vorticity)))


def close(solver, analysis, closure, z):
    """A step, and what the closure adds to it."""
    return solver.step(z) + STEP * UNIT * analysis(closure(solver.points(z / SCALE)[None, None])[0, 0])


def distance(a, b):
    return torch.view_as_real(a - b).norm()


truth, coarse, closure = Solver(2 * DEGREES), Solver(DEGREES), Closure(DEGREES)
analysis, = transforms(DEGREES, th.RealSHT)
optimizer = torch.optim.Adam(closure.parameters(), RATE)
total = 0
for step in range(TRAIN):
    if step % WINDOWS == 0:
        flow = start(2 * DEGREES, step // WINDOWS)
    z, loss = flow[:DEGREES, :DEGREES], 0
    for _ in range(WINDOW):
        with torch.no_grad():
            flow = truth.step(flow)
        z = close(coarse, analysis, closure, z)
        loss = loss + distance(z, flow[:DEGREES, :DEGREES])**2 / (LOSS_UNIT**2 * WINDOW)
    optimizer.param_groups[0]["lr"] = RATE * (1 - 0.9 * step / TRAIN)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += float(loss.detach())
    if (step + 1) % (TRAIN // 4) == 0:
        print(f"training step {step + 1:4}: loss {total / (TRAIN // 4):.4f}", flush=True)
        total = 0

with torch.no_grad():
    flow, bare, closed = start(2 * DEGREES, UNSEEN), start(DEGREES, UNSEEN), start(DEGREES, UNSEEN)
    sample = coarse.points(bare / SCALE)[None, None].clone()
    print("error          bare    closed  closed / bare")
    for step in range(1, USE + 1):
        flow, bare, closed = truth.step(flow), coarse.step(bare), close(coarse, analysis, closure, closed)
        if step % (USE // 4) == 0:
            errors = [float(distance(z, flow[:DEGREES, :DEGREES])) for z in (bare, closed)]
            print(f"step {step:4}  {errors[0]:.2e}  {errors[1]:.2e}           {errors[1] / errors[0]:.2f}")
print(export_model(closure, (sample,), "closure.pt2", names=["vorticity"],
                   about="what degrees from 11 on do to those below, in the barotropic vorticity equation (tutorial 11)"))
