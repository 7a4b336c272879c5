# SPDX-License-Identifier: BSD-2-Clause
"""usage: make.py FOLDER, with PyTorch and numpy. The files in its own folder were written by it with PyTorch 1.13.1.

Two convolutional networks, the second with batch normalisation, are trained for a few steps in PyTorch, in
float32 and in float64, and exported by share/tenon/export_weights.py. NAME_f32.txt and NAME_f64.txt contain the
output of PyTorch for the input of the test, in row-major order. The npz files are written by numpy.
"""
import math
import pathlib
import sys

import numpy
import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "share" / "tenon"))
from export_weights import export_weights

SHAPE, MEAN, STD = (3, 2, 10, 8), [0.25, -1.5], [0.5, 2.0]


def field(dtype):
    cells = math.prod(SHAPE)
    return torch.tensor([math.sin(0.37 * i) + 0.002 * i for i in range(cells)], dtype=dtype).reshape(SHAPE)


def network():
    return torch.nn.Sequential(
        torch.nn.Conv2d(2, 6, 3, padding=1, padding_mode="circular"), torch.nn.Tanh(),
        torch.nn.Conv2d(6, 4, (3, 2), stride=2, padding=1, bias=False), torch.nn.GELU(),
        torch.nn.MaxPool2d(2), torch.nn.Conv2d(4, 4, 2, groups=2, dilation=1), torch.nn.Sigmoid(),
        torch.nn.Flatten(), torch.nn.Linear(4, 5), torch.nn.SiLU(), torch.nn.Linear(5, 3))


def normalised():
    return torch.nn.Sequential(
        torch.nn.Conv2d(2, 6, 3, padding=1, bias=False), torch.nn.BatchNorm2d(6), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Conv2d(6, 4, 3), torch.nn.BatchNorm2d(4, affine=False),
        torch.nn.Tanh(), torch.nn.Flatten(), torch.nn.Linear(24, 5), torch.nn.BatchNorm1d(5, eps=1e-3),
        torch.nn.Linear(5, 3))


def train(model, x):
    target = torch.stack([x.mean((1, 2, 3)), x[:, 0].amax((1, 2)), x[:, 1].std((1, 2))], 1)
    optimizer = torch.optim.Adam(model.parameters(), 0.01)
    for _ in range(40):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), target).backward()
        optimizer.step()


def main(folder):
    for make in (network, normalised):
        for dtype, ending in ((torch.float32, "f32"), (torch.float64, "f64")):
            torch.manual_seed(7)
            x, model = field(dtype), make().to(dtype)
            mean, std = (torch.tensor(v, dtype=dtype).reshape(1, 2, 1, 1) for v in (MEAN, STD))
            x, name = (x - mean) / std, f"{make.__name__}_{ending}"
            train(model, x)
            model.eval()
            export_weights(model, folder / f"{name}.safetensors", MEAN, STD)
            numbers = model(x).detach().flatten().tolist()
            (folder / f"{name}.txt").write_text("".join(f"{v!r}\n" for v in numbers))
    a = numpy.arange(6, dtype="<f4").reshape(2, 3)
    arrays = {"b.weight": a, "a.weight": numpy.asfortranarray(a.astype("<f8")), "h": a.astype("<f2") / 4,
              "n": numpy.array(3, "<i8")}
    numpy.savez(folder / "numpy.npz", **arrays)
    numpy.savez_compressed(folder / "numpy_compressed.npz", **arrays)


main(pathlib.Path(sys.argv[1]))
