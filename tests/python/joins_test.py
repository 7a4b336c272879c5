# SPDX-License-Identifier: BSD-2-Clause
"""Modules of PyTorch beside those of Tenon, concatenation of blocks in different layouts, and layouts that are handed on."""
import copy
import gc
import unittest
import weakref
from functools import partial

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt
from tenon.torch.joins import cat_of
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

    def test_running_statistics_of_split_channels(self):
        """replicated() leaves blocks of Tenon's buffers to their ranks."""
        layout = tenon.Layout.sharded(grid(), [2, 2 * COMM.size, 3, 3], 'S1')
        network = tt.Sequential(layout, partial(tt.nn.BatchNorm2d, 2 * COMM.size), torch.nn.Linear(3, 3))
        network[0].scatter({'running_mean': torch.arange(2.0 * COMM.size)}, strict=False)
        self.assertEqual(network[0].running_mean.numel(), 2)
        network[1].register_buffer('own', torch.tensor([float(COMM.rank)]))
        tt.replicated(network)
        self.assertEqual(network[0].running_mean.tolist(), [2.0 * COMM.rank, 2.0 * COMM.rank + 1])
        self.assertEqual(network[1].own.item(), 0.0)

    def test_copies_of_replicated_modules(self):
        """Copies, and copies of these, sum their gradients too."""
        layout = rows([1, 2, 2 * COMM.size, 3])
        plain = tt.replicated(torch.nn.Sequential(torch.nn.Linear(3, 2)), COMM)
        plain[0].bias.requires_grad_(False)
        joined_one = tt.replicated(tt.Sequential(layout, tt.nn.Tanh(layout=layout), torch.nn.Linear(3, 2)))
        x = torch.full((1, 2, 2, 3), COMM.rank + 1.0)
        for network in (plain, joined_one):
            other = copy.deepcopy(copy.deepcopy(network))
            other[-1].requires_grad_(True)
            average = torch.optim.swa_utils.AveragedModel(network).module
            for each in (other, average):
                each(x).sum().backward()
                grads = COMM.allgather(each[-1].weight.grad.tolist())
                self.assertTrue(all(grad == grads[0] for grad in grads))
            self.assertEqual(other[-1].bias.grad.tolist(), [4.0 * COMM.size] * 2)
            tt.sum_gradients(other)  # adds nothing
            self.assertEqual(other[-1].bias.grad.tolist(), [4.0 * COMM.size] * 2)
            self.assertEqual(network[-1].bias.requires_grad, network is joined_one)

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

    def test_what_a_concatenation_prepares_ends_with_its_layouts(self):
        layouts = [rows([1, 2, 2 * COMM.size, 3]), rows([1, 1, 2 * COMM.size, 3])]
        tensors = [torch.full((1, channels, 2, 3), channels, dtype=torch.float64) for channels in (2, 1)]
        of_cat = cat_of(torch.float64, layouts, 1)
        self.assertIs(cat_of(torch.float64, layouts, -3), of_cat)
        others = [layouts[0], rows([1, 1, 2 * COMM.size, 3])]
        self.assertIsNot(cat_of(torch.float64, others, 1), of_cat)
        self.assertIsNot(cat_of(torch.float32, layouts, 1), of_cat)
        self.assertEqual(tt.cat(tensors, others, 1)[0, :, 0, 0].tolist(), [2, 2, 1])
        ends = [weakref.ref(of_cat), weakref.ref(cat_of(torch.float64, others, 1)), weakref.ref(layouts[1])]
        del of_cat, others, layouts[1]
        layouts.append(rows([1, 1, 2 * COMM.size, 3]))
        tt.cat(tensors, layouts, 1)
        gc.collect()
        self.assertEqual([end() for end in ends], [None] * 3)
        ends = [weakref.ref(cat_of(torch.float64, layouts, 1)), weakref.ref(tt.cat_layout(layouts, 1))]
        del layouts
        gc.collect()
        self.assertEqual([end() for end in ends], [None] * 2)

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
        self.assertRegex(repr(network[0]), r'^Conv2d\(in_channels=2, out_channels=4, kernel=\[3, 3\].*; S2 of \[.*\] -> S2 of')
        self.assertRegex(repr(tt.nn.Tanh(layout=layout, depth=2, dtype=torch.float64)), 'dtype=torch.float64, depth=2; S2 of')
        self.assertRegex(repr(tt.Module(tenon.Layer(COMM, 'tanh', data_type='float64'), layout)), r'^Module\(tanh, data_type=float64; S2 of')
        with self.assertRaisesRegex(ValueError, 'module 1, Tanh, is for .*S2 of'):
            tt.Sequential(layout, partial(tt.nn.MaxPool2d, 2), tt.nn.Tanh(layout=layout))

    def test_copies(self):
        """copy.deepcopy() and exponential moving averages."""
        shape = [2, 2, 4 * COMM.size, 6]
        layout, whole = rows(shape), drawn(*shape)
        x = block(layout, whole)
        network = tt.Sequential(layout, partial(tt.nn.Conv2d, 2, 4, 3, padding=1), partial(tt.nn.BatchNorm2d, 4), partial(tt.nn.Tanh),
                                partial(tt.nn.BatchNorm2d, 4, track_running_stats=False), torch.nn.Linear(6, 6))
        tt.replicated(network)
        average = torch.optim.swa_utils.AveragedModel(network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.75))
        other = copy.deepcopy(network)
        self.assertEqual(list(other.state_dict()), list(network.state_dict()))
        self.assertLess(apart(other(x).detach(), network(x).detach()), 1e-15)
        other.load_state_dict(network.state_dict())
        wanted = {name: parameter.detach().clone() for name, parameter in network.named_parameters()}
        optimizer = torch.optim.SGD(network.parameters(), lr=1e-4)
        average.update_parameters(network)
        for _ in range(3):
            optimizer.zero_grad()
            tt.total((network(x) ** 2).sum()).backward()
            optimizer.step()
            average.update_parameters(network)
            for name, parameter in network.named_parameters():
                wanted[name] = 0.75 * wanted[name] + 0.25 * parameter.detach()
        for name, parameter in average.module.named_parameters():
            self.assertLess(apart(parameter.detach(), wanted[name]), 1e-13, name)
        other[0].load_state_dict(average.module[0].state_dict())
        self.assertLess(apart(other[0](x).detach(), average.module[0](x).detach()), 1e-15)  # Tenon sees the averages
        with self.assertRaisesRegex(TypeError, 'not known how it was made'):
            copy.deepcopy(tt.Module(tenon.Layer(COMM, 'tanh', data_type='float64'), layout))

    def test_other_types_of_elements(self):
        layout = rows([1, 2, 4 * COMM.size, 3])
        with self.assertRaisesRegex(ValueError, 'dtype=torch.bfloat16 is not supported'):
            tt.nn.Tanh(layout=layout, dtype=torch.bfloat16)
        with self.assertRaisesRegex(ValueError, 'is of torch.bfloat16, .* torch.autocast ends before it'):
            tt.nn.Tanh(layout=layout)(torch.zeros(1, 2, 4, 3, dtype=torch.bfloat16))


if __name__ == '__main__':
    unittest.main()
