# SPDX-License-Identifier: BSD-2-Clause
"""Data that ranks have in common: parameters and buffers with copies on several ranks, and
gradients that are equal on all ranks.

Copies are compared by two numbers, the sum and the norm: values that were drawn or changed
independently on each rank differ by far more than the rounding errors of different processors."""
from __future__ import annotations

import contextlib
import hashlib
import itertools
from typing import Any, Callable, Iterable, Iterator, Sequence

import numpy
import torch
from mpi4py import MPI

Entry = tuple[str, Any, torch.Tensor]  # the name, the box of a distributed tensor or None, and this
                                       # rank's values


def numbers_of(tensor: torch.Tensor | None) -> tuple[float, float]:
    if tensor is None or not tensor.numel():
        return 0.0, 0.0
    flat = torch.view_as_real(tensor.detach()) if tensor.is_complex() else tensor.detach()
    flat = flat.to(torch.float64)
    return float(flat.sum()), float(torch.linalg.vector_norm(flat))


def tolerance(tensor: torch.Tensor) -> float:
    return 0.1 * torch.finfo(tensor.dtype).eps ** 0.5 if tensor.is_floating_point() or tensor.is_complex() else 0.0


def differing(entries: Sequence[Entry], comm: MPI.Comm, of: Callable[[torch.Tensor], torch.Tensor | None] = lambda x: x) -> list[str]:
    """Returns the names of the entries whose copies differ, with the first two ranks that
    differ. Collective."""
    if comm.size == 1 or not entries:
        return []
    gathered = comm.allgather([(box, *numbers_of(of(tensor))) for _, box, tensor in entries])
    found = []
    for number, (name, _, tensor) in enumerate(entries):
        first: dict[Any, tuple[int, float, float]] = {}
        for rank, of_rank in enumerate(gathered):
            box, total, norm = of_rank[number]
            leader, wanted, size = first.setdefault(box, (rank, total, norm))
            difference = max(abs(total - wanted), abs(norm - size))
            if difference > tolerance(tensor) * max(norm, size) or numpy.isnan(norm) != numpy.isnan(size):
                found.append(f'{name} (ranks {leader} and {rank})')
                break
    return found


def listed(names: Sequence[str]) -> str:
    return ', '.join(names[:5]) + f' and {len(names) - 5} others' * (len(names) > 5)


def check_copies(entries: Sequence[Entry], comm: MPI.Comm) -> None:
    found = differing(entries, comm)
    if found:
        raise RuntimeError(
            f'the ranks have different copies of {listed(found)}: each has drawn or changed its own. tenon.torch.synchronize(network) '
            'gives all of them those of the first rank; a module of torch beside layers of Tenon is made by tenon.torch.replicated(module)')


def synchronize(entries: Iterable[Entry], comm: MPI.Comm) -> None:
    """Sets all copies to the values of the first rank that has one. Collective."""
    groups: dict[tuple[int, ...], MPI.Comm] = {}
    given = list(entries)
    boxes = comm.allgather([box for _, box, _ in given])
    for number, (_, _, tensor) in enumerate(given):
        first: dict[Any, int] = {}
        leaders = tuple(first.setdefault(of_rank[number], rank) for rank, of_rank in enumerate(boxes))
        if leaders not in groups:
            groups[leaders] = comm.Split(leaders[comm.rank], comm.rank)
        if tensor.numel():
            bytes = tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
            groups[leaders].Bcast(bytes.numpy())
            with torch.no_grad():
                tensor.copy_(bytes.view(tensor.dtype).reshape(tensor.shape))
    for group in groups.values():
        group.Free()


@contextlib.contextmanager
def on_all(comm: MPI.Comm, what: str) -> Iterator[None]:
    """Raises an exception that the block has on some rank on all: see raise_on_all(). The block itself
    does not communicate. Collective."""
    error = None
    try:
        yield
    except Exception as reason:
        error = reason
    raise_on_all(comm, error, what)


def check_equal(comm: MPI.Comm, lines: Sequence[str], what: str) -> None:
    """Raises an error on all ranks unless they have the same lines, with the first one that differs.
    Collective."""
    digests = comm.allgather(hashlib.sha256('\n'.join(lines).encode()).digest())
    other = next((rank for rank, digest in enumerate(digests) if digest != digests[0]), None)
    if other is None:
        return
    first, second = comm.bcast(list(lines)), comm.bcast(list(lines), other)
    one, another = next((pair for pair in itertools.zip_longest(first, second, fillvalue='nothing') if pair[0] != pair[1]))
    raise ValueError(f'the ranks give different {what}: {one} on rank 0, and {another} on rank {other}')


def raise_on_all(comm: MPI.Comm, error: Exception | None, what: str) -> None:
    """Raises an error on all ranks if one of them has one: its own there, and on others its text.
    Collective."""
    texts = comm.allgather(None if error is None else f'{type(error).__name__}: {error}')
    if error is not None:
        raise error
    for rank, text in enumerate(texts):
        if text is not None:
            raise RuntimeError(f'{what} on rank {rank}: {text}')
