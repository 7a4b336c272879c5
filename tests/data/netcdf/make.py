#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: make.py FOLDER [NAME...]

Writes NetCDF files of kinds that models and satellites produce into FOLDER, by xarray and netCDF4, and for each what its variable
means: NAME.f64, the values in float64, NaN where one is missing, as netCDF4 decodes them; and a line of cases.txt:

  NAME PATTERN VARIABLE INTEGERS TOLERANCE EXTENT...

INTEGERS is 1 if the values are integers that are not packed. TOLERANCE is relative to the largest value: 0, or 1e-6 where netCDF4
unpacks in float32. The files of the names given, and by default all."""
import glob
import sys
from pathlib import Path

try:
    import netCDF4
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)


def field(*shape):
    """Numbers that differ between all elements, of both signs, exact in float32."""
    return (np.arange(np.prod(shape)).reshape(shape) - 7) * 0.25


def new(path, kind, **dimensions):
    file = netCDF4.Dataset(path, 'w', format=kind)
    for name, length in dimensions.items():
        file.createDimension(name, length)
    return file


def ocean_history(path):
    """A model's history in CDF-1: records of several variables one after the other, 1e20 on land."""
    with new(path, 'NETCDF3_CLASSIC', time=None, yh=4, xh=3) as file:
        time = file.createVariable('time', 'f8', ('time',))
        time.units = 'days since 0001-01-01 00:00:00'
        sst = file.createVariable('SST', 'f4', ('time', 'yh', 'xh'), fill_value=np.float32(1e20))
        sst.missing_value, sst.units = np.float32(1e20), 'degC'
        ssh = file.createVariable('SSH', 'f4', ('time', 'yh', 'xh'))
        for step in range(5):
            time[step] = step + 0.5
            land = np.ma.masked_array(field(5, 4, 3)[step], np.arange(12).reshape(4, 3) % 5 == 0)
            sst[step], ssh[step] = land, -1
    return 'SST'


def reanalysis(path):
    """Packed shorts in CDF-2."""
    with new(path, 'NETCDF3_64BIT_OFFSET', time=None, latitude=3, longitude=4) as file:
        t2m = file.createVariable('t2m', 'i2', ('time', 'latitude', 'longitude'), fill_value=np.int16(-32767))
        t2m.scale_factor, t2m.add_offset, t2m.missing_value = 0.00153, 267.5, np.int16(-32767)
        t2m.units, t2m.long_name = 'K', '2 metre temperature'
        t2m[:] = np.ma.masked_array(250 + field(6, 3, 4), np.arange(72).reshape(6, 3, 4) % 7 == 3)
    return 't2m'


def mesh(path):
    """A mesh in CDF-5, in double precision, with a second record variable of one byte."""
    with new(path, 'NETCDF3_64BIT_DATA', Time=None, nCells=11, nVertLevels=2) as file:
        h = file.createVariable('layerThickness', 'f8', ('Time', 'nCells', 'nVertLevels'))
        flag = file.createVariable('flag', 'i1', ('Time',))
        h[:], flag[:] = field(4, 11, 2) / 3, [1, 2, 3, 4]
    return 'layerThickness'


def cell_numbers(path):
    """Integers of 64 bits in CDF-5, without the unlimited dimension."""
    with new(path, 'NETCDF3_64BIT_DATA', cells=9, corners=3) as file:
        file.createVariable('cellsOnCell', 'i8', ('cells', 'corners'))[:] = field(9, 3) * 4 + 2**40
    return 'cellsOnCell'


def records_of_bytes(path):
    """An only record variable of odd size, whose records are not padded."""
    with new(path, 'NETCDF3_CLASSIC', time=None, n=3) as file:
        file.createVariable('quality', 'i1', ('time', 'n'))[:] = np.arange(21).reshape(7, 3) - 9
    return 'quality'


def weather(path):
    """Texts beside fields of four dimensions, the last of which is staggered, in CDF-2."""
    with new(path, 'NETCDF3_64BIT_OFFSET', Time=None, DateStrLen=19, bottom_top=2, south_north=3, west_east_stag=4) as file:
        times = file.createVariable('Times', 'S1', ('Time', 'DateStrLen'))
        u = file.createVariable('U', 'f4', ('Time', 'bottom_top', 'south_north', 'west_east_stag'))
        u.units, u.MemoryOrder = 'm s-1', 'XYZ'
        for step in range(3):
            times[step] = netCDF4.stringtochar(np.array([f'2020-01-01_0{step}:00:00'], 'S19'))[0]
            u[step] = field(3, 2, 3, 4)[step]
    return 'U'


def climate(path):
    """Compressed chunks in NetCDF-4, with bounds of the time."""
    with new(path, 'NETCDF4_CLASSIC', time=None, bnds=2, lat=5, lon=6) as file:
        file.createVariable('time', 'f8', ('time',))[:] = np.arange(4) * 30 + 15
        file.createVariable('time_bnds', 'f8', ('time', 'bnds'))[:] = 0
        tas = file.createVariable('tas', 'f4', ('time', 'lat', 'lon'), zlib=True, shuffle=True, chunksizes=(1, 3, 4),
                                  fill_value=np.float32(1e20))
        tas.units = 'K'
        tas[:] = np.ma.masked_array(field(4, 5, 6), np.arange(120).reshape(4, 5, 6) % 11 == 4)
    return 'tas'


def written_by_xarray(path):
    """What xarray writes by default: contiguous, NaN for missing numbers, a coordinate of texts."""
    values = field(6, 2, 3)
    values[1, 1, 2] = values[4, 0, 0] = np.nan
    xr.Dataset({'velocity': (('sample', 'component', 'x'), values.astype('f4'), {'units': 'm/s'})},
               {'component': ['u', 'v'], 'x': np.arange(3.0)}).to_netcdf(path, engine='netcdf4')
    return 'velocity'


