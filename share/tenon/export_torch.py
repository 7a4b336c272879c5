# SPDX-License-Identifier: BSD-2-Clause
"""Writes PyTorch models for Tenon: export_model(model, (x,), "closure.pt2").
The file has the network, its weights and a test of them, for TenonLayerCreateFromModel(), and torch.export.load() reads
it too. The test is in float64, but for tables that the model makes of numbers alone, which have the types that it gives
them. Extents other than those of dimension 1, the channels, are the simulation's, unless the model's code fixes them;
free=False fixes all extents, for models that torch.export cannot, or not in reasonable time, export otherwise. names are
those of the inputs, by default those of forward(); about, a line of text, says what the model computes."""
import copy
import inspect
import itertools
import json
import zipfile

import torch

WIDE = {torch.float32: torch.float64, torch.complex64: torch.complex128}
NARROW = {wide: narrow for narrow, wide in WIDE.items()}


def export_model(model, inputs, path, names=None, about="", free=True):
    model = _in(model, {}).eval()
    dims = tuple({d: torch.export.Dim.AUTO for d in range(v.dim()) if d != 1 and v.shape[d] > 1} for v in inputs)
    program = torch.export.export(model, tuple(inputs), dynamic_shapes=_as_arguments(model, dims) if free else None)
    names = names or list(program.graph_signature.user_inputs)
    usual = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        (exact, gradients), *doubles = [
            _run(_Exact(_in(program.module(), WIDE)), _disturbed(_values(inputs, WIDE), 2e-16, draw), names) for draw in range(2)]
    finally:
        torch.set_default_dtype(usual)
    def rough(part, draw, everything=False): # else the inputs only
        network = _in(model, NARROW)
        if everything:
            for p, disturbed in zip(network.parameters(), _disturbed(list(network.parameters()), part, draw)):
                p.data = disturbed.detach()
        with _Rounding(draw):
            made, made_g = _run(network, _disturbed(_values(inputs, NARROW), part, draw), names, part if everything else 0, draw)
        # What passes no gradient in the network has none there, where the graph may have one.
        full = lambda some, all: {name: some[name] if name in some else torch.zeros_like(v) for name, v in all.items()}
        return full(made, exact), full(made_g, gradients)

    roughs = [rough(1e-7, draw) for draw in range(4)]
    # At a kink, as of relu, a gradient jumps by any amount where an input is rounded; which elements are at a kink differs
    # between any two runs. Inputs that are disturbed by far more than rounding meet more kinks than any run will.
    kinks = [rough(1e-5, draw) for draw in range(1, 5)]
    far = lambda a, b: float((a.double() - b).abs().max() / b.abs().max().clamp_min(1e-300))
    apart = lambda a, b, least=0.0: float((a.double() - b).norm() / b.norm().clamp_min(max(least, 1e-300)))
    outputs = [name for name in exact if name.startswith("out.")]
    slopes = [name for name in exact if name.startswith("grad.")]
    noise = max(far(made[name], exact[name]) for made, _ in roughs for name in outputs)
    digits = max(far(made[name], exact[name]) for made, _ in doubles for name in outputs + slopes)
    least = 1e-4 * max((float(g.norm()) for g in gradients.values()), default=0.0)
    bends = [max([apart(made[name], exact[name]) for name in slopes] + [apart(made_g[p], g, least) for p, g in gradients.items()],
                 default=0.0) for made, made_g in roughs + kinks]
    bend = max(10 * min(bends[:len(roughs)]), 2 * max(bends), 1e-6)
    # Gradients that are far from those of the graph, and near to each other, also where inputs, weights and cotangents
    # differ a little, are those of another function.
    def differ(runs):
        pairs = list(itertools.combinations(runs, 2))
        of = lambda at, name, v, least=0.0: min(apart(run[at][name], v, least) for run in runs) > 1e-5 + 10 * max(
            apart(a[at][name], b[at][name].double(), least) for a, b in pairs)
        return any(of(0, name, exact[name]) for name in slopes) or any(of(1, p, g, least) for p, g in gradients.items())

    if noise < 0.1 and differ(roughs) and differ(roughs + [rough(1e-6, draw, everything=True) for draw in range(5, 11)]):
        raise ValueError("the graph that torch.export makes of this network has other gradients than the network: it loses "
                         "torch.no_grad() in a region of torch.autocast(); use detach() there")
    if not (noise < 0.1 and bend < 1 and digits < 1e-3):
        raise ValueError(f"float32 gives this network's results to {noise:.1e} and its gradients to {bend:.1e} only, and float64 "
                         f"gives both to {digits:.1e}, so that no test of them says anything; scale its weights or inputs")
    # One that has several names has one of them in the graph.
    read = {node.target for node in program.module().graph.nodes if node.op == "get_attr" and node.users}
    parameters = [name for name in gradients if name in read]
    # Of each parameter's gradient its product with a wave, its norm, and how far that of float32 is off.
    exact["parameters"] = torch.tensor(
        [[(g * _wave(g)).sum(), g.norm(), max((made[name].double() - g).norm() for _, made in roughs)]
         for name, g in gradients.items() if name in parameters], dtype=torch.float64).reshape(-1, 3)
    # 1e-11 is above what another order of sums does to deep networks (1.6e-12 to Mamba), and far
    # below what any fault does: the least is a constant that is rounded to float32, 1e-8.
    test = {"format": "tenon-test-2", "about": about, "inputs": names, "torch": torch.__version__,
            "outputs": [name.removeprefix("out.") for name in exact if name.startswith("out.")],
            "parameters": parameters, "numbers": "rounded", "tolerance": {"float64": max(1e-11, 10 * digits), "float32": max(1e-6, 10 * noise), "gradient32": bend},
            "measured": {"float64": digits, "float32": noise}}
    torch.export.save(program, path)
    with zipfile.ZipFile(path, "a", zipfile.ZIP_STORED) as archive:
        folder = archive.namelist()[0].split("/")[0] + "/tenon/"
        archive.writestr(folder + "test.json", json.dumps(test))
        if filters := _filters(model):
            archive.writestr(folder + "filters.json", json.dumps(filters))
        for name, value in exact.items():
            archive.writestr(f"{folder}{name}.npy", _npy(value))
    return test


