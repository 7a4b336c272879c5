# SPDX-License-Identifier: BSD-2-Clause
"""Distributed modules whose parts have any names, which end with their last reference, and errors of one rank in distribute()."""
import copy
import gc
import io
import unittest
import unittest.mock
import weakref

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt
from distribute_test import IS_READ, OfModules, splits
from torch_test import apart, block, drawn

COMM = MPI.COMM_WORLD
# Attributes that the modules of tenon.torch have.
MODULES = ['layer', 'graph', 'whole', 'ports', 'paths', 'made', 'inputs', 'trained', 'states', 'make', 'dtype', 'pending', 'gather', 'kept']
PARAMETERS = ['depth', 'known', 'named', 'settings', 'slots', 'used', 'told', 'names', 'function', 'evaluations', 'run']
BUFFERS = ['comm', 'pieces', 'fixed', 'held', 'sums', 'outputs', 'output_layout', 'counts', 'like', 'seed', 'set_ups', 'tell']


class Named(torch.nn.Module):
    def __init__(self):
        super().__init__()
        for name in MODULES:
            setattr(self, name, torch.nn.Conv2d(2, 2, 1))
        for name in PARAMETERS:
            self.register_parameter(name, torch.nn.Parameter(torch.rand(2, 1, 1) + 0.5))
        for name in BUFFERS:
            self.register_buffer(name, torch.rand(2, 1, 1) + 0.5)
        self.block = torch.nn.ModuleDict({'whole': torch.nn.Conv2d(2, 2, 1), 'members': torch.nn.Softmax(1)})

    def forward(self, x):
        for module in (*(self._modules[name] for name in MODULES), *self.block.values()):
            x = module(x)
        for name in PARAMETERS:
            x = x * self._parameters[name]
        for name in BUFFERS:
            x = x + self._buffers[name]
        return x


