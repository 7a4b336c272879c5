# SPDX-License-Identifier: BSD-2-Clause
"""Second derivatives of layers in PyTorch, and whole networks that have parameters of torch and of Tenon, compared with PyTorch
on one process."""
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
from torch_test import apart, block, drawn, grid

COMM = MPI.COMM_WORLD


def layout_of(shape, dim=2):
    return tenon.Layout.sharded(grid(), shape, f'S{dim}')


def drawn_apart(*shape):
    """Random numbers that differ between ranks."""
    return drawn(*shape, seed=100 + COMM.rank)


class SecondDerivatives(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(3)

    def both(self, shape, layers):
        """Returns the layout of the input, a network of tenon.torch.nn, and the same network of torch.nn with the same weights. `layers`
        has the name, arguments and settings of each layer."""
        layout, own, theirs = layout_of(shape), [], []
        for name, arguments, settings in layers:
            theirs.append(getattr(torch.nn, name)(*arguments, **settings))
            own.append(getattr(tt.nn, name)(*arguments, **settings, layout=layout if not own else own[-1].output_layout))
        network, reference = torch.nn.Sequential(*own), torch.nn.Sequential(*theirs)
        tt.scatter_state_dict(network, reference.state_dict())
        return layout, network, reference

    def compare(self, shape, layers, loss, tolerance=1e-10):
        """Compares the value of loss(network, x, weights), this rank's block of dL/dx, and the gradients of parameters."""
        layout, network, reference = self.both(shape, layers)
        whole = drawn(*shape, seed=5).requires_grad_()
        given = block(layout, whole.detach()).requires_grad_()
        with torch.no_grad():
            weights = drawn(*reference(whole).shape, seed=6)
        own = tt.total(loss(network, given, block(network[-1].output_layout, weights)))
        wanted = loss(reference, whole, weights)
        own.backward()
        wanted.backward()
        self.assertLess(abs(float(own.detach() - wanted.detach())), tolerance * abs(float(wanted.detach())))
        self.assertLess(apart(given.grad, block(layout, whole.grad)), tolerance * float(whole.grad.abs().max()))
        for (name, parameter), p in zip(reference.named_parameters(), network.parameters()):
            wanted = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
            found = p.grad if p.grad is not None else torch.zeros_like(p)
            self.assertLess(apart(found, wanted), tolerance * max(1, float(wanted.abs().max())), name)

    @staticmethod
    def penalty(network, x, weights):
        """A loss with the gradient of the output with respect to the input, as in WGAN-GP."""
        y = network(x)
        g, = torch.autograd.grad((y * weights).sum(), x, create_graph=True)
        assert g.requires_grad
        return (y ** 2).sum() + (g ** 3).sum()

    @staticmethod
    def residual(network, x, weights):
        """A loss with second derivatives with respect to the input, as in networks for differential equations."""
        y = network(x)
        g, = torch.autograd.grad((y * weights).sum(), x, create_graph=True)
        h, = torch.autograd.grad((g ** 2).sum(), x, create_graph=True)
        return (y ** 2).sum() + (h ** 2).sum()

    def test_penalties_and_residuals(self):
        n = 4 * COMM.size
        conv = ('Conv2d', (2, 3, 3), {'padding': 1})
        back = ('Conv2d', (3, 1, 3), {'padding': 1, 'padding_mode': 'circular'})
        smooth = [conv, ('Tanh', (), {}), back]
        up = ('ConvTranspose2d', (2, 3, 2), {'stride': 2})
        for layers in ([conv], smooth, [up, ('Softplus', (), {}), ('AvgPool2d', (2,), {}), back],
                       [conv, ('MaxPool2d', (2,), {}), ('GELU', (), {}), ('Upsample', (), {'scale_factor': 2}), back],
                       [('ReflectionPad2d', (1,), {}), ('Conv2d', (2, 3, 3), {}), ('LeakyReLU', (0.2,), {}),
                        ('ELU', (), {'alpha': 0.7}), back]):
            with self.subTest([name for name, *_ in layers]):
                self.compare([2, 2, n, 5], layers, self.penalty)
        self.compare([2, 2, n, 5], smooth, self.residual)
        self.compare([1, 2, n], [('Conv1d', (2, 3, 3), {'padding': 1}), ('SiLU', (), {}), ('Conv1d', (3, 2, 1), {})], self.residual)

    def test_linear_layers(self):
        """A perceptron of the points of a field, whose layers know no neighbours."""
        torch.manual_seed(4)
        rows = 3 * COMM.size
        layout = layout_of([rows, 3], 0)
        theirs = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Mish(), torch.nn.Linear(4, 1))
        first = tt.nn.Linear(3, 4, layout=layout)
        mish = tt.nn.Mish(layout=first.output_layout)
        network = torch.nn.Sequential(first, mish, tt.nn.Linear(4, 1, layout=mish.output_layout))
        tt.scatter_state_dict(network, theirs.state_dict())
        whole = drawn(rows, 3).requires_grad_()
        given = block(layout, whole.detach()).requires_grad_()
        weights = drawn(rows, 1, seed=2)
        self.residual(network, given, block(network[2].output_layout, weights)).backward()
        self.residual(theirs, whole, weights).backward()
        for p, parameter in zip(network.parameters(), theirs.parameters()):
            wanted = parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)
            self.assertLess(apart(p.grad if p.grad is not None else 0 * p, wanted), 1e-10)

    def test_gradgradcheck(self):
        """Of each type in the lists of gradients.py, on one process."""
        from tenon.torch.gradients import LINEAR, PIECEWISE
        if COMM.size > 1:
            return
        kernel = dict(kernel=[3, 2], padding=[1, 0], in_channels=2, out_channels=2)
        cases = {'adaptiveaveragepooling': dict(size=[2, 2]), 'affine': dict(inputs=3, outputs=2), 'averagepooling': dict(kernel=[2, 2]),
                 'channelaffine': dict(channels=2), 'conv': kernel, 'crop': dict(offset=[1, 0], size=[2, 3]), 'flatten': {},
                 'globalaveragepooling': {}, 'identity': {}, 'pad': dict(padding=[1, 2]), 'pixelshuffle': dict(upscale=2), 'resample': dict(scale_factor=[2, 3]),
                 'reshape': dict(shape=[2, -1]), 'scale': dict(factor=2.5, shift=1.5), 'slice': dict(dim=2, begin=1, end=3),
                 'transpose': dict(permutation=[0, 2, 1, 3]), 'transposedconv': dict(kernel, stride=[2, 1]), 'abs': {},
                 'clamp': dict(low=-0.5, high=0.5), 'leakyrelu': dict(slope=0.2), 'maxpooling': dict(kernel=[2, 2]), 'relu': {}}
        self.assertEqual(set(cases), LINEAR | PIECEWISE)
        for type, settings in cases.items():
            with self.subTest(type):
                shape = {'affine': [4, 3], 'pixelshuffle': [1, 4, 2, 2]}.get(type, [1, 2, 4, 3])
                module = tt.Module(tenon.Layer(COMM, type, data_type='float64', **settings), layout_of(shape, 0))
                x = drawn(*shape, seed=7).requires_grad_()
                self.assertTrue(torch.autograd.gradgradcheck(module, (x,)))
                for parameter in module.parameters():  # by differences of the parameters' values
                    self.check_mixed(module, x, parameter)

    def check_mixed(self, module, x, parameter):
        def value():
            y = module(x)
            g, = torch.autograd.grad((y * drawn(*y.shape, seed=8)).sum(), x, create_graph=True)
            return (g * drawn(*g.shape, seed=9)).sum()

        found, = torch.autograd.grad(value(), parameter, allow_unused=True)
        for at in range(parameter.numel()):
            values = []
            for change in (0.5, -1.0):
                with torch.no_grad():
                    parameter.view(-1)[at] += change
                values.append(float(value().detach()))
            with torch.no_grad():
                parameter.view(-1)[at] += 0.5
            self.assertAlmostEqual(float(found.view(-1)[at]), values[0] - values[1], delta=1e-11)

    def test_what_has_no_second_derivative_says_so(self):
        shape = [2, 2, 4 * COMM.size, 3]
        layout = layout_of(shape)
        container = tenon.Layer.sequential(COMM).add(tenon.Layer(COMM, 'tanh')).set(data_type='float64')
        for module, said in ((tt.nn.BatchNorm2d(2, layout=layout), 'the gradient of BatchNorm2d .a layer "batchnorm", S2 of'),
                             (tt.nn.Softmax(1, layout=layout), 'the gradient of Softmax'), (tt.Module(container, layout), '"sequential"')):
            x = block(layout, drawn(*shape)).requires_grad_()
            g, = torch.autograd.grad(module(x).pow(2).sum(), x, create_graph=True)
            self.assertTrue(g.requires_grad)
            plain, = torch.autograd.grad(module(x).pow(2).sum(), x)
            self.assertLess(apart(g.detach(), plain), 1e-14)
            with self.assertRaisesRegex(RuntimeError, f'{said}.* is differentiated again .create_graph=True.'):
                g.pow(2).sum().backward()
        conv = tt.nn.Conv2d(2, 2, 3, layout=layout)
        g, = torch.autograd.grad(conv(block(layout, drawn(*shape))).pow(2).sum(), conv.weight, create_graph=True)
        with self.assertRaisesRegex(RuntimeError, 'the gradients of the parameters of Conv2d'):
            g.pow(2).sum().backward()


