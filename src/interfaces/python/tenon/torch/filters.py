# SPDX-License-Identifier: BSD-2-Clause
"""Bases of torch-harmonics' filters on the sphere. A graph has their values alone, so the files that Tenon imports have the
bases beside it, as those of share/tenon/export_torch.py."""
from __future__ import annotations

import json
import zipfile

import torch

NAMES = {'PiecewiseLinearFilterBasis': 'linear', 'HarmonicFilterBasis': 'harmonic', 'ZernikeFilterBasis': 'zernike',
         'FourierBesselFilterBasis': 'fourierbessel'}


def filters_of(module: torch.nn.Module) -> dict[str, dict]:
    """The basis, kernel and cutoff of each module with filters, by its name."""
    filters = {}
    for name, each in module.named_modules(remove_duplicate=False):
        basis, cutoff = getattr(each, 'filter_basis', None), getattr(each, 'theta_cutoff', None)
        kind = NAMES.get(type(basis).__name__)
        if kind is None or cutoff is None:
            continue
        if kind == 'harmonic' and getattr(basis, '_l2_norms', None) is None:
            kind = 'morlet'
        kernel = torch.as_tensor(basis.kernel_shape).reshape(-1).tolist()
        filters[name] = {'basis': kind, 'kernel': kernel, 'cutoff': float(cutoff)}
    return filters


def note_filters(filters: dict[str, dict], path: str) -> None:
    """Adds them to a file of torch.export.save()."""
    with zipfile.ZipFile(path, 'a') as archive:
        archive.writestr(archive.namelist()[0].split('/')[0] + '/tenon/filters.json', json.dumps(filters))
