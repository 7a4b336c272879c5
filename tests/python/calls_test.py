# SPDX-License-Identifier: BSD-2-Clause
"""Calls of the library from Python and their errors, functions of Python that Tenon calls, and sessions."""
import gc
import inspect
import os
import tempfile
import unittest

import numpy
from mpi4py import MPI

import tenon
from tenon.errors import in_python

COMM = MPI.COMM_WORLD


def field(where):
    """The value of each element is a function of its global indices."""
    low, high = where.owned_box()
    indices = numpy.meshgrid(*[numpy.arange(l, h) for l, h in zip(low, high)], indexing='ij')
    return numpy.ascontiguousarray(numpy.sin(sum((d + 1.3) * index for d, index in enumerate(indices))))


class Calls(unittest.TestCase):
    def setUp(self):
        self.grid = tenon.Partition(COMM, [COMM.size])
        self.layout = tenon.Layout.sharded(self.grid, [1, 2, 4 * COMM.size + 3, 5], 'S2')

    def test_the_length_of_a_returned_list_is_passed(self):
        rows = tenon.sphere_rows('poles', 5)
        numpy.testing.assert_allclose(rows.weight, [1 / 15, 8 / 15, 4 / 5, 8 / 15, 1 / 15], atol=1e-15)
        numpy.testing.assert_allclose(rows.colatitude, numpy.pi * numpy.arange(5) / 4, atol=1e-15)
        self.assertEqual(tenon.sphere_orders(5), [0, 4, 1, 3, 2])

    def test_lists_are_in_the_order_of_shapes(self):
        self.assertEqual(self.layout.shape(), [1, 2, 4 * COMM.size + 3, 5])
        self.assertEqual(self.layout.dimensions(), 4)
        low, high = self.layout.box()
        rows = COMM.allreduce(high[2] - low[2])
        self.assertEqual((low[3], high[3], rows), (0, 5, 4 * COMM.size + 3))
        self.assertEqual(self.layout.properties(), 'S2')

    def test_none_is_null(self):
        conv = self.conv()
        y = conv.create_output()
        dy = conv.create_output_cotangent()
        conv.apply(tenon.DTensor(self.layout, 'float64').place(field(self.layout)), y)
        dy.fill(1)
        conv.apply_adjoint(dy)  # no gradient of the input
        with self.assertRaises(tenon.Error) as raised:
            tenon.DTensor(None, 'float64')
        self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_NULL)

    def test_outputs_are_counted_from_0(self):
        conv = self.conv()
        self.assertTrue(conv.output_layout(0).is_equal(conv.output_layout()))
        for make in (conv.create_output, conv.create_output_cotangent, conv.create_input_cotangent, conv.output_layout):
            with self.assertRaisesRegex(tenon.Error, '1 (out|in)put, numbered from 0') as raised:
                make(1)
            self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_ARG)

    def conv(self):
        conv = tenon.Layer(COMM, 'conv', in_channels=2, out_channels=3, kernel=[3, 3], padding=[1, 1], data_type='float64')
        conv.set_up(self.layout)
        return conv

    def test_a_convolution_is_that_of_numpy(self):
        conv, x = self.conv(), field(self.layout)
        y = conv.create_output()
        conv.apply(tenon.DTensor(self.layout, 'float64').place(x), y)
        weight, bias = (conv.parameter(i).numpy() for i in range(2))
        whole = numpy.concatenate(COMM.allgather(x), axis=2)
        padded = numpy.pad(whole, [(0, 0), (0, 0), (1, 1), (1, 1)])
        wanted = numpy.zeros([1, 3, *whole.shape[2:]])
        for i in range(3):
            for j in range(3):
                window = padded[:, :, i:i + whole.shape[2], j:j + whole.shape[3]]
                wanted += numpy.einsum('oc,ncyx->noyx', weight[:, :, i, j], window)
        wanted += bias[None, :, None, None]
        low, high = y.box()
        self.assertLess(abs(y.numpy() - wanted[:, :, low[2]:high[2]]).max(), 1e-13)

    def test_errors_have_code_message_and_report(self):
        with self.assertRaises(tenon.Error) as raised:
            tenon.Layer(COMM, 'convolve')
        error = raised.exception
        self.assertEqual(error.code, tenon.ErrorCode.ERR_TYPE)
        self.assertIn('convolve', error.message)
        self.assertIn('TenonLayerCreateType', error.report)
        with self.assertRaisesRegex(TypeError, 'tenon.Layout is expected, not int'):
            tenon.DTensor(3, 'float64')
        with self.assertRaisesRegex(ValueError, '"float16" is none of DataType'):
            tenon.DTensor(self.layout, 'float16')
        with self.assertRaisesRegex(ValueError, 'high has 3 entries, and 4 are expected'):
            tenon.Layout.from_boxes(COMM, None, [0] * 4, [1] * 3)
        x = tenon.DTensor(self.layout, 'float64')
        x.destroy()
        with self.assertRaisesRegex(ValueError, 'has been destroyed'):
            tenon.DTensor(self.layout, 'float64').copy(x)

    def test_messages_name_the_calls_of_python(self):
        with self.assertRaises(tenon.Error) as raised:
            tenon.Layer(COMM, 'tanh').output_layout()
        self.assertRegex(raised.exception.message, r'Layer\.set_up\(\)')
        names = {'TenonLayerSetUp': 'Layer.set_up'}
        for of_c, wanted in (('call TenonLayerSetUp() before', 'call Layer.set_up() before'), ('TENON_FALSE', 'False'),
                             ('pass NULL, not -tenon_help', 'pass None, not -tenon_help'), ('TENON_ERR_ARG', 'ErrorCode.ERR_ARG'),
                             ('TenonUnknown()', 'TenonUnknown()')):
            self.assertEqual(in_python(of_c, names), wanted)

    def test_several_results_are_named(self):
        counts = tenon.Machine.detect(COMM).counts() if hasattr(tenon.Machine, 'detect') else None
        if counts:
            self.assertGreaterEqual(counts.devices, 1)
        box = self.layout.box()
        self.assertEqual(box, (box.low, box.high))

    def test_communicators_come_back(self):
        comm = self.grid.comm()
        self.assertEqual((comm.size, comm.rank), (COMM.size, COMM.rank))
        with self.assertRaisesRegex(TypeError, 'communicator of mpi4py'):
            tenon.Partition(3, [1])

    def test_types_by_the_names_of_numpy(self):
        for dtype in (numpy.float64, numpy.dtype('float64'), 'float64', tenon.DataType.FLOAT64):
            self.assertEqual(tenon.DTensor(self.layout, dtype).data_type(), tenon.DataType.FLOAT64)
        self.layout.like().set_halo(2, 1, 1, 'zero', tenon.Boundary.PERIODIC)

    def test_every_member_has_the_text_of_its_header(self):
        for name, of in vars(tenon).items():
            if inspect.isclass(of) and '_class' in vars(of):
                for member, value in vars(of).items():
                    if inspect.isfunction(value) and not member.startswith('_'):
                        self.assertIn('Tenon', value.__doc__ or '', f'{name}.{member}')

    def test_network_files_and_settings(self):
        with tempfile.TemporaryDirectory() as folder:
            path = COMM.bcast(os.path.join(folder, 'net.json'))
            net = tenon.Layer.sequential(COMM).add(tenon.Layer(COMM, 'tanh')).add(tenon.Layer(COMM, 'relu'))
            net.set_data_type('float64').set_up(self.layout)
            net.save_network(path)
            again = tenon.Layer.from_file(COMM, path)
            self.assertEqual(again.type(), 'sequential')
            COMM.barrier()


