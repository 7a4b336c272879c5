# SPDX-License-Identifier: BSD-2-Clause
"""10 Torch: LeNet-5 in PyTorch, distributed over four processes, trains as on one (Hewett and Grady 2020, Section 5).

What you learn: layers of tenon.torch.nn take the place of torch.nn's, with a layout of their input and the words of what each axis of
the process grid splits; the rest of the program, optimizer included, is PyTorch's. Convolutions and pooling split the image into
2 x 2 parts, with halos; affine layers split outputs and inputs in turn; the loss is computed on the first process. The gradients are
the adjoints of all data movement, so that every step of training is that of one process, up to rounding.

  mpiexec -n 4 python3 10_torch.py
  mpiexec -n 4 python3 10_torch.py 1000 5     images and epochs
"""
import sys
from typing import Any, Callable

try:
    import torch
except ImportError:
    print('PyTorch is not installed')
    sys.exit(77)
from mpi4py import MPI

import tenon
import tenon.torch as tt
from tenon.torch import nn

comm = MPI.COMM_WORLD
images, epochs = (int(sys.argv[i]) if len(sys.argv) > i else (640, 4)[i - 1] for i in (1, 2))
BATCH = 64
SEGMENTS = ['abcdef', 'bc', 'abged', 'abgcd', 'fgbc', 'afgcd', 'afgedc', 'abc', 'abcdefg', 'abcdfg']
STROKES = {'a': (0, 0, 0, 1), 'b': (0, 1, 1, 1), 'c': (1, 1, 2, 1), 'd': (2, 0, 2, 1), 'e': (1, 0, 2, 0), 'f': (0, 0, 1, 0),
           'g': (1, 0, 1, 1)}


def digits(count: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Images of digits with seven segments, somewhere in 28 x 28 pixels, on noise."""
    random = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=random)
    x = 0.3 * torch.randn(count, 1, 28, 28, generator=random)
    for image, label in zip(x, labels):
        top, left = torch.randint(2, 8, (2,), generator=random).tolist()
        for name in SEGMENTS[label]:
            r0, c0, r1, c1 = (9 * place for place in STROKES[name])
            image[0, top + r0:top + r1 + 2, left + c0:left + c1 + 2] += 1
    return x, labels


def sequential() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 6, 5, padding=2), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(6, 16, 5), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(400, 120), torch.nn.ReLU(), torch.nn.Linear(120, 84),
        torch.nn.ReLU(), torch.nn.Linear(84, 10))


def distributed(layout: tenon.Layout) -> torch.nn.Module:
    """An axis that splits the inputs (i) of an affine layer gives partial sums. The next function of each element needs their sum,
    which is replicated over that axis, so that it can split the outputs (o) of the next one: the axes alternate."""
    modules: list[Any] = []

    def add(make: Callable[..., Any], *arguments: Any, **settings: Any) -> None:
        modules.append(make(*arguments, layout=modules[-1].output_layout if modules else layout, **settings))

    add(nn.Conv2d, 1, 6, 5, padding=2, signature='h,w', storage='root')
    add(nn.ReLU)
    add(nn.MaxPool2d, 2)
    add(nn.Conv2d, 6, 16, 5, signature='h,w', storage='root')
    add(nn.ReLU)
    add(nn.MaxPool2d, 2)
    add(nn.Flatten, signature='B,c')
    add(nn.Linear, 400, 120, signature='o,i')
    add(nn.ReLU, signature='S1,B')
    add(nn.Linear, 120, 84, signature='i,o')
    add(nn.ReLU, signature='B,S1')
    add(nn.Linear, 84, 10, signature='o,i')
    root = tenon.Layout.sharded(layout.partition(), [BATCH, 10], 'R,R')
    modules.append(tt.repartition(modules[-1].output_layout, root))
    return torch.nn.Sequential(*modules)


def train(network: torch.nn.Module, x: torch.Tensor, labels: torch.Tensor) -> float:
    """Where the output is empty, on all processes but the first, the loss is 0: its backward pass takes part in the others'."""
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(epochs):
        for begin in range(0, images, BATCH):
            optimizer.zero_grad()
            y = network(x[begin:begin + BATCH])
            loss = torch.nn.functional.cross_entropy(y, labels[begin:begin + BATCH]) if y.numel() else y.sum()
            loss.backward()
            optimizer.step()
    return float(loss.detach())


def accuracy(network: torch.nn.Module, x: torch.Tensor, labels: torch.Tensor) -> float:
    with torch.no_grad():
        right = sum(int((y.argmax(1) == labels[begin:begin + BATCH]).sum()) for begin in range(0, len(labels), BATCH)
                    if (y := network(x[begin:begin + BATCH])).numel())
    return right / len(labels)


torch.manual_seed(1)
torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)
rows = 2 if comm.size % 2 == 0 else 1
with tenon.Session(comm):
    grid = tenon.Partition(comm, [rows, comm.size // rows])
    layout = tenon.Layout.sharded(grid, [BATCH, 1, 28, 28], 'S2,S3')
    (_, _, top, left), (_, _, bottom, right) = layout.box()
    x, labels = digits(images, 1)
    test_x, test_labels = digits(256, 2)

    one, many = sequential(), distributed(layout)
    tt.scatter_state_dict(many, one.state_dict())

    block = (slice(None), slice(None), slice(top, bottom), slice(left, right))
    losses = [train(one, x, labels), train(many, x[block], labels)]
    rates = [accuracy(one, test_x, test_labels), accuracy(many, test_x[block], test_labels)]
    difference = max(float((one.state_dict()[name] - whole).abs().max()) for name, whole in tt.gather_state_dict(many).items())
    if comm.rank == 0:
        print('network      processes  loss of the last batch  accuracy')
        print(f'sequential           1  {losses[0]:22.8f}  {100 * rates[0]:7.2f}%')
        print(f'distributed  {comm.size:9d}  {losses[1]:22.8f}  {100 * rates[1]:7.2f}%')
        print(f'the trained parameters are equal up to rounding: {"yes" if difference < 1e-9 else f"no, {difference:.1e}"}')
sys.exit(difference >= 1e-9)
