#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: check_cf.py FOLDER
Reads the NetCDF files that write_fields has written, by xarray and netCDF4, and compares times, coordinates, bounds, meshes and
values with those that it must have written. Then it reads the headers by ncdump, if there is one."""
import subprocess
import shutil
import sys
import warnings
from pathlib import Path

try:
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

NZ, NY, NX = 4, 5, 7
STEPS = [0, 10, 20]  # step 30 is of an interrupted run
folder = Path(sys.argv[1])
warnings.simplefilter('error')


def value(step, component, z, y, x):
    return 1000 * component + step + 100 * z + 10 * y + 0.5 * x


def files(name):
    return [folder / f'{name}-{step:06}.nc' for step in STEPS]


def expect(found, wanted, what):
    if not np.array_equal(np.asarray(found), np.asarray(wanted)):
        sys.exit(f'{what}: {found}, expected {wanted}')


z, y, x = np.meshgrid(np.arange(NZ), np.arange(NY), np.arange(NX), indexing='ij')
plane = xr.concat([xr.open_dataset(file) for file in files('plane')], 'time', data_vars='minimal', coords='minimal',
                  compat='override', join='override')
expect(plane.time.dt.strftime('%Y-%m-%d %H:%M').values.tolist(), ['1850-01-01 00:00', '1850-01-03 12:00', '1850-01-06 00:00'],
       'times')
expect(plane.x, 2.5 + 0.25 * (np.arange(NX) + 0.5), 'x')
expect(plane.x_bounds.values[:, 1] - plane.x_bounds.values[:, 0], np.full(NX, 0.25), 'widths of bounds')
expect(plane.x.attrs['bounds'], 'x_bounds', 'bounds')
expect(plane.x.attrs['units'], 'km', 'units')
for component, name in enumerate('uv'):
    expect(plane[name].dims, ('time', 'y', 'x'), f'dimensions of {name}')
    expect(plane[name], [value(step, component, 0, y[0], x[0]) for step in STEPS], name)
expect(plane.p, np.broadcast_to(np.array(STEPS)[:, None, None], (3, NY, NX)), 'p')
expect(plane.kind, -np.broadcast_to(np.array(STEPS)[:, None, None], (3, NY, NX)), 'kind')
expect(plane.kind.dtype, np.dtype('i4'), 'type of kind')
volume = xr.open_dataset(files('volume')[1])
expect(volume['T'][0], value(10, 0, z, y, x).astype('f4'), 'T of the volume')
expect(volume['T'].dtype, np.dtype('f4'), 'type of T')
for name in ('mesh', 'loose'):
    with netCDF4.Dataset(files(name)[2]) as file:
        topology = file['mesh']
        expect((topology.cf_role, int(topology.topology_dimension)), ('mesh_topology', 2), 'topology')
        places = np.stack([file[part][:] for part in topology.node_coordinates.split()], 1)
        corners = file[topology.face_node_connectivity][:]
        # Ids descend with the numbers of cells by rows.
        cell = np.arange(NY * NX)[::-1]
        lower_left = np.stack([cell % NX, 2 * (cell // NX)], 1)
        expect(places[corners[:, 0]], lower_left, f'{name}: first corners')
        expect(places[corners[:, 2]], lower_left + [1, 2], f'{name}: third corners')
        for component, field in enumerate(('east', 'north')):
            expect((file[field].mesh, file[field].location), ('mesh', 'face'), field)
            expect(file[field][0], value(20, component, 0, cell // NX, cell % NX), f'{name}: {field}')
        if name == 'mesh':
            node = np.arange((NY + 1) * (NX + 1))
            expect((*file['T'].dimensions, file['T'].location), ('time', 'node', 'node'), 'T of the mesh')
            expect(file['T'][0], value(20, 0, 0, node // (NX + 1), node % (NX + 1)), 'T at nodes')
if shutil.which('ncdump'):
    for file in [*files('plane'), *files('mesh')]:
        text = subprocess.run(['ncdump', '-h', file], check=True, capture_output=True, text=True).stdout
        expect('Conventions = "CF-1.8 UGRID-1.0"' in text and 'time = UNLIMITED' in text, True, f'header of {file}')
expect(sorted(path.suffix for path in folder.iterdir()), ['.nc'] * 12, 'files')
