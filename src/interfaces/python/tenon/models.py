# SPDX-License-Identifier: BSD-2-Clause
"""Trained networks from files, and the weights of networks as arrays."""
from __future__ import annotations

import os
import re
from typing import Any, Iterator, Sequence

import numpy

from .calls import DTensor, Layer, Layout


def layer_of_model(path: str | os.PathLike[str], layouts: Layout | Sequence[Layout], **settings: Any) -> tuple[Layer, list[Layout]]:
    """Returns the layer, before set-up, and the layouts of its inputs as a list. Settings of
    None are ignored."""
    given = [layouts] if isinstance(layouts, Layout) else list(layouts)
    layer = Layer.from_model(given[0].comm(), path)
    return layer.set(**{name: value for name, value in settings.items() if value is not None}), given


def load(path: str | os.PathLike[str], layout: Layout | Sequence[Layout], **settings: Any) -> Layer:
    """Creates a trained network from a file of torch.export (.pt2) or ONNX, set up for the layout
    of its input, or a list of one layout for each input. Also runs the test that the file can
    contain. Settings by name: data_type="float64". Collective on the layout.

    TenonLayerCreateFromModel(), TenonLayerSetUpMany()
    """
    layer, layouts = layer_of_model(path, layout, **settings)
    return layer.set_up_many(layouts)


def paths_in(layer: Layer, path: str = '') -> Iterator[tuple[Any, str]]:
    """Yields the handle and the path of each tensor in a layer. A layer without a name has its
    number in the container."""
    children = [layer.child(str(number)) for number in range(layer.child_count())]
    for number, child in enumerate(children):
        yield from paths_in(child, f'{path}{child.name() or number}.')
    for tensor in [] if children else [*parameters_of(layer), *states_of(layer)]:
        yield tensor._handle, path + tensor.name().rpartition('.')[2]


def parameters_of(layer: Layer) -> list[DTensor]:
    return [layer.parameter(index) for index in range(layer.parameter_count())]


def states_of(layer: Layer) -> list[DTensor]:
    return [layer.state(index) for index in range(layer.state_count())]


def names_of(layer: Layer, tensors: Sequence[DTensor]) -> list[str]:
    """Returns the names, or the paths if two names are equal, as in a container whose layers
    have no names."""
    names = [tensor.name() for tensor in tensors]
    if len(set(names)) == len(names):
        return names
    paths = dict(reversed([*paths_in(layer)]))  # for a layer in two places, the first
    return [paths.get(tensor._handle, name) for tensor, name in zip(tensors, names)]


def stored_shapes(layer: Layer) -> dict[Any, tuple[int, ...]]:
    """Returns, by handle, the extents of tensors that are stored in files of weights with
    another shape."""
    found: dict[Any, tuple[int, ...]] = {}
    for child in (layer.child(str(number)) for number in range(layer.child_count())):
        found.update(stored_shapes(child))
    for entry in layer.get_text('parameter_names').split(';'):
        parameter, _, stored = entry.partition('=')
        if stored.endswith(']'):
            extents = stored[stored.index('[') + 1:-1]
            found.update({tensor._handle: tuple(int(extent) for extent in extents.split(',') if extent)
                          for tensor in parameters_of(layer) if tensor.name() == stored[:stored.index('[')]})
    return found


def computed(layer: Layer) -> set[Any]:
    """Returns the handles of the constants that an imported model computes, which are not
    tensors of the model."""
    children = [layer.child(str(number)) for number in range(layer.child_count())]
    if layer.type() != 'model':
        return set().union(*(computed(child) for child in children))
    return {tensor._handle for child in children
            if re.fullmatch(r'constant[0-9]+_*', child.name()) and not child.get_text('parameter_names')
            for tensor in parameters_of(child)}


def weights(layer: Layer) -> dict[str, numpy.ndarray]:
    """Returns the whole parameters and running statistics of a layer or network by name, as
    arrays of NumPy on all ranks. Collective on the layer."""
    found = {}
    shapes = stored_shapes(layer)
    tensors = [*parameters_of(layer), *states_of(layer)]
    for name, tensor in zip(names_of(layer, tensors), tensors):
        low, high = tensor.box()
        blocks = layer.comm().allgather((low, high, tensor.numpy()))
        whole = numpy.empty(tensor.layout().shape(), blocks[0][2].dtype)
        for first, last, block in blocks:
            whole[tuple(slice(l, h) for l, h in zip(first, last))] = block
        found[name] = whole.reshape(shapes.get(tensor._handle, whole.shape))
    return found


def to_torch(layer: Layer) -> dict[str, Any]:
    """Returns the same as a state_dict of PyTorch, without the constants that an imported model
    computes. Collective on the layer."""
    import torch
    left_out = computed(layer)
    tensors = [*parameters_of(layer), *states_of(layer)]
    return {name: torch.from_numpy(values) for tensor, (name, values) in zip(tensors, weights(layer).items())
            if tensor._handle not in left_out}