class _Rounding(torch.utils._python_dispatch.TorchDispatchMode):
    """The derivative p (g - sum(p g)) of a softmax p is exactly 0 in PyTorch where p is 1. Where the sum is computed in
    another order, as over parts of a sequence, it is not: a rounding error times the keys, which are large there."""
    def __init__(self, draw):
        super().__init__()
        self.draw, self.generator = draw, torch.Generator().manual_seed(draw)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        made = function(*args, **(kwargs or {}))
        if self.draw and function is torch.ops.aten._softmax_backward_data.default:
            g, p, dim = args[:3]
            size = (g * p).abs().sum(dim, keepdim=True)
            made = made - 1e-7 * p * size * torch.randn(size.shape, generator=self.generator).to(p.dtype)
        return made


# PyTorch's derivatives of these have constants in float32, whatever the type of the tensors; those of the operations that
# they consist of are exact.
EXACT = {"aten.celu": lambda x, alpha=1.0: torch.where(x > 0, x, alpha * torch.expm1(torch.where(x > 0, 0, x) / alpha)),
         "aten.hardsigmoid": lambda x: torch.clamp(x + 3, 0, 6) / 6}
# Operators of whose arguments only shape and type are read.
SHAPED = {"zeros_like", "ones_like", "full_like", "new_zeros", "new_ones", "new_full"}
# Operators that round the numbers among their arguments to the type of their tensors, as 0.1 in x * 0.1 and x < 0.1.
ROUNDING = {"add", "addcdiv", "addcmul", "div", "divide", "floor_divide", "fmod", "hardshrink", "lerp", "mul", "multiply", "pow",
            "remainder", "rsub", "softshrink", "special_xlog1py", "special_xlogy", "sub", "subtract", "threshold", "true_divide", "xlogy",
            "bucketize", "eq", "ge", "greater", "greater_equal", "gt", "isin", "le", "less", "less_equal", "lt", "ne", "not_equal",
            "searchsorted"}
