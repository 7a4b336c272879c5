#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_vtk.py FOLDER
Reads the NetCDF files that write_fields has written by the readers of VTK for CF and UGRID, which ParaView has, and compares
times, points and values with those that it must have written."""
import sys
from pathlib import Path

import numpy as np
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIONetCDF import vtkNetCDFCFReader, vtkNetCDFUGRIDReader

NZ, NY, NX = 4, 5, 7
folder = Path(sys.argv[1])
warned = []


def value(step, component, z, y, x):
    return 1000 * component + step + 100 * z + 10 * y + 0.5 * x


def expect(found, wanted, what):
    if not np.array_equal(np.asarray(found), np.asarray(wanted)):
        sys.exit(f'{what}: {found}, expected {wanted}')


def read(reader, name, step, dimensions=None):
    """What the reader gives of the series at a step, and the times that it finds in the file."""
    for event in ('WarningEvent', 'ErrorEvent'):
        reader.AddObserver(event, lambda caller, kind: warned.append((name, kind)))
    reader.SetFileName(str(folder / f'{name}-{step:06}.nc'))
    if dimensions:
        reader.UpdateMetaData()
        reader.SphericalCoordinatesOff()
        reader.SetDimensions(dimensions)
    reader.Update()
    output = reader.GetOutput()
    return output, reader.GetOutputInformation(0).Get(vtkStreamingDemandDrivenPipeline.TIME_STEPS())


def values(data, name):
    if not data.HasArray(name):
        sys.exit(f'there is no {name}')
    return vtk_to_numpy(data.GetArray(name))


def points(output):
    return np.array([output.GetPoint(i) for i in range(output.GetNumberOfPoints())])


z, y, x = np.meshgrid(np.arange(NZ), np.arange(NY), np.arange(NX), indexing='ij')
for step in (0, 10, 20):
    plane, times = read(vtkNetCDFCFReader(), 'plane', step, '(y, x)')
    expect(times, [0.25 * step], 'times of the plane')
    expect(points(plane)[:, 0].reshape(NY, NX)[0], 2.5 + 0.25 * (np.arange(NX) + 0.5), 'x')
    expect(points(plane)[:, 1].reshape(NY, NX)[:, 0], -1 + 0.5 * (np.arange(NY) + 0.5), 'y')
    for component, name in enumerate('uv'):
        expect(values(plane.GetPointData(), name), value(step, component, 0, y[0], x[0]).ravel(), name)
    expect(values(plane.GetPointData(), 'p'), np.full(NY * NX, step), 'p')
    volume, times = read(vtkNetCDFCFReader(), 'volume', step, '(z, y, x)')
    expect(times, [0.25 * step], 'times of the volume')
    expect(volume.GetDimensions(), (NX, NY, NZ), 'shape of the volume')
    expect(values(volume.GetPointData(), 'T'), value(step, 0, z, y, x).ravel().astype('f4'), 'T of the volume')
    for name in ('mesh', 'loose'):
        mesh, times = read(vtkNetCDFUGRIDReader(), name, step)
        # Ids descend with the numbers of cells by rows.
        cell = np.arange(NY * NX)[::-1]
        corners = np.array([[mesh.GetCell(i).GetPointId(k) for k in range(4)] for i in range(mesh.GetNumberOfCells())])
        lower_left = np.stack([cell % NX, 2 * (cell // NX)], 1)
        expect(points(mesh)[corners[:, 0], :2], lower_left, f'{name}: first corners')
        expect(points(mesh)[corners[:, 2], :2], lower_left + [1, 2], f'{name}: third corners')
        for component, field in enumerate(('east', 'north')):
            expect(values(mesh.GetCellData(), field), value(step, component, 0, cell // NX, cell % NX), f'{name}: {field}')
        if name == 'mesh':
            node = np.arange((NY + 1) * (NX + 1))
            expect(values(mesh.GetPointData(), 'T'), value(step, 0, 0, node // (NX + 1), node % (NX + 1)), 'T at nodes')
if warned:
    sys.exit(f'the readers have reported {warned}')