def trained(network, x, total=lambda value: value):
    """The losses of three steps."""
    optimizer, losses = torch.optim.Adam(network.parameters()), []
    for _ in range(3):
        optimizer.zero_grad()
        loss = total((network(x) ** 2).sum())
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@unittest.skipUnless(IS_READ, 'files of this PyTorch are not read; 2.9 and later are')
class Names(OfModules):
    def test_any_names(self):
        shape = [2, 2, 2 * COMM.size, 3]
        layout, x = splits(shape)[0], drawn(*shape)
        for keep in ([], ['kept', 'block.whole']):
            with self.subTest(keep=keep):
                torch.manual_seed(3)
                one = Named()
                network = tt.distribute(one, layout, keep=keep, proof=True)
                self.assertEqual(list(network.state_dict()), list(one.state_dict()))
                self.assertEqual([name for name, _ in network.named_parameters()], [name for name, _ in one.named_parameters()])
                for name in MODULES:
                    self.assertIs(getattr(network, name), network._modules[name])
                self.assertIs(network.depth, network._parameters['depth'])
                self.assertEqual(network.output_layouts[0].shape(), shape)  # which is Tenon's
                copied, start = copy.deepcopy(network), copy.deepcopy(one)
                wanted = trained(one, x)
                for each in (network, copied):
                    found = trained(each, block(layout, x), tt.total)
                    self.assertLess(max(abs(a - b) / b for a, b in zip(found, wanted)), 1e-12)
                self.check_states(tt.gather_state_dict(network), one.state_dict(), 1e-12)
                tt.scatter_state_dict(network, start.state_dict())
                self.check_states(tt.gather_state_dict(network), start.state_dict(), 0)

    def test_networks_end_with_their_last_reference(self):
        """Without the collector: total() takes the communicator of the networks that exist."""
        shape = [2, 2, 2 * COMM.size, 3]
        layout = splits(shape)[0]
        alone = tenon.Layout.sharded(tenon.Partition(MPI.COMM_SELF, [1]), shape, 'S2')
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        for keep in ([], ['1']):
            one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.Tanh())
            network = tt.distribute(one, alone, keep=keep, proof=True)
            trained(network, drawn(*shape), lambda value: tt.total(value, MPI.COMM_SELF))
            part, inner = network.get_submodule('0'), weakref.ref(network._tenon)
            copied = copy.deepcopy(network)
            del network, copied
            self.assertIsNone(inner())
            with self.assertRaisesRegex(RuntimeError, 'the distributed module of which this Conv2d is a part no longer exists'):
                part.eval()
            network = tt.distribute(one, layout)
            self.assertEqual(float(tt.total(torch.tensor(1.0))), COMM.size)

    def test_total_does_not_count_what_waits_for_the_collector(self):
        shape = [2, 2, 2 * COMM.size, 3]
        gc.disable()
        self.addCleanup(gc.enable)
        alone = tt.nn.Tanh(layout=tenon.Layout.sharded(tenon.Partition(MPI.COMM_SELF, [1]), shape, 'S2'))
        alone.__dict__['itself'] = alone
        del alone
        network = tt.nn.Tanh(layout=splits(shape)[0])
        self.assertEqual(float(tt.total(torch.tensor(1.0))), COMM.size)
        self.assertLess(apart(network(torch.zeros(2, 2, 2, 3)), torch.zeros(2, 2, 2, 3)), 1e-15)

    def test_hooks_and_files_that_are_refused(self):
        network = tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()), splits([2, 2, 2 * COMM.size, 3])[0])
        x = torch.ones(2, 2, 2, 3)
        for name in ('forward_hook', 'forward_pre_hook', 'full_backward_hook'):
            with self.assertRaisesRegex(RuntimeError, 'a hook of this Conv2d would not be called'):
                getattr(network.get_submodule('0'), f'register_{name}')(print)
        wanted = network(x).detach()
        network.register_forward_hook(lambda module, given, y: 2 * y)
        self.assertTrue(torch.equal(network(x).detach(), 2 * wanted))
        for each in (network, tt.nn.Tanh(layout=network.input_layout)):
            with self.assertRaisesRegex(TypeError, r'cannot be pickled: save its state_dict\(\)'):
                torch.save(each, io.BytesIO())

    def test_what_the_network_would_not_notice_is_refused(self):
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.stem = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2))
                self.register_buffer('scale', torch.ones(2, 1, 1))

            def forward(self, x):
                return self.stem(x) * torch.sqrt(self.scale)

        def make():
            return tt.distribute(Scaled(), splits([2, 2, 2 * COMM.size, 3])[0])

        x, network = torch.ones(2, 2, 2, 3), make()
        for outer, name in ((network, 'stem'), (network.stem, '0')):
            for change in (lambda: setattr(outer, name, torch.nn.Conv2d(2, 2, 1)), lambda: delattr(outer, name)):
                with self.assertRaisesRegex(RuntimeError, f'"{name}" is a part of a distributed'):
                    change()
        network.other = torch.nn.Linear(2, 2)  # which is not a part of it
        network(x)
        network.scale.fill_(4)
        with self.assertRaisesRegex(RuntimeError, 'the buffer scale was changed'):
            network(x)
        for change in (lambda norm: setattr(norm, 'running_mean', torch.ones(2)),
                       lambda norm: setattr(norm, 'weight', torch.nn.Parameter(torch.ones(2)))):
            network = make()
            change(network.stem[1])
            with self.assertRaisesRegex(RuntimeError, 'are in the memory of Tenon'):
                network(x)

    def test_other_parts_by_add_module(self):
        one = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1)))
        network = tt.distribute(one, splits([2, 2, 2 * COMM.size, 3])[0])
        for outer in (network, network.get_submodule('0')):
            for add in (outer.add_module, outer.register_module):
                with self.assertRaisesRegex(RuntimeError, '"0" is a part of a distributed'):
                    add('0', torch.nn.Conv2d(2, 2, 1))
                add('0', outer.get_submodule('0'))
        network.add_module('other', torch.nn.Linear(2, 2))  # which is not a part of it
        self.assertIn('other.weight', network.state_dict())

    def test_loading_that_assigns_is_refused(self):
        """Of a parameter of the whole, of parts, and of layers of tenon.torch.nn; nothing is changed."""
        layout, x = splits([2, 2, 2 * COMM.size, 3])[0], torch.ones(2, 2, 2, 3)
        chain = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2))
        for network in (tt.distribute(torch.nn.Conv2d(2, 2, 1), layout), tt.nn.Conv2d(2, 2, 1, layout=layout),
                        torch.nn.Sequential(tt.distribute(chain, layout))):
            wanted = network.eval()(x).detach()
            zeros = {name: torch.zeros_like(value) for name, value in network.state_dict().items()}
            with self.assertRaisesRegex(RuntimeError, r'(?s)assign=True would replace parameters(?!.*assign=True)'):
                network.load_state_dict(zeros, assign=True)
            self.assertTrue(torch.equal(network(x), wanted))
            network.load_state_dict(zeros)
            self.assertEqual(float(network(x).abs().max()), 0)

    def test_hooks_of_loading(self):
        """They are those of the whole, and are given it."""
        network, given = tt.distribute(torch.nn.Conv2d(2, 2, 1), splits([2, 2, 2 * COMM.size, 3])[0]), []
        network.register_load_state_dict_pre_hook(
            lambda module, state, *others: (given.append(module), state.update(bias=torch.ones(2))))
        network.register_load_state_dict_post_hook(lambda module, keys: given.append(module))
        network.load_state_dict(network.state_dict())
        self.assertEqual(len(given), 2)
        self.assertTrue(all(each is network for each in given))
        self.assertTrue(torch.equal(network.bias.detach(), torch.ones(2)))

    def test_attributes_that_are_set(self):
        network = tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1)), splits([2, 2, 2 * COMM.size, 3])[0])
        network.is_repeatable = False
        self.assertFalse(network._tenon.is_repeatable or copy.deepcopy(network).is_repeatable)
        for name, other in (('depth', r'distribute\(\.\.\., depth=\.\.\.\)'), ('input_layout', r'set_layout\(\)')):
            with self.assertRaisesRegex(AttributeError, f'{name} of a distributed Sequential is not set: {other}'):
                setattr(network, name, getattr(network, name))
        network.note = 3
        self.assertEqual(network.note, 3)
        own = torch.nn.Conv2d(2, 2, 1)  # a parameter of the original has its name
        own.depth = torch.nn.Parameter(torch.ones(2))
        tt.distribute(own, splits([2, 2, 2 * COMM.size, 3])[0]).depth = torch.nn.Parameter(torch.zeros(2))

    def test_parametrizations_of_parts_are_named(self):
        for change in (torch.nn.utils.parametrizations.weight_norm, torch.nn.utils.parametrizations.spectral_norm):
            one = torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Conv2d(2, 2, 1))
            network = tt.distribute(one, splits([2, 2, 2 * COMM.size, 3])[0])
            change(network.get_submodule('1'))
            with self.assertRaisesRegex(RuntimeError, 'the parameter weight, and the module no longer has it.*before dist'):
                network(torch.ones(2, 2, 2, 3))

    def test_errors_of_one_rank(self):
        """The others raise one too, and do not wait."""
        if COMM.size == 1:
            return
        layout, last = splits([2, 2, 2 * COMM.size, 3])[0], COMM.size - 1
        for text, change in (
                (r'different modules: 0.weight is \[2, 2, 1, 1\].* on rank 0, and 0.weight is \[3, 2, 1, 1\].* on rank ' f'{last}',
                 lambda one, keep: one.__setitem__(0, torch.nn.Conv2d(2, 3, 1))),
                (f'different modules: the whole is a Sequential in train.* and the whole is a Sequential in eval.* on rank {last}',
                 lambda one, keep: one.eval()),
                (f'different modules: .* on rank 0, and 2 is a ReLU in train.* on rank {last}',
                 lambda one, keep: one.append(torch.nn.ReLU())),
                ('no module "7" to keep', lambda one, keep: keep.__setitem__(0, '7')),
                ('cannot be copied', lambda one, keep: one[1].__dict__.update(__deepcopy__=refuse))):
            with self.subTest(text):
                one, keep = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()), ['1']
                if COMM.rank == last:
                    change(one, keep)
                with self.assertRaisesRegex((ValueError, RuntimeError), text):
                    tt.distribute(one, layout, keep=keep)


    def test_errors_of_one_rank_in_a_proof(self):
        one, last = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1)), COMM.size - 1
        for failing in (0, 1, 2):  # of the input, of the cotangent of the output, and of the output itself
            calls = iter(range(10))

            def made(*given, failing=failing, calls=calls):
                if next(calls) == failing and COMM.rank == last:
                    raise ValueError('no block')
                return block(*given)
            with self.subTest(failing), unittest.mock.patch('tenon.torch.proofs.block', made):
                with self.assertRaisesRegex((ValueError, RuntimeError), 'no block'):
                    tt.distribute(one, splits([2, 2, 2 * COMM.size, 3])[0], proof=True)


def refuse(memo):
    raise ValueError('this part cannot be copied')


if __name__ == '__main__':
    unittest.main()
