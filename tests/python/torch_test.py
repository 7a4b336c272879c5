# SPDX-License-Identifier: BSD-2-Clause
"""Operators and layers in PyTorch: values and gradients against PyTorch on one process."""
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
            'Module', 'Operator', 'difference', 'load', 'nn', 'gather_state_dict', 'scatter_state_dict'})

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
        self.assertLess(abs(y - block(module.output_layout, wanted.detach())).max(), tolerance)
        cotangent = drawn(*wanted.shape, seed=4)
        (wanted * cotangent).sum().backward()
        (y * block(module.output_layout, cotangent)).sum().backward()
        self.assertLess(abs(x.grad - block(layout, whole.grad)).max(), tolerance)
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
        with self.assertRaisesRegex(TypeError, 'ELU has 1 arguments beside its layout, and 2 are given'):
            tt.nn.ELU(1.0, True, layout=tenon.Layout.sharded(grid(), [rows, 3], 'S0'))
        image = [2, 4, rows, 6]
        self.same('MaxPool2d', image, 2, 2)
        self.same('MaxPool2d', image, 2, 3, 2, 1, ceil_mode=True)
        self.same('MaxPool2d', image, 2, 2, 1, dilation=2)
        self.same('AvgPool2d', image, 2, 3, 1)
        self.same('AvgPool2d', image, 2, 3, 2, 1, ceil_mode=True)
        self.same('AvgPool2d', image, 2, 3, 2, 1, count_include_pad=False)
        self.same('GroupNorm', image, 2, 2, 4)
        self.same('LayerNorm', image, 2, 6)
        self.same('Softmax', image, 2, 2)
        self.same('ConvTranspose2d', image, 2, 4, 6, 3, stride=2, padding=1, output_padding=1)
        self.same('ConvTranspose1d', [2, 4, rows], 2, 4, 6, 3, stride=3, dilation=2, groups=2)

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
        with self.assertRaisesRegex(TypeError, '1 inputs are given to a layer that has 2'):
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
