#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: ann_files.py FOLDER
Writes networks in MOM6's layout by xarray, as those who train them for MOM6 do: float32, the transposes of PyTorch's weights, and
num_layers with a dimension. good.nc has the output of numpy for its test, wrong.nc another one."""
import sys
from pathlib import Path

try:
    import netCDF4  # noqa: F401, by which xarray writes
    import numpy as np
    import xarray as xr
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

folder = Path(sys.argv[1])
folder.mkdir(parents=True)
random = np.random.default_rng(1)
sizes = [27, 20, 3]


def numbers(*shape):
    return random.standard_normal(shape).astype('f4')


weights = [numbers(after, before) for before, after in zip(sizes, sizes[1:])]
biases = [numbers(after) for after in sizes[1:]]
input_norms, output_norms = np.exp(numbers(sizes[0])), np.exp(numbers(sizes[-1]))
x = numbers(sizes[0])
y = x / input_norms
for n, (weight, bias) in enumerate(zip(weights, biases)):
    y = weight @ y + bias
    if n + 2 < len(sizes):
        y = np.maximum(y, 0)
y = y * output_norms

file = xr.Dataset()
file['num_layers'] = xr.DataArray(len(sizes)).expand_dims('dummy_dimension')
file['layer_sizes'] = xr.DataArray(sizes, dims=['nlayers'])
file = file.astype('int32')
for n, (weight, bias) in enumerate(zip(weights, biases)):
    file[f'A{n}'] = xr.DataArray(weight.T, dims=[f'ncol{n}', f'nrow{n}'])
    file[f'b{n}'] = xr.DataArray(bias, dims=[f'nrow{n}'])
last = f'nrow{len(weights) - 1}'
file['x_test'] = xr.DataArray(x, dims=['ncol0'])
file['input_norms'] = xr.DataArray(input_norms, dims=['ncol0'])
file['output_norms'] = xr.DataArray(output_norms, dims=[last])
for name, output in (('good', y), ('wrong', y * np.float32(1.001))):
    file['y_test'] = xr.DataArray(output, dims=[last])
    file.to_netcdf(folder / f'{name}.nc')