class Mixed(torch.nn.Module):
    """A gain for each channel from an embedding beside a convolution, as in networks for diffusion."""

    def __init__(self, conv):
        super().__init__()
        self.conv, self.time = conv, torch.nn.Linear(1, 4)
        self.register_buffer('steps', torch.tensor(7))

    def forward(self, x):
        return self.conv(x) * self.time(torch.ones(1, 1)).view(1, 4, 1, 1)


class Networks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(5)
        self.shape = [2, 2, 4 * COMM.size, 5]
        self.layout = layout_of(self.shape)

    def both(self, storage='use'):
        reference = Mixed(torch.nn.Conv2d(2, 4, 3, padding=1))
        torch.manual_seed(6 + COMM.rank)
        network = Mixed(tt.nn.Conv2d(2, 4, 3, padding=1, layout=self.layout, storage=storage))
        torch.manual_seed(5)
        return network, reference

    def test_states_are_of_the_whole_network(self):
        for storage in ('use', 'sharded'):
            network, reference = self.both(storage)
            reference.steps.fill_(9)
            tt.scatter_state_dict(network, reference.state_dict())
            gathered = tt.gather_state_dict(network)
            self.assertEqual(list(gathered), list(reference.state_dict()))
            for name, value in reference.state_dict().items():
                self.assertTrue(torch.equal(gathered[name], value), name)
            tt.scatter_state_dict(network, gathered)
        twice = torch.nn.Sequential(network.conv, torch.nn.Tanh(), network.conv)  # one layer in two places
        self.assertEqual([list(value.shape) for value in tt.gather_state_dict(twice).values()], [[4, 2, 3, 3], [4]] * 2)

    def test_wrong_states_are_told_as_by_torch(self):
        network, reference = self.both()
        right = reference.state_dict()
        weight = right['conv.weight']
        for wrong, said in (({k.replace('conv', 'cnov'): v for k, v in right.items()}, r'Missing key.*"conv.weight", "conv.bias"(.|\n)*'
                             r'Unexpected key.*"cnov.weight", "cnov.bias"'),
                            (dict(right, more=weight), 'Unexpected key.*"more"'), (dict(right, **{'conv.more': weight}), '"conv.more"'),
                            (dict(right, **{'conv.weight': torch.cat([weight, weight])}), r'conv.weight: \[8, 2, 3, 3\] is given, and '
                             r'the whole parameter of the layer is \[4, 2, 3, 3\]'),
                            (dict(right, **{'conv.weight': weight[:2]}), 'size mismatch for conv.weight'),
                            (dict(right, **{'conv.bias': 3.0}), 'size mismatch for conv.bias: a float'),
                            (dict(right, **{'time.weight': weight}), 'size mismatch for time.weight'),
                            ({k: v for k, v in right.items() if k != 'time.bias'}, 'Missing key.*"time.bias"')):
            with self.assertRaisesRegex(RuntimeError, said):
                tt.scatter_state_dict(network, wrong)
        with self.assertRaisesRegex(RuntimeError, r'Missing key.*"weight"'):
            network.conv.scatter({'bias': right['conv.bias']})
        found = tt.scatter_state_dict(network, dict(right, more=weight), strict=False)
        self.assertEqual((found.missing_keys, found.unexpected_keys), ([], ['more']))
        for name, value in network.state_dict().items():  # and load_state_dict() takes this rank's blocks again
            self.assertEqual(network.load_state_dict({name: value}, strict=False).unexpected_keys, [])

    def test_gradients_of_torch_are_summed(self):
        """Training is that of PyTorch on one process; without the sum the optimizer refuses its step."""
        network, reference = self.both()
        tt.scatter_state_dict(network, reference.state_dict())
        x = drawn(*self.shape, seed=1)
        for step in range(3):
            for net, given in ((network, block(self.layout, x)), (reference, x)):
                optimizer = torch.optim.SGD(net.parameters(), 1e-3)
                optimizer.zero_grad()
                loss = (net(given) ** 2).sum()
                (tt.total(loss) if net is network else loss).backward()
                if net is network:
                    if COMM.size > 1 and step == 0:
                        with self.assertRaisesRegex(RuntimeError, 'different gradients of parameters of torch.*sum_gradients'):
                            optimizer.step()
                    tt.sum_gradients(network)
                for own, wanted in zip(network.parameters(), reference.parameters()) if net is reference else ():
                    self.assertLess(apart(own.grad, wanted.grad), 1e-11)
                optimizer.step()
        for name, value in tt.gather_state_dict(network).items():
            self.assertLess(float((value - reference.state_dict()[name]).abs().max()), 1e-12, name)

    def test_gradients_that_some_ranks_lack(self):
        types = torch.float64, torch.float32, torch.bfloat16, torch.complex128
        a, b, c, d = (torch.nn.Parameter(torch.ones(2, dtype=dtype)) for dtype in types)
        unused = torch.nn.Parameter(torch.ones(1))
        for parameter in (b, c, d):
            parameter.grad = torch.ones_like(parameter)
        if COMM.rank == 0:
            a.grad = torch.tensor([1.0, 2.0])
        tt.sum_gradients([a, b, c, d, unused])
        self.assertEqual(a.grad.tolist(), [1, 2])
        self.assertEqual((b.grad.tolist(), c.grad.tolist(), d.grad.tolist()), ([COMM.size] * 2,) * 3)
        self.assertIsNone(unused.grad)

    def test_copies_that_differ(self):
        network, _ = self.both()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.copy_(drawn_apart(*parameter.shape))
            network.steps.fill_(COMM.rank)
        if COMM.size > 1:
            with self.assertRaisesRegex(RuntimeError, r'different copies of steps \(ranks 0 and 1\), conv.weight .*time.weight.*synchronize'):
                tt.gather_state_dict(network)
            for call in (network.conv.gather, lambda: tt.difference(network.conv, torch.nn.Conv2d(2, 4, 3, padding=1), drawn(*self.shape))):
                with self.assertRaisesRegex(RuntimeError, r'different copies of weight'):
                    call()
            for net in (network, network.conv):  # parameters of torch with equal gradients, and none
                y = net.conv(block(self.layout, drawn(*self.shape))) if net is network else net(block(self.layout, drawn(*self.shape)))
                y.sum().backward()
                optimizer = torch.optim.SGD(net.parameters(), 1e-3)
                with self.assertRaisesRegex(RuntimeError, 'different copies of parameter 0 of the optimizer, of size .4, 2, 3, 3.*synchronize'):
                    optimizer.step()
        tt.synchronize(network)
        if COMM.size > 1:
            optimizer.step()
            tt.synchronize(network)
        state = tt.gather_state_dict(network)
        for name in ('conv.weight', 'conv.bias', 'time.weight', 'time.bias'):
            moved = 1e-3 * network.get_parameter(name).grad if name.startswith('conv') and COMM.size > 1 else 0.0
            self.assertLess(apart(state[name], drawn(*state[name].shape, seed=100) - moved), 1e-14, name)
        self.assertEqual(int(state['steps']), 0)
        y = network.conv(block(self.layout, drawn(*self.shape)))  # Tenon knows of the new values
        wanted = torch.nn.functional.conv2d(drawn(*self.shape), state['conv.weight'], state['conv.bias'], padding=1)
        self.assertLess(apart(y.detach(), block(network.conv.output_layout, wanted)), 1e-13)

    def test_blocks_of_parameters_need_not_be_alike(self):
        network, _ = self.both('sharded')
        with torch.no_grad():
            for parameter in network.conv.parameters():
                parameter.copy_(drawn_apart(*parameter.shape))
        before = network.conv.gather()
        tt.synchronize(network.conv)
        for name, value in network.conv.gather().items():
            self.assertTrue(torch.equal(value, before[name]), name)

    def test_difference_of_fields_that_each_rank_draws(self):
        _, reference = self.both()
        module = tt.nn.Conv2d(2, 4, 3, padding=1, layout=self.layout)
        module.scatter(reference.conv.state_dict())
        self.assertLess(tt.difference(module, reference.conv, drawn_apart(*self.shape)), 1e-14)
        with torch.no_grad():  # and of a network of torch that differs
            for parameter in reference.conv.parameters():
                parameter.add_(COMM.rank)
        self.assertLess(tt.difference(module, reference.conv, drawn_apart(*self.shape)), 1e-14)

    def test_seeds(self):
        def make(**settings):
            conv = tt.nn.Conv2d(2, 4, 3, padding=1, layout=self.layout, **settings)
            return conv.gather()['weight']

        q, k = make(), make()
        self.assertFalse(torch.equal(q, k))
        torch.manual_seed(5)
        self.assertTrue(torch.equal(make(), q))
        torch.manual_seed(8)
        self.assertFalse(torch.equal(make(), q))
        self.assertTrue(torch.equal(make(seed=3), make(seed=3)))
        torch.manual_seed(20 + COMM.rank)  # the first rank's counts
        make()
        after = torch.rand(1)
        torch.manual_seed(20 + COMM.rank)
        torch.nn.Conv2d(2, 4, 3, padding=1)
        self.assertTrue(torch.equal(torch.rand(1), after))  # generators go on alike
        torch.manual_seed(5)
        tt.nn.Tanh(layout=self.layout)
        self.assertTrue(torch.equal(make(), q))  # what draws nothing leaves the generator alone
        narrow, wide = (make(initializer=name, seed=1).abs().max() for name in ('glorot_uniform', 'he_uniform'))
        self.assertAlmostEqual(float(narrow / wide), (6 / (18 + 36)) ** 0.5 / (6 / 18) ** 0.5, delta=0.01)

    def test_initial_values_are_those_of_torch(self):
        flat = layout_of([4 * COMM.size, 8], 0)
        for make, of_torch in (
                (lambda: tt.nn.Conv2d(2, 4, 3, groups=2, layout=self.layout), lambda: torch.nn.Conv2d(2, 4, 3, groups=2)),
                (lambda: tt.nn.ConvTranspose2d(2, 4, (3, 2), bias=False, layout=self.layout),
                 lambda: torch.nn.ConvTranspose2d(2, 4, (3, 2), bias=False)),
                (lambda: tt.nn.Linear(8, 4 * COMM.size, layout=flat, storage='sharded'), lambda: torch.nn.Linear(8, 4 * COMM.size))):
            torch.manual_seed(11 + COMM.rank)  # the first rank's counts
            found = make().gather()
            torch.manual_seed(11)
            wanted = of_torch().state_dict()
            self.assertEqual(list(found), list(wanted))
            self.assertTrue(all(torch.equal(found[name], wanted[name]) for name in wanted))

    def test_total_is_over_the_ranks_of_the_layers(self):
        gc.collect()  # what other tests have left
        half = COMM.Split(COMM.rank % 2)
        whole = self.layout
        self.assertEqual(float(tt.total(torch.ones(()))), COMM.size)
        self.assertEqual(float(tt.total(torch.ones(()), whole)), COMM.size)
        there = tenon.Layout.sharded(tenon.Partition(half, [half.size]), [half.size, 3], 'S0')
        self.assertEqual(float(tt.total(torch.ones(()), there)), half.size)
        self.assertEqual(float(tt.total(torch.ones(()), half)), half.size)
        copies = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), [4, 3], 'B')
        value = torch.ones((), requires_grad=True)
        tt.total(3 * value, copies).backward()
        self.assertEqual(float(tt.total(3 * value.detach(), copies)), 3)
        self.assertAlmostEqual(float(value.grad) * COMM.size, 3, places=5)
        alone = tt.nn.Tanh(layout=there)
        self.assertEqual(float(tt.total(torch.ones(()))), half.size)
        beside = tt.nn.Tanh(layout=whole)
        if COMM.size > 1:
            with self.assertRaisesRegex(ValueError, 'on several communicators'):
                tt.total(torch.ones(()))
        del alone, beside, there
        half.Free()


    def test_modules_end(self):
        """With the last that holds them, though Tenon still has their last output."""
        conv, exchange = tt.nn.Conv2d(2, 4, 3, layout=self.layout), tt.repartition(self.layout, self.layout)
        conv(exchange(block(self.layout, drawn(*self.shape)).requires_grad_())).sum().backward()
        ends = [weakref.ref(conv), weakref.ref(exchange)]
        del conv, exchange
        gc.collect()
        self.assertEqual([end() for end in ends], [None, None])