# Where the graph of a region without gradients or autocast is among the arguments; what it reads follows.
REGIONS = {"wrap_with_set_grad_enabled": 1, "wrap_with_autocast": 4}


class _Exact(torch.fx.Interpreter):
    """The graph in float64, whatever types it names. What is computed of constants alone is rounded to the type that it
    has in the graph after each operation, and the numbers in it before it; not what is written into it in place."""
    def run_node(self, node):
        known = self.__dict__.setdefault("known", set())
        self.at = node
        made = super().run_node(node)
        is_tensor, reads = isinstance(made, torch.Tensor), node.all_input_nodes
        memory = lambda v: v.untyped_storage().data_ptr() if isinstance(v, torch.Tensor) else None
        if node.op == "get_attr" and not isinstance(made, torch.nn.Parameter):
            known.add(node)
            return made.to(WIDE.get(made.dtype, made.dtype)) if is_tensor else made
        # Extents are known, of whatever tensor, and so are tables that are made for them, or in the shape of a tensor.
        is_extent = isinstance(made, (int, float)) or str(node.target).split(".")[-2:][0] in SHAPED
        if node.op == "call_function" and (is_extent or all(read in known for read in reads)):
            known.add(node)
            # A stored tensor in another type has the numbers that are stored, and a view those of its argument.
            is_cast = node.target is torch.ops.aten._to_copy.default and reads[0].op == "get_attr"
            if is_tensor and made.dtype in NARROW and not is_cast and all(memory(made) != memory(self.env[r]) for r in reads):
                made = made.to(node.meta["val"].dtype).to(made.dtype)
        elif is_tensor and getattr(getattr(node.target, "_schema", None), "is_mutable", False):
            known.difference_update([n for n, value in self.env.items() if memory(value) == memory(made)])
        return made

    def call_function(self, target, args, kwargs):
        # Operators without a derivative, as the parts of autograd functions and of writes in place: others compute the same.
        if str(target) == "disco_kernels.forward.default":
            target = torch.ops.disco_kernels._disco_s2_contraction_optimized.default
        if str(target) == "aten.copy.default":
            return args[1].to(args[0].dtype).expand_as(args[0]).clone()
        name = str(target).removesuffix(".default")
        if name.removesuffix("_") in EXACT:
            made = EXACT[name.removesuffix("_")](*args, **kwargs)
            return args[0].copy_(made) if name[-1] == "_" else made
        if str(target).split(".")[-2:][0].removesuffix("_") in ROUNDING:
            args, kwargs = self._with_numbers_as_stored(args, kwargs)
        if name in REGIONS:
            return self._region(name, REGIONS[name], args)
        return super().call_function(target, *torch.utils._pytree.tree_map_only(torch.dtype, lambda t: WIDE.get(t, t),
                                                                                (args, kwargs)))

    def _with_numbers_as_stored(self, args, kwargs):
        reads = self.at.all_input_nodes
        made, *types = (getattr(node.meta.get("val"), "dtype", None) for node in [self.at, *reads])
        is_narrow = made in WIDE or (made == torch.bool and torch.float64 not in types and any(each in WIDE for each in types))
        if not is_narrow or not all(node in self.known for node in reads):
            return args, kwargs
        return torch.utils._pytree.tree_map_only(float, lambda number: torch.tensor(number, dtype=torch.float32).item(), (args, kwargs))

    def _region(self, name, place, args):
        inner = _Exact(args[place])
        outer = dict(zip(inner.graph.find_nodes(op="placeholder"), self.at.args[place + 1:]))
        inner.known = {node for node, read in outer.items() if read in self.known}
        with torch.set_grad_enabled(args[0] if place == 1 else torch.is_grad_enabled()):
            return inner.run(*args[place + 1:])


