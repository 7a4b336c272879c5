# SPDX-License-Identifier: BSD-2-Clause
"""A program that only a type checker reads; it is not run. The checker must report an error in exactly the lines with a comment
that names the error."""
import numpy
from mpi4py import MPI

import tenon


def right() -> float:
    with tenon.Session(MPI.COMM_WORLD):
        grid = tenon.Partition(None, [MPI.COMM_WORLD.size])
        layout = tenon.Layout.sharded(grid, [1, 8, 64, 64], 'S2')
        low, high = layout.box()
        field = numpy.zeros([h - l for l, h in zip(low, high)])
        x = tenon.DTensor(layout, numpy.float64).place(field, ghosts=[0, 0, 0, 0])
        conv = tenon.Layer(None, 'conv', kernel=[3, 3], in_channels=8, out_channels=8, data_type='float64')
        y = conv.set_real('rate', 0.5).set_up(layout).create_output()
        with y.array() as lent:
            lent[...] = 1
        conv.apply(x, y.fill(1))
        conv.apply_adjoint(conv.create_output_cotangent())
        halo: tenon.LinearOp = tenon.LinearOp.halo(layout, layout.like(), 'float64').share()
        halo.apply(x, y)
        try:
            tenon.load('closure.pt2', [layout, layout], data_type=tenon.DataType.FLOAT32)
        except tenon.Error as error:
            print(error.code == tenon.ErrorCode.ERR_FILE, error.report.splitlines())
        saved: numpy.ndarray = tenon.CheckpointFile('state.h5')['tensors/field']
        print(tenon.log(MPI.COMM_WORLD).sorted_by('time')[0], tenon.version().major, saved.mean(), tenon.Plan(conv, 4).table())
        return y.norm()


def wrong(grid: tenon.Partition, layout: tenon.Layout, layer: tenon.Layer, x: tenon.DTensor) -> None:
    tenon.Layout.sharded(grid, 3, 'S2')  # error: arg-type
    layer.aply(x, x)  # error: attr-defined
    layer.apply(numpy.zeros(3), x)  # error: arg-type
    layer.apply(x)  # error: call-arg
    layer.set_up(x)  # error: arg-type
    low: int = layout.box().low  # error: assignment
    name: int = layer.name()  # error: assignment
    x.place(numpy.zeros(3), ghosts=1)  # error: arg-type
    tenon.nothing()  # error: attr-defined
