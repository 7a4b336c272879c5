# SPDX-License-Identifier: BSD-2-Clause
"""Tests keep= of tt.distribute(): every rank evaluates the modules of these names with PyTorch, on
whole tensors, and Tenon evaluates what is between them, on blocks. The reference is the same module
in PyTorch on one process."""
import copy
import gc
import unittest
import unittest.mock
from functools import partial

from mpi4py import MPI

import tenon

try:
    import torch
    import torch.utils.checkpoint
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt
from distribute_test import IS_READ, Block, OfModules, splits
from torch_test import apart, block, drawn

COMM = MPI.COMM_WORLD


class Sorting(torch.nn.Module):
    """What Tenon does not have, with parameters and running statistics of its own, an argument by name, and two results."""

    def __init__(self, channels):
        super().__init__()
        self.norm, self.mix = torch.nn.BatchNorm2d(channels), torch.nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x, *, skip=None, power=1):
        y, _ = torch.sort(self.mix(self.norm(x)), 3)
        return y if skip is None else (y + skip) ** power, None, y.mean((1, 2))


class Network(torch.nn.Module):
    """Kept parts in a row and with a skip over them, one of which is evaluated twice, a result of another shape, an operator in place
    after a kept part, and results from kept parts and pieces."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.sorting = Block(2, 4), Block(4, 4), Sorting(4)
        self.inner = torch.nn.ModuleDict({'pool': torch.nn.AvgPool2d(2), 'head': torch.nn.Conv2d(4, 3, 1)})
        self.row, self.unused = torch.nn.Linear(8, 2), torch.nn.Linear(2, 2)

    def forward(self, x, z):
        a = self.first(x)
        b, _, mean = self.sorting(a)
        c = self.second(torch.relu_(b) + a)
        c, _, _ = self.sorting(c, skip=a, power=2)
        y = self.inner['head'](self.inner['pool'](torch.tanh(c) * z))
        return {'y': y, 'rows': (self.row(mean), mean)}


KEEP = ['sorting', 'inner.pool', 'row']


def rows_of(network):
    """The sums over the ranks, one for each output. An output whose layout has no S is a copy on
    every rank: its loss is the same on each of them, and counts once as their mean()."""
    return [partial(tt.mean if 'S' not in layout.properties() else tt.total, comm=COMM) for layout in network.output_layouts]


@unittest.skipUnless(IS_READ, 'files of this PyTorch are not read; 2.9 and later are')
class Keep(OfModules):
    def train(self, network, fields, wanted, sums):
        optimizer, losses = torch.optim.Adam(network.parameters(), lr=1e-3), []
        for _ in range(10):
            optimizer.zero_grad()
            made = network(*fields)
            parts = ((made['y'] - wanted) ** 2).sum(), *((row ** 2).sum() for row in made['rows'])
            loss = sum(add(part) for add, part in zip(sums, parts))
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def test_training_is_that_of_one_process(self):
        shape = [4, 2, 8, 8]
        x, z, wanted = drawn(*shape, seed=1), drawn(4, 1, 8, 8, seed=2), drawn(4, 3, 4, 4, seed=4)
        # Of the layouts of splits(): rows, samples, and both of space on four ranks. Columns are
        # left out; each layout takes an export and a training.
        pairs = list(zip(splits(shape), splits([4, 1, 8, 8])))
        for number, (layout, mask) in enumerate(pairs[::2] + pairs[3:]):
            with self.subTest(layout.properties()):
                torch.manual_seed(3 + COMM.rank)
                one = Network()
                network = tt.distribute(one, [layout, mask], proof=number == 0, keep=KEEP)
                start = tt.gather_state_dict(network)
                if COMM.rank == 0:
                    self.check_states(start, one.state_dict(), 0)
                one.load_state_dict(start)
                self.assertIsInstance(network.sorting, Sorting)
                self.assertEqual([(name, p.shape) for name, p in network.named_parameters()],
                                 [(name, p.shape) for name, p in one.named_parameters()])
                fields = [block(layout, x), block(mask, z)]
                found = self.train(network, fields, block(network.output_layouts[0], wanted), rows_of(network))
                # The reference is one process, where nothing is summed.
                expected = self.train(one, [x, z], wanted, [lambda value: value] * 3)
                self.assertLess(max(abs(a - b) / b for a, b in zip(found, expected)), 1e-12)
                self.check_states(tt.gather_state_dict(network), one.state_dict(), 1e-10)
                network.eval(), one.eval()
                with torch.no_grad():
                    y = one(x, z)
                    self.assertLess(apart(network(*fields)['y'], block(network.output_layouts[0], y['y'])), 1e-11)
                other = copy.deepcopy(network)
                self.assertIsNot(other.sorting, network.sorting)
                self.assertFalse(other.training or other.sorting.training)
                self.assertEqual(repr(other), repr(network))
                tt.scatter_state_dict(network, start)
                self.check_states(tt.gather_state_dict(network), start, 0)
                self.assertLess(apart(other(*fields)['y'], block(network.output_layouts[0], y['y'])), 1e-11)

    def test_gradients_of_inputs(self):
        """Also where a kept part is the first, the last and all."""
        shape = [2, 2, 4 * COMM.size, 3]
        whole = drawn(*shape, seed=5)
        for kept, layout in zip((('0', '2'), ('0', '1', '2')), splits(shape)):
            one = torch.nn.Sequential(torch.nn.Softsign(), torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.Tanh())
            with self.subTest(kept=kept, layout=layout.properties()):
                network = tt.distribute(one, layout, keep=kept)
                one.load_state_dict(tt.gather_state_dict(network))
                x, given = whole.clone().requires_grad_(), block(layout, whole).requires_grad_()
                y, found = one(x), network(given)
                (y ** 3).sum().backward()
                (found ** 3).sum().backward()
                self.assertLess(apart(found.detach(), block(network.output_layout, y.detach())), 1e-13)
                self.assertLess(apart(given.grad, block(layout, x.grad)), 1e-12)
                for a, b in zip(network.parameters(), one.parameters()):
                    self.assertLess(apart(a.grad, b.grad), 1e-12)

    def test_other_batches_and_strict_states(self):
        shape = [4, 4, 2 * COMM.size, 3]
        one = torch.nn.Sequential(Block(4, 3), torch.nn.Softmax(1), torch.nn.Conv2d(3, 2, 1))
        layout = splits(shape)[0]
        network = tt.distribute(one, layout, keep=('1', '0.norm'))
        state = tt.gather_state_dict(network)
        one.load_state_dict(state)
        whole = drawn(*shape)
        for batch in (4, 3, 1, 4):
            y, wanted = network(block(layout, whole)[:batch].clone()), one(whole[:batch])
            self.assertLess(apart(y, block(network.output_layout, wanted)), 1e-13)
        self.check_states(tt.gather_state_dict(network), one.state_dict(), 1e-13)
        with self.assertRaisesRegex(RuntimeError, r'Missing key.*"0.norm.bias"'):
            tt.scatter_state_dict(network, {name: value for name, value in state.items() if name != '0.norm.bias'})
        with self.assertRaisesRegex(RuntimeError, r'Unexpected key.*"1.weight"'):
            tt.scatter_state_dict(network, {**state, '1.weight': torch.zeros(1)})

    def test_masks_are_those_of_one_rank(self):
        """Dropout in a kept part, whose masks do not depend on the generators of the ranks."""
        shape = [2, 2, 4 * COMM.size, 5]
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Dropout(0.4), torch.nn.Tanh())
        one.load_state_dict(COMM.bcast(one.state_dict()))
        alone = tt.distribute(one, tenon.Layout.sharded(tenon.Partition(MPI.COMM_SELF, [1]), shape, 'S2'), keep='1', seed=4)
        layout, x = splits(shape)[0], drawn(*shape)
        network = tt.distribute(one, layout, keep='1', seed=4)
        torch.manual_seed(COMM.rank)
        first, second = alone(x), alone(x)
        self.assertGreater(apart(first, second), 0.01)
        for wanted in (first, second):
            self.assertLess(apart(network(block(layout, x)), block(layout, wanted)), 1e-13)
        del alone  # total() without a communicator takes that of existing layers
        gc.collect()

    def test_modes(self):
        shape = [2, 2, 2 * COMM.size, 3]
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.Conv2d(2, 2, 1))
        one[1].eval()  # a norm with a mode of its own, which only a kept part can have
        layout, x = splits(shape)[0], drawn(*shape)
        network = tt.distribute(one, layout, keep='1')
        one.load_state_dict(tt.gather_state_dict(network))
        self.assertTrue(network.training and not network.get_submodule('1').training)
        self.assertLess(apart(network(block(layout, x)), block(layout, one(x))), 1e-13)
        network.train()
        one.train()
        self.assertLess(apart(network(block(layout, x)), block(layout, one(x))), 1e-13)
        self.assertEqual(int(network.get_submodule('1').num_batches_tracked), 1)
        fixed = tt.distribute(one, layout, keep='1', training=False).train()
        self.assertLess(apart(fixed(block(layout, x)), block(layout, one.eval()(x))), 1e-13)

    def test_hooks_are_those_of_kept_parts(self):
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh())
        one[1].register_forward_hook(lambda module, args, y: y * 2)
        layout, x = splits([1, 2, 2 * COMM.size, 3])[0], drawn(1, 2, 2 * COMM.size, 3)
        network = tt.distribute(one, layout, keep='1')
        one.load_state_dict(tt.gather_state_dict(network))
        self.assertLess(apart(network(block(layout, x)), block(layout, one(x))), 1e-13)

    def test_proof_leaves_modes(self):
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2), torch.nn.Conv2d(2, 2, 1))
        one[1].eval()
        network = tt.distribute(one, splits([2, 2, 2 * COMM.size, 3])[0], keep='1', proof=True)
        self.assertTrue(network.training and one.training)
        self.assertFalse(network.get_submodule('1').training)

    def test_other_names_of_kept_parts(self):
        """Modules and parameters of a kept part that have names outside of it remain the same."""
        class Named(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = torch.nn.Parameter(drawn(2, 2, 1, 1))
                self.group = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2))
                self.group[0].weight, self.first = self.weight, self.group[0]
                self.register_buffer('mean', self.group[1].running_mean)
                self.conv = torch.nn.Conv2d(2, 2, 1)

            def forward(self, x):
                return self.conv(self.group(x))

        one, layout, x = Named(), splits([2, 2, 2 * COMM.size, 3])[0], drawn(2, 2, 2 * COMM.size, 3)
        network = tt.distribute(one, layout, keep='group')
        for each in (network, copy.deepcopy(network)):
            one.load_state_dict(tt.gather_state_dict(each))
            self.assertEqual([name for name, _ in each.named_parameters()], [name for name, _ in one.named_parameters()])
            self.assertIs(each.first, each.group[0])
            for made, given in ((each, block(layout, x)), (one, x)):
                optimizer = torch.optim.SGD(made.parameters(), 0.1)
                optimizer.zero_grad()
                (made(given) ** 2).sum().backward()
                optimizer.step()
            self.check_states(tt.gather_state_dict(each), one.state_dict(), 1e-12)

    def test_values_that_are_not_saved(self):
        """Buffers and attributes outside of the state_dict() are those of the first rank too."""
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer('scale', torch.randn(2, 1, 1), persistent=False)
                self.shifts = [torch.randn(2, 1, 1), torch.arange(2)[:, None, None] + COMM.rank]
                self.own = torch.randn(2 + COMM.rank)  # in another form on each rank

            def forward(self, x):
                return torch.sin(x * self.scale + self.shifts[0] * self.shifts[1])

        torch.manual_seed(COMM.rank)
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), Scaled())
        shape = [1, 2, 2 * COMM.size, 3]
        network, x = tt.distribute(one, splits(shape)[0], keep='1'), drawn(*shape)
        one.load_state_dict(tt.gather_state_dict(network))
        one[1].scale, one[1].shifts = COMM.bcast((one[1].scale, one[1].shifts))
        self.assertLess(apart(network(block(network.input_layout, x)), block(network.output_layout, one(x))), 1e-13)

    def test_buffers_in_the_network_are_those_of_the_first_rank(self):
        """Ranks whose own module has other values compute on, and do not take the buffer for one that was changed."""
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.act = torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()
                self.register_buffer('scale', torch.rand(2, 1, 1))

            def forward(self, x):
                return self.act(self.conv(x)) * torch.sin(self.scale)

        torch.manual_seed(COMM.rank)
        one, shape = Scaled(), [1, 2, 2 * COMM.size, 3]
        network, x = tt.distribute(one, splits(shape)[0], keep='act'), drawn(*shape)
        one.load_state_dict(tt.gather_state_dict(network))
        self.assertLess(apart(network(block(network.input_layout, x)), block(network.output_layout, one(x))), 1e-13)
        network.is_repeatable = False
        self.assertEqual([piece.is_repeatable for piece in network._tenon.pieces.values()], [False, False])
        self.assertFalse(copy.deepcopy(network).is_repeatable)

    def test_what_depends_on_the_batch(self):
        """An extent that a kept part is given is fixed in its evaluation."""
        class Scaled(torch.nn.Module):
            def forward(self, x, count):
                return x / count

        class Network(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scaled = Scaled()

            def forward(self, x):
                return self.scaled(x, self.count(x))

        class Counting(Network):
            count = staticmethod(lambda x: x.shape[0])

        class Fixed(Network):
            count = staticmethod(lambda x: int(x.shape[0]))

        layout, x = splits([4, 2, 2 * COMM.size, 3])[0], drawn(4, 2, 2 * COMM.size, 3)
        for one in (Counting(), Fixed()):
            network = tt.distribute(one, layout, keep='scaled')
            self.assertLess(apart(network(block(layout, x)), block(layout, one(x))), 1e-13)
            with self.assertRaisesRegex(ValueError, r'was exported for inputs of \[4, .* and one of \[2, .*Distribute it'):
                network(block(layout, x)[:2].clone())

    def test_recomputations(self):
        """What draws again would draw other masks."""
        layout = splits([1, 2, 2 * COMM.size, 3])[0]
        x = block(layout, drawn(*layout.shape())).requires_grad_()
        for own, draws in ((torch.nn.Dropout(0.5), True), (torch.nn.Tanh(), False)):
            network = tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), own, torch.nn.Softsign()), layout, keep='1')
            for is_reentrant in (False, True):
                network.zero_grad()
                network(x).sum().backward()
                wanted = [p.grad for p in network.parameters()]
                network.zero_grad()
                loss = torch.utils.checkpoint.checkpoint(network, x, use_reentrant=is_reentrant).sum()
                if draws:
                    with self.assertRaisesRegex(RuntimeError, 'the kept module 1 draws numbers in an evaluation within a backward pass'):
                        loss.backward()
                else:
                    loss.backward()
                    self.assertLess(max(apart(p.grad, each) for p, each in zip(network.parameters(), wanted)), 1e-13)

    def test_generators_of_devices_are_left_alone(self):
        layout = splits([1, 2, 2 * COMM.size, 3])[0]
        network = tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.Dropout(0.5)), layout, keep='1')
        state = torch.get_rng_state()
        with unittest.mock.patch('torch.cuda.manual_seed_all') as seeded:
            network(block(layout, drawn(*layout.shape())))
        self.assertFalse(seeded.called)
        self.assertTrue(torch.equal(torch.get_rng_state(), state))

    def test_layouts_are_prepared_without_an_evaluation(self):
        """Counts and buffers are left as they are, also while a backward pass is to follow that reads them, and train() need not
        be possible."""
        class Counting(torch.nn.Module):
            count = 0

            def forward(self, x):
                self.count += 1
                return x / self.count

        layout, x = splits([4, 2, 2 * COMM.size, 3])[0], drawn(4, 2, 2 * COMM.size, 3)
        one = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2), Counting()).eval()
        network = tt.distribute(one, layout, keep=['1', '2'])
        one.load_state_dict(tt.gather_state_dict(network))
        self.assertEqual((one[2].count, network.get_submodule('2').count), (0, 0))
        for net, given in ((network, block(layout, x)), (one, x)):
            (net(given).sum() + net(given[:3].clone()).sum()).backward()
        for a, b in zip(network.parameters(), one.parameters()):
            self.assertLess(apart(a.grad, b.grad), 1e-12)
        single = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.AdaptiveAvgPool2d(1), torch.nn.BatchNorm2d(2))
        layout = splits([1, 2, 2 * COMM.size, 3])[0]
        network = tt.distribute(single, layout, keep='2')
        with self.assertRaisesRegex(ValueError, 'more than 1 value per channel'):
            network(block(layout, x[:1]))
        single.load_state_dict(tt.gather_state_dict(network))
        self.assertLess(apart(network.eval()(block(layout, x[:1])), single.eval()(x[:1])), 1e-13)

    def test_replicated_beside_kept_parts(self):
        layout, x = splits([2, 2, 2 * COMM.size, 3])[0], drawn(2, 2, 2 * COMM.size, 3)
        one = torch.nn.Sequential(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), torch.nn.BatchNorm2d(2)), torch.nn.PReLU(2))
        network = tt.replicated(torch.nn.Sequential(tt.distribute(one[0], layout, keep='1'), copy.deepcopy(one[1])))
        one.load_state_dict(tt.gather_state_dict(network))
        (one(x) ** 2).sum().backward()
        (network(block(layout, x)) ** 2).sum().backward()
        for a, b in zip(network.parameters(), one.parameters()):
            self.assertLess(apart(a.grad, b.grad), 1e-12)
        with self.assertRaisesRegex(ValueError, 'is a torch.nn.BatchNorm2d'):
            tt.replicated(torch.nn.Sequential(network, torch.nn.BatchNorm2d(2)))

    def refused(self, text, one, keep, layout=None):
        layout = layout or splits([1, 2, 2 * COMM.size, 3])[0]
        with self.assertRaisesRegex((ValueError, RuntimeError, tenon.Error), text):
            tt.distribute(one, layout, keep=keep)

    @unittest.skipIf(COMM.size > 2, 'as on two ranks')
    def test_what_is_refused(self):
        class InPlace(torch.nn.Module):
            """Writes into its input by a method."""
            def forward(self, x):
                return x.add_(1).sin()

        class Late(torch.nn.Module):
            """Writes into y, which the kept `act` reads: after it, which is possible, or also
            before it, through a view."""
            is_before = False

            def __init__(self):
                super().__init__()
                self.conv, self.act = torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()

            def forward(self, x):
                y = self.conv(x)
                if self.is_before:
                    y.view(-1).relu_()
                z = self.act(y)
                torch.relu_(y)
                return y + z

        class Tied(torch.nn.Module):
            """Evaluates one convolution before and after the kept `act`. The next classes derive
            from it for their modules."""
            def __init__(self):
                super().__init__()
                self.conv, self.act = torch.nn.Conv2d(2, 2, 1), torch.nn.Tanh()

            def forward(self, x):
                return self.conv(self.act(self.conv(x)))

        class Given(Tied):
            """Passes a parameter to `act`."""
            def forward(self, x):
                return self.act(self.conv.bias)[:, None, None] + self.conv(x)

        class Unused(Tied):
            """Does not evaluate `act`."""
            def forward(self, x):
                return self.conv(x)

        class Sorted(Tied):
            """Sorts outside of `act`, which Tenon cannot do."""
            def forward(self, x):
                return torch.sort(self.act(self.conv(x)), 3)[0]

        class Whole(Tied):
            """Passes flags to `act`, instead of numbers of the module's type."""
            def forward(self, x):
                return torch.tanh(self.act(self.conv(x) > 0))

        class Counting(Tied):
            """Reads, outside of `act`, a buffer of it, another tensor of it, or a view of that
            tensor."""
            name = 'count'

            def __init__(self):
                super().__init__()
                self.act.register_buffer('count', torch.ones(2, 1, 1), persistent=False)
                self.act.steps = torch.ones(3, 2, 1, 1)
                self.row = self.act.steps[1]

            def forward(self, x):
                return self.act(self.conv(x)) * (self.row if self.name == 'row' else getattr(self.act, self.name))

        class Adding(torch.nn.Module):
            """Writes into its input by out=."""
            def forward(self, x):
                return torch.add(x, 1, out=x).sin()

        chain = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 1), InPlace())
        self.refused('no module "conf" to keep: did you mean conv', Tied(), 'conf')
        self.refused('names of modules inside the Tied are expected', Tied(), [''])
        self.refused('"0.conv" is inside of "0"', torch.nn.Sequential(Tied()), ['0.conv', '0'])
        self.refused('does not evaluate the module to keep, act', Unused(), 'act')
        self.refused('the kept module 1 writes into its input', chain, '1')
        self.refused('the kept module 1 writes into its input', torch.nn.Sequential(torch.nn.Softsign(), Adding()), '1')
        for name in ('count', 'steps', 'row'):
            Counting.name = name
            self.refused('a buffer of the kept module act, outside of it', Counting(), 'act')
        late, layout, x = Late(), splits([1, 2, 2 * COMM.size, 3])[0], drawn(1, 2, 2 * COMM.size, 3)
        network = tt.distribute(late, layout, keep='act', proof=True)
        late.load_state_dict(tt.gather_state_dict(network))
        self.assertLess(apart(network(block(layout, x)), block(layout, late(x))), 1e-13)
        late.is_before = True
        self.refused(r'Late writes into a tensor that is read on the other side .*keep_test.py, line [0-9]+, in forward: y.view',
                     late, 'act')
        self.refused('the parameter conv.* is read on several sides', Tied(), 'act')
        self.refused('no field but a parameter', Given(), 'act')
        self.refused('keep_test.py, line [0-9]+, in forward: return torch.sort', Sorted(), 'act')
        self.refused('Whole passes torch.bool from a part to another one.*keep_test.py, line', Whole(), 'act')
        if COMM.size > 1:
            half = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size // 2]), [1, 2, 8, 3], 'S2')
            self.refused('leaves some out', torch.nn.Sequential(torch.nn.Tanh(), torch.nn.Conv2d(2, 2, 1)), '0', half)


if __name__ == '__main__':
    unittest.main()
