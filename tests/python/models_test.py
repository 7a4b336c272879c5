# SPDX-License-Identifier: BSD-2-Clause
"""Trained networks from files: their weights as arrays and, if PyTorch is installed, comparison with PyTorch."""
import sys
import tempfile
import unittest
from pathlib import Path

import numpy
from mpi4py import MPI

import tenon

COMM = MPI.COMM_WORLD
SOURCE = Path(__file__).resolve().parents[2]
DATA = SOURCE / 'tests/data/import'


def block(layout, whole):
    low, high = layout.box()
    return numpy.ascontiguousarray(whole[tuple(slice(l, h) for l, h in zip(low, high))])


class Models(unittest.TestCase):
    def check(self, name, properties, axes):
        oracle = numpy.load(DATA / f'{name}.npz')
        grid = tenon.Partition(COMM, axes)
        x = oracle['in.x']
        layout = tenon.Layout.sharded(grid, x.shape, properties)
        net = tenon.load(DATA / f'{name}.f64.pt2', layout, data_type='float64')
        y, dy, dx = net.create_output(), net.create_output_cotangent(), net.create_input_cotangent()
        net.apply(tenon.DTensor(layout, 'float64').place(block(layout, x)), y)
        wanted = oracle['out.y']
        self.assertLess(abs(y.numpy() - block(y.layout(), wanted)).max(initial=0), 1e-12 * abs(wanted).max())
        dy.assign(block(y.layout(), oracle['cot.y']))
        net.apply_adjoint(dy, dx)
        wanted = oracle['grad.x']
        self.assertLess(abs(dx.numpy() - block(layout, wanted)).max(initial=0), 1e-12 * abs(wanted).max())
        whole = tenon.weights(net)
        for index in range(net.parameter_count()):
            gradient, name = net.reduced_gradient(index), net.parameter(index).name()
            wanted = oracle[f'param.{name}']  # the gradients of the parameters, by PyTorch's names
            self.assertEqual(whole[name].shape, wanted.shape)
            self.assertGreater(abs(whole[name]).max(), 0)
            self.assertLess(abs(gradient.numpy() - block(gradient.layout(), wanted)).max(initial=0), 1e-11 * abs(wanted).max())

    def test_networks_of_pytorch(self):
        self.check('gz_circular', 'S2', [COMM.size])
        self.check('mlp_tanh', 'S0', [COMM.size])

    def with_torch(self):
        """(torch, tenon.torch, export_model); the test is skipped where there is no PyTorch whose files are read."""
        try:
            import torch
            import tenon.torch as tt
        except ImportError:
            self.skipTest('PyTorch is not installed')
        if tuple(int(part) for part in torch.__version__.split('.')[:2]) < (2, 9):
            self.skipTest('files of this PyTorch are not read; 2.9 and later are')
        sys.path.insert(0, str(SOURCE / 'share/tenon'))
        from export_torch import export_model
        return torch, tt, export_model

    def test_a_network_of_torch_goes_out_and_comes_back(self):
        torch, tt, export_model = self.with_torch()
        torch.manual_seed(3)
        network = torch.nn.Sequential(torch.nn.Conv2d(2, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.Tanh(),
                                      torch.nn.Dropout(), torch.nn.Conv2d(4, 1, 3, padding=1)).double()
        with torch.no_grad():
            network[1].running_mean.uniform_(-1, 1)
            network[1].running_var.uniform_(1, 2)
        network.eval()
        x = torch.randn(1, 2, 8 * COMM.size, 6, dtype=torch.float64)
        with tempfile.TemporaryDirectory() as folder:
            path = COMM.bcast(f'{folder}/closure.pt2')
            if COMM.rank == 0:
                export_model(network, (torch.randn(1, 2, 8, 6, dtype=torch.float64),), path)
            COMM.barrier()
            layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), x.shape, 'S2')
            module = tt.load(path, layout, dtype=torch.float64)
            for mode in (False, True):  # the file has the network as it was, in eval()
                module.train(mode)
                self.assertLess(tt.difference(module, network, x), 1e-13)
                given, whole = block(layout, x.numpy()), x.clone().requires_grad_()
                given = torch.from_numpy(given).requires_grad_()
                (module(given) ** 2).sum().backward()
                (network(whole) ** 2).sum().backward()
                self.assertLess(abs(given.grad - torch.from_numpy(block(layout, whole.grad.numpy()))).max(), 1e-12)
            self.assertEqual(set(tenon.to_torch(module.layer)), {name for name in network.state_dict() if 'tracked' not in name})
            for name, values in tenon.to_torch(module.layer).items():
                self.assertTrue(torch.equal(values, network.state_dict()[name]), name)
            module.scatter({name: 2 * value for name, value in network.state_dict().items()})
            network.load_state_dict(tenon.to_torch(module.layer))
            self.assertLess(tt.difference(module, network, x), 1e-13)
            COMM.barrier()

    def test_parameters_have_the_names_and_shapes_of_the_state_dict(self):
        torch, tt, export_model = self.with_torch()

        class Recurrence(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.gru, self.lstm = torch.nn.GRU(2, 3, batch_first=True), torch.nn.LSTM(3, 2, batch_first=True)
                self.attention = torch.nn.MultiheadAttention(2, 1, batch_first=True)
                self.mixed, self.gain = torch.nn.Parameter(torch.randn(3, 2)), torch.nn.Parameter(torch.randn(1))

            def forward(self, x):
                h = self.lstm(self.gru(x)[0])[0]
                y = self.attention(h, h[:, :2], h[:, :2], need_weights=False)[0]
                return torch.einsum('nsi,oi->nso', y, self.mixed) * torch.exp(self.gain)

        torch.manual_seed(3)
        network = Recurrence().double().eval()
        x = torch.randn(COMM.size, 4, 2, dtype=torch.float64)
        with tempfile.TemporaryDirectory() as folder:
            path = COMM.bcast(f'{folder}/recurrence.pt2')
            if COMM.rank == 0:
                export_model(network, (torch.randn(2, 4, 2, dtype=torch.float64),), path)
            network.load_state_dict(COMM.bcast(network.state_dict()))
            COMM.barrier()
            layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), x.shape, 'S0')
            module = tt.load(path, layout, dtype=torch.float64)
            there = tenon.to_torch(module.layer)
            self.assertEqual({name: tuple(value.shape) for name, value in there.items()},
                             {name: tuple(value.shape) for name, value in network.state_dict().items()})
            doubled = {name: 2 * value for name, value in there.items()}
            network.load_state_dict(doubled, strict=True)
            COMM.barrier()

    def proves_itself(self, network, shape, properties):
        """Exports a network with free extents; set-up proves the file, in float64 and float32."""
        torch, tt, export_model = self.with_torch()
        torch.manual_seed(3)
        network = network().eval()
        example, x = torch.randn(*shape), torch.randn(*shape)
        with tempfile.TemporaryDirectory() as folder:
            path = COMM.bcast(f'{folder}/network.pt2')
            if COMM.rank == 0:
                export_model(network, (example,), path)
            COMM.barrier()
            layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), x.shape, properties)
            module = tt.load(path, layout, dtype=torch.float32)
            self.assertLess(tt.difference(module, network, x), 2e-5)
            COMM.barrier()

    def test_tables_for_the_extents_of_inputs(self):
        torch, _, _ = self.with_torch()

        class Latitudes(torch.nn.Module):
            """Tables in float32 for extents that are free, whose rounding is that of PyTorch."""
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(3, 2, 3, padding=1)

            def forward(self, x):
                n, _, h, w = x.shape
                lat = (torch.arange(h, dtype=x.dtype) + 0.5) / h * 3.1 - 1.5
                sine = (1.4 * torch.sin(lat)).view(1, 1, h, 1).expand(n, 1, h, w)
                y = torch.cat([x * lat.cos()[:, None], sine], 1) + torch.full((n, 1, 1, 1), 0.1)
                return self.conv(y) + 0.3 * torch.ones_like(x) + 0.7 * x.new_full((w,), 0.3)

        self.proves_itself(Latitudes, (2, 2, 12, 8), 'S2')

    def test_a_saturated_attention_over_a_split_sequence(self):
        torch, _, _ = self.with_torch()

        class Saturated(torch.nn.Module):
            """Probabilities near 0 and 1, whose derivatives are differences of nearly equal numbers."""
            def __init__(self):
                super().__init__()
                self.mixed, self.value = torch.nn.Linear(16, 16), torch.nn.Linear(16, 16)

            def forward(self, x):
                heads = lambda y: y.unflatten(2, (2, 8)).transpose(1, 2)
                q = heads(60 * torch.nn.functional.normalize(self.mixed(x), dim=-1))
                y = torch.nn.functional.scaled_dot_product_attention(q, q, heads(self.value(x)))
                return x + y.transpose(1, 2).flatten(2)

        self.proves_itself(Saturated, (2, 24, 16), 'S1')

    def test_lost_regions_without_gradients_are_refused(self):
        torch, _, export_model = self.with_torch()

        class Lost(torch.nn.Module):
            """torch.export loses torch.no_grad() in a region of torch.autocast(), here with a small effect."""
            def __init__(self, part):
                super().__init__()
                self.a, self.b = torch.nn.Linear(4, 6), torch.nn.Linear(6, 2)
                self.gain, self.part = torch.nn.Parameter(torch.full((6,), 0.5)), part

            def forward(self, x):
                y = torch.tanh(self.a(x))
                with torch.autocast('cpu', enabled=False):
                    with torch.no_grad():
                        z = torch.tanh(y * (self.gain if self.part == 1 else 2))
                    y = y * 1.0
                return self.b(y + self.part * z)

        if COMM.rank > 0:
            return
        for part in (1, 0.02):
            torch.manual_seed(0)
            with tempfile.TemporaryDirectory() as folder, self.assertRaisesRegex(ValueError, 'loses torch.no_grad'):
                export_model(Lost(part), (torch.randn(3, 4),), f'{folder}/lost.pt2')

    def test_a_network_of_any_number_of_inputs(self):
        torch, _, export_model = self.with_torch()

        class Joined(torch.nn.Module):
            def forward(self, x, *fields):
                return torch.tanh(torch.cat((x, *fields), 1))

        for count in (1, 3):
            torch.manual_seed(count)
            fields = [torch.randn(1, 1 + i, 8, 6) for i in range(count)]
            with tempfile.TemporaryDirectory() as folder:
                path = COMM.bcast(f'{folder}/joined.pt2')
                if COMM.rank == 0:
                    export_model(Joined(), fields, path)
                COMM.barrier()
                grid = tenon.Partition(COMM, [COMM.size])
                layouts = [tenon.Layout.sharded(grid, f.shape, 'S2') for f in fields]
                net = tenon.load(path, layouts, data_type='float32')
                x = [tenon.DTensor(l, 'float32').place(block(l, f.numpy())) for l, f in zip(layouts, fields)]
                y = net.create_output()
                net.apply_many(x, [y])
                wanted = torch.tanh(torch.cat(fields, 1)).numpy()
                self.assertLess(abs(y.numpy() - block(y.layout(), wanted)).max(initial=0), 1e-6)
                COMM.barrier()

    def test_a_network_with_two_inputs(self):
        torch, tt, export_model = self.with_torch()

        class Masked(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(2, 3, 3, padding=1)

            def forward(self, x, mask):
                return torch.tanh(self.conv(x)) * mask

        torch.manual_seed(3)
        network = Masked().double()
        with tempfile.TemporaryDirectory() as folder:
            path = COMM.bcast(f'{folder}/masked.pt2')
            if COMM.rank == 0:
                export_model(network, tuple(torch.randn(1, n, 8, 6, dtype=torch.float64) for n in (2, 3)), path)
            network.load_state_dict(COMM.bcast(network.state_dict()))
            COMM.barrier()
            grid = tenon.Partition(COMM, [COMM.size])
            inputs = [torch.from_numpy(numpy.random.default_rng(n).standard_normal([1, n, 8, 6])) for n in (2, 3)]
            layouts = [tenon.Layout.sharded(grid, x.shape, 'S2') for x in inputs]
            module = tt.load(path, layouts, dtype=torch.float64)
            self.assertLess(tt.difference(module, network, *inputs), 1e-13)
            net = tenon.load(path, layouts, data_type=torch.float64)
            self.assertEqual(net.input_count(), 2)
            COMM.barrier()


if __name__ == '__main__':
    unittest.main()
