# SPDX-License-Identifier: BSD-2-Clause
"""Operators and layers in PyTorch: values and gradients compared with PyTorch on one process."""
import unittest

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt

COMM = MPI.COMM_WORLD
torch.set_default_dtype(torch.float64)


def grid():
    return tenon.Partition(COMM, [COMM.size])


def block(layout, whole):
    low, high = layout.box()
    return whole[tuple(slice(l, h) for l, h in zip(low, high))].contiguous().clone()


def joined(layout, local, shape):
    """The whole of a tensor whose blocks do not overlap."""
    whole = torch.zeros(shape)
    low, high = layout.box()
    whole[tuple(slice(l, h) for l, h in zip(low, high))] = local.detach()
    return torch.from_numpy(COMM.allreduce(whole.numpy()))


def apart(a, b):
    return float((a - b).abs().max()) if a.numel() else 0.0


def drawn(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def check_gradient(test, function, layout, tolerance=1e-8):
    """The gradient against differences, of a sum of all elements of the output on all ranks with weights: a whole input gives each rank
    its block, or of partial sums (P) its share of the sum."""
    share = 1 / COMM.size if layout.properties() == 'P' and COMM.size > 1 else 1
    whole = drawn(*layout.shape(), seed=8)
    local = (share * block(layout, whole)).requires_grad_()
    y = function(local)
    weights = drawn(*y.shape, seed=20 + COMM.rank)
    (y * weights).sum().backward()
    low, high = layout.box()
    found = torch.zeros_like(whole)
    found[tuple(slice(l, h) for l, h in zip(low, high))] = share * local.grad
    found = torch.from_numpy(COMM.allreduce(found.numpy()))

    def value(at, change):
        moved = whole.clone()
        moved.view(-1)[at] += change
        with torch.no_grad():
            return float((function(share * block(layout, moved)) * weights).sum())

    step = 1e-5
    wanted = [(value(i, step) - value(i, -step)) / (2 * step) for i in range(whole.numel())]
    wanted = torch.from_numpy(COMM.allreduce(torch.tensor(wanted).numpy())).view(whole.shape)
    test.assertLess(abs(found - wanted).max(), tolerance)


class Operators(unittest.TestCase):
    def setUp(self):
        self.plain = tenon.Layout.sharded(grid(), [2, 5 * COMM.size, 3], 'S1')
        self.wide = self.plain.like().set_halo(1, 1, 2, 'periodic', 'periodic')
        self.wide.set_up()

    def test_halo_exchange_is_a_window_of_the_periodic_field(self):
        whole = drawn(2, 5 * COMM.size, 3)
        x = block(self.plain, whole).requires_grad_()
        halo = tt.halo_exchange(self.plain, self.wide)
        y = halo(x)
        low, high = self.plain.owned_box()
        rows = [i % whole.shape[1] for i in range(low[1] - 1, high[1] + 2)]
        self.assertTrue(torch.equal(y, whole[:, rows]))
        # The gradient of a copy goes to the element of which it is a copy.
        weights = drawn(2, 5 * COMM.size + 0, 3, seed=2)
        (y * weights[:, rows]).sum().backward()
        count = torch.zeros(whole.shape[1])
        for rank in COMM.allgather(rows):
            for row in rank:
                count[row] += 1
        wanted = weights * count[:, None]
        self.assertLess(abs(x.grad - block(self.plain, wanted)).max(), 1e-14)

    def test_blocks_of_a_whole(self):
        whole = drawn(2, 5 * COMM.size, 3)
        self.assertTrue(torch.equal(tt.block(self.plain, whole), whole[:, 5 * COMM.rank:5 * COMM.rank + 5]))
        with self.assertRaisesRegex(ValueError, 'with a halo beyond the whole' if COMM.rank in (0, COMM.size - 1) else ''):
            tt.block(self.wide, whole)
            raise ValueError
        with self.assertRaisesRegex(ValueError, r'a tensor of \[2, 3\] is given, and the whole in this layout is'):
            tt.block(self.plain, whole[:, 0])

    def test_integers_are_moved_as_they_are(self):
        whole = (2**31 - 1) - 7 * torch.arange(2 * 5 * COMM.size * 3).view(2, 5 * COMM.size, 3)
        for dtype in (torch.int32, torch.int64):
            halo, everywhere = tt.halo_exchange(self.plain, self.wide, dtype), tt.allgather(self.plain, dtype=dtype)
            x = block(self.plain, whole.to(dtype)).clone()
            low, high = self.plain.owned_box()
            rows = [i % whole.shape[1] for i in range(low[1] - 1, high[1] + 2)]
            self.assertEqual(halo(x).dtype, dtype)
            self.assertTrue(torch.equal(halo(x), whole.to(dtype)[:, rows]))
            self.assertTrue(torch.equal(everywhere(x), whole.to(dtype)))

    def check_grad(self, function, x):
        """Of a linear function and its adjoint on all ranks: <F x, y> = <x, F* y>, and the second derivative."""
        y = function(x)
        w = torch.randn(y.shape, generator=torch.Generator().manual_seed(COMM.rank + 5))
        (dx,) = torch.autograd.grad(y, x, w, create_graph=False)
        left, right = COMM.allreduce(float((y.detach() * w).sum())), COMM.allreduce(float((x.detach() * dx).sum()))
        self.assertAlmostEqual(left, right, delta=1e-12 * max(1, abs(left)))

    def test_adjoints(self):
        # Copies and partial sums are summed over the ranks where they count so.
        rows = tenon.Layout.sharded(grid(), [2, 5 * COMM.size, 3], 'S0' if COMM.size <= 2 else 'S2')
        x = block(self.plain, drawn(2, 5 * COMM.size, 3)).requires_grad_()
        self.check_grad(tt.halo_exchange(self.plain, self.wide), x)
        self.check_grad(tt.repartition(self.plain, rows), x)
        self.check_grad(tt.allgather(self.plain), x)
        root = tenon.Layout.sharded(grid(), [4, 3], 'R')
        low, high = root.box()
        r = block(root, drawn(4, 3)).requires_grad_()
        broadcast = tt.broadcast(root)
        self.assertTrue(torch.equal(broadcast(r), drawn(4, 3)))
        self.check_grad(broadcast, r)
        partial = tenon.Layout.sharded(grid(), [4, 3], 'P')
        p = (drawn(4, 3) * (COMM.rank + 1)).requires_grad_()
        total = tt.sum_reduce(partial)(p)
        if COMM.rank == 0:
            self.assertLess(abs(total - drawn(4, 3) * (COMM.size * (COMM.size + 1) // 2)).max(), 1e-13)
        self.check_grad(tt.sum_reduce(partial), p)

    def functions(self):
        """Each function with a layout that it takes."""
        rows = tenon.Layout.sharded(grid(), [2, 5 * COMM.size, 3], 'S2')
        root, copies, partial = (tenon.Layout.sharded(grid(), [2, 4], property) for property in 'RBP')
        return {'halo_exchange': (tt.halo_exchange(self.plain, self.wide), self.plain),
                'repartition': (tt.repartition(self.plain, rows), self.plain), 'broadcast': (tt.broadcast(root), root),
                'sum_reduce': (tt.sum_reduce(partial), partial), 'allreduce': (tt.allreduce(partial), partial),
                'scatter': (tt.scatter(root, 1), root), 'gather': (tt.gather(self.plain), self.plain),
                'allgather': (tt.allgather(self.plain), self.plain), 'reducescatter': (tt.reducescatter(partial, 1), partial),
                'Operator': (tt.Operator(tenon.LinearOp.conversion(copies, partial, 'float64')), copies)}

    def test_gradcheck_and_second_derivatives(self):
        """By PyTorch, which moves one element at a time, on one process; on several by check_gradient()."""
        for name, (function, layout) in self.functions().items():
            with self.subTest(name):
                check_gradient(self, function, layout)
                if COMM.size == 1:
                    x = drawn(*layout.shape()).requires_grad_()
                    self.assertTrue(torch.autograd.gradcheck(function, x, check_forward_ad=True))
                    self.assertTrue(torch.autograd.gradgradcheck(lambda a: function(a) ** 2, x))
        self.assertEqual(set(self.functions()) - {'Operator'}, set(tt.__all__) - {
            'Module', 'Operator', 'Sequential', 'block', 'whole', 'cat', 'cat_layout', 'clip_grad_norm_', 'difference', 'distribute',
            'gather_state_dict', 'load', 'mean', 'nn', 'replicated', 'scatter_state_dict', 'sum_gradients', 'synchronize', 'total'})

    def test_wrong_tensors(self):
        halo = tt.halo_exchange(self.plain, self.wide)
        with self.assertRaisesRegex(ValueError, 'the input has 4 elements in dimension 2, and the layout S1 of .* has 3'):
            halo(torch.zeros(2, 5, 4))
        with self.assertRaisesRegex(ValueError, 'torch.float32'):
            halo(torch.zeros(2, 5, 3, dtype=torch.float32))

    def test_memory_is_shared(self):
        x = block(self.plain, drawn(2, 5 * COMM.size, 3)).transpose(0, 2).contiguous().transpose(0, 2)  # not row-major
        halo = tt.halo_exchange(self.plain, self.wide)
        halo(x)
        with halo.x.tensor.read() as lent:
            self.assertEqual(lent.__array_interface__['data'][0], x.data_ptr())


class Layers(unittest.TestCase):
    """Each layer equals that of PyTorch on one process, with the same parameters, on a division of each dimension."""

    def setUp(self):
        torch.manual_seed(3)  # all ranks draw the same parameters

    def check(self, make, reference, shape, dim, tolerance=1e-12):
        layout = tenon.Layout.sharded(grid(), shape, f'S{dim}')
        module, whole = make(layout), drawn(*shape, seed=3).requires_grad_()
        if reference.state_dict():
            module.scatter(reference.state_dict())
        x = block(layout, whole.detach()).requires_grad_()
        y, wanted = module(x), reference(whole)
        self.assertLess(apart(y, block(module.output_layout, wanted.detach())), tolerance)
        cotangent = drawn(*wanted.shape, seed=4)
        (wanted * cotangent).sum().backward()
        (y * block(module.output_layout, cotangent)).sum().backward()
        self.assertLess(apart(x.grad, block(layout, whole.grad)), tolerance)
        for name, parameter in reference.named_parameters():
            own, slot = module._parameters[name], dict(zip(module._parameters, module.slots))[name]
            if own.numel():
                self.assertLess((own.grad - block(slot.layout(), parameter.grad)).abs().max(), tolerance)
        return module

    def test_convolutions(self):
        rows = 6 * COMM.size
        for settings in ({'padding': 1}, {'stride': 2, 'padding': 2}, {'dilation': 2}, {'padding': 1, 'padding_mode': 'circular'},
                         {'groups': 2, 'bias': False}, {'padding': 'same'}, {'padding': 'same', 'dilation': 3}):
            self.check(lambda layout: tt.nn.Conv2d(4, 6, 3, layout=layout, **settings), torch.nn.Conv2d(4, 6, 3, **settings),
                       [2, 4, rows, 7], 2)
        self.same('Conv2d', [2, 4, rows, 7], 2, 4, 2, (4, 2), padding='same')
        self.check(lambda layout: tt.nn.Conv1d(2, 3, 5, padding=2, layout=layout), torch.nn.Conv1d(2, 3, 5, padding=2), [3, 2, rows], 2)
        self.check(lambda layout: tt.nn.Conv3d(2, 3, 3, padding=1, layout=layout), torch.nn.Conv3d(2, 3, 3, padding=1),
                   [1, 2, rows, 4, 5], 2)

    def same(self, name, shape, dim, *arguments, **settings):
        """A layer by its name, with the arguments of torch.nn."""
        with self.subTest(name, **settings):
            self.check(lambda layout: getattr(tt.nn, name)(*arguments, layout=layout, **settings),
                       getattr(torch.nn, name)(*arguments, **settings), shape, dim)

    def test_others(self):
        rows = 6 * COMM.size
        self.same('Linear', [rows, 5], 0, 5, 4)
        for name in ('ReLU', 'Tanh', 'Sigmoid', 'SiLU', 'GELU', 'Softplus', 'Softsign', 'Mish', 'Hardswish', 'SELU', 'Flatten', 'CELU'):
            self.same(name, [rows, 3], 0)
        self.same('LeakyReLU', [rows, 3], 0, 0.2)
        self.same('ELU', [rows, 3], 0, alpha=0.5)
        self.same('Hardtanh', [rows, 3], 0, -0.5, 0.7)
        self.same('ReLU6', [rows, 3], 0)
        self.same('GELU', [rows, 3], 0, approximate='tanh')
        image = [2, 4, rows, 6]
        self.same('MaxPool2d', image, 2, 2)
        self.same('MaxPool2d', image, 2, 3, 2, 1, ceil_mode=True)
        self.same('MaxPool2d', image, 2, 2, 1, dilation=2)
        self.same('AvgPool2d', image, 2, 3, 1)
        self.same('AvgPool2d', image, 2, 3, 2, 1, ceil_mode=True)
        self.same('AvgPool2d', image, 2, 3, 2, 1, count_include_pad=False)
        self.same('AdaptiveAvgPool2d', image, 2, (3, None))
        self.same('Upsample', image, 2, scale_factor=2)
        self.same('Upsample', image, 2, (7 * COMM.size, 5), mode='bilinear', align_corners=True)
        for name in ('ZeroPad2d', 'CircularPad2d', 'ReflectionPad2d', 'ReplicationPad2d'):
            self.same(name, image, 2, (1, 2, 3, 0))
        self.same('PixelShuffle', image, 2, 2)
        self.same('PReLU', image, 2, 4, init=0.1)
        self.same('InstanceNorm2d', image, 2, 4, affine=True)
        self.same('GroupNorm', image, 2, 2, 4)
        self.same('LayerNorm', image, 2, 6)
        self.same('Softmax', image, 2, 2)
        self.same('ConvTranspose2d', image, 2, 4, 6, 3, stride=2, padding=1, output_padding=1)
        self.same('ConvTranspose1d', [2, 4, rows], 2, 4, 6, 3, stride=3, dilation=2, groups=2)

    def test_what_is_not_supported_is_named(self):
        layout = tenon.Layout.sharded(grid(), [2, 4, 6 * COMM.size], 'S2')
        for make, argument in (
                (lambda: tt.nn.ELU(1.0, True, layout=layout), 'inplace=True'),
                (lambda: tt.nn.ReLU(inplace=True, layout=layout), 'inplace=True'),
                (lambda: tt.nn.Dropout(1.0, layout=layout), 'p=1.0'),
                (lambda: tt.nn.MaxPool1d(2, return_indices=True, layout=layout), 'return_indices=True'),
                (lambda: tt.nn.AvgPool1d(2, divisor_override=3, layout=layout), 'divisor_override=3'),
                (lambda: tt.nn.BatchNorm1d(4, momentum=None, layout=layout), 'momentum=None'),
                (lambda: tt.nn.BatchNorm2d(4, layout=layout), 'BatchNorm2d needs an input of 4 dimensions, and its layout has 3'),
                (lambda: tt.nn.InstanceNorm1d(4, track_running_stats=True, layout=layout), 'track_running_stats=True'),
                (lambda: tt.nn.Upsample(scale_factor=1.5, layout=layout), 'scale_factor=1.5'),
                (lambda: tt.nn.Upsample(scale_factor=2, mode='bicubic', layout=layout), "mode='bicubic'"),
                (lambda: tt.nn.PReLU(layout=layout), 'num_parameters=1'),
                (lambda: tt.nn.Conv1d(4, 4, 3, padding_mode='same', layout=layout), "padding_mode='same'"),
                (lambda: tt.nn.Softmax(layout=layout), 'dim=None'), (lambda: tt.nn.Softplus(2.0, layout=layout), 'beta=2.0'),
                (lambda: tt.nn.Flatten(2, layout=layout), 'start_dim=2')):
            with self.assertRaisesRegex(ValueError, argument):
                make()
        with self.assertRaisesRegex(AttributeError, 'has no LSTM'):
            tt.nn.LSTM

    def test_several_inputs_and_outputs(self):
        """h = tanh(conv(x)) m with a mask m of one channel, and conv(x) beside it."""
        rows = 3 * COMM.size + 1
        layouts = [tenon.Layout.sharded(grid(), [2, channels, rows, 4], 'S2') for channels in (3, 1)]
        graph = tenon.Layer.graph(COMM).set(data_type='float64', input_count=2, output_names='h,c=0')
        conv = graph.add_node(tenon.Layer(COMM, 'conv', kernel=[3, 3], padding=[1, 1], in_channels=3, out_channels=3), [-1])
        tanh = graph.add_node(tenon.Layer(COMM, 'tanh'), [conv])
        graph.add_node(tenon.Layer(COMM, 'multiply').set_name('h'), [tanh, -2])
        module = tt.Module(graph, layouts)
        whole = [drawn(*layout.shape(), seed=seed).requires_grad_() for seed, layout in enumerate(layouts)]
        given = [block(layout, x.detach()).requires_grad_() for layout, x in zip(layouts, whole)]
        weight, bias = [values.requires_grad_() for values in sorted(tenon.to_torch(graph).values(), key=lambda w: -w.dim())]
        c = torch.nn.functional.conv2d(whole[0], weight, bias, padding=1)
        wanted, found = (torch.tanh(c) * whole[1], c), module(*given)
        self.assertEqual(len(found), 2)
        cotangents = [drawn(*y.shape, seed=9 + i) for i, y in enumerate(wanted)]
        for used in ([0, 1], [1]):  # both outputs, and one
            for leaf in (*whole, *given, weight, bias, *module.parameters()):
                leaf.grad = None
            sum((wanted[i] * cotangents[i]).sum() for i in used).backward(retain_graph=True)
            sum((found[i] * block(module.output_layouts[i], cotangents[i])).sum() for i in used).backward(retain_graph=True)
            for layout, y, theirs in zip(module.output_layouts, found, wanted):
                self.assertLess(abs(y - block(layout, theirs)).max(), 1e-13)
            for layout, x, own in zip(layouts, whole, given):
                self.assertLess(abs(own.grad - block(layout, x.grad if x.grad is not None else 0 * x)).max(), 1e-13)
            for parameter, slot in zip(module.parameters(), module.slots):
                theirs = weight if parameter.dim() > 1 else bias
                self.assertLess(abs(parameter.grad - block(slot.layout(), theirs.grad)).max(), 1e-12)
        with self.assertRaisesRegex(TypeError, '1 input is given to a Module that has 2'):
            module(given[0])
        with self.assertRaisesRegex(ValueError, 'the input 1 has 3 elements in dimension 1'):
            module(given[0], given[0])

    def test_the_memory_of_parameters_stays(self):
        layout = tenon.Layout.sharded(grid(), [2, 3], 'B')
        linear = tt.nn.Linear(3, 2, layout=layout)
        for change in (lambda: linear.float(), lambda: linear.to(torch.float32)):
            with self.assertRaisesRegex(RuntimeError, 'in its memory and stay there'):
                change()
        self.assertIs(linear.double(), linear)
        x = drawn(2, 3)
        kept = linear.weight.data
        if COMM.size == 1:  # otherwise an error of some ranks
            linear.weight.data = kept.clone()
            with self.assertRaisesRegex(RuntimeError, 'in its memory and stay there'):
                linear(x)
        linear.weight.data = kept
        linear(x)

    def test_evaluations_that_are_no_longer_kept_are_made_again(self):
        layout = tenon.Layout.sharded(grid(), [4 * COMM.size, 3], 'S0')
        for depth in (1, 3):
            tanh = tt.nn.Tanh(layout=layout, depth=depth)
            x = block(layout, drawn(4 * COMM.size, 3)).requires_grad_()
            y = tanh(tanh(tanh(x)))
            (dx,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
            (again,) = torch.autograd.grad(y.sum(), x)
            z = x.detach().clone().requires_grad_()
            (wanted,) = torch.autograd.grad(torch.tanh(torch.tanh(torch.tanh(z))).sum(), z)
            self.assertLess(abs(dx - wanted).max(), 1e-14)
            self.assertTrue(torch.equal(dx, again))
            for _ in range(5):
                tanh(x)  # graphs that are dropped
            with torch.no_grad():
                tanh(x)

    def test_gradcheck(self):
        """Of each layer, by its input, and on one process by its parameters too."""
        n = 3 * COMM.size + 1
        makes = {name: (lambda layout, make=make: make(2, 2, 3, padding=1, layout=layout), [1, 2, n, 3, 2][:d + 2])
                 for d, (name, make) in enumerate((('Conv1d', tt.nn.Conv1d), ('Conv2d', tt.nn.Conv2d), ('Conv3d', tt.nn.Conv3d)), 1)}
        for d in (1, 2, 3):
            for kind in ('MaxPool', 'AvgPool'):
                make = getattr(tt.nn, f'{kind}{d}d')
                makes[f'{kind}{d}d'] = lambda layout, make=make: make(2, layout=layout), [1, 2, 2 * COMM.size, 2, 2][:d + 2]
        makes['Linear'] = lambda layout: tt.nn.Linear(3, 2, layout=layout), [n, 3]
        for name in ('ReLU', 'Tanh', 'Sigmoid', 'GELU', 'SiLU', 'Softplus', 'Flatten'):
            make = getattr(tt.nn, name)
            makes[name] = lambda layout, make=make: make(layout=layout), [n, 2]
        for name, (make, shape) in makes.items():
            with self.subTest(name):
                layout = tenon.Layout.sharded(grid(), shape, 'S2' if len(shape) > 2 else 'S0')
                module = make(layout)
                check_gradient(self, module, layout, 1e-7)
                if COMM.size == 1:
                    parameters = list(module.parameters())
                    x = drawn(*shape, seed=8).requires_grad_()
                    self.assertTrue(torch.autograd.gradcheck(lambda x, *parameters: module(x), (x, *parameters)))

    def normalised(self, settings=(('BatchNorm2d', {}),)):
        """conv, normalisation, tanh, conv: of Tenon and of torch, with the same parameters."""
        shape = [3, 1, 4 * COMM.size, 5]
        layout = tenon.Layout.sharded(grid(), shape, 'S2')
        (name, given), = settings
        own = [tt.nn.Conv2d(1, 4, 3, padding=1, layout=layout)]
        own += [getattr(tt.nn, name)(4, layout=own[-1].output_layout, **given)]
        own += [tt.nn.Tanh(layout=own[-1].output_layout)]
        own += [tt.nn.Conv2d(4, 1, 3, padding=1, layout=own[-1].output_layout)]
        theirs = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), getattr(torch.nn, name)(4, **given), torch.nn.Tanh(),
                                     torch.nn.Conv2d(4, 1, 3, padding=1))
        network = torch.nn.Sequential(*own)
        tt.scatter_state_dict(network, theirs.state_dict())
        return layout, shape, network, theirs

    def check_step(self, layout, shape, network, theirs, seed, records=True):
        """Output, gradients and running statistics after one evaluation of both."""
        whole = drawn(*shape, seed=seed)
        x, given = whole.clone().requires_grad_(records), block(layout, whole).requires_grad_(records)
        for parameter in (*network.parameters(), *theirs.parameters()):
            parameter.grad = None
        with torch.set_grad_enabled(records):
            y, wanted = network(given), theirs(x)
        self.assertLess(abs(y - block(layout, wanted.detach())).max(), 1e-12)
        if records:
            cotangent = drawn(*shape, seed=seed + 1)
            (wanted * cotangent).sum().backward()
            (y * block(layout, cotangent)).sum().backward()
            self.assertLess(abs(given.grad - block(layout, x.grad)).max(), 1e-12)
            for own, parameter in zip(network.parameters(), theirs.parameters()):
                self.assertLess(abs(own.grad - parameter.grad).max(), 1e-11)
        gathered = tt.gather_state_dict(network)
        for name, value in theirs.state_dict().items():
            self.assertLess(abs(gathered[name] - value).max(), 1e-13, name)
        self.assertEqual(set(gathered), set(theirs.state_dict()))

    def test_train_and_eval(self):
        for given in ({}, {'momentum': 0.3, 'eps': 1e-3}, {'affine': False}, {'track_running_stats': False}):
            both = self.normalised((('BatchNorm2d', given),))
            networks = both[2:]
            self.assertEqual(list(networks[0].state_dict()), list(networks[1].state_dict()))
            self.check_step(*both, seed=1)
            for net in networks:
                net.eval()
            self.check_step(*both, seed=3)
            self.check_step(*both, seed=5, records=False)
            for net in networks:
                net.train()
            self.check_step(*both, seed=7)
            self.check_step(*both, seed=9, records=False)  # statistics follow without gradients too
            for net in networks:
                net[1].eval()  # this layer alone, as in fine-tuning
            self.check_step(*both, seed=11)

    def test_batch_norm_in_other_dimensions(self):
        rows = 3 * COMM.size
        for name, shape, dim in (('BatchNorm1d', [rows, 4], 0), ('BatchNorm1d', [2, 4, rows], 2),
                                 ('BatchNorm3d', [2, 4, rows, 2, 3], 2)):
            self.same(name, shape, dim, 4)

    def test_layers_inside_a_container(self):
        """Of Tenon's own, with dropout and batch normalisation: eval() is that of torch, with gradients."""
        shape = [3, 2, 4 * COMM.size, 5]
        layout = tenon.Layout.sharded(grid(), shape, 'S2')
        net = tenon.Layer.sequential(COMM).set(data_type='float64')
        for type, settings in (('conv', dict(kernel=[3, 3], padding=[1, 1], in_channels=2, out_channels=2)),
                               ('batchnorm', dict(channels=2)), ('dropout', dict(rate=0.4))):
            net.add(tenon.Layer(COMM, type, **settings))
        module = tt.Module(net, layout)
        theirs = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.BatchNorm2d(2), torch.nn.Dropout(0.4)).eval()
        self.assertFalse(module.is_repeatable)
        self.assertEqual([name for name, _ in module.named_parameters()], ['0_weight', '0_bias', '1_weight', '1_bias'])
        x = block(layout, drawn(*shape, seed=2)).requires_grad_()
        for _ in range(2):
            module(x)  # moves the statistics
        with self.assertRaisesRegex(RuntimeError, 'no longer kept'):
            module(module(x)).sum().backward()
        values = tenon.to_torch(net)
        theirs.load_state_dict(dict(zip([name for name in theirs.state_dict() if 'tracked' not in name], values.values())))
        module.eval()
        before = [buffer.clone() for buffer in module.buffers()]
        whole = drawn(*shape, seed=6).requires_grad_()
        given = block(layout, whole.detach()).requires_grad_()
        y, wanted = module(given), theirs(whole)
        module.train()  # an evaluation is differentiated as it ran
        (wanted ** 2).sum().backward()
        (y ** 2).sum().backward()
        self.assertLess(abs(y - block(layout, wanted.detach())).max(), 1e-13)
        self.assertLess(abs(given.grad - block(layout, whole.grad)).max(), 1e-13)
        for own, parameter in zip(module.parameters(), theirs.parameters()):
            self.assertLess(abs(own.grad - parameter.grad).max(), 1e-11)
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(before, module.buffers())))
        self.assertFalse(torch.equal(module(given), module(given)))  # it drops again
        fixed = module.eval()(given)
        module.train()
        net.child("1").set_training(False)
        net.child("2").set_training(False)  # one layer after the other is told
        self.assertTrue(torch.equal(module(given), fixed))

    def test_dropout(self):
        layout = tenon.Layout.sharded(grid(), [8 * COMM.size, 50], 'S0')
        dropout = tt.nn.Dropout(0.25, layout=layout)
        dropout.layer.initialize(3)
        x = torch.ones(8, 50, requires_grad=True)
        y = dropout(x)
        y.sum().backward()
        self.assertTrue(torch.equal(x.grad, y.detach()))
        self.assertEqual(set(y.unique().tolist()), {0.0, 1 / 0.75})
        kept = COMM.allreduce(int((y != 0).sum())) / (400 * COMM.size)
        self.assertLess(abs(kept - 0.75), 0.1)
        with torch.no_grad():
            self.assertTrue((dropout(x) == 0).any())  # as in torch, where train() and no_grad() are two things
        dropout.eval()
        self.assertTrue(torch.equal(dropout(x), x))
        x.grad = None
        dropout(x).sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.ones(8, 50)))

    def trained(self, storage, make, steps, use):
        """Trains a network and that of torch on one process: make(parameters) is the optimizer, use(net, optimizer, step) a step."""
        shape = [2, 1, 3 * COMM.size, 5]
        layout = tenon.Layout.sharded(grid(), shape, 'S2')
        own = [tt.nn.Conv2d(1, 3, 3, padding=1, layout=layout, storage=storage)]
        own += [tt.nn.Tanh(layout=own[-1].output_layout)]
        own += [tt.nn.Conv2d(3, 1, 3, padding=1, layout=own[-1].output_layout, storage=storage)]
        torch.manual_seed(3)
        theirs = torch.nn.Sequential(torch.nn.Conv2d(1, 3, 3, padding=1), torch.nn.Tanh(), torch.nn.Conv2d(3, 1, 3, padding=1))
        network = torch.nn.Sequential(*own)
        tt.scatter_state_dict(network, theirs.state_dict())
        x, target = drawn(*shape), drawn(*shape, seed=9)
        for net, a, b in ((network, block(layout, x), block(layout, target)), (theirs, x, target)):
            optimizer = make(net)

            def loss():
                value = ((net(a) - b) ** 2).sum()
                value = (tt.total(value) if net is network else value) / x.numel()
                value.backward()
                return value

            for step in range(steps):
                use(net, optimizer, loss, step)
        gathered = tt.gather_state_dict(network)
        for name, value in theirs.state_dict().items():
            self.assertLess(abs(gathered[name] - value).max(), 1e-9, name)
        return network, theirs

    def plain(self, net, optimizer, loss, step):
        optimizer.zero_grad(set_to_none=step % 2 == 0)
        loss()
        optimizer.step()

    def test_each_optimizer(self):
        """With parameters on all ranks, and divided among them."""
        optim = torch.optim
        for storage in ('use', 'sharded'):
            for make in (lambda net: optim.SGD(net.parameters(), 0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
                         lambda net: optim.Adam(net.parameters(), 0.02, amsgrad=True), lambda net: optim.AdamW(net.parameters(), 0.02),
                         lambda net: optim.RMSprop(net.parameters(), 0.01, momentum=0.5),
                         lambda net: optim.SGD([{'params': net[0].parameters(), 'lr': 0.2}, {'params': net[2].parameters()}], 0.05)):
                self.trained(storage, make, 3, self.plain)

    def test_lbfgs(self):
        """Its products are of what a rank has, so that all ranks must have all parameters; the closure returns the whole loss."""
        def use(net, optimizer, loss, step):
            def closure():
                optimizer.zero_grad()
                return loss()
            optimizer.step(closure)

        for search in (None, 'strong_wolfe'):
            self.trained('use', lambda net: torch.optim.LBFGS(net.parameters(), 0.5, max_iter=4, line_search_fn=search), 2, use)

    def test_schedules_clipping_and_freezing(self):
        schedules = {}

        def make(net):
            optimizer = torch.optim.SGD(net.parameters(), 0.5)
            schedules[optimizer] = torch.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
            net[0].bias.requires_grad_(False)
            return optimizer

        def use(net, optimizer, loss, step):
            optimizer.zero_grad()
            loss()
            order = (2.0, 1.0, float('inf'))[step % 3]
            is_own = isinstance(net[0], tt.Module)
            norms.setdefault(step, []).append(
                (tt.clip_grad_norm_ if is_own else torch.nn.utils.clip_grad_norm_)(net.parameters(), 0.05, order))
            optimizer.step()
            schedules[optimizer].step()

        for storage in ('use', 'sharded'):
            norms = {}
            network, theirs = self.trained(storage, make, 4, use)
            for own, wanted in norms.values():
                self.assertLess(abs(own - wanted), 1e-9)
            self.assertIsNone(network[0].bias.grad)

    def test_saving_and_copying(self):
        import copy
        import io
        make = lambda net: torch.optim.Adam(net.parameters(), 0.02)  # noqa: E731
        network, _ = self.trained('sharded', make, 1, self.plain)
        file = io.BytesIO()
        torch.save(network.state_dict(), file)  # this rank's blocks
        before = tt.gather_state_dict(network)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(2)
        file.seek(0)
        network.load_state_dict(torch.load(file))
        for name, value in tt.gather_state_dict(network).items():
            self.assertTrue(torch.equal(value, before[name]), name)
        self.assertIsNot(copy.deepcopy(network), network)

    def test_optimizers_of_torch(self):
        """Training is that of PyTorch on one process."""
        shape = [2, 1, 6 * COMM.size, 6]
        layout = tenon.Layout.sharded(grid(), shape, 'S2')
        own = [tt.nn.Conv2d(1, 4, 3, padding=1, layout=layout)]
        own += [tt.nn.Tanh(layout=own[0].output_layout)]
        own += [tt.nn.Conv2d(4, 1, 3, padding=1, layout=own[1].output_layout)]
        theirs = torch.nn.Sequential(torch.nn.Conv2d(1, 4, 3, padding=1), torch.nn.Tanh(), torch.nn.Conv2d(4, 1, 3, padding=1))
        network = torch.nn.Sequential(*own)
        tt.scatter_state_dict(network, theirs.state_dict())  # all ranks have drawn the same
        x, target = drawn(*shape), drawn(*shape, seed=9)
        optimizers = [torch.optim.Adam(n.parameters(), lr=0.02) for n in (network, theirs)]
        for _ in range(10):
            for net, optimizer, a, b in ((network, optimizers[0], block(layout, x), block(layout, target)),
                                         (theirs, optimizers[1], x, target)):
                optimizer.zero_grad()
                loss = ((net(a) - b) ** 2).sum()  # each rank its block: the sums add up
                loss.backward()
                optimizer.step()
        total = COMM.allreduce(float(((network(block(layout, x)) - block(layout, target)) ** 2).sum().detach()))
        wanted = float(((theirs(x) - target) ** 2).sum().detach())
        self.assertLess(abs(total - wanted), 1e-9 * wanted)
        theirs.load_state_dict(tt.gather_state_dict(network))
        self.assertLess(abs(float(((theirs(x) - target) ** 2).sum().detach()) - total), 1e-9 * wanted)


if __name__ == '__main__':
    unittest.main()
