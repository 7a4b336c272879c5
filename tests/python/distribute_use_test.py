# SPDX-License-Identifier: BSD-2-Clause
"""How a user of PyTorch calls distributed modules: by names of inputs, with whole fields before and after, and by mistake."""
import copy
import functools
import logging
import os
import unittest

import tenon
import torch
import tenon.torch as tt
from distribute_test import COMM, IS_READ, OfModules, splits
from tenon.torch.proofs import Exact, prove
from torch_test import apart, block, drawn


class Shifted(torch.nn.Module):
    """A field and a number for each channel."""

    def __init__(self, inputs=2):
        super().__init__()
        self.conv = torch.nn.Conv2d(inputs, 3, 3, padding=1)

    def forward(self, field, shift, scale=None):
        y = self.conv(field)
        return (y if scale is None else y * scale[:, :, None, None]) + shift[:, :, None, None]


class Scaled(torch.nn.Module):
    """Inputs that can be left out, and a number."""

    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 1, 1)

    def forward(self, x, scale=None, shift=None, *, power=1):
        y = self.conv(x) ** power
        y = y if scale is None else y * scale
        return y if shift is None else y + shift


class OfFields(torch.nn.Module):
    def forward(self, fields, *others):
        return fields['a'] - 2 * fields['b'] + 3 * others[0]


class WithValues(torch.nn.Module):
    def forward(self, x):
        return 2 * x if x.sum() > 0 else x  # values decide


class Sorted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Identity()

    def forward(self, x):
        return torch.sort(self.inner(x), dim=-1).values


class Positions(torch.nn.Module):
    """A table that is computed in float32 in any case."""

    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(8))

    def forward(self, x):
        table = torch.arange(64, dtype=torch.float32) * 0.37
        return x + ((table.sin() + 10000.0 ** (table / 64)).reshape(8, 8) * self.weight).to(x.dtype)


def on_one_axis(shape, properties):
    return tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), shape, properties)


