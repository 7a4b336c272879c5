# SPDX-License-Identifier: BSD-2-Clause
"""Files of checkpoints and of field series as arrays of numpy, for programs that only read them.
The HDF5 library is that of Tenon, and each dataset is verified by its digest when it is read."""
from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Iterator
from xml.etree import ElementTree

import numpy
from mpi4py import MPI

from .calls import Checkpoint, DTensor, Layout, Partition

FIELDS = 'tensors/'


class CheckpointFile(Mapping[str, numpy.ndarray]):
    """A checkpoint as a dictionary of arrays, each read as a whole on access, on the calling rank:

        saved = tenon.CheckpointFile("run1/step-100.h5")
        list(saved)                        # "network/net/conv1/weight", "tensors/temperature", ...
        saved["tensors/temperature"]       # an array of numpy
        saved.entries["time"]              # named values
        saved.load("tensors/temperature", x)

    Not collective, except for load().

    TenonCheckpointGetContents(), TenonDTensorLoad()
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        said = json.loads(Checkpoint.contents(path))
        self.path = Path(path)
        self.writer, self.created, self.ranks = said['writer'], said['created'], said['ranks']
        self.entries: dict[str, Any] = said['values']  # named values: time, epoch
        self.numbers: dict[str, int] = said['numbers']  # of the state: steps of an optimizer
        self.shapes = {each['path']: tuple(each['shape']) for each in said['datasets']}
        self.types = {each['path']: numpy.dtype(each['type']) for each in said['datasets']}

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def __len__(self) -> int:
        return len(self.shapes)

    def __contains__(self, dataset: object) -> bool:
        return dataset in self.shapes  # without reading it

    def __getitem__(self, dataset: str) -> numpy.ndarray:
        if dataset not in self.shapes:
            raise KeyError(f'"{self.path}" has no dataset "{dataset}"; it has {", ".join(self)}')
        array = numpy.empty(self.shapes[dataset], self.types[dataset])
        with Partition(MPI.COMM_SELF, [1]) as alone, Layout.sharded(alone, array.shape, 'B') as whole:
            with DTensor(whole, array.dtype).place(array) as x:
                x.load(self.path, dataset)
        return array

    def load(self, dataset: str, x: DTensor) -> DTensor:
        """Reads a dataset into a tensor, in its layout. Collective on the tensor."""
        x.load(self.path, dataset)
        return x

    def __repr__(self) -> str:
        return f'<tenon.CheckpointFile {self.path}: {len(self)} datasets, {self.ranks} ranks, {self.created}>'


class FieldFiles(Mapping[str, numpy.ndarray]):
    """The fields that a FieldSeries has written, as a dictionary of arrays whose first dimension is time:

        fields = tenon.FieldFiles("run1/heat")      # the path of the series
        fields.steps, fields.times
        fields["temperature"]                       # [time, ..., y, x], read as a whole
        fields.at(-1)["temperature"]                # one time
        fields.chart("temperature")

    `components` are the names of the components of each field, and origin and spacing those of the grid. Not collective.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(os.fspath(path).removesuffix('.xmf'))
        # The series lists complete files only, and none of an interrupted run.
        listed = ElementTree.parse(f'{self.path}.xmf').getroot().find('Domain/Grid')
        assert listed is not None
        self.files: list[CheckpointFile] = []
        for grid in listed.iterfind('Grid'):
            named = next(text for text in grid.itertext() if '.h5:/' in text)
            self.files.append(CheckpointFile(self.path.parent / named.strip().rpartition(':/' + FIELDS)[0]))
        self.steps: list[int] = [file.entries['step'] for file in self.files]
        self.times: list[float] = [file.entries['time'] for file in self.files]
        first = self.files[-1]
        self.names = [name.removeprefix(FIELDS) for name in first if name.startswith(FIELDS)]
        self.origin, self.spacing = ([float(x) for x in first.entries[f'grid_{what}'].split()] for what in ('origin', 'spacing'))
        self.is_of_cells = first.entries['grid_center'] == 'cell'

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> numpy.ndarray:
        self.check(name)
        return numpy.stack([file[FIELDS + name] for file in self.files])

    def check(self, name: str) -> None:
        if name not in self.names:
            raise KeyError(f'the series "{self.path}" has no field "{name}"; it has {", ".join(self.names)}')

    def at(self, index: int) -> dict[str, numpy.ndarray]:
        """The fields at one time, by its index; -1 is the last one."""
        return {name: self.files[index][FIELDS + name] for name in self.names}

    def components(self, name: str) -> list[str]:
        """The names of the components of a field, in the order of the dimensions before those of the grid."""
        self.check(name)
        leading = self.files[-1].shapes[FIELDS + name][:-len(self.origin)]
        count = functools.reduce(lambda a, b: a * b, leading, 1)
        given = self.files[-1].entries.get(f'components_{name}')
        return given.split(',') if given else [name] if count == 1 else [f'{name}_{i}' for i in range(count)]

    def coordinates(self) -> list[numpy.ndarray]:
        """The coordinates of the values in each dimension of the grid, in the order of the array: (z,) y, x."""
        extents = self.files[-1].shapes[FIELDS + self.names[0]][-len(self.origin):]
        middle = 0.5 if self.is_of_cells else 0.0
        return [low + step * (numpy.arange(n) + middle) for n, low, step in zip(extents, self.origin, self.spacing)]

    def chart(self, name: str, index: int = -1, component: int = 0) -> Any:
        """Draws a component of a field at one time; for a grid of three dimensions the plane in
        the middle. Needs matplotlib, and returns its axes."""
        from .charts import axes
        self.check(name)
        dimensions = len(self.origin)
        values = self.files[index][FIELDS + name]
        values = values.reshape(-1, *values.shape[-dimensions:])[component]
        y, x = self.coordinates()[-2:]
        on = axes(6, 4)
        drawn = on.pcolormesh(x, y, values if dimensions == 2 else values[len(values) // 2], shading='nearest')
        on.figure.colorbar(drawn)
        on.set_aspect('equal')
        on.set_title(f'{self.components(name)[component]}, time {self.times[index]:g}')
        return on

    def to_xarray(self) -> Any:
        """The series as an xarray.Dataset: a variable for each component of a field, with the dimensions
        time, (z,) y, x and their coordinates. Needs xarray. The values are read as a whole."""
        try:
            import xarray
        except ImportError as missing:
            raise ImportError('to_xarray() needs xarray, which is not installed (python3 -m pip install xarray)') from missing
        grid = ('z', 'y', 'x')[-len(self.origin):]
        variables = {}
        for name in self.names:
            values = self[name]
            values = values.reshape(len(self.files), -1, *values.shape[-len(grid):])
            variables.update({each: (('time', *grid), values[:, number]) for number, each in enumerate(self.components(name))})
        return xarray.Dataset(variables, {'time': self.times, **dict(zip(grid, self.coordinates()))})

    def __repr__(self) -> str:
        return f'<tenon.FieldFiles {self.path}: {", ".join(self.names)} at {len(self.times)} times>'
