# SPDX-License-Identifier: BSD-2-Clause
"""Whole networks of torch that contain layers of Tenon: losses and gradients over the ranks, and
the state_dict() of the same network on one process. Parameters of other modules are equal on all
ranks."""
from __future__ import annotations

import math
from typing import Any, Iterable, Mapping

import numpy
import torch
from mpi4py import MPI

from ..calls import Layout
from . import copies
from .distributed import modules_of
from .functions import comm_in_use, comm_of, copies_of


class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, value, comm):
        return torch.from_numpy(numpy.asarray(comm.allreduce(value.detach().cpu().numpy()))).to(value)

    @staticmethod
    def backward(ctx, gradient):
        return gradient, None


def total(value: torch.Tensor, comm: MPI.Comm | Layout | None = None) -> torch.Tensor:
    """Returns the sum over the ranks of values of their blocks, such as parts of a loss. The
    result is the same on all ranks, and each rank's gradient is that of its own part. All ranks
    then call backward(). The ranks are those of a communicator or a layout, by default those of
    the existing operators and layers of Tenon. With the layout of the tensor whose blocks they are,
    a block that several ranks have, a copy (B), counts once. Collective."""
    count = copies_of(comm) if isinstance(comm, Layout) else 1
    return Total.apply(value / count if count > 1 else value, comm_of(comm))


def mean(value: torch.Tensor, comm: MPI.Comm | Layout | None = None) -> torch.Tensor:
    """Returns the mean over the ranks of a value that all of them compute from copies (B), such as
    a loss of an output that every rank has. Otherwise as total(). Collective."""
    over = comm_of(comm)
    return Total.apply(value / over.size, over)


def comm_of_network(network: torch.nn.Module) -> MPI.Comm:
    return next((module.comm for _, module in modules_of(network)), None) or comm_in_use()


def entries_of(network: torch.nn.Module) -> list[copies.Entry]:
    """Returns all entries of the state_dict() of a network, each once."""
    own = {entry[0]: entry for begin, module in modules_of(network) for entry in module.entries(begin)}
    found, seen = [], set()
    for name, value in network.state_dict(keep_vars=True).items():
        if isinstance(value, torch.Tensor) and id(value) not in seen:
            seen.add(id(value))
            found.append(own.get(name, (name, None, value)))
    return found


def scatter_state_dict(network: torch.nn.Module, state: Mapping[str, torch.Tensor], strict: bool = True) -> Any:
    """Loads the state_dict() of the same network on one process, whose modules have the same
    names: each rank copies its blocks of Tenon's parameters, and all other parameters
    completely. Missing, unknown and mismatched entries are reported as by load_state_dict(), in
    the sizes of whole parameters."""
    own = {module for _, module in modules_of(network)}
    try:
        for module in own:
            module.takes_wholes = True
        for begin, module in modules_of(network):
            state = module.in_own_form(state, begin)
        return network.load_state_dict(state, strict)
    finally:
        for module in own:
            module.takes_wholes = False