@unittest.skipUnless(IS_READ, 'files of this PyTorch are not read; 2.9 and later are')
class Use(OfModules):
    def test_inputs_by_name(self):
        layouts = [on_one_axis([2, 2, 8, 8], 'S2'), *[on_one_axis([2, 3], 'B')] * 2]
        x, shift, scale = drawn(2, 2, 8, 8, seed=4), drawn(2, 3, seed=5), drawn(2, 3, seed=6)
        one = Shifted()
        with torch.no_grad():
            wanted, both = one(x, shift), one(x, shift, scale)
        mine = block(layouts[0], x)
        network = tt.distribute(one, layouts[:2])
        for made in (network(mine, shift), network(mine, shift=shift), network(shift=shift, field=mine)):
            self.assertLess(apart(made.detach(), block(network.output_layouts[0], wanted)), 1e-13)
        scaled = tt.distribute(one, layouts)
        self.assertLess(apart(scaled(mine, scale=scale, shift=shift).detach(), block(scaled.output_layouts[0], both)), 1e-13)
        of = r'the Shifted was distributed for forward\(field=Tensor, shift=Tensor\)'
        for call, text in ((lambda: network(mine, shift, field=mine), f"multiple values for argument 'field': {of}"),
                           (lambda: network(mine, shift, shifts=shift), f"'shifts': {of}"),
                           (lambda: network(mine), f"missing a required argument: 'shift': {of}"),
                           (lambda: network(mine, None), rf'{of}, and is called with shift=None')):
            with self.assertRaisesRegex(TypeError, text):
                call()

    def test_other_calls_than_the_exported_one(self):
        """An input in the place of another one is an error, and what is left out is what it was."""
        layout, one = on_one_axis([2, 1, 8, 8], 'S2'), Scaled()
        x, t = drawn(2, 1, 8, 8, seed=4), drawn(2, 1, 8, 8, seed=5)
        mine, moved = block(layout, x), block(layout, t)
        single, scaled = tt.distribute(one, layout), tt.distribute(one, [layout, layout])
        shifted = tt.distribute(one, [layout, layout], example=(x, None, t), proof=True)
        kept = tt.distribute(one, [layout, layout], example=(x, None, t), keep='conv')
        with torch.no_grad():
            for made, wanted in ((single(mine), one(x)), (single(mine, None), one(x)), (single(x=mine, shift=None, power=1), one(x)),
                                 (scaled(mine, scale=moved), one(x, t)), (copy.deepcopy(scaled)(scale=moved, x=mine), one(x, t)),
                                 (shifted(mine, shift=moved), one(x, shift=t)), (shifted(mine, None, moved), one(x, shift=t)),
                                 (kept(mine, shift=moved), one(x, shift=t))):
                self.assertLess(apart(made.detach(), block(layout, wanted)), 1e-13)
        for call, text in ((lambda: scaled(mine, shift=moved), r'Scaled was distributed for forward\(x=Tensor, scale=Tensor\), .* scale=None'),
                           (lambda: single(scale=moved), "missing a required argument: 'x'"),
                           (lambda: single(mine, shift=moved), 'is called with shift=Tensor'),
                           (lambda: single(mine, power=2), 'is called with power=2'),
                           (lambda: shifted(mine, moved), 'is called with scale=Tensor')):
            with self.assertRaisesRegex(TypeError, text):
                call()

    def test_inputs_in_containers(self):
        """Keys have any order."""
        layout, one = on_one_axis([2, 1, 8, 8], 'S2'), OfFields()
        a, b, c = (drawn(2, 1, 8, 8, seed=seed) for seed in (4, 5, 6))
        network = tt.distribute(one, [layout] * 3, example=({'b': b, 'a': a}, c), proof=True)
        a, b, c = (block(layout, each) for each in (a, b, c))
        wanted = a - 2 * b + 3 * c
        for fields in ({'a': a, 'b': b}, {'b': b, 'a': a}):
            self.assertLess(apart(network(fields, c), wanted), 1e-13)
        for call, text in ((lambda: network({'a': a}, c), r"fields=\{'a': Tensor\}"), (lambda: network(a, c), 'fields=Tensor'),
                           (lambda: network({'a': a, 'b': b, 'c': c}, c), 'is called with fields='),
                           (lambda: network({'a': a, 'b': b}), r'others=\(\)'), (lambda: network(a, b, c), 'fields=Tensor')):
            with self.assertRaisesRegex(TypeError, text):
                call()

    def test_whole_fields(self):
        for layout in splits([4, 2, 8, 8]):
            x = drawn(4, 2, 8, 8, seed=7)
            for everywhere in (False, True):
                found = tt.whole(layout, block(layout, x).requires_grad_(), everywhere)
                self.assertEqual(found is not None, everywhere or COMM.rank == 0)
                self.assertTrue(found is None or torch.equal(found, x))
        of_numbers = tt.whole(on_one_axis([1], 'B'), torch.tensor(3.0), True)
        self.assertEqual(of_numbers.tolist(), [3.0])
        halos = on_one_axis([1, 1, 8, 8], 'S2').like().set_halo(2, 1, 1, 'periodic', 'periodic').set_up()
        low, high = halos.box()
        rows = torch.arange(low[2], high[2], dtype=torch.float64).reshape(1, 1, -1, 1).expand(1, 1, -1, 8)
        found = tt.whole(halos, rows, True)
        self.assertEqual(found[0, 0, :, 3].tolist(), list(range(8)))
        with self.assertRaisesRegex(ValueError, 'the block has|the block is a whole'):
            tt.whole(layout, torch.zeros(4, 2, 8, 9))
        with self.assertRaisesRegex(TypeError, r'the block is of type numpy.ndarray.*torch.from_numpy\(x\) makes one'):
            tt.whole(layout, torch.zeros(4, 2, 8, 8).numpy())

    def test_errors_of_one_rank(self):
        """The others do not wait for it."""
        layout = on_one_axis([1, 1, 8, 8], 'S2')
        mine, is_last = block(layout, drawn(1, 1, 8, 8)), COMM.rank == COMM.size - 1
        for wrong, text in ((mine[..., :5], 'the block has 5 elements in dimension 3'), (mine.numpy(), 'tensor of torch is expected'),
                            (mine.half(), 'torch.float16 is not supported')):
            with self.assertRaisesRegex((TypeError, ValueError) if is_last else RuntimeError, text):
                tt.whole(layout, wrong if is_last else mine)
        if COMM.size > 1:
            with self.assertRaisesRegex(ValueError, 'a block of torch.float64 on rank 0, and a block of torch.float32 on rank'):
                tt.whole(layout, mine.float() if is_last else mine)

    def test_lists_of_modules(self):
        inner = torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3, padding=1), torch.nn.Tanh())
        network = tt.distribute(torch.nn.Sequential(inner, torch.nn.Softsign()), on_one_axis([2, 2, 8, 8], 'S2'))
        for each in (network, copy.deepcopy(network)):
            self.assertEqual([len(each), len(each[0])], [2, 2])
            self.assertIs(each[0][0].weight, dict(each.named_parameters())['0.0.weight'])
            self.assertEqual([id(part) for part in each], [id(part) for part in each.children()])
            self.assertIs(each[-1], each.get_submodule('1'))
            for change in (lambda: each.__setitem__(1, torch.nn.Tanh()), lambda: each[0].__delitem__(-1)):
                with self.assertRaisesRegex(RuntimeError, '"1" is a part of a distributed Sequential'):
                    change()
        with self.assertRaisesRegex(RuntimeError, 'this Tanh is a part of a distributed Sequential, which is evaluated as a whole'):
            network[0][1](drawn(2, 2, 8, 8))
        for load in (network.load_state_dict, network.scatter, network[0].load_state_dict, functools.partial(tt.scatter_state_dict, network)):
            with self.assertRaisesRegex(RuntimeError, r'^Error\(s\) in loading state_dict for Sequential:\n\t(?s:.*)Missing key'):
                load({})

    def test_errors_tell_what_to_call(self):
        layout = on_one_axis([2, 2, 8, 8], 'S2')
        network = tt.distribute(torch.nn.Sequential(torch.nn.Conv2d(2, 2, 3, padding=1)), layout)
        x = drawn(2, 2, 8, 8)
        cases = [(lambda: tt.distribute(WithValues(), [2, 2, 8, 8]), TypeError, 'a tenon.Layout is expected, or a list of one for each input'),
                 (lambda: network(tenon.DTensor(layout, 'float64')), TypeError, r'torch.from_numpy\(x.numpy\(\)\) makes one'),
                 (lambda: network(x.numpy()), TypeError, r'torch.from_numpy\(x\) makes one'),
                 (lambda: network(block(layout, x).float()), ValueError, r'x.to\(torch.float64\) converts it'),
                 (network.float, RuntimeError, r'call double\(\) or float\(\) of the module of torch'),
                 (network.get_submodule('0').eval, RuntimeError, r'distribute\(..., keep=\[...\]\)')]
        if COMM.size > 1:
            cases.append((lambda: network(x), ValueError, r'the input is a whole tensor of \[2, 2, 8, 8\], and .* tenon.torch.block\(layout, x\)'))
        for call, kind, text in cases:
            with self.assertRaisesRegex(kind, text):
                call()

    def test_what_cannot_be_exported(self):
        """The error has the user's line and no frames of torch, and nothing is logged before it."""
        layout = on_one_axis([2, 2, 8, 8], 'S2')
        handler = logging.Handler()
        records = []
        handler.emit = records.append
        logging.getLogger('torch').addHandler(handler)
        self.addCleanup(logging.getLogger('torch').removeHandler, handler)
        file = os.path.basename(__file__)
        with self.assertRaisesRegex(RuntimeError, rf'(?s)WithValues for inputs of \[2, 2, 8, 8\] in \S*{file}, line \d+, in forward: '
                                    r'return 2 \* x if.*keep=\[...\]') as caught:
            tt.distribute(WithValues(), layout)
        self.assertTrue(caught.exception.__suppress_context__ or COMM.rank > 0)
        with self.assertRaisesRegex(RuntimeError, rf'(?s)Shifted for inputs of \[2, 2, 8, 8\], \[2, 3\] in \S*{file}, line \d+, in forward: '
                                    r'y = self.conv.*to have 5 channels'):
            tt.distribute(Shifted(inputs=5), [layout, on_one_axis([2, 3], 'B')])
        self.assertEqual([each.getMessage() for each in records], [])
        with self.assertRaisesRegex((ValueError, RuntimeError), r'number of layouts is 1, and forward\(field, shift, scale\) of the Shifted'):
            tt.distribute(Shifted(), layout)
        with self.assertRaisesRegex(tenon.Error, r"(?s)Sorted: 1 of its .*can stay torch's: distribute\(..., keep=\[their names\]\)"):
            tt.distribute(Sorted(), layout)

    def test_tables_in_float32(self):
        """A network of float64 whose table is of float32 is proven to float64's rounding: torch's functions are compared with the
        correctly rounded ones."""
        one, layout = Positions(), on_one_axis([2, 3, 8, 8], 'S2')
        prove(tt.distribute(one, layout), one)
        table = torch.arange(64, dtype=torch.float32) * 0.37
        with Exact(torch.float64):
            self.assertTrue(torch.equal(table.sin(), table.double().sin().float()))
            self.assertEqual((10000.0 ** table).dtype, torch.float32)
        with Exact(torch.float32):
            self.assertEqual(table.sin().dtype, torch.float32)


if __name__ == '__main__':
    unittest.main()
