# SPDX-License-Identifier: BSD-2-Clause
"""Trained networks by their files, and the weights of networks as arrays."""
import numpy

from .calls import Layer


def load(path, layout, **settings):
    """A trained network from a file of torch.export (.pt2) or ONNX, set up for the layout of its input, which also runs the test that the
    file may hold. Settings by name: data_type="float64". Collective on the layout.

    TenonLayerCreateFromModel(), TenonLayerSetUp()
    """
    layer = Layer.from_model(layout.comm(), path).set(**settings)
    layer.set_up(layout)
    return layer


def weights(layer):
    """The whole parameters of a layer or network by name, as arrays of NumPy on all ranks. Collective on the layer."""
    found = {}
    for index in range(layer.parameter_count()):
        parameter = layer.parameter(index)
        low, high = parameter.box()
        blocks = layer.comm().allgather((low, high, parameter.numpy()))
        whole = numpy.empty(parameter.layout().shape(), blocks[0][2].dtype)
        for first, last, block in blocks:
            whole[tuple(slice(l, h) for l, h in zip(first, last))] = block
        found[parameter.name()] = whole
    return found


def to_torch(layer):
    """The same as a state_dict of PyTorch. Collective on the layer."""
    import torch
    return {name: torch.from_numpy(values) for name, values in weights(layer).items()}
