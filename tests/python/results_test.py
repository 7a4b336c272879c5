# SPDX-License-Identifier: BSD-2-Clause
"""Results of a run in Python: checkpoints and field series as arrays, plans and the log as tables."""
import os
import tempfile
import unittest

import numpy
from mpi4py import MPI

import tenon

COMM = MPI.COMM_WORLD
HAS_HDF5 = 'HDF5: none' not in tenon.info('build')


def grid():
    return tenon.Partition(COMM, [COMM.size])


def block(layout, whole):
    low, high = layout.box()
    return numpy.ascontiguousarray(whole[tuple(slice(l, h) for l, h in zip(low, high))])


def drawn(*shape, seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape)


class Folder(unittest.TestCase):
    """Tests with a folder that all ranks share."""

    def setUp(self):
        self.folder = COMM.bcast(tempfile.mkdtemp())

    def tearDown(self):
        COMM.barrier()
        if COMM.rank == 0:
            for name in os.listdir(self.folder):
                os.remove(os.path.join(self.folder, name))
            os.rmdir(self.folder)


@unittest.skipUnless(HAS_HDF5, 'Tenon was built without HDF5')
class Files(Folder):
    def write(self):
        """A network, a field in blocks of rows, one of integers, and values."""
        self.layout = tenon.Layout.sharded(grid(), [1, 2, 3 * COMM.size + 1, 4], 'S2')
        self.net = tenon.Layer(COMM, 'conv', kernel=[3, 3], padding=[1, 1], in_channels=2, out_channels=3, data_type='float64')
        self.net.set_name('closure').set_up(self.layout)
        self.field, self.numbers = drawn(1, 2, 3 * COMM.size + 1, 4), numpy.arange(5)
        x = tenon.DTensor(self.layout, 'float64').assign(block(self.layout, self.field))
        k = tenon.DTensor(tenon.Layout.sharded(grid(), [5], 'S0'), 'int64')
        k.assign(block(k.layout(), self.numbers))
        kinds = tenon.DTensor(k.layout(), 'int32').assign(block(k.layout(), -self.numbers))
        checkpoint = tenon.Checkpoint(COMM).add_layer(self.net, 'net').add_tensor(x, 'field').add_tensor(k, 'numbers')
        checkpoint.add_tensor(kinds, 'kinds')
        checkpoint.set(epoch=7, time=0.125, note='a\nb "c" µ')
        path = f'{self.folder}/state.h5'
        checkpoint.write(path)
        self.assertEqual((checkpoint.get_integers('epoch'), checkpoint.get_real('time')), ([7], 0.125))
        return path

    def test_a_checkpoint_is_a_dictionary_of_arrays(self):
        path = self.write()
        saved = tenon.CheckpointFile(path)
        self.assertEqual(saved.entries, {'epoch': 7, 'time': 0.125, 'note': 'a\nb "c" µ'})
        self.assertEqual(saved.ranks, COMM.size)
        self.assertEqual({name for name in saved if name.startswith('tensors/')}, 
                         {'tensors/field', 'tensors/kinds', 'tensors/numbers'})
        self.assertTrue(numpy.array_equal(saved['tensors/field'], self.field))
        self.assertTrue(numpy.array_equal(saved['tensors/numbers'], self.numbers))
        self.assertEqual(saved['tensors/numbers'].dtype, numpy.int64)
        self.assertTrue(numpy.array_equal(saved['tensors/kinds'], -self.numbers))
        self.assertEqual(saved['tensors/kinds'].dtype, numpy.int32)
        weights = {name.rpartition('.')[2]: value for name, value in tenon.weights(self.net).items()}
        found = {name: saved[name] for name in saved if name.startswith('network/net/')}
        self.assertEqual(sorted(value.shape for value in found.values()), sorted(value.shape for value in weights.values()))
        for name, value in found.items():
            self.assertTrue(numpy.array_equal(value, weights[name.rpartition('/')[2]]), name)
        self.assertIn('"path":"tensors/field","type":"float64"', tenon.Checkpoint.contents(path))
        self.assertNotIn('digest', tenon.Checkpoint.contents(path))
        self.assertIn('"digest":"right"', tenon.Checkpoint.contents(path, verify=True))
        with self.assertRaisesRegex(KeyError, 'no dataset "tensors/nothing"; it has .*tensors/field'):
            saved['tensors/nothing']

    def test_a_dataset_comes_in_any_layout(self):
        saved = tenon.CheckpointFile(self.write())
        columns = tenon.Layout.sharded(grid(), self.field.shape, 'S3')
        wide = columns.like().set_halo(3, 1, 1, 'periodic', 'periodic')
        wide.set_up()
        x = saved.load('tensors/field', tenon.DTensor(columns, 'float64'))
        self.assertTrue(numpy.array_equal(x.numpy(), block(columns, self.field)))
        for type, shape, said in (('float32', self.field.shape, 'float64 .*expected float32'), ('float64', [3], 'expected float64')):
            with self.assertRaisesRegex(tenon.Error, said) as raised:
                tenon.DTensor(tenon.Layout.sharded(grid(), shape, 'S0'), type).load(saved.path, 'tensors/field')
            self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_SHAPE)

    def test_a_damaged_dataset_is_an_error(self):
        path = self.write()
        if COMM.rank == 0:
            with open(path, 'r+b') as file:
                data = file.read()
                at = data.index(self.field.tobytes()[:16])
                file.seek(at)
                file.write(bytes([data[at] ^ 1]))
        COMM.barrier()
        saved = tenon.CheckpointFile(path)
        self.assertTrue(numpy.array_equal(saved['tensors/numbers'], self.numbers))
        with self.assertRaises(tenon.Error) as raised:
            saved['tensors/field']
        self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_FORMAT)
        with self.assertRaises(tenon.Error) as raised:
            tenon.CheckpointFile(f'{self.folder}/none.h5')
        self.assertEqual(raised.exception.code, tenon.ErrorCode.ERR_FILE)

    def test_a_series_is_arrays_over_time(self):
        layout = tenon.Layout.sharded(grid(), [2, 4, 3 * COMM.size], 'S2')
        flow, heat = tenon.DTensor(layout, 'float64'), tenon.DTensor(tenon.Layout.sharded(grid(), [4, 3 * COMM.size], 'S1'), 'float32')
        series = tenon.FieldSeries(COMM, f'{self.folder}/run', 2)
        series.set_grid([1.0, 2.0], [0.5, 0.25]).add_tensor(flow, 'flow', 'u,v').add_tensor(heat, 'heat')
        fields = []
        for step in range(3):
            fields.append((drawn(2, 4, 3 * COMM.size, seed=step), drawn(4, 3 * COMM.size, seed=step + 9).astype('float32')))
            for x, whole in zip((flow, heat), fields[-1]):
                x.assign(block(x.layout(), whole))
            series.write(10 * step, 0.1 * step)
        found = tenon.FieldFiles(f'{self.folder}/run')
        self.assertEqual((found.steps, found.times, sorted(found)), ([0, 10, 20], [0.0, 0.1, 0.2], ['flow', 'heat']))
        self.assertTrue(numpy.array_equal(found['flow'], numpy.stack([a for a, _ in fields])))
        self.assertTrue(numpy.array_equal(found['heat'], numpy.stack([b for _, b in fields])))
        self.assertTrue(numpy.array_equal(found.at(-1)['heat'], fields[-1][1]))
        self.assertEqual((found.components('flow'), found.components('heat')), (['u', 'v'], ['heat']))
        y, x = found.coordinates()
        self.assertTrue(numpy.allclose(y, [1.25, 1.75, 2.25, 2.75]) and numpy.allclose(x[:2], [2.125, 2.375]))
        with self.assertRaisesRegex(KeyError, 'no field "cold"; it has flow, heat'):
            found['cold']
        self.check_chart(lambda: found.chart('flow', 1, 1), 'v, time 0.1')
        self.check_xarray(found, fields)

    def check_xarray(self, found, fields):
        try:
            import xarray  # noqa: F401
        except ImportError:
            with self.assertRaisesRegex(ImportError, 'xarray, which is not installed'):
                found.to_xarray()
            return
        series = found.to_xarray()
        self.assertEqual((list(series), dict(series.sizes)), (['u', 'v', 'heat'], {'time': 3, 'y': 4, 'x': 3 * COMM.size}))
        self.assertTrue(numpy.array_equal(series['v'].sel(time=0.1).values, fields[1][0][1]))
        self.assertEqual(float(series['heat'].sel(time=0.2, y=1.75, x=2.375)), fields[2][1][1, 1])

    def test_a_tensor_is_drawn(self):
        layout = tenon.Layout.sharded(grid(), [1, 2, 3, 4 * COMM.size], 'S3')
        x = tenon.DTensor(layout, 'float64').set_name('heat').fill(2)
        if COMM.rank == 0:
            self.check_chart(lambda: x.chart(1), 'heat')
        else:
            self.assertIsNone(x.chart(1))

    def check_chart(self, draw, title):
        try:
            import matplotlib
            matplotlib.use('Agg')
        except ImportError:
            with self.assertRaisesRegex(ImportError, 'matplotlib, which is not installed'):
                draw()
            return
        self.assertEqual(draw().get_title(), title)