def gather_state_dict(network: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Returns the state_dict() of the same network on one process, on all ranks, for its
    load_state_dict(): parameters of Tenon are whole. Copies that differ between ranks are an
    error, see synchronize(). Collective."""
    copies.check_copies(entries_of(network), comm_of_network(network))
    wholes: dict[int, dict[str, torch.Tensor]] = {}
    found = {name: value.detach().clone() if isinstance(value, torch.Tensor) else value for name, value in network.state_dict().items()}
    for begin, module in modules_of(network):
        if id(module) not in wholes:
            wholes[id(module)] = module.wholes()
        own = module.state_dict(prefix=begin)
        at = next((number for number, name in enumerate(found) if name in own), len(found))
        others = [(name, value) for name, value in found.items() if name not in own]
        made = [(begin + name, whole) for name, whole in wholes[id(module)].items()]
        found = dict(others[:at] + made + others[at:])  # which can have other names than this rank's
    return found


def synchronize(network: torch.nn.Module) -> None:
    """Sets all copies of a parameter or buffer to the values of the first rank that has one, for
    example after torch.nn.init with different seeds, or for parameters of torch in addition to
    layers of Tenon. Collective."""
    copies.synchronize(entries_of(network), comm_of_network(network))


def parameters_in(given: torch.nn.Module | torch.Tensor | Iterable[torch.Tensor]) -> list[torch.Tensor]:
    if isinstance(given, torch.nn.Module):
        return list(given.parameters())
    return [given] if isinstance(given, torch.Tensor) else list(given)


def sum_gradients(network: torch.nn.Module | Iterable[torch.Tensor], comm: MPI.Comm | Layout | None = None) -> None:
    """Sums the gradients of torch's own parameters in a network over the ranks: each rank has
    that of its block, while those of Tenon's parameters are already summed. Call it once after
    the backward passes of a step and before the optimizer's step. A part of the gradient that is
    equal on all ranks and not of a block, such as a term of the loss for the size of a
    parameter, must be divided by the number of ranks before. Ranks without a gradient get that
    of the others. Collective."""
    parameters = [parameter for parameter in parameters_in(network) if not hasattr(parameter, 'tenon_copies')
                  and not hasattr(parameter, 'tenon_is_summed')]
    is_network = comm is None and isinstance(network, torch.nn.Module)
    over = comm_of_network(network) if is_network else comm_of(comm)  # type: ignore[arg-type]
    if over.size == 1 or not parameters:
        return
    has_gradient = numpy.array([parameter.grad is not None for parameter in parameters], numpy.int32)
    over.Allreduce(MPI.IN_PLACE, has_gradient, MPI.MAX)
    wanted = [parameter for parameter, is_present in zip(parameters, has_gradient) if is_present]
    for double in (False, True):
        group = [parameter for parameter in wanted if (parameter.dtype in (torch.float64, torch.complex128)) == double]
        if group:
            sum_group(group, over, torch.float64 if double else torch.float32)


def sum_group(parameters, comm, dtype):
    """Uses one message for all gradients; short types are added in float32."""
    for parameter in parameters:
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
    parts = [torch.view_as_real(p.grad) if p.grad.is_complex() else p.grad for p in parameters]
    flat = torch.cat([part.detach().reshape(-1).to('cpu', dtype) for part in parts])
    comm.Allreduce(MPI.IN_PLACE, flat.numpy())
    with torch.no_grad():
        for part, values in zip(parts, flat.split([part.numel() for part in parts])):
            part.copy_(values.view(part.shape))


def check_step(optimizer: torch.optim.Optimizer, *_: Any) -> None:
    """Runs before the steps of an optimizer with parameters of Tenon. Reports copies that differ
    at the first step, and gradients of torch's own parameters that differ, which would let their
    copies drift apart."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group['params']]
    comm = next((parameter.tenon_copies[0] for parameter in parameters if hasattr(parameter, 'tenon_copies')), None)
    if comm is None or comm.size == 1:
        return
    entries = [(f'parameter {number} of the optimizer, of size {list(parameter.shape)},', getattr(parameter, 'tenon_box', None), parameter)
               for number, parameter in enumerate(parameters)]
    if not hasattr(optimizer, 'tenon_is_checked'):
        copies.check_copies(entries, comm)
        optimizer.tenon_is_checked = True  # type: ignore[attr-defined]
    others = [entry for entry in entries if not hasattr(entry[2], 'tenon_copies')]
    found = copies.differing(others, comm, lambda parameter: parameter.grad)
    if found:
        raise RuntimeError(
            f'the ranks have different gradients of parameters of torch beside those of Tenon, {copies.listed(found)}: each has that of '
            'its own block, and the copies would drift apart. Make the modules tenon.torch.replicated(module), or call '
            'tenon.torch.sum_gradients(network) before step(); parameters that '
            'each rank has for itself belong in an optimizer of their own')


try:
    from torch.optim.optimizer import register_optimizer_step_pre_hook
    register_optimizer_step_pre_hook(check_step)
except ImportError:
    pass  # before PyTorch 2


def clip_grad_norm_(parameters: torch.Tensor | Iterable[torch.Tensor], max_norm: float, norm_type: float = 2.0,
                    error_if_nonfinite: bool = False) -> torch.Tensor:
    """torch.nn.utils.clip_grad_norm_() over the whole parameters: each element counts once, on
    however many ranks it is stored. Gradients of other modules' parameters must be equal on all
    ranks, see sum_gradients(). Returns the norm before. Collective."""
    given = parameters_in(parameters)
    found = [parameter for parameter in given if parameter.grad is not None]
    known = [parameter.tenon_copies for parameter in given if hasattr(parameter, 'tenon_copies')]
    if not known:
        return torch.nn.utils.clip_grad_norm_(found, max_norm, norm_type, error_if_nonfinite)
    comm = known[0][0]
    norms = [float(torch.linalg.vector_norm(parameter.grad, norm_type)) if parameter.grad.numel() else 0.0 for parameter in found]
    if norm_type == math.inf:
        total = comm.allreduce(max(norms, default=0.0), MPI.MAX)
    else:
        copies = [getattr(parameter, 'tenon_copies', (comm, comm.size))[1] for parameter in found]
        total = comm.allreduce(sum(norm ** norm_type / count for norm, count in zip(norms, copies))) ** (1 / norm_type)
    if error_if_nonfinite and not math.isfinite(total):
        raise RuntimeError(f'the norm of order {norm_type} of the gradients is {total}, so that it cannot be clipped')
    factor = max_norm / (total + 1e-6)
    with torch.no_grad():
        for parameter in found:
            parameter.grad.mul_(min(1.0, factor))
    return torch.tensor(total)
