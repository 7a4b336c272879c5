# SPDX-License-Identifier: BSD-2-Clause
"""Unchanged modules of PyTorch on a split field, compared with themselves on one process."""
import copy
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
import unittest.mock

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt
from tenon.torch.exports import spread_file
from tenon.torch.proofs import prove
from torch_test import apart, block, drawn

COMM = MPI.COMM_WORLD
IS_READ = tuple(int(part) for part in torch.__version__.split('.')[:2]) >= (2, 9)


class Block(torch.nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
        self.norm, self.act = torch.nn.BatchNorm2d(outputs), torch.nn.GELU()

    def forward(self, x):
        return self.act(self.norm(self.conv(x)))


class Network(torch.nn.Module):
    """With a skip, two inputs, outputs in containers, a mean over space, a tied weight, a parameter and a buffer of its own, and
    parameters that nothing reads."""

    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(Block(2, 4), torch.nn.MaxPool2d(2), Block(4, 4))
        self.up, self.head, self.row = torch.nn.Upsample(scale_factor=2), torch.nn.Conv2d(6, 2, 1), torch.nn.Linear(2, 2)
        self.other = torch.nn.Linear(2, 2)
        self.other.weight = self.row.weight
        self.gain, self.unused = torch.nn.Parameter(torch.ones(2, 1, 1)), torch.nn.Linear(2, 2)
        self.register_buffer('scale', torch.tensor(2.0))

    def forward(self, x, z):
        y = self.head(torch.cat([self.up(self.layers(x)), z], 1)) * self.gain * self.scale
        mean = y.mean((2, 3))
        return {'y': y, 'rows': (self.row(mean), self.other(mean))}


class Fourier(torch.nn.Module):
    """The lowest and highest rows of the modes, as in Fourier neural operators."""

    def __init__(self):
        super().__init__()
        self.first = torch.nn.Conv2d(2, 3, 1)
        self.low, self.high = (torch.nn.Parameter(torch.randn(3, 4, 3, 2, dtype=torch.complex128)) for _ in range(2))
        self.gain = torch.nn.Parameter(torch.ones(4, 1, 1))

    def forward(self, x):
        modes = torch.fft.rfft2(self.first(x))
        out = torch.zeros(x.shape[0], 4, *modes.shape[2:], dtype=modes.dtype)
        out[:, :, :3, :2] = torch.einsum('bixy,ioxy->boxy', modes[:, :, :3, :2], self.low)
        out[:, :, -3:, :2] = torch.einsum('bixy,ioxy->boxy', modes[:, :, -3:, :2], self.high)
        return torch.fft.irfft2(out, s=x.shape[2:]) * self.gain


class Dropping(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.drop, self.channels = torch.nn.Conv2d(2, 3, 3, padding=1), torch.nn.Dropout(0.3), torch.nn.Dropout2d(0.4)

    def forward(self, x):
        y = self.conv(x)
        return self.drop(y), self.drop(y), self.channels(y)


def splits(shape):
    """The layouts of a tensor [batch, channels, rows, columns] by rows, columns, samples, and both of space."""
    found = [([COMM.size], 'S2'), ([COMM.size], 'S3'), ([COMM.size], 'S0')] + [([2, COMM.size // 2], 'S2,S3')] * (COMM.size == 4)
    return [tenon.Layout.sharded(tenon.Partition(COMM, axes), shape, properties) for axes, properties in found]


class OfModules(unittest.TestCase):
    """Tests in float64, whose modules all ranks make alike."""

    def setUp(self):
        self.addCleanup(torch.set_default_dtype, torch.get_default_dtype())
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(3)

    def check_states(self, found, wanted, tolerance):
        self.assertEqual(list(found), list(wanted))
        for name, value in wanted.items():
            self.assertEqual((found[name].shape, found[name].dtype), (value.shape, value.dtype), name)
            self.assertLessEqual(apart(*[each.to(torch.complex128) for each in (found[name], value)]), tolerance, name)


@unittest.skipUnless(IS_READ, 'files of this PyTorch are not read; 2.9 and later are')
class Distribute(OfModules):
    def rows(self, shape):
        return splits(shape)[0]

    def train(self, network, fields, wanted, total=lambda value: value, mean=lambda value: value):
        """The losses of 20 steps of Adam. total() adds parts of the loss, and mean() is for values that all ranks have."""
        optimizer, losses = torch.optim.Adam(network.parameters(), lr=1e-2), []
        for _ in range(20):
            optimizer.zero_grad()
            made = network(*fields)
            loss = total(((made['y'] - wanted) ** 2).sum()) + mean(sum((row ** 4).sum() for row in made['rows']))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def test_training_is_that_of_one_process(self):
        shape = [4, 2, 8, 8]
        x, z = drawn(*shape, seed=1), drawn(*shape, seed=2)
        for number, layout in enumerate(splits(shape)):
            with self.subTest(layout.properties()):
                torch.manual_seed(3)
                one = Network()
                torch.manual_seed(3 + COMM.rank)  # the values are those of the first rank
                network = tt.distribute(Network() if number else one, [layout, layout], proof=number == 0)
                start = tt.gather_state_dict(network)
                one.load_state_dict(start)
                self.assertEqual(list(network.state_dict()), list(one.state_dict()))
                self.assertEqual([(name, p.shape) for name, p in network.named_parameters()],
                                 [(name, p.shape) for name, p in one.named_parameters()])
                self.assertIs(network.row.weight, network.other.weight)
                fields, wanted = [block(layout, x), block(layout, z)], block(network.output_layouts[0], z)
                are_copies = 'S0' not in network.output_layouts[1].properties()
                found = self.train(network, fields, wanted, tt.total, tt.mean if are_copies else tt.total)
                expected = self.train(one, [x, z], z)
                self.assertLess(max(abs(a - b) for a, b in zip(found, expected)), 1e-12 * expected[0])
                self.check_states(tt.gather_state_dict(network), one.state_dict(), 1e-12)
                network.eval(), one.eval()
                with torch.no_grad():
                    self.assertLess(apart(network(*fields)['y'], block(network.output_layouts[0], one(x, z)['y'])), 1e-12)
                tt.scatter_state_dict(network, start)
                self.check_states(tt.gather_state_dict(network), start, 0.0)
                if number == 0:
                    other = copy.deepcopy(network)
                    self.assertEqual(repr(other), repr(network))
                    self.check_states(tt.gather_state_dict(other), start, 0.0)
                    self.assertTrue(torch.equal(other(*fields)['y'], network(*fields)['y']))

    def test_states_that_do_not_fit(self):
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.unused = torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.Linear(2, 2)
                self.register_buffer('scale', torch.tensor([2.0, 3.0]))

            def forward(self, x):
                return torch.exp(self.conv(x)) * torch.sqrt(self.scale).view(1, 2, 1, 1)

        network = tt.distribute(Scaled(), self.rows([1, 2, 4 * COMM.size, 3]))
        state = tt.gather_state_dict(network)
        tt.scatter_state_dict(network, state)
        with self.assertRaisesRegex(RuntimeError, 'the buffer scale has other values than in the module that was distributed'):
            tt.scatter_state_dict(network, {**state, 'scale': torch.tensor([2.0, 4.0])})
        with self.assertRaisesRegex(RuntimeError, r'Missing key.*"unused.bias"'):
            tt.scatter_state_dict(network, {name: value for name, value in state.items() if name != 'unused.bias'})
        with self.assertRaisesRegex(RuntimeError, r'Unexpected key.*"conv.weights"'):
            tt.scatter_state_dict(network, {**state, 'conv.weights': torch.zeros(1)})
        with self.assertRaisesRegex(RuntimeError, r'size mismatch for conv.weight: \[3, 2, 3, 3\] is given'):
            tt.scatter_state_dict(network, {**state, 'conv.weight': torch.zeros(3, 2, 3, 3)})

    def test_other_batches(self):
        shape = [4, 2, 4 * COMM.size, 3]
        one = Block(2, 3)
        network = tt.distribute(one, self.rows(shape))
        tt.scatter_state_dict(network, COMM.bcast(one.state_dict()))
        one.load_state_dict(COMM.bcast(one.state_dict()))
        whole = drawn(*shape)
        own = block(network.input_layout, whole)
        for batch in (4, 3, 1, 4):
            x, given = whole[:batch].clone().requires_grad_(), own[:batch].clone().requires_grad_()
            y = network(given)
            (y ** 2).sum().backward()
            wanted = one(x)
            (wanted ** 2).sum().backward()
            self.assertLess(apart(y, block(network.output_layout, wanted)), 1e-13)
            self.assertLess(apart(given.grad, block(network.input_layout, x.grad)), 1e-12)
        network.eval()  # an evaluation can be repeated after one of another batch
        first, _ = network(own), network(own[:2])
        parameter = next(network.parameters())
        wanted, = torch.autograd.grad((network(own) ** 2).sum(), parameter)
        found, = torch.autograd.grad((first ** 2).sum(), parameter)
        self.assertLess(apart(found, wanted), 1e-13)

    def test_a_split_batch_names_its_layout(self):
        if COMM.size == 1:
            return
        layout = splits([2 * COMM.size, 2, 4, 3])[2]
        network = tt.distribute(Block(2, 3), layout)
        with self.assertRaisesRegex(ValueError, r'module.set_layout\(layout\)'):
            network(torch.zeros(1, 2, 4, 3))
        network.set_layout(splits([COMM.size, 2, 4, 3])[2])
        self.assertEqual(network(torch.zeros(1, 2, 4, 3)).shape, (1, 3, 4, 3))

    def test_dropout(self):
        """Masks depend on the global position; two uses of one value draw two."""
        shape = [8, 2, 4 * COMM.size, 5]
        one = Dropping()
        one.load_state_dict(COMM.bcast(one.state_dict()))
        network = tt.distribute(one, self.rows(shape), seed=4)
        alone = tt.distribute(one, tenon.Layout.sharded(tenon.Partition(MPI.COMM_SELF, [1]), shape, 'S2'), seed=4)
        whole = drawn(*shape)
        x = block(network.input_layout, whole)
        first, second, channels = network(x)
        of_one = alone(whole)
        for y, wanted, layout in zip((first, second, channels), of_one, network.output_layouts):
            self.assertLess(apart(y, block(layout, wanted)), 1e-13)
        self.assertTrue(0.1 < float((alone(whole)[0] == 0).double().mean()) < 0.5)
        self.assertGreater(COMM.allreduce(apart(first.detach(), second.detach())), 0.1)
        # A channel of a sample is dropped, or has all of its elements, which are those of the convolution by 1 / (1 - 0.4).
        network.zero_grad()
        channels.sum().backward()
        gain = of_one[2].detach() / one.conv(whole).detach()
        self.assertLess(apart(gain, torch.where(gain[:, :, :1, :1] < 0.5, 0, 1 / 0.6).expand_as(gain)), 1e-9)
        kept = (gain[:, :, 0, 0] > 0.5).double()
        self.assertTrue(0 < float(kept.mean()) < 1)
        self.assertLess(apart(network.conv.bias.grad, kept.sum(0) / 0.6 * whole[0, 0].numel()), 1e-9)
        network.eval(), one.eval()
        self.assertLess(apart(network(x)[0], block(network.output_layout, one(whole)[0])), 1e-13)

    def test_kinks_at_zero(self):
        """A channel that is 0 everywhere, whose derivative PyTorch defines."""
        class Kinks(torch.nn.Module):
            def forward(self, x):
                return torch.nn.functional.relu6(x) + torch.nn.functional.hardtanh(x, 0, 2) + torch.relu(x)

        shape = [1, 2, 2 * COMM.size, 3]
        network = tt.distribute(Kinks(), self.rows(shape))
        x = torch.zeros(1, 2, 2, 3, requires_grad=True)
        network(x).sum().backward()
        z = torch.zeros(1, 2, 2, 3, requires_grad=True)
        Kinks()(z).sum().backward()
        self.assertTrue(torch.equal(x.grad, z.grad))

    def test_complex_parameters(self):
        """Those of Fourier layers, which Tenon has as real ones, two in one: in the state_dict() of the whole, both ways."""
        shape = [2, 2, 12, 4 * COMM.size + 6]
        x = drawn(*shape, seed=5)
        for number, layout in enumerate(splits(shape)):
            with self.subTest(layout.properties()):
                torch.manual_seed(3)
                one, other = Fourier(), Fourier()
                network = tt.distribute(one, layout)
                self.assertTrue(all(not p.is_complex() for p in network.parameters()))
                found = tt.gather_state_dict(network)
                self.assertEqual(list(found), list(one.state_dict()))
                self.check_states(found, one.state_dict(), 0)
                tt.scatter_state_dict(network, other.state_dict())
                self.check_states(tt.gather_state_dict(network), other.state_dict(), 0)
                with torch.no_grad():
                    self.assertLess(apart(network(block(layout, x)), block(network.output_layout, other(x))), 1e-12)
                for each, total, field in ((network, tt.total, block(layout, x)), (other, lambda value: value, x)):
                    optimizer = torch.optim.Adam(each.parameters(), lr=1e-2)
                    for _ in range(3):
                        optimizer.zero_grad()
                        total((each(field) ** 2).sum()).backward()
                        optimizer.step()
                self.check_states(tt.gather_state_dict(network), other.state_dict(), 1e-10)
                copied = copy.deepcopy(network)
                self.check_states(tt.gather_state_dict(copied), other.state_dict(), 1e-10)
                state = other.state_dict()
                del state['high']
                with self.assertRaisesRegex(RuntimeError, 'Missing key'):
                    tt.scatter_state_dict(network, state)

    def test_one_complex_parameter(self):
        """Tenon's real parameter has its name, and what the network does not read of it stays as the first rank has it."""
        class Line(torch.nn.Module):
            def __init__(self, read):
                super().__init__()
                self.weight, self.read = torch.nn.Parameter(torch.randn(2, 3, 6, dtype=torch.complex128)), read

            def forward(self, x):
                z = torch.fft.rfft(x)
                made = torch.zeros(x.shape[0], 3, z.shape[2], dtype=z.dtype)
                made[:, :, :self.read] = torch.einsum('bix,iox->box', z[:, :, :self.read], self.weight[:, :, :self.read])
                return torch.fft.irfft(made, n=x.shape[2])

        class Inner(torch.nn.Module):
            def __init__(self, read):
                super().__init__()
                self.line = Line(read)

            def forward(self, x):
                return torch.tanh(self.line(x))

        shape = [2, 2, 10 + 2 * COMM.size]
        x = drawn(*shape, seed=5)
        for kind in (Line, Inner):
            for read in (6, 4):
                with self.subTest(f'{kind.__name__} {read}'):
                    torch.manual_seed(3)
                    one, other = kind(read), kind(read)
                    network = tt.distribute(one, tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), shape, 'S2'))
                    self.check_states(tt.gather_state_dict(network), one.state_dict(), 0)
                    tt.scatter_state_dict(network, other.state_dict())
                    for each in (network, copy.deepcopy(network)):
                        self.check_states(tt.gather_state_dict(each), other.state_dict(), 0)
                        with torch.no_grad():
                            y = each(block(each.input_layout, x))
                            self.assertLess(apart(y, block(each.output_layout, other(x))), 1e-12)

    def test_complex_parameters_beside_a_computed_weight(self):
        """A weight made of real parameters is not one of the elements of the complex ones."""
        class Scaled(Fourier):
            def __init__(self):
                super().__init__()
                self.a, self.b = (torch.nn.Parameter(torch.rand(4, 4, 1, 1, dtype=torch.float64) + 0.3) for _ in range(2))

            def forward(self, x):
                return torch.nn.functional.conv2d(super().forward(x), self.a * self.b)

        shape = [2, 2, 12, 4 * COMM.size + 6]
        one = Scaled()
        found = tt.gather_state_dict(tt.distribute(one, self.rows(shape)))
        for name in ('low', 'high'):
            self.assertTrue(torch.equal(found[name], one.state_dict()[name]), name)

    def test_what_is_refused(self):
        class Depth(torch.nn.Module):
            def forward(self, x):
                return torch.tanh(x) if self.training else torch.sigmoid(x)

        class Sorted(torch.nn.Module):
            def forward(self, x):
                return torch.sort(x, 3)[0]

        layout = self.rows([1, 2, 4 * COMM.size, 3])
        text = r"Depth computes in train\(\) what it does not in eval\(\).*return torch.tanh\(x\) if self.training.*training=False"
        with self.assertRaisesRegex((ValueError, RuntimeError), text):
            tt.distribute(Depth(), layout)
        x = block(layout, drawn(1, 2, 4 * COMM.size, 3))
        self.assertLess(apart(tt.distribute(Depth(), layout, training=False)(x), torch.sigmoid(x)), 1e-14)
        with self.assertRaisesRegex(tenon.Error, 'distribute_test.py, line [0-9]+, in forward: return torch.sort'):
            tt.distribute(Sorted(), layout)
        network = tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()), layout)
        with self.assertRaisesRegex(RuntimeError, 'not of the part Conv2d'):
            network.get_submodule('0').eval()
        with self.assertRaisesRegex(RuntimeError, 'is a part of a distributed Sequential'):
            network.get_submodule('0')(x)
        with self.assertRaisesRegex(RuntimeError, 'are in the memory of Tenon'):
            network.float()
        with self.assertRaisesRegex(RuntimeError, 'does not compute what the module computes'):
            prove(network, torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()))

    def test_arguments_and_views_that_are_refused(self):
        """Valid modules, whose arguments and writes in place are not ignored."""
        class Of(torch.nn.Module):
            def __init__(self, function, **parts):
                super().__init__()
                self.function = function
                for name, part in parts.items():
                    setattr(self, name, part)

            def forward(self, x):
                return self.function(self, x)

        def written(view, change=lambda v: v.mul_(2)):
            def function(module, x):
                y = x * 1
                change(view(y))
                return y + 1
            return Of(function)

        def stale(view):
            def function(module, x):
                z = torch.fft.rfft(x)
                v = view(z)
                z.mul_(2)
                return v.real + 1
            return Of(function)

        def output(module, x):
            y = x * 1
            y.transpose(2, 3).zero_()
            return y

        places = torch.arange(6).repeat(2)
        table = lambda module, x: module.table(places).sum() * x
        changed = 'memory (that )?was changed'
        for text, module in (
                (changed, written(lambda y: y.swapdims(2, 3))), (changed, written(lambda y: y.unfold(3, 2, 2))),
                (changed, written(lambda y: y.ravel()[2:5])), (changed, written(lambda y: y[0].transpose_(1, 2))),
                (changed, written(lambda y: torch.meshgrid(y[0, 0, 0], indexing='ij')[0])),
                (changed, written(lambda y: torch.einsum('abcd->abdc', y))),
                (changed, stale(lambda z: z.real)), (changed, stale(lambda z: z.conj())), ("output 'mul'.*" + changed, Of(output)),
                ('scale_grad_by_freq', Of(table, table=torch.nn.Embedding(6, 4, scale_grad_by_freq=True))),
                ('argument dtype of aten.sum', Of(lambda module, x: x.sum(1, True, dtype=torch.int64) + x)),
                ('bits of integers', Of(lambda module, x: x * (torch.arange(3) & 2))),
                ('proj_size', Of(lambda module, x: module.lstm(x[0])[0], lstm=torch.nn.LSTM(3, 4, proj_size=2)))):
            with self.subTest(text):
                layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), [1, 2, 4, 3], 'B')
                with self.assertRaisesRegex(tenon.Error, '(?s)ERR_SUPPORT.*' + text):
                    tt.distribute(module, layout, training=text == 'scale_grad_by_freq')
        # What stops a gradient does so in Tenon too.
        stopped = Of(lambda module, x: x + torch.tanh(x).detach())
        padded = Of(table, table=torch.nn.Embedding(6, 4, padding_idx=0))
        unbounded = Of(lambda module, x: torch.maximum(x, torch.tensor(-torch.inf)) - torch.minimum(torch.tensor(torch.inf), 2 * x))
        rows = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), [1, 2, 4, 3], 'S2')
        for module in (stopped, padded, unbounded):
            network = tt.distribute(module.double(), rows)
            x = drawn(1, 2, 4, 3).requires_grad_()
            own = tt.block(rows, x.detach()).clone().requires_grad_()
            y, expected = network(own), module(x)
            self.assertLess(apart(y, tt.block(rows, expected)), 1e-14)
            (y ** 2).sum().backward()
            (expected ** 2).sum().backward()
            self.assertLess(apart(own.grad, tt.block(rows, x.grad)), 1e-12)
            for parameter, other in zip(network.parameters(), module.parameters()):
                self.assertLess(apart(parameter.grad, other.grad), 1e-12)

    def test_modes_of_parts(self):
        """Layers that do not follow train() and eval() of the whole are refused."""
        class Frozen(Block):
            def train(self, mode=True):
                return super().train(False)

        class Whole(torch.nn.Module):
            def __init__(self, kind):
                super().__init__()
                self.backbone, self.head = kind(2, 3), torch.nn.Conv2d(3, 2, 1)

            def forward(self, x):
                return self.head(self.backbone(x))

        class Always(torch.nn.Module):
            def forward(self, x):
                return torch.nn.functional.dropout(torch.tanh(x), 0.5)

        class Supervised(Whole):
            def forward(self, x):
                y = self.backbone(x)
                outputs = [self.head(y), y]
                return outputs if self.training else outputs[0]

        layout = self.rows([2, 2, 4 * COMM.size, 3])
        refused = ValueError, RuntimeError
        text = r'Whole has an operator that is not trained in train\(\).*batch_norm.*distribute_test.py, line [0-9]+.*training=False'
        with self.assertRaisesRegex(refused, text):
            tt.distribute(Whole(Frozen), layout)
        with self.assertRaisesRegex(refused, r'trained in eval\(\).*dropout.*distribute_test.py, line [0-9]+, in forward: return torch.nn'):
            tt.distribute(Always(), layout)
        with self.assertRaisesRegex(refused, r'Supervised returns in train\(\) .* deep supervision: 2 and 1 outputs. .*training=False'):
            tt.distribute(Supervised(Block), layout)
        self.assertEqual(len(tt.distribute(Supervised(Block), layout, training=False).output_layouts), 1)
        one = Whole(Block)
        one.backbone.norm.eval()
        one.head.eval()  # without effect
        with self.assertRaisesRegex(refused, r'backbone.norm, a BatchNorm2d, is in eval\(\), and the whole Whole in train\(\).*of the whole'):
            tt.distribute(one, layout)
        x = drawn(2, 2, 4 * COMM.size, 3)
        one.load_state_dict(COMM.bcast(one.state_dict()))
        network = tt.distribute(one, layout, training=False)
        self.assertLess(apart(network(block(layout, x)), block(layout, one.eval()(x))), 1e-13)

    def test_proofs_of_nested_inputs_and_errors(self):
        class Nested(torch.nn.Module):
            fails = False

            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(2, 2, 1)

            def forward(self, fields):
                if self.fails:
                    raise ValueError('no memory')
                return self.conv(fields['x']) * fields['y']

        layout, one = self.rows([2, 2, 2 * COMM.size, 3]), Nested()
        fields = {name: torch.zeros(layout.shape()) for name in ('x', 'y')}
        network = tt.distribute(one, [layout, layout], example=(fields,), proof=True)
        one.fails = True
        with self.assertRaisesRegex((ValueError, RuntimeError), 'no memory'):
            prove(network, one)
        self.assertTrue(one.training)

    def test_a_proof_with_copies_of_the_input(self):
        layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), [2, 2, 4, 3], 'B')
        tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.Tanh()), layout, proof=True)

    def test_a_proof_of_a_number(self):
        class Mean(torch.nn.Conv2d):
            def forward(self, x):
                y = super().forward(x)
                return y * 2, y.mean()

        layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), [1, 2, 2 * COMM.size, 5], 'S2')
        tt.distribute(Mean(2, 2, 3, padding=1), layout, proof=True)

    def test_errors_of_one_rank(self):
        """Folders and files that one rank cannot write are an error of all."""
        with unittest.mock.patch('tempfile.mkdtemp', side_effect=OSError('no space')), self.assertRaisesRegex(
                (OSError, RuntimeError), 'no space'):
            tt.distribute(torch.nn.Tanh(), self.rows([1, 2, 4 * COMM.size, 3]))

        class Machines:
            """The ranks, each on a machine of its own."""
            rank, bcast, allreduce, allgather, Barrier = COMM.rank, COMM.bcast, COMM.allreduce, COMM.allgather, COMM.Barrier

            @staticmethod
            def Split_type(*_):
                return MPI.COMM_SELF.Dup()

        with tempfile.TemporaryDirectory() as own:
            for fails in (False, True):
                folder = os.path.join(own, 'made')
                path = os.path.join(folder, 'file')
                if COMM.rank == 0:
                    os.mkdir(folder)
                    with open(path, 'wb') as file:
                        file.write(b'of the first rank')
                elif fails and COMM.rank == COMM.size - 1:
                    with open(folder, 'wb'):
                        pass
                if fails and COMM.size > 1:
                    with self.assertRaisesRegex((OSError, RuntimeError), 'exists'):
                        spread_file(Machines, path)
                    self.assertFalse(os.path.isdir(folder))
                else:
                    self.assertTrue(spread_file(Machines, path))
                    with open(path, 'rb') as file:
                        self.assertEqual(file.read(), b'of the first rank')
                    shutil.rmtree(folder)

    def test_batch_normalisation_without_running_statistics(self):
        shape = [2, 2, 4 * COMM.size, 3]
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 3, 1), torch.nn.BatchNorm2d(3, track_running_stats=False))
        one.load_state_dict(COMM.bcast(one.state_dict()))
        layout, x = self.rows(shape), drawn(*shape)
        network = tt.distribute(one, layout, proof=True)
        for mode in (True, False):
            wanted = one.train(mode)(x).detach()
            self.assertLess(apart(network.train(mode)(block(layout, x)).detach(), block(network.output_layout, wanted)), 1e-13)

    def test_regions_without_gradients(self):
        """As train() is the default, beside batch normalisation and dropout outside of them, and within each other."""
        class Gated(torch.nn.Module):
            inside = staticmethod(lambda self, y: (torch.sin(y), torch.tanh(y)))

            def __init__(self):
                super().__init__()
                self.conv, self.norm, self.drop = torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.Dropout(0.5)

            def forward(self, x):
                y = self.norm(self.conv(x))
                with torch.no_grad():
                    gate, other = self.inside(self, y)
                    with torch.enable_grad():
                        shift = torch.cos(y)
                return self.drop(y * gate + shift * other)

        layout, x = splits([2, 2, 2 * COMM.size, 3])[0], drawn(2, 2, 2 * COMM.size, 3)
        one = Gated()
        one.drop.p = 0.0
        network = tt.distribute(one, layout, proof=True)
        self.assertTrue(network.training)
        (one(x) ** 2).sum().backward()
        made = network(block(layout, x))
        self.assertLess(apart(made, block(layout, one.train()(x))), 1e-12)
        (made ** 2).sum().backward()
        self.assertLess(apart(network.conv.weight.grad, one.conv.weight.grad), 1e-12)
        kind = 'follows train.* in a region, wrap_with_set_grad_enabled'
        for inside, text in (
                (lambda self, y: (self.drop(torch.sin(y)), y), f'{kind}: .*dropout.*distribute_test.*training=False'),
                (lambda self, y: (self.norm(y), y), f'{kind}: .*batch_norm'),
                (lambda self, y: (y.sin() if self.training else y.cos(), y), r'in train.* what it does not in eval.*aten.sin'),
                (lambda self, y: (y.sin(), y.cos())[::-1 if self.training else 1], r'region that returns in train.* what')):
            Gated.inside = staticmethod(inside)
            one = Gated()
            with self.subTest(text), self.assertRaisesRegex((ValueError, RuntimeError), text):
                tt.distribute(one, layout)
            tt.distribute(one, layout, training=False, proof=True)

    def test_filters_on_the_sphere(self):
        """Their bases are not in a graph of torch; complex numbers and kept modules make more files."""
        try:
            import torch_harmonics as th
        except ImportError:
            self.skipTest('torch-harmonics is not installed')

        class Filters(torch.nn.Module):
            def __init__(self, scale):
                super().__init__()
                self.first, self.act = th.DiscreteContinuousConvS2(2, 2, (6, 12), (4, 6), (3, 2)), torch.nn.Tanh()
                self.last = th.DiscreteContinuousConvTransposeS2(2, 1, (4, 6), (6, 12), 2, basis_type='zernike')
                self.scale = torch.nn.Parameter(scale)

            def forward(self, x):
                return self.last(self.act(self.first(x)) * (self.scale * self.scale).real.sum())

        shape = [2, 2, 6, 12]
        x, layouts = drawn(*shape, seed=6), splits(shape)
        for layout, scale, keep in ((layouts[0], 2j, ()), (layouts[-1], 2.0, ('act',))):
            with self.subTest(layout.properties()):
                torch.manual_seed(2)
                one = Filters(torch.tensor([scale])).double()
                network = tt.distribute(one, layout, keep=keep, proof=not keep)
                with torch.no_grad():
                    self.assertLess(apart(network(block(layout, x)), block(network.output_layout, one(x))), 1e-12)

    def test_bases_of_other_releases(self):
        """Harmonics of releases of torch-harmonics without norms are those that Tenon calls morlet. The package and
        export_torch.py, which is a file for itself, write the same."""
        sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'share/tenon'))
        import export_torch
        from tenon.torch.filters import filters_of
        of = lambda name, **given: type(name, (), given)()
        bases = [(of('HarmonicFilterBasis', kernel_shape=(3, 2)), 'morlet', [3, 2]),
                 (of('HarmonicFilterBasis', kernel_shape=(3, 2), _l2_norms=1), 'harmonic', [3, 2]),
                 (of('PiecewiseLinearFilterBasis', kernel_shape=(3, 2)), 'linear', [3, 2]),
                 (of('ZernikeFilterBasis', kernel_shape=4), 'zernike', [4]),
                 (of('FourierBesselFilterBasis', kernel_shape=(3, 2)), 'fourierbessel', [3, 2])]
        for basis, name, kernel in bases:
            one = torch.nn.Module()
            one.filter_basis, one.theta_cutoff = basis, 0.5
            expected = {'': {'basis': name, 'kernel': kernel, 'cutoff': 0.5}}
            self.assertEqual(filters_of(one), expected)
            self.assertEqual(export_torch._filters(one), expected)

    def test_parameters_before_detach(self):
        """Their gradients are 0, where PyTorch has none, and requires_grad_(False) leaves them out."""
        one = torch.nn.ModuleList([torch.nn.Conv2d(2, 2, 1), torch.nn.Conv2d(2, 2, 1)])
        one.forward = lambda x: one[1](one[0](x).detach())
        network = tt.distribute(one, splits([2, 2, 2 * COMM.size, 3])[0])
        network(torch.ones(2, 2, 2, 3)).sum().backward()
        self.assertEqual(float(network.get_submodule('0').weight.grad.abs().max()), 0)
        network.zero_grad()
        network.get_submodule('0').requires_grad_(False)
        network(torch.ones(2, 2, 2, 3)).sum().backward()
        self.assertIsNone(network.get_submodule('0').weight.grad)
        self.assertGreater(float(network.get_submodule('1').weight.grad.abs().max()), 0)


if __name__ == '__main__':
    unittest.main()
