# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch beside those of Tenon, concatenation of blocks in different layouts, and layouts that are handed on."""
import unittest
from functools import partial

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt
from torch_test import apart, block, drawn, grid

COMM = MPI.COMM_WORLD


def rows(shape):
    return tenon.Layout.sharded(grid(), shape, 'S2')


class Timed(torch.nn.Module):
    """A convolution whose channels have a gain by an embedding of the time, as in diffusion, and a mixture of channels."""

    def __init__(self, conv):
        super().__init__()
        self.conv, self.time, self.mixed = conv, torch.nn.Linear(1, 4), torch.nn.Conv2d(4, 2, 1)

    def forward(self, x):
        return self.mixed(self.conv(x) * self.time(torch.full((1, 1), 0.5)).view(1, 4, 1, 1))


class Joins(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)

    def test_replicated_modules(self):
        shape = [2, 2, 4 * COMM.size + 1, 3]
        layout, whole = rows(shape), drawn(*shape)
        one = Timed(torch.nn.Conv2d(2, 4, 3, padding=1))
        torch.manual_seed(5 + COMM.rank)  # each rank has values of its own
        network = Timed(tt.nn.Conv2d(2, 4, 3, padding=1, layout=layout))
        self.assertIs(tt.replicated(network.time), network.time)
        tt.replicated(network)  # with a module of Tenon in it, and a second time
        tt.gather_state_dict(network)
        tt.scatter_state_dict(network, one.state_dict())
        optimizers = [torch.optim.Adam(each.parameters(), lr=1e-2) for each in (one, network)]
        for _ in range(5):
            losses = (one(whole) ** 2).sum(), tt.total((network(block(layout, whole)) ** 2).sum())
            for optimizer, loss in zip(optimizers, losses):
                optimizer.zero_grad()
                loss.backward()
            tt.sum_gradients(network)  # adds nothing
            for optimizer in optimizers:
                optimizer.step()
            self.assertLess(abs(losses[0].item() - losses[1].item()), 1e-12 * losses[0].item())
        for name, value in tt.gather_state_dict(network).items():
            self.assertLess(apart(value, one.state_dict()[name]), 1e-12, name)

    def test_modules_that_cannot_be_replicated(self):
        for module, text in ((torch.nn.BatchNorm2d(2), 'torch.nn.BatchNorm2d, whose .* tenon.torch.nn.BatchNorm2d'),
                             (torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Conv2d(2, 2, 3)), '1 is a torch.nn.Conv2d'),
                             (torch.nn.MaxPool2d(2), 'MaxPool2d'), (torch.nn.GroupNorm(1, 2), 'GroupNorm')):
            with self.assertRaisesRegex(ValueError, text):
                tt.replicated(module, COMM)

    def test_concatenation_of_other_blocks(self):
        """A skip whose rows pooling has not halved evenly, and rows of two fields behind each other."""
        n = 4 * COMM.size + 2
        layout, whole = rows([1, 2, n, 3]), drawn(1, 2, n, 3)
        pool = tt.nn.MaxPool2d(2, (2, 1), (0, 0), layout=layout)
        up = tt.nn.Upsample((n, 3), layout=pool.output_layout)
        x, given = whole.clone().requires_grad_(), block(layout, whole).requires_grad_()
        reference = torch.nn.Sequential(torch.nn.MaxPool2d(2, (2, 1)), torch.nn.Upsample((n, 3)))
        for dim in (1, 2, -2):
            wanted = torch.cat([x, reference(x)], dim)
            layouts = [layout, up.output_layout]
            made = tt.cat([given, up(pool(given))], layouts, dim)
            found = tt.cat_layout(layouts, dim)
            self.assertEqual(found.shape(), list(wanted.shape))
            self.assertLess(apart(made.detach(), block(found, wanted.detach())), 1e-14)
            weights = drawn(*wanted.shape, seed=dim)
            x.grad = given.grad = None
            (wanted * weights).sum().backward()
            (made * block(found, weights)).sum().backward()
            self.assertLess(apart(given.grad, block(layout, x.grad)), 1e-13)

    def test_sequential(self):
        shape = [2, 2, 4 * COMM.size, 6]
        layout, whole = rows(shape), drawn(*shape)
        network = tt.Sequential(layout, partial(tt.nn.Conv2d, 2, 4, 3, padding=1), partial(tt.nn.BatchNorm2d, 4), torch.nn.GELU(),
                                partial(tt.nn.MaxPool2d, 2), partial(tt.nn.Conv2d, 4, 1, 3, padding=1))
        reference = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.GELU(),
                                        torch.nn.MaxPool2d(2), torch.nn.Conv2d(4, 1, 3, padding=1))
        tt.scatter_state_dict(network, reference.state_dict())
        self.assertEqual(network.output_layout.shape(), [2, 1, 2 * COMM.size, 3])
        wanted = block(network.output_layout, reference(whole).detach())
        self.assertLess(apart(network(block(layout, whole)).detach(), wanted), 1e-13)
        with self.assertRaisesRegex(ValueError, 'module 1, Tanh, is for .*S2 of'):
            tt.Sequential(layout, partial(tt.nn.MaxPool2d, 2), tt.nn.Tanh(layout=layout))


if __name__ == '__main__':
    unittest.main()
