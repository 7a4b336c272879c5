# SPDX-License-Identifier: BSD-2-Clause
"""Writes the weights of PyTorch models for TenonLayerLoadWeights(): export_weights(model, "closure.safetensors").
mean and std, one number for each channel of the input, become the weights of a first layer of type "channelaffine", which
computes (x - mean) / std. export_torch.py beside it writes the network too, and a test."""
import json
import struct

import torch

TYPES = {"float16": "F16", "float32": "F32", "float64": "F64", "int64": "I64"}


def export_weights(model, path, mean=None, std=None):
    tensors = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    if std is not None:
        mean, std = (torch.as_tensor(values, dtype=torch.float64) for values in (mean, std))
        constants = {"normalise.scale": 1 / std, "normalise.shift": -mean / std}
        tensors = {name: c.to(next(model.parameters()).dtype) for name, c in constants.items()} | tensors
    # The order of the layers is in the header, for a library that sorts the tensors by name.
    header, data, end = {"__metadata__": {"tenon.order": "\n".join(tensors)}}, [], 0
    for name, tensor in tensors.items():
        data.append(tensor.contiguous().numpy())
        header[name] = {"dtype": TYPES[data[-1].dtype.name], "shape": data[-1].shape,
                        "data_offsets": [end, end := end + data[-1].nbytes]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(b"".join([struct.pack("<Q", len(text)), text] + [array.tobytes() for array in data]))