class Tables(unittest.TestCase):
    def test_a_plan_is_a_table(self):
        net = tenon.Layer.sequential(COMM)
        net.add(tenon.Layer(COMM, 'conv', kernel=[3, 3], padding=[1, 1], in_channels=2, out_channels=4).set_name('first'))
        net.add(tenon.Layer(COMM, 'tanh')).add(
            tenon.Layer(COMM, 'conv', kernel=[1, 1], padding=[0, 0], in_channels=4, out_channels=2).set_name('second'))
        plan = tenon.Plan(net, 4 * COMM.size).set('input_shape', [2, 8, 8])
        plan.search()
        table = plan.table()
        self.assertEqual(table['layer'], ['first', 'second'])
        for row in table:
            self.assertEqual(row['batch'] * row['channels'] * row['space'], COMM.size)
            self.assertEqual(row['labels'], plan.text(row['layer'], 'labels'))
            self.assertGreater(row['MiB'], 0)
            self.assertGreaterEqual(row['longer_ms'], 0)
        times = plan.alternatives()
        self.assertEqual(times[0], {'plan': 'plan', 'ms': 1e3 * plan.number(None, 'seconds'), 'ratio': 1.0})
        self.assertGreaterEqual(min(times['ratio']), 1.0)
        Files.check_chart(self, lambda: plan.chart()[0], 'predicted time')

    def test_the_log_is_a_table(self):
        event = tenon.log_event_register('MyKernel')
        tenon.log_enable(True)
        for _ in range(3 + COMM.rank):
            tenon.log_event_begin(event)
            tenon.log_flops(10)
            tenon.log_event_end(event)
        mine = next(row for row in tenon.log() if row['event'] == 'MyKernel')
        self.assertEqual((mine['stage'], mine['count'], mine['flops']), ('main', 3 + COMM.rank, 10.0 * (3 + COMM.rank)))
        all_ranks = tenon.log(COMM)
        tenon.log_enable(False)
        row = next(row for row in all_ranks if row['event'] == 'MyKernel')
        self.assertEqual((row['count'], row['flops']), (2 + COMM.size, sum(10.0 * (3 + rank) for rank in range(COMM.size))))
        self.assertGreaterEqual(row['time'], mine['time'])
        self.assertGreaterEqual(row['ratio'], 1.0)

    def test_tables_are_texts_and_pages(self):
        table = tenon.Table('times', ['name', 'time', 'count'], [['halo', 0.5, 3], ['<sum>', 1.25, 10]])
        self.assertEqual(str(table), 'times\nname   time  count\nhalo    0.5      3\n<sum>  1.25     10')
        self.assertEqual((table['count'], table[1], len(table)), ([3, 10], {'name': '<sum>', 'time': 1.25, 'count': 10}, 2))
        self.assertEqual(table.sorted_by('time')['name'], ['<sum>', 'halo'])
        self.assertIn('<td>&lt;sum&gt;</td><td>1.25</td>', table._repr_html_())
        with self.assertRaisesRegex(KeyError, 'no column "speed"; it has name, time, count'):
            table['speed']


class Output(unittest.TestCase):
    def test_what_tenon_prints_goes_where_python_prints(self):
        import contextlib
        import io
        with contextlib.redirect_stdout(io.StringIO()) as said:
            tenon.Partition(COMM, [COMM.size]).view()
        self.assertEqual('Partition' in said.getvalue(), COMM.rank == 0)


if __name__ == '__main__':
    unittest.main()
