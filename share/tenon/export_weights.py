# SPDX-License-Identifier: BSD-2-Clause
"""Writes the weights of PyTorch models for TenonLayerLoadWeights(): export_weights(model, "closure.safetensors").
mean and std, one number for each channel of the input, become the weights of a first layer of type "channelaffine", which
computes (x - mean) / std. export_torch.py beside it writes the network too, and a test."""
import json
import struct

import torch

# Names of element types in a safetensors file.
TYPES = {torch.bool: "BOOL", torch.uint8: "U8", torch.int8: "I8", torch.int16: "I16", torch.float16: "F16", torch.bfloat16: "BF16",
         torch.int32: "I32", torch.float32: "F32", torch.int64: "I64", torch.float64: "F64"}


def export_weights(model, path, mean=None, std=None):
    tensors = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    if std is not None:
        mean, std = (torch.as_tensor(values, dtype=torch.float64) for values in (mean, std))
        constants = {"normalise.scale": 1 / std, "normalise.shift": -mean / std}
        tensors = {name: c.to(next(model.parameters()).dtype) for name, c in constants.items()} | tensors
    # The order of the layers is in the header, for a library that sorts the tensors by name.
    header, data, end = {"__metadata__": {"tenon.order": "\n".join(tensors)}}, [], 0
    for name, tensor in tensors.items():
        if tensor.dtype not in TYPES:
            raise TypeError(f"{name} has elements of {tensor.dtype}, which is not written; convert the tensor, a complex one by "
                            "torch.view_as_real()")
        # As bytes, since NumPy has no bfloat16; of a scalar, its one element.
        data.append(tensor.contiguous().reshape(-1).view(torch.uint8).numpy())
        header[name] = {"dtype": TYPES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [end, end := end + data[-1].nbytes]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(b"".join([struct.pack("<Q", len(text)), text] + [array.tobytes() for array in data]))
