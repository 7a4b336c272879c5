# SPDX-License-Identifier: BSD-2-Clause
"""The inputs of a distributed module, which is called as the original: by position, by the names of forward()'s arguments,
and in containers.

The network was made for one call, whose arguments other than tensors are computed into it. Each call is bound to the
signature, defaults included, and compared with that one: another argument in its place is an error."""
from __future__ import annotations

import inspect
import textwrap
from typing import Any, Sequence

import torch
from torch.export.graph_signature import ConstantArgument
from torch.utils import _pytree

from .kept import marked


def shown(tree: Any) -> str:
    return textwrap.shorten(str(marked(tree)).replace("<class 'torch.Tensor'>", 'Tensor'), 200)


def is_same(found: Any, constant: Any) -> bool:
    if found is constant or isinstance(constant, torch.Tensor):
        return found is constant
    return type(found) is type(constant) and (found == constant) is True


def drop_constants(program: torch.export.ExportedProgram) -> None:
    """Takes the inputs of an exported graph that are no tensors out of it: nothing reads them."""
    specs = program.graph_signature.input_specs
    constant = {spec.arg.name for spec in specs if isinstance(spec.arg, ConstantArgument)}
    for node in list(program.graph.nodes):
        if node.op == 'placeholder' and node.name in constant:
            program.graph.erase_node(node)
    specs[:] = [spec for spec in specs if spec.arg.name not in constant]


class Inputs:
    """What forward() of a module takes, of which `arguments` were exported, with torch.Tensor in place of tensors."""

    def __init__(self, kind: str, signature: inspect.Signature, arguments: Sequence[Any]) -> None:
        self.kind, self.signature = kind, signature
        self.count = len(arguments) if all(each is torch.Tensor for each in arguments) else None
        bound = signature.bind(*arguments)
        self.call = ', '.join(f'{name}={shown(value)}' for name, value in bound.arguments.items())
        bound.apply_defaults()
        self.expected = {name: _pytree.tree_flatten(value) for name, value in bound.arguments.items()}

    def tensors_in(self, inputs: Sequence[Any], named: dict[str, Any]) -> list[Any]:
        """Returns the tensors of a call in the order of the layouts."""
        if not named and len(inputs) == self.count and all(isinstance(each, torch.Tensor) for each in inputs):
            return list(inputs)
        try:
            bound = self.signature.bind(*inputs, **named)
        except TypeError as reason:
            raise TypeError(f'{reason}: the {self.kind} was distributed for forward({self.call})') from None
        bound.apply_defaults()
        return [tensor for name, value in bound.arguments.items() for tensor in self.tensors_of(name, value)]

    def tensors_of(self, name, value):
        """Returns those of one argument, of dictionaries in the order of the exported keys."""
        constants, form = self.expected[name]
        try:
            leaves = form.flatten_up_to(value)
        except ValueError:
            self.refuse(name, value)
        for leaf, constant in zip(leaves, constants):
            # What else is no tensor, as an array of numpy, is refused with what makes one of it.
            fits = type(leaf).__module__ != 'builtins' if constant is torch.Tensor else is_same(leaf, constant)
            if not fits:
                self.refuse(name, value)
        return [leaf for leaf, constant in zip(leaves, constants) if constant is torch.Tensor]

    def refuse(self, name, value):
        raise TypeError(f'the {self.kind} was distributed for forward({self.call}), and is called with {name}={shown(value)}: distribute it '
                        'for this too, with a layout for each tensor, and an example that has the other arguments')