def _filters(model):
    """The bases of filters on the sphere of torch-harmonics, of which the graph has the values alone."""
    names = {"PiecewiseLinearFilterBasis": "linear", "HarmonicFilterBasis": "harmonic", "ZernikeFilterBasis": "zernike",
             "FourierBesselFilterBasis": "fourierbessel"}
    filters = {}
    for path, module in model.named_modules(remove_duplicate=False):
        basis, cutoff = getattr(module, "filter_basis", None), getattr(module, "theta_cutoff", None)
        if (name := names.get(type(basis).__name__)) and cutoff is not None:
            # "morlet" is harmonic without norms.
            name = "morlet" if name == "harmonic" and getattr(basis, "_l2_norms", None) is None else name
            kernel = [int(n) for n in torch.as_tensor(basis.kernel_shape).reshape(-1)]
            filters[path] = {"basis": name, "kernel": kernel, "cutoff": float(cutoff)}
    return filters


def _as_arguments(model, each):
    # torch.export wants what a forward(self, *fields) takes as one argument.
    star = inspect.Parameter.VAR_POSITIONAL
    kinds = [p.kind for p in inspect.signature(model.forward).parameters.values()]
    named = kinds.index(star) if star in kinds else len(each)
    return each[:named] + ((each[named:],) if each[named:] else ())


def _values(inputs, kinds):
    return [v.detach().clone().to(kinds.get(v.dtype, v.dtype)) for v in inputs]


def _disturbed(values, part, draw):
    generator = torch.Generator().manual_seed(draw)
    wave = lambda v: part * torch.randn(v.shape, dtype=torch.float64, generator=generator)
    return [(v * (1 + wave(v))).to(v.dtype) if draw and v.is_floating_point() else v for v in values]


def _in(model, kinds):
    # Tensors that a module has computed of its parameters, as weight_norm does, cannot be copied with their history.
    made = {id(t): t.detach().clone() for m in model.modules() for t in vars(m).values()
            if isinstance(t, torch.Tensor) and not t.is_leaf}
    return copy.deepcopy(model, made)._apply(lambda t: t.to(kinds.get(t.dtype, t.dtype)))


def _wave(v):
    return torch.cos(torch.arange(v.numel(), dtype=torch.float64)).reshape(v.shape).to(v.dtype)


def _run(model, inputs, names, part=0, draw=0):
    x = {name: v.requires_grad_() if v.is_floating_point() else v for name, v in zip(names, inputs)}
    is_graph = isinstance(model, _Exact)
    made = model.run(*x.values()) if is_graph else model(*x.values())
    y = torch.utils._pytree.tree_leaves(made)
    is_named = isinstance(made, dict) and len(made) == len(y)
    y = {str(key): v for key, v in made.items()} if is_named else {f"y{i}" if i else "y": v for i, v in enumerate(y)}
    dy = dict(zip(y, _disturbed([_wave(v) for v in y.values()], part, draw)))
    sum((y[name] * dy[name]).sum() for name in y).backward()
    grad = {name: v.grad for name, v in x.items() if v.grad is not None}
    kinds = {"in": x, "out": y, "cot": dy, "grad": grad}
    plain = lambda g: torch.view_as_real(g) if g.is_complex() else g
    gradients = {name: plain(p.grad) for name, p in (model.module if is_graph else model).named_parameters(
        remove_duplicate=False) if p.grad is not None}
    return {f"{kind}.{name}": v.detach() for kind in kinds for name, v in kinds[kind].items()}, gradients


def _npy(value):
    header = str({"descr": "<f8", "fortran_order": False, "shape": tuple(value.shape)})
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    data = bytes(value.double().contiguous().clone().untyped_storage())
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + data
