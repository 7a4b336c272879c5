# SPDX-License-Identifier: BSD-2-Clause
"""Arrays of Python as tensors: addresses, errors, and how long arrays exist."""
import copy
import ctypes
import gc
import pickle
import random
import unittest
import weakref

import numpy
from mpi4py import MPI

import tenon

COMM = MPI.COMM_WORLD


class Owner:
    """An object whose end can be seen, with memory that it lends by a protocol."""

    def __init__(self, array):
        self.array = array


class CudaLike(Owner):
    @property
    def __cuda_array_interface__(self):
        return {'data': (self.array.ctypes.data, False), 'shape': self.array.shape, 'typestr': self.array.dtype.str,
                'strides': self.array.strides, 'version': 3}


class OnlyDLPack(Owner):
    def __dlpack__(self, **stream):
        return self.array.__dlpack__()


def layout(shape, dim=None):
    """Blocks of a dimension, or copies."""
    grid = tenon.Partition(COMM, [COMM.size])
    return tenon.Layout.sharded(grid, shape, 'B' if dim is None else f'S{dim}')


def owned(of):
    low, high = of.owned_box()
    return [h - l for l, h in zip(low, high)]


def place_of(array):
    """Where its elements are. Strides of a single element have no meaning, and DLPack changes some."""
    strides = [stride for stride, extent in zip(array.strides, array.shape) if extent > 1]
    return array.__array_interface__['data'][0], strides


class Placements(unittest.TestCase):
    def test_random_placements_share_their_elements(self):
        draw = random.Random(7)
        for number in range(500):
            dimensions = draw.randint(1, 4)
            shape = [draw.randint(1, 6) for _ in range(dimensions)]
            where = layout(shape, draw.choice([None, *range(dimensions)]))
            dtype = draw.choice(['float32', 'float64', 'int64', 'int32'])
            low, high = ([draw.randint(0, 2) for _ in shape] for _ in range(2))
            extents = [n + l + h for n, l, h in zip(owned(where), low, high)]
            # A window of every n-th element of a larger array, in any order of dimensions, some reversed.
            order = draw.sample(range(dimensions), dimensions)
            steps = [draw.choice([1, 1, 2, -1, -3]) for _ in shape]
            large = numpy.zeros([extents[d] * abs(steps[d]) + 2 for d in order], dtype)
            view = large.transpose([order.index(d) for d in range(dimensions)])
            view = view[tuple(slice(1, extents[d] * abs(steps[d]) + 1) for d in range(dimensions))]
            view = view[tuple(slice(None, None, step) for step in steps)]
            self.assertEqual(list(view.shape), extents)
            given = draw.choice([view, view, OnlyDLPack(view)])
            x = tenon.DTensor(where, dtype).place(given, ghosts_low=low, ghosts_high=high)
            inner = view[tuple(slice(l, l + n) for l, n in zip(low, owned(where)))]
            if inner.size:
                with x.array() as lent:
                    self.assertEqual(place_of(lent), place_of(inner), (number, shape, steps))
            x.fill(3)
            self.assertTrue((inner == 3).all())
            self.assertEqual(float(large.sum()), 3.0 * inner.size)  # and nothing else was written

    def test_wrong_arrays_name_dimension_and_what_was_found(self):
        where = layout([4, 5 * COMM.size, 6], 1)
        draw = random.Random(11)
        for _ in range(200):
            x = tenon.DTensor(where, 'float64')
            d, change = draw.randrange(3), draw.choice([-2, -1, 1, 3])
            shape = owned(where)
            shape[d] += change
            with self.assertRaisesRegex(ValueError, f'{shape[d]} elements in dimension {d}, where this rank has'):
                x.place(numpy.zeros(shape))
        x = tenon.DTensor(where, 'float64')
        for array, said in ((numpy.zeros(owned(where), 'float32'), 'are float32, and those of the tensor float64'),
                            (numpy.zeros(owned(where), '>f8'), 'are >f8'), (numpy.zeros(owned(where), complex), 'complex128'),
                            (numpy.zeros(3), '1 dimensions, and the tensor 3'),
                            (CudaLike(numpy.zeros(owned(where))), 'in the memory of a device')):
            with self.assertRaisesRegex(ValueError, said):
                x.place(array)
        with self.assertRaisesRegex(ValueError, '2 ghost widths are given for 3 dimensions'):
            x.place(numpy.zeros(owned(where)), ghosts=[0, 0])
        raw = numpy.zeros(8 * 4 + 4, 'int8')[4:].view('float64')[:4]  # elements need not be aligned in numpy
        record = numpy.zeros(owned(where), [('a', 'f4'), ('b', 'f8')])['b']
        with self.assertRaisesRegex(ValueError, 'not multiples'):
            x.place(record)
        del raw

    def test_constant_arrays_are_constant(self):
        values = numpy.ones(owned(layout([6, 4], 0)))
        values.flags.writeable = False
        x = tenon.DTensor(layout([6, 4], 0), 'float64').place(values)
        self.assertAlmostEqual(x.norm(), 24 ** 0.5)
        with self.assertRaises(tenon.Error) as raised:
            x.fill(2)
        self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_STATE)

    def test_buffers_are_arrays(self):
        where = layout([5])
        memory = (ctypes.c_double * 5)(1, 2, 3, 4, 5)
        x = tenon.DTensor(where, 'float64').place(memory)
        x.scale(2)
        self.assertEqual(list(memory), [2, 4, 6, 8, 10])

    def test_arrays_of_components(self):
        where = layout([2, 3, 4 * COMM.size], 2)
        n = owned(where)[2]
        u, v = numpy.full([5, n + 2], 1.0), numpy.full([5, n + 2], 2.0)
        x = tenon.DTensor(where, 'float64').place_arrays(0, [u, v], ghosts=[0, 1, 1])
        x.gather_arrays()
        self.assertTrue((x.numpy() == numpy.array([1.0, 2.0])[:, None, None]).all())
        x.scale(3)
        x.scatter_arrays()
        self.assertEqual((u[1:-1, 1:-1].sum(), v[1:-1, 1:-1].sum()), (9.0 * n, 18.0 * n))
        self.assertEqual(u.sum() - u[1:-1, 1:-1].sum(), 1.0 * (5 * (n + 2) - 3 * n))
        faces = numpy.full([n + 3, 6], 5.0).T
        x.place_components(0, [u, faces], ghosts_low=[[0, 1, 1], [0, 2, 0]], ghosts_high=[[0, 1, 1], [0, 1, 3]])
        x.gather_arrays()
        x.scale(2)
        x.scatter_arrays()
        self.assertEqual((faces[2:-1, :n].min(), faces.sum()), (10.0, 5.0 * (6 * (n + 3) + 3 * n)))
        fixed = [numpy.full([5, n + 2], 4.0), numpy.full([3, n], 8.0)]
        for each in fixed:
            each.flags.writeable = False
        x.place_components(0, fixed, ghosts_low=[[0, 1, 1], [0, 0, 0]], ghosts_high=[[0, 1, 1], [0, 0, 0]])
        x.gather_arrays()
        self.assertTrue((x.numpy() == numpy.array([4.0, 8.0])[:, None, None]).all())
        with self.assertRaises(tenon.Error):
            x.scatter_arrays()
        with self.assertRaisesRegex(ValueError, 'only one of array 1 and array 0 can be written'):
            x.place_components(0, [u, fixed[1]], ghosts_low=[[0, 1, 1], [0, 0, 0]], ghosts_high=[[0, 1, 1], [0, 0, 0]])
        with self.assertRaisesRegex(ValueError, 'array 1 has other strides'):
            x.place_arrays(0, [u, numpy.zeros([n + 2, 5]).T], ghosts=[0, 1, 1])