class Functions(unittest.TestCase):
    def setUp(self):
        self.grid = tenon.Partition(COMM, [COMM.size])
        self.layout = tenon.Layout.sharded(self.grid, [4 * COMM.size, 3], 'S0')

    def test_operators_in_python(self):
        calls = []

        def double(x, y):
            calls.append(1)
            y.assign(2 * x.numpy())

        op = tenon.LinearOp.shell(self.layout, self.layout, 'float64', 'float64', double, double)
        self.assertLess(op.test_adjoint(3), 1e-14)
        self.assertGreater(len(calls), 1)

    def test_layers_in_python(self):
        def apply(layer, x, y):
            y.assign(x.numpy() ** 3)

        def adjoint(layer, x, y, dy, dx):
            if dx is not None:
                dx.assign(3 * x.numpy() ** 2 * dy.numpy())

        def tangent(layer, x, y, dx, dy):
            dy.assign(3 * x.numpy() ** 2 * dx.numpy() if dx is not None else 0)

        cube = tenon.Layer(COMM, 'shell', data_type='float64').shell_set_functions(apply, adjoint, tangent)
        cube.set_up(self.layout)
        x = tenon.DTensor(self.layout, 'float64').place(field(self.layout))
        self.assertLess(cube.test_adjoint(x, 1), 1e-12)
        self.assertGreater(cube.test_taylor(x, 1), 1.9)

    def test_exceptions_pass_through(self):
        if COMM.size > 1:
            return  # an error in a call that the other ranks do not know ends the program

        def fails(x, y):
            raise KeyError('nothing')

        op = tenon.LinearOp.shell(self.layout, self.layout, 'float64', 'float64', fails)
        x, y = (tenon.DTensor(self.layout, 'float64') for _ in range(2))
        with self.assertRaises(tenon.Error) as raised:
            op.apply(x, y)
        self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_USER)
        self.assertIsInstance(raised.exception.__cause__, KeyError)

    def test_only_codes_of_tenon_are_codes(self):
        """Other exceptions may have an attribute of this name; what ends the program ends it, also from within a function."""
        if COMM.size > 1:
            return  # see processes_test

        class Http(Exception):
            code = 404

        class Text(Exception):
            code = 'E42'

        def of_tenon():
            raise tenon.Error(tenon.ErrorCode.ERR_SHAPE, 'mine')

        def without_code():
            raise tenon.Error(tenon.ErrorCode(0), 'mine')

        def thrower(thrown):
            def throws():
                raise thrown
            return throws

        for fails, kind, code in (
                (thrower(Http()), tenon.Error, 'ERR_USER'), (thrower(Text()), tenon.Error, 'ERR_USER'),
                (of_tenon, tenon.Error, 'ERR_SHAPE'),
                (without_code, tenon.Error, 'ERR_USER'), (thrower(KeyboardInterrupt()), KeyboardInterrupt, None),
                *[(thrower(SystemExit(*given)), SystemExit, (*given, None)[0]) for given in ([], [0], [7], ['words'])]):
            for call in self.calls_with_functions(fails):
                with self.assertRaises(kind) as raised:
                    call()
                found = raised.exception
                self.assertEqual(found.code.name if kind is tenon.Error else getattr(found, 'code', None), code)
                tenon.Layout.sharded(self.grid, [4], 'S0')  # nothing of it is left for the next call

    def calls_with_functions(self, fails):
        """Calls that come to functions of several types, each of which fails."""
        op = tenon.LinearOp.shell(self.layout, self.layout, 'float64', 'float64', lambda x, y: fails(), lambda x, y: fails())
        x, y = (tenon.DTensor(self.layout, 'float64').fill(5) for _ in range(2))
        yield lambda: op.apply(x, y)
        yield lambda: op.apply_adjoint(x, y)
        for number in range(4):
            functions = [lambda layer, x, y: y.copy(x), lambda layer, x, y, dy, dx: None, lambda layer, x, y, dx, dy: None, None]
            functions[number] = lambda layer, *given: fails()
            layer = tenon.Layer(COMM, 'shell', data_type='float64').shell_set_functions(*functions)
            if number == 3:
                yield lambda: layer.set_up(self.layout)
                continue
            layer.set_up(self.layout)
            yield lambda: self.all_of(layer, x, y)

    @staticmethod
    def all_of(layer, x, y):
        layer.apply(x, y)
        layer.apply_tangent(x, y)
        layer.apply_adjoint(y, x)

    def test_what_prints_can_fail(self):
        """A function without a code for its exception: the call that comes to it raises it."""
        from tenon.session import show

        def fails(text):
            raise OSError('no paper')

        tenon.set_output_handler(fails)
        try:
            if COMM.rank == 0:
                with self.assertRaisesRegex(OSError, 'no paper'):
                    self.layout.view()
            else:
                self.layout.view()
        finally:
            tenon.set_output_handler(show)
        self.assertEqual(self.layout.dimensions(), 2)

    def test_functions_end_with_their_object(self):
        from tenon.runtime import held
        gc.collect()  # of what other tests have left, whenever that would be
        before = len(held)
        op = tenon.LinearOp.shell(self.layout, self.layout, 'float64', 'float64', lambda x, y: y.copy(x))
        self.assertEqual(len(held), before + 1)
        op.destroy()
        self.assertEqual(len(held), before)
        with self.assertRaises(tenon.Error):
            tenon.LinearOp.shell(self.layout, self.layout, 'float64', 'float64', None)
        self.assertEqual(len(held), before)

    def test_training(self):
        where = tenon.Layout.sharded(self.grid, [8, 3], 'S0')
        net, loss = (tenon.Layer(COMM, type, data_type='float64') for type in ('affine', 'meansquarederror'))
        net.set(inputs=3, outputs=1).set_up(where)
        y = net.create_output()
        loss.set_up(y.layout())
        optimizer = tenon.Optimizer(net, 'sgd').set_learning_rate(0.1)
        x, target = tenon.DTensor(where, 'float64'), tenon.DTensor(y.layout(), 'float64')
        value, dy, one = loss.create_output(), net.create_output_cotangent(), loss.create_output_cotangent().fill(1)
        loss.set_target(target)
        losses = []
        for step in range(96):
            x.fill_uniform(1, step % 16, -1, 1)
            target.assign(x.numpy() @ [[1.0], [-2.0], [0.5]])
            net.apply(x, y)
            loss.apply(y, value)
            loss.apply_adjoint(one, dy)
            net.apply_adjoint(dy)
            optimizer.step()
            losses.append(value.max_abs())
        self.assertLess(losses[-1], 1e-3 * losses[0])


if __name__ == '__main__':
    unittest.main()
