# SPDX-License-Identifier: BSD-2-Clause
"""The proof of a distributed module: outputs and gradients beside those of the module of torch on
the first rank."""
from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _pytree

from .copies import on_all, raise_on_all
from .distributed import of_tenon
from .functions import block, copies_of, repartition
from .kept import filled
from .models import from_first


def wave(tensor):
    """Cotangents that no symmetry of a network cancels."""
    return torch.cos(torch.arange(tensor.numel(), dtype=tensor.dtype)).reshape(tensor.shape)


def exact_hardsigmoid(input, inplace=False):
    made = torch.nn.functional.relu6(input + 3) / 6
    return input.copy_(made) if inplace else made


# Functions whose values in float32 torch does not round correctly, by their names in torch and as methods.
TRANSCENDENTAL = {'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'atan2', 'sinh', 'cosh', 'tanh', 'exp', 'exp2', 'expm1', 'log', 'log2', 'log10',
                  'log1p', 'pow', '__pow__', '__rpow__', 'rsqrt', 'sigmoid', 'erf'}


class Exact(TorchFunctionMode):
    """Evaluates functions of torch to all digits of the network's type, of which torch computes fewer. The derivative of
    hardsigmoid is that of float32 in all types. In a network of float64, values that its code computes in float32, such as a
    table of positions, are rounded correctly, as Tenon's are: torch's sines differ from these by a unit in the last place."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.is_double = dtype == torch.float64

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.hardsigmoid:
            return exact_hardsigmoid(*args, **(kwargs or {}))
        given = {each.dtype for each in args if isinstance(each, torch.Tensor)}
        if self.is_double and given == {torch.float32} and not kwargs and getattr(func, '__name__', '') in TRANSCENDENTAL:
            return func(*[each.double() if isinstance(each, torch.Tensor) else each for each in args]).float()
        return func(*args, **(kwargs or {}))


class Copy:
    """A parameter that all ranks have."""

    def __init__(self, tensor):
        self.tensor = tensor

    @staticmethod
    def block(whole):
        return whole


def prove(own, module):
    """Raises an error unless the distributed module computes what the module computes on the first
    rank, in eval(): outputs, and the gradients of inputs and parameters. Collective."""
    own = of_tenon(own)
    comm, modes = own.comm, [each.training for each in module.modules()]
    generator = torch.Generator().manual_seed(1)
    wholes = [from_first(torch.randn(layout.shape(), dtype=port.value.dtype, generator=generator), comm).requires_grad_()
              for port, layout in zip(own.inputs, own.input_layouts)]
    results, error = None, None
    if comm.rank == 0:
        arguments = filled(own.graph.arguments, iter(wholes))
        try:
            with torch.enable_grad(), Exact(wholes[0].dtype):
                y = _pytree.tree_leaves(module.eval()(*arguments))
                leaves = [*wholes, *[p for p in module.parameters() if p.requires_grad]]
                found = torch.autograd.grad(sum((each * wave(each)).sum() for each in y), leaves, allow_unused=True)
            # Complex parameters are pairs of real numbers in Tenon.
            of_leaves = [torch.view_as_real(dp) if dp is not None and dp.is_complex() else dp for dp in found[len(wholes):]]
            results = [each.detach() for each in y], found[:len(wholes)], dict(
                zip([name for name, p in module.named_parameters() if p.requires_grad], of_leaves))
        except Exception as reason:
            error = reason
        finally:
            for each, mode in zip(module.modules(), modes):
                each.training = mode
    raise_on_all(comm, error, 'the module was not evaluated')
    outputs, of_inputs, of_parameters = comm.bcast(results)
    with on_all(comm, 'the module was not evaluated'):
        given = [block(layout, whole.detach()).contiguous().requires_grad_()
                 for layout, whole in zip(own.input_layouts, wholes)]
    was_training, own_modes = own.training, [each.training for each in own.modules()]
    own.eval()
    with torch.enable_grad():
        y = _pytree.tree_leaves(own(*filled(own.graph.arguments, iter(given))))
        held = {name: each for name, each in own.held_in() if name in of_parameters}
        held.update({name: Copy(p) for name, p in own.named_parameters() if p.requires_grad and name in of_parameters and name not in held})
        with on_all(comm, 'the gradients were not evaluated'):
            cotangents = [block(layout.dual(), wave(whole).reshape(layout.shape())).reshape(each.shape) / copies_of(layout)
                          for layout, whole, each in zip(own.output_layouts, outputs, y)]
        leaves = [*given, *[each.tensor for each in held.values()]]
        found = torch.autograd.grad([each for each in y], leaves, grad_outputs=cotangents, allow_unused=True)
    own.train(was_training)
    for each, mode in zip(own.modules(), own_modes):  # kept parts have modes of their own
        each.training = mode
    found = [*[dx if dx is None else sum_of_copies(layout, dx) for layout, dx in zip(own.input_layouts, found)], *found[len(given):]]
    with on_all(comm, 'the results were not compared'):
        rows = [('output', own_y, block(layout, whole.reshape(layout.shape())).reshape(own_y.shape), whole)
                for layout, own_y, whole in zip(own.output_layouts, y, outputs)]
        rows += [('gradient of an input', dx, block(layout, whole), whole)
                 for layout, dx, whole in zip(own.input_layouts, found, of_inputs) if whole is not None and dx is not None]
        rows += [(f'gradient of {name}', dp, each.block(of_parameters[name]), of_parameters[name])
                 for (name, each), dp in zip(held.items(), found[len(given):])
                 if of_parameters[name] is not None and dp is not None]
        # A gradient that is 0 but for rounding, as that of a bias before a norm, is compared with the others.
        sizes = [float(whole.abs().max()) for whole in of_parameters.values() if whole is not None and whole.numel()]
        least = 1e-3 * max(sizes, default=0.0)
        wrong = [f'{what} differs by {float((a.detach() - b).abs().max()):.1e} of {float(whole.abs().max()):.1e}'
                 for what, a, b, whole in rows if b.numel() and not is_near(a, b, max(float(whole.abs().max()), least))]
    wrong = [text for of_rank in comm.allgather(wrong) for text in of_rank]
    if wrong:
        raise RuntimeError(f'the distributed {own._get_name()} does not compute what the module computes: {"; ".join(wrong[:5])}')


def sum_of_copies(layout, cotangent):
    """Returns the cotangent of an input, to which the ranks with copies have contributions, on all of
    them."""
    return cotangent if 'B' not in layout.properties() else repartition(layout.dual(), layout, cotangent.dtype)(cotangent)


def is_near(a, b, size):
    tolerance = 1e-10 if a.dtype == torch.float64 else 1e-3
    return float((a.detach() - b).abs().max()) <= tolerance * size