class Lifetimes(unittest.TestCase):
    """No array ends while Tenon can reach it."""

    def placed(self, where):
        owner = OnlyDLPack(numpy.ones(owned(where)))
        return tenon.DTensor(where, 'float64').place(owner), weakref.ref(owner)

    def test_as_long_as_the_tensor(self):
        x, owner = self.placed(layout([8, 4], 0))
        gc.collect()
        self.assertIsNotNone(owner())
        x.destroy()
        gc.collect()
        self.assertIsNone(owner())
        x, owner = self.placed(layout([8, 4], 0))
        del x
        gc.collect()
        self.assertIsNone(owner())

    def test_until_another_array_or_none(self):
        where = layout([8, 4], 0)
        x, owner = self.placed(where)
        x.place(numpy.zeros(owned(where)))
        gc.collect()
        self.assertIsNone(owner())
        x, owner = self.placed(where)
        x.reset_array()
        gc.collect()
        self.assertIsNone(owner())

    def test_while_an_object_of_c_holds_the_tensor(self):
        where = layout([8, 4], 0)
        x, owner = self.placed(where)
        scale = tenon.LinearOp.conversion(where, where, 'float64')
        y = tenon.DTensor(where, 'float64')
        scale.bind(x, y)
        count = x.references()
        if count > 1:  # the binding holds it
            del x
            gc.collect()
            self.assertIsNotNone(owner())
        checkpoint = tenon.Checkpoint(COMM)
        x, owner = self.placed(where)
        checkpoint.add_tensor(x, 'x')
        del x
        gc.collect()
        self.assertIsNotNone(owner())
        checkpoint.destroy()
        other, _ = self.placed(where)  # whenever an array is placed, those that nobody uses go
        gc.collect()
        self.assertIsNone(owner())

    def test_references_are_counted_or_refused(self):
        x, owner = self.placed(layout([8, 4], 0))
        twin = copy.copy(x)
        self.assertTrue(twin.is_same(x) and x.references() == 2)
        x.destroy()
        gc.collect()
        self.assertIsNotNone(owner())
        self.assertEqual(twin.numpy().sum(), twin.numpy().size)
        for change in (copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, 'tenon.DTensor cannot be copied or pickled'):
                change(twin)
        self.assertEqual(repr(twin), '<tenon.DTensor float64 S0 of [8, 4]>')

    def test_an_array_that_was_lent_is_closed(self):
        x = tenon.DTensor(layout([8, 4], 0), 'float64')
        with x.array() as lent:
            lent[...] = 4
            with self.assertRaises(tenon.Error):
                x.fill(1)  # in use
        with self.assertRaises(ValueError):
            lent[...] = 5
        x.destroy()
        gc.collect()
        self.assertTrue((lent == 4).all())  # the memory lives as long as its array

    def test_what_numpy_asks(self):
        where = layout([6 * COMM.size, 4], 0)
        x = tenon.DTensor(where, 'float32').fill(3)
        self.assertEqual((x.shape, x.dtype), ((6 * COMM.size, 4), numpy.float32))
        for found, dtype in ((numpy.asarray(x), 'float32'), (numpy.asarray(x, dtype='float64'), 'float64')):
            self.assertEqual((found.shape, found.dtype, float(found.sum())), ((6, 4), dtype, 72))
            found[...] = 0
        self.assertAlmostEqual(float(numpy.mean(x)), 3)  # a copy
        with self.assertRaisesRegex(ValueError, 'lend its memory'):
            x.__array__(copy=False)

    def test_the_whole(self):
        """Of blocks with a halo, copies, contributions and blocks of another order, on the first rank and on all."""
        shape = [3, 5 * COMM.size + 1, 4]
        values = numpy.arange(numpy.prod(shape), dtype='float64').reshape(shape)
        wide = layout(shape, 1).like().set_halo(1, 1, 0, 'periodic', 'periodic').set_up()
        boxes = [[0, 0, 0], shape] if COMM.rank == COMM.size - 1 else [[0] * 3] * 2
        for where in (layout(shape, 1), layout(shape, 2), wide, layout(shape), tenon.Layout.from_boxes(COMM, shape, *boxes)):
            for dtype in ('float64', 'float32', 'int64', 'int32'):
                x = tenon.DTensor(where, dtype)
                inside = tuple(slice(low - first, high - first) for first, low, high in zip(where.box().low, *where.owned_box()))
                mine = numpy.zeros([high - low for low, high in zip(*where.box())], dtype)
                mine[inside] = values[tuple(slice(low, high) for low, high in zip(*where.owned_box()))]
                x.assign(mine)
                for everywhere in (False, True):
                    found = x.whole(everywhere)
                    if COMM.rank and not everywhere:
                        self.assertIsNone(found)
                    else:
                        self.assertEqual(found.dtype, dtype)
                        self.assertTrue(numpy.array_equal(found, values), (where, dtype))
        x = tenon.DTensor(layout(shape).dual(), 'float64').assign(values)
        self.assertTrue(numpy.array_equal(x.whole(True), COMM.size * values))

    def test_texts_of_objects(self):
        where = layout([6 * COMM.size, 4], 0)
        wide = where.like().set_halo(1, 1, 2, 'periodic', 'periodic').set_up()
        self.assertEqual(repr(wide), f'<tenon.Layout S0 of {[6 * COMM.size, 4]} with halo 0:0, 1:2>')
        self.assertEqual(repr(where.partition()), f'<tenon.Partition {COMM.size}>')
        conv = tenon.Layer(COMM, 'conv', kernel=[3, 3], in_channels=2).set(out_channels=4)
        self.assertEqual(repr(conv.set_name('first')), '<tenon.Layer conv first kernel=[3, 3] in_channels=2 out_channels=4>')

    def test_loans_for_reading(self):
        x = tenon.DTensor(layout([8, 4], 0), 'float64')
        x.fill(2)
        with x.read() as lent:
            with self.assertRaises(ValueError):
                lent[...] = 1
        x.assign(numpy.arange(4.0))
        self.assertTrue((x.numpy() == numpy.arange(4.0)).all())


if __name__ == '__main__':
    unittest.main()