class Transforms(unittest.TestCase):
    """torch.func: tangents and gradients beside those of torch on one process."""

    def setUp(self):
        self.shape = [2, 2, 8 * COMM.size, 6]
        self.layout = layout_of(self.shape)
        torch.manual_seed(4)
        self.one = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.GELU(),
                                       torch.nn.MaxPool2d(2), torch.nn.Conv2d(4, 2, 3, padding=1, stride=2)).eval()
        current = self.layout
        self.network = tt.Sequential(current, partial(tt.nn.Conv2d, 2, 4, 3, padding=1), partial(tt.nn.BatchNorm2d, 4), tt.nn.GELU,
                                     partial(tt.nn.MaxPool2d, 2), partial(tt.nn.Conv2d, 4, 2, 3, padding=1, stride=2)).eval()
        tt.scatter_state_dict(self.network, self.one.state_dict())
        self.x, self.u = drawn(*self.shape, seed=1), drawn(*self.shape, seed=2)

    def local(self, whole):
        return block(self.layout, whole)

    def test_tangents(self):
        wanted = torch.func.jvp(self.one, (self.x,), (self.u,))
        found = torch.func.jvp(self.network, (self.local(self.x),), (self.local(self.u),))
        for a, b in zip(found, wanted):
            self.assertLess(apart(a.detach(), block(self.network.output_layout, b)), 1e-13)
        with torch.autograd.forward_ad.dual_level():
            made = torch.autograd.forward_ad.make_dual(self.local(self.x), self.local(self.u))
            tangent = torch.autograd.forward_ad.unpack_dual(self.network(made)).tangent
        self.assertLess(apart(tangent.detach(), block(self.network.output_layout, wanted[1])), 1e-13)
        (self.network(self.local(self.x)) ** 2).sum().backward()  # tangents leave gradients alone
        (self.one(self.x) ** 2).sum().backward()
        self.assertLess(apart(self.network[0].weight.grad, self.one[0].weight.grad), 1e-11)

    def test_tangents_of_parameters(self):
        call = torch.func.functional_call
        directions = {name: drawn(*p.shape, seed=number) for number, (name, p) in enumerate(self.one.named_parameters())}
        own = dict(self.network.named_parameters())
        for _ in range(2):  # the directions of an evaluation end with it
            wanted = torch.func.jvp(lambda p: call(self.one, p, (self.x,)), (dict(self.one.named_parameters()),), (directions,))[1]
            found = torch.func.jvp(lambda p: call(self.network, p, (self.local(self.x),)), (own,), (directions,))[1]
            self.assertLess(apart(found.detach(), block(self.network.output_layout, wanted.detach())), 1e-12)
            directions['4.weight'] = torch.zeros_like(directions['4.weight'])

    def test_gradients(self):
        wanted = torch.func.grad(lambda x: (self.one(x) ** 3).sum())(self.x)
        found = torch.func.grad(lambda x: (self.network(x) ** 3).sum())(self.local(self.x))
        self.assertLess(apart(found, self.local(wanted)), 1e-12)
        call, own = torch.func.functional_call, dict(self.network.named_parameters())
        wanted = torch.func.grad(lambda p: (call(self.one, p, (self.x,)) ** 3).sum())(dict(self.one.named_parameters()))
        found = torch.func.grad(lambda p: (call(self.network, p, (self.local(self.x),)) ** 3).sum())(own)
        self.assertLess(max(apart(found[name], wanted[name]) for name in wanted), 1e-11)

    def test_operators(self):
        exchange = tt.halo_exchange(self.layout, self.layout.like().set_halo(3, 1, 1, 'periodic', 'periodic').set_up())
        x, u = self.local(self.x), self.local(self.u)
        for a, b in zip(torch.func.jvp(exchange, (x,), (u,)), (exchange(x), exchange(u))):
            self.assertTrue(torch.equal(a, b))
        self.assertTrue(torch.equal(torch.func.grad(lambda x: (exchange(x) ** 2).sum())(x),
                                    torch.autograd.grad((exchange(x.requires_grad_()) ** 2).sum(), x)[0]))
        for given in (exchange, self.network):
            with self.assertRaisesRegex(RuntimeError, 'torch.vmap.*cannot pass through.*all samples at once'):
                torch.vmap(given)(self.local(self.x)[None])
        with self.assertRaisesRegex(RuntimeError, 'a transform of torch.func within another.*create_graph=True'):
            torch.func.jvp(torch.func.grad(lambda x: (self.network(x) ** 3).sum()), (x,), (u,))
        other = {name: value.clone() for name, value in self.network.named_parameters()}
        with self.assertRaisesRegex(RuntimeError, 'parameters of a layer of Tenon are in its memory'):
            torch.func.functional_call(self.network, other, (x,))


class Texts(unittest.TestCase):
    def test_what_is_refused(self):
        shape = [2, 2, 4 * COMM.size, 5]
        layout = layout_of(shape)
        conv, x = tt.nn.Conv2d(2, 2, 3, layout=layout, device='cpu'), block(layout, drawn(*shape))
        for device in (None, torch.device('cpu')):
            tt.nn.Tanh(layout=layout, device=device)
        exchange = tt.repartition(layout, layout)
        for call, kind, said in (
                (lambda: tt.nn.Conv2d(2, 2, 3, layout=layout, dtype=torch.bfloat16), ValueError, 'dtype=torch.bfloat16 is not supported, '
                 'torch.float32 or torch.float64 is'),
                (lambda: conv(x.numpy()), TypeError, 'the input is of type numpy.ndarray, and a tensor of torch is expected'),
                (lambda: exchange(x.numpy()), TypeError, 'the input is of type numpy.ndarray'),
                (lambda: tt.nn.Tanh(layout=layout, device='cuda:0'), ValueError, "device='cuda:0' is not supported, None or 'cpu' is")):
            with self.assertRaisesRegex(kind, said):
                call()


if __name__ == '__main__':
    unittest.main()