def packed_by_xarray(path):
    """Integers that xarray packs, in 32 bits and compressed."""
    xr.Dataset({'precip': (('time', 'x'), 2 + field(8, 5) / 4)}, {'time': np.arange(8)}).to_netcdf(
        path, engine='netcdf4', unlimited_dims=['time'],
        encoding={'precip': {'dtype': 'i4', 'scale_factor': 1e-5, 'add_offset': 1.0, '_FillValue': -2147483648, 'zlib': True}})
    return 'precip'


def satellite_groups(path):
    """A variable in a group of a group, with dimensions of the group above."""
    with new(path, 'NETCDF4') as file:
        product = file.createGroup('PRODUCT')
        for name, length in {'scanline': 6, 'ground_pixel': 5}.items():
            product.createDimension(name, length)
        detail = product.createGroup('SUPPORT_DATA').createVariable('cloud', 'f4', ('scanline', 'ground_pixel'))
        detail[:] = np.ma.masked_array(field(6, 5), np.arange(30).reshape(6, 5) % 4 == 1)
    return '/PRODUCT/SUPPORT_DATA/cloud'


def radiances(path):
    """Shorts that mean unsigned numbers, packed in float32, and a range of valid ones."""
    with new(path, 'NETCDF4', y=6, x=7) as file:
        file.set_auto_maskandscale(False)
        rad = file.createVariable('Rad', 'i2', ('y', 'x'), fill_value=np.int16(-1), zlib=True)
        rad._Unsigned, rad.units = 'true', 'W m-2 sr-1 um-1'
        rad.scale_factor, rad.add_offset = np.float32(0.1), np.float32(-20)
        rad.valid_range = np.array([0, -6], 'i2')
        rad.set_auto_maskandscale(False)
        raw = (np.arange(42).reshape(6, 7) * 1500).astype('u2')
        raw[2, 3] = raw[5, 6] = 65535
        raw[0, 1] = 65533
        rad[:] = raw.view('i2')
    return 'Rad'


def land_cover(path):
    """Classes in unsigned bytes, 255 where there is none."""
    with new(path, 'NETCDF4', lat=7, lon=8) as file:
        classes = file.createVariable('lccs_class', 'u1', ('lat', 'lon'), fill_value=np.uint8(255))
        classes[:] = np.ma.masked_array(np.arange(56).reshape(7, 8) * 4, np.arange(56).reshape(7, 8) % 9 == 2)
    return 'lccs_class'


def big_endian(path):
    """Another byte order, in which NetCDF-4 can store numbers too."""
    with new(path, 'NETCDF4', n=5, x=4) as file:
        file.createVariable('u', '>f8', ('n', 'x'), endian='big')[:] = field(5, 4) / 7
    return 'u'


def unfinished(path):
    """An unlimited dimension that another variable has extended: what was not written is missing."""
    with new(path, 'NETCDF4', time=None, x=4) as file:
        file.createVariable('time', 'f8', ('time',))[:] = np.arange(6)
        file.createVariable('late', 'f8', ('time', 'x'))[:3] = field(3, 4)
    return 'late'


def years(path):
    """Three files of a series, each packed by its own range, whose names are not in the order of time."""
    stem = path.removesuffix('.nc')
    for year, name in enumerate(['b', 'c', 'a']):
        with new(f'{stem}_{name}.nc', 'NETCDF3_64BIT_OFFSET', time=None, x=5) as file:
            time = file.createVariable('time', 'i4', ('time',))
            time.units, time[:] = 'hours since 1900-01-01', np.arange(3) + 3 * year
            z = file.createVariable('z', 'i2', ('time', 'x'), fill_value=np.int16(-32767))
            z.scale_factor, z.add_offset = 0.002 * (year + 1), 10.0 * year
            z[:] = np.ma.masked_array(10.0 * year + field(3, 5), np.arange(15).reshape(3, 5) % 6 == year)
    return 'z'


KINDS = [ocean_history, reanalysis, mesh, cell_numbers, records_of_bytes, weather, climate, written_by_xarray, packed_by_xarray,
         satellite_groups, radiances, land_cover, big_endian, unfinished, years]


def decoded(path, variable):
    with netCDF4.Dataset(path) as file:
        stored = file[variable]
        if stored.dtype.kind in 'iu' and not hasattr(stored, 'scale_factor'):
            return np.ma.filled(stored[:].astype('f8'), np.nan), True, False
        return np.ma.filled(np.ma.asarray(stored[:]).astype('f8'), np.nan), False, hasattr(stored, 'scale_factor')


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for kind in KINDS:
        name = kind.__name__
        if names and name not in names:
            continue
        variable = kind(str(folder / f'{name}.nc'))
        pattern = f'{name}.nc' if (folder / f'{name}.nc').exists() else f'{name}_*.nc'
        paths = sorted(glob.glob(str(folder / pattern)))
        if len(paths) > 1:
            paths = [str(folder / f'{name}_{part}.nc') for part in 'bca']
        parts = [decoded(path, variable) for path in paths]
        values = np.concatenate([part[0] for part in parts])
        values.tofile(folder / f'{name}.f64')
        tolerance = '1e-6' if parts[0][2] else '0'
        lines.append(f'{name} {pattern} {variable} {int(parts[0][1])} {tolerance} {" ".join(map(str, values.shape))}')
    (folder / 'cases.txt').write_text('\n'.join(lines) + '\n')


if __name__ == '__main__':
    main()
