# SPDX-License-Identifier: BSD-2-Clause
"""Writes PyTorch models for Tenon: export_model(model, (x,), "closure.pt2").
The file has the network, its weights and a test of them, for TenonLayerCreateFromModel(), and torch.export.load() reads
it too. Extents other than those of dimension 1, the channels, are the simulation's, unless the model's code fixes
them. names are those of the inputs; about, a line of text, says what the model computes."""
import copy
import inspect
import json
import zipfile

import torch

WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
NARROW = {wide: narrow for narrow, wide in WIDE.items()}


def export_model(model, inputs, path, names=None, about=""):
    model = _in(model, {}).eval()
    names = names or ["x", *(f"x{i}" for i in range(1, len(inputs)))]
    free = tuple({d: torch.export.Dim.AUTO for d in range(v.dim()) if d != 1 and v.shape[d] > 1} for v in inputs)
    program = torch.export.export(model, tuple(inputs), dynamic_shapes=_as_arguments(model, free))
    torch.export.save(program, path)
    double = _in(model, WIDE)
    with _Widened():
        # PyTorch's derivatives of these have constants in float32, whatever the type of the tensors; those of the
        # operations that they consist of are exact.
        rounded = ("aten.celu.default", "aten.hardsigmoid.default")
        if any(str(node.target).replace("_.", ".") in rounded for node in program.graph.nodes):
            parts = {op: how for op, how in torch.export.default_decompositions().items() if str(op) in rounded}
            double = torch.export.export(double, tuple(_values(inputs, WIDE))).run_decompositions(parts).module()
        exact = _run(double, _values(inputs, WIDE), names)
    rough = _run(_in(model, NARROW), _values(inputs, NARROW), names)
    far = lambda a, b: float((a.double() - b).abs().max() / b.abs().max().clamp_min(1e-300))
    noise = max(far(rough[name], exact[name]) for name in exact if name.startswith(("out.", "grad.")))
    test = {"format": "tenon-test-1", "about": about, "inputs": names, "torch": torch.__version__,
            "outputs": [name.removeprefix("out.") for name in exact if name.startswith("out.")],
            "tolerance": {"float64": 1e-12, "float32": max(1e-6, 10 * noise)}, "measured": {"float32": noise}}
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        folder = archive.namelist()[0].split("/")[0] + "/tenon/"
        archive.writestr(folder + "test.json", json.dumps(test))
        for name, value in exact.items():
            archive.writestr(f"{folder}{name}.npy", _npy(value))
    return test


class _Widened(torch.overrides.TorchFunctionMode):
    """A model's code may name its types, as the reference FNO's torch.zeros(..., dtype=torch.cfloat) does."""
    def __torch_function__(self, function, types, args=(), kwargs=None):
        return function(*args, **{k: WIDE.get(v, v) if k == "dtype" else v for k, v in (kwargs or {}).items()})


def _as_arguments(model, each):
    # torch.export wants what a forward(self, *fields) takes as one argument.
    star = inspect.Parameter.VAR_POSITIONAL
    kinds = [p.kind for p in inspect.signature(model.forward).parameters.values()]
    named = kinds.index(star) if star in kinds else len(each)
    return each[:named] + ((each[named:],) if each[named:] else ())


def _values(inputs, kinds):
    return [v.detach().clone().to(kinds.get(v.dtype, v.dtype)) for v in inputs]


def _in(model, kinds):
    # Tensors that a module has computed of its parameters, as weight_norm does, cannot be copied with their history.
    made = {id(t): t.detach().clone() for m in model.modules() for t in vars(m).values()
            if isinstance(t, torch.Tensor) and not t.is_leaf}
    return copy.deepcopy(model, made)._apply(lambda t: t.to(kinds.get(t.dtype, t.dtype)))


def _run(model, inputs, names):
    x = {name: v.requires_grad_() if v.is_floating_point() else v for name, v in zip(names, inputs)}
    made = model(*x.values())
    y = torch.utils._pytree.tree_leaves(made)
    is_named = isinstance(made, dict) and len(made) == len(y)
    y = {str(key): v for key, v in made.items()} if is_named else {f"y{i}" if i else "y": v for i, v in enumerate(y)}
    wave = lambda v: torch.cos(torch.arange(v.numel(), dtype=torch.float64)).reshape(v.shape).to(v.dtype)
    dy = {name: wave(v) for name, v in y.items()}
    sum((y[name] * dy[name]).sum() for name in y).backward()
    grad = {name: v.grad for name, v in x.items() if v.grad is not None}
    kinds = {"in": x, "out": y, "cot": dy, "grad": grad}
    return {f"{kind}.{name}": v.detach() for kind in kinds for name, v in kinds[kind].items()}


def _npy(value):
    header = str({"descr": "<f8", "fortran_order": False, "shape": tuple(value.shape)})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    data = bytes(value.double().contiguous().clone().untyped_storage())
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data
