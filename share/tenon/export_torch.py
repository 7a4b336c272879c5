# SPDX-License-Identifier: BSD-2-Clause
"""Writes PyTorch models for Tenon.
export_model(model, (x,), "closure.pt2") writes the network, its weights and a test of them into one file, which
torch.export.load() reads too, for TenonLayerCreateFromModel(). Extents other than those of dimension 1, the channels, are
the simulation's, unless the model's code fixes them.
export(model, "closure.safetensors") writes the weights alone, for TenonLayerLoadWeights(). mean and std, one number for each
channel of the input, become the weights of a first layer of type "channelaffine", which computes (x - mean) / std."""
import copy
import json
import struct
import zipfile

import torch

WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
NARROW = {wide: narrow for narrow, wide in WIDE.items()}
TYPES = {"float16": "F16", "float32": "F32", "float64": "F64", "int64": "I64"}


def export_model(model, inputs, path, names=None, about=""):
    model = _copy(model).eval()
    names = names or ["x", *(f"x{i}" for i in range(1, len(inputs)))]
    free = tuple({d: torch.export.Dim.AUTO for d in range(v.dim()) if d != 1 and v.shape[d] > 1} for v in inputs)
    program = torch.export.export(model, tuple(inputs), dynamic_shapes=free)
    torch.export.save(program, path)
    # Outputs and gradients in float64, and how far float32 is from them. PyTorch's derivatives of CELU and hard sigmoid have
    # constants in float32, whatever the type of the tensors; those of the operations that they consist of are exact.
    every = torch.export.default_decompositions()
    parts = {op: every[op] for op in every if str(op).split(".")[1] in ("celu", "hardsigmoid")}
    double = _in(model, WIDE)
    with _Kinds(WIDE):
        if any(node.target in parts for node in program.graph.nodes):
            double = torch.export.export(double, tuple(v.to(WIDE.get(v.dtype, v.dtype)) for v in inputs))
            double = double.run_decompositions(parts).module()
        exact = _run(double, inputs, WIDE)
    rough = _run(_in(model, NARROW), inputs, NARROW)
    far = lambda a, b: float((a.double() - b).abs().max() / b.abs().max().clamp_min(1e-300))
    noise = max(far(a, b) for p in (1, 3) for a, b in zip(rough[p], exact[p]) if b is not None)
    outputs = exact[4]
    test = {"format": "tenon-test-1", "about": about, "inputs": names, "outputs": outputs, "torch": torch.__version__,
            "tolerance": {"float64": 1e-12, "float32": max(1e-6, 10 * noise)}, "measured": {"float32": noise}}
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        folder = archive.namelist()[0].split("/")[0] + "/tenon/"
        archive.writestr(folder + "test.json", json.dumps(test))
        for kind, of, values in zip(("in", "out", "cot", "grad"), (names, outputs, outputs, names), exact):
            for name, value in zip(of, values):
                if value is not None:
                    archive.writestr(f"{folder}{kind}.{name}.npy", _npy(value))
    return test


# A model's code may name its types, as the reference FNO's torch.zeros(..., dtype=torch.cfloat) does.
class _Kinds(torch.overrides.TorchFunctionMode):
    def __init__(self, kinds):
        super().__init__()
        self.kinds = kinds

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = {k: self.kinds.get(v, v) if k == "dtype" else v for k, v in (kwargs or {}).items()}
        return function(*args, **kwargs)


# Tensors that a module has computed of its parameters, as weight_norm does, cannot be copied with their history.
def _copy(model):
    made = {id(t): t.detach().clone() for m in model.modules() for t in vars(m).values()
            if isinstance(t, torch.Tensor) and not t.is_leaf}
    return copy.deepcopy(model, made)


def _in(model, kinds):
    return _copy(model)._apply(lambda t: t.to(kinds.get(t.dtype, t.dtype)))


def _run(model, inputs, kinds):
    x = [v.detach().clone().to(kinds.get(v.dtype, v.dtype)) for v in inputs]
    x = [v.requires_grad_() if v.is_floating_point() else v for v in x]
    made = model(*x)
    y = torch.utils._pytree.tree_leaves(made)
    isNamed = isinstance(made, dict) and len(made) == len(y)
    names = [str(name) for name in made] if isNamed else [f"y{i}" if i else "y" for i in range(len(y))]
    dy = [torch.cos(torch.arange(v.numel(), dtype=torch.float64)).reshape(v.shape).to(v.dtype) for v in y]
    sum((a * b).sum() for a, b in zip(y, dy)).backward()
    return x, [v.detach() for v in y], dy, [v.grad for v in x], names


def _npy(value):
    header = str({"descr": "<f8", "fortran_order": False, "shape": tuple(value.shape)})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    data = bytes(value.detach().double().contiguous().clone().untyped_storage())
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data


def export(model, path, mean=None, std=None):
    tensors = {name: tensor.detach().cpu() for name, tensor in model.state_dict().items()}
    if std is not None:
        mean, std = (torch.as_tensor(values, dtype=torch.float64) for values in (mean, std))
        constants = {"normalise.scale": 1 / std, "normalise.shift": -mean / std}
        tensors = {name: c.to(next(model.parameters()).dtype) for name, c in constants.items()} | tensors
    header, data, end = {"__metadata__": {"tenon.order": "\n".join(tensors)}}, [], 0
    for name, tensor in tensors.items():
        data.append(tensor.contiguous().numpy())
        header[name] = {"dtype": TYPES[data[-1].dtype.name], "shape": data[-1].shape,
                        "data_offsets": [end, end := end + data[-1].nbytes]}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(b"".join([struct.pack("<Q", len(text)), text] + [array.tobytes() for array in data]))
