# SPDX-License-Identifier: BSD-2-Clause
"""Unchanged modules of torch on layouts of Tenon.

The first rank exports the module by torch.export to a temporary file, which Tenon imports on all
ranks. The graphs of train() and eval() must differ in batch normalisation and dropout only, whose
layers Tenon has for both modes. The file has that of train(), in which y and dropout(y) are two
tensors, with these operators in inference, as networks are in files."""
from __future__ import annotations

import contextlib
import dataclasses
import importlib
import inspect
import logging
import os
import pickle
import shutil
import sys
import tempfile
import threading
import traceback
import weakref
from typing import Any, Iterator, Sequence

import torch
from mpi4py import MPI
from torch.utils import _pytree

from ..calls import ErrorCode, Layer, Layout
from ..errors import Error
from .archives import drop_parameters, write_zeros
from .complexes import numbered
from .copies import check_equal, on_all, raise_on_all
from .cuts import Piece, cut
from .distributed import Distributed, DistributedList
from .divided import Divided
from .filters import filters_of, note_filters
from .functions import data_type_of
from .inputs import Inputs, drop_constants
from .kept import Followed, marked, names_of_kept
from .modes import check_modes, compared, set_to_inference
from .parts import Undivided, is_list
from .proofs import prove
from .single import drawn_seed


@dataclasses.dataclass
class Graph:
    """What all ranks know of the exported network."""
    name: str                # of the module's class
    form: Any                # of its output: a tensor, or a container of tensors
    ranks: list[int]         # of the outputs
    used: set[str]           # parameters and buffers that it reads
    counts: set[str]         # buffers that count batches
    arguments: Any           # of the module, with torch.Tensor in place of its tensors
    names: list[str]         # of the tensors of the state_dict(), in its order
    others: set[str]         # of its other entries, which modules can add
    complexes: dict[str, tuple[int, ...]]  # the shapes of complex parameters that it reads
    path: str = ''
    numbered: tuple[str, ...] = ()  # files of complexes.py
    cut: Any = None          # at kept modules, in place of the path
    dtype: torch.dtype | None = None
    written: list[str] = dataclasses.field(default_factory=list)  # of the files, those of this rank
    has_values: bool = True  # of parameters, in its files
    inputs: Any = None       # what forward() takes: an object of inputs.py

    def files(self):
        pieces = [step.path for step in self.cut.steps if isinstance(step, Piece)] if self.cut else [self.path]
        return [*pieces, *self.numbered]


def distribute(module: torch.nn.Module, layout: Layout | Sequence[Layout], example: Any = None, *, training: bool = True,
               proof: bool = False, depth: int = 1, seed: int | None = None, keep: str | Sequence[str] = (),
               **settings: Any) -> Distributed:
    """Returns an unchanged module of torch as a module on the layout of its input, or a list of one
    layout for each input: y = distribute(UNet(), layout)(x), where x and y are this rank's blocks.
    Its values are those of the module on the first rank.

    Parameters and buffers have the names and shapes of the module's, so state_dict() is its one with
    this rank's blocks (scatter_state_dict() and gather_state_dict() are for whole ones), and
    optimizers have the same parameters in the same order. Gradients are summed over the ranks. The
    result of a module with several outputs, in tuples or dictionaries, has the same form. Inputs of
    another batch size can follow, see also set_layout().

    torch.export follows the module for `example`, a tensor or a tuple of inputs; the default is
    tensors of the layouts' shapes in the type of the module's parameters. train() and eval() have
    the same effect as in torch: batch normalisation and dropout follow them. With training=False the
    module behaves as in eval() in both. Masks of dropout are Tenon's: they depend on `seed`, by
    default drawn from torch's generator, and the global position. With proof=True, outputs and
    gradients are compared with those of the module on the first rank. Further settings are those of
    the layer. Operators that cannot be imported raise one error that lists them, with their lines of
    the source.

    `keep` has the names of modules inside, as "encoder.norm", that stay torch's: every rank evaluates
    them on whole tensors, and what is between them is distributed. Collective on the layouts."""
    layouts = layouts_in(layout)
    comm = layouts[0].comm()
    with on_all(comm, 'the module was not distributed'):
        dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.get_default_dtype())
        type_of_elements = data_type_of(dtype)
        keep = names_of_kept(module, keep)
        described, signature = description(module, dtype, training, keep, proof), inspect.signature(module.forward)
    check_equal(comm, described, 'modules')
    graph = exported_on_first(comm, module, layouts, example, dtype, training, keep)
    with on_all(comm, 'the module was not distributed'):
        graph.inputs = Inputs(graph.name, signature, graph.arguments)
    drawn = seed if seed is not None else drawn_seed(comm)

    def make(path=graph.path, number=0):
        layer = Layer.from_model(comm, path if graph.has_values else file_for_copies(comm, graph, path))
        layer.set_data_type(type_of_elements)
        return layer.set(seed=(drawn + number) % 2**63, model_test='off', model_training=training, **settings)
    shown = settings if training else {**settings, 'training': False}
    made: Divided | Undivided
    with advised(graph):
        if keep:
            made = Divided(make, layouts, module, graph, depth, drawn, shown)
        else:
            made = Undivided(make, layouts, module, graph, depth, shown)
            made.train(module.training)
    with on_all(comm, 'the module was not distributed'):  # all ranks have read them, since set-up is collective
        for written in graph.written:
            if written not in graph.numbered:
                drop_parameters(written)
        graph.has_values = False
    if proof:
        prove(made, module)
    return (DistributedList if is_list(module) else Distributed)(made)


@contextlib.contextmanager
def advised(graph: Graph) -> Iterator[None]:
    """Adds what works to the error of operators that cannot be imported, which names the module in place of a temporary file."""
    try:
        yield
    except Error as reason:
        if reason.code == ErrorCode.ERR_SUPPORT and 'cannot be imported' in reason.message:
            for path in graph.files():
                reason.message = reason.message.replace(path, graph.name)
            reason.message += "\n  Modules inside that have these operators can stay torch's: distribute(..., keep=[their names])"
        raise


def description(module, dtype, training, keep, proof):
    """Returns what the ranks must have in common; the values are those of the first one."""
    kinds = [f'{name or "the whole"} is a {type(each).__name__} in {"train" if each.training else "eval"}()'
             for name, each in module.named_modules(remove_duplicate=False)]
    tensors = [f'{name} is {list(tensor.shape)} of {tensor.dtype}{" with" if tensor.requires_grad else " without"} a gradient'
               for named in (module.named_parameters, module.named_buffers) for name, tensor in named(remove_duplicate=False)]
    return [*kinds, *tensors, f'dtype={dtype}', f'training={training}', f'keep={keep}', f'proof={proof}']


def load_exporter():
    """Imports what torch.export imports at its first call, in a thread of its own: torch keeps a frame of this import, and
    with it those of all callers, whose variables, networks among them, would live until the program ends."""
    thread = threading.Thread(target=importlib.import_module, args=('torch.export._trace',))
    thread.start()
    thread.join()


def exported_on_first(comm, module, layouts, example, dtype, training, keep):
    """Exports the module on the first rank, and returns the graph, whose file all ranks can read.
    Collective."""
    graph, packed, folder, error = None, None, None, None
    if comm.rank == 0:
        try:
            load_exporter()
            folder = tempfile.mkdtemp(prefix='tenon-')
            graph = exported(module, examples_for(module, layouts, example, dtype), folder, training, keep, dtype)
            packed = pickle.dumps(graph)
        except Exception as reason:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            error = reason
    raise_on_all(comm, error, 'the module was not exported')
    packed = comm.bcast(packed)
    graph = graph if graph is not None else pickle.loads(packed)
    for path in graph.files():
        if spread_file(comm, path):
            weakref.finalize(graph, shutil.rmtree, os.path.dirname(path), True)
            graph.written.append(path)
    return graph


def spread_file(comm, path):
    """Copies the file of the first rank to the machines that do not see it. Returns whether this
    rank has written the file that its machine reads, in a folder that is its own. After an error of
    one rank all raise one, without these folders. Collective."""
    node = comm.Split_type(MPI.COMM_TYPE_SHARED, comm.rank)
    lacks, is_owner = node.rank == 0 and not os.path.exists(path), comm.rank == 0
    node.Free()
    if not comm.allreduce(lacks, MPI.LOR):
        return is_owner
    error, size = None, 0
    with contextlib.ExitStack() as files:
        source = target = None
        try:
            if comm.rank == 0:
                source, size = files.enter_context(open(path, 'rb')), os.path.getsize(path)
            if lacks:
                os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
                is_owner = True
                target = files.enter_context(open(path, 'wb', buffering=0))
        except OSError as reason:
            error = reason
        for _ in range(0, comm.bcast(size), 1 << 28):
            part = b''
            try:
                part = source.read(1 << 28) if source and error is None else b''
            except OSError as reason:
                error = reason
            part = comm.bcast(part)
            try:
                written = 0
                while target and error is None and written < len(part):
                    written += target.write(memoryview(part)[written:])
            except OSError as reason:
                error = reason
    try:
        raise_on_all(comm, error, 'the exported module was not copied to all machines')
    except Exception:
        if is_owner:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        raise
    return is_owner


def file_for_copies(comm, graph, path):
    """Returns a file of the graph without values, for a copy that gets them from the network. Collective."""
    target = path if path in graph.numbered else f'{path}.zeros'
    with on_all(comm, 'the module was not copied'):
        if path in graph.written and not os.path.exists(target):
            write_zeros(path, target)
    return target


def examples_for(module, layouts, example, dtype):
    """Returns the inputs for torch.export, whose values it does not read, and their free
    dimensions."""
    if example is not None:
        given = (example,) if isinstance(example, torch.Tensor) else tuple(example)
    else:  # a batch of one would be taken as fixed
        batch = layouts[0].shape()[0]
        given = tuple(torch.empty([2 if batch == 1 and n == 1 and d == 0 else n for d, n in enumerate(layout.shape())], dtype=dtype)
                      for layout in layouts)
    tensors = [leaf for leaf in _pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor)]
    if len(tensors) != len(layouts):
        raise ValueError(f'{len(layouts)} layouts are given for the {len(tensors)} inputs of the example')
    try:
        inspect.signature(module.forward).bind(*given)
    except TypeError as reason:
        raise ValueError(f'the number of layouts is {len(layouts)}, and forward({", ".join(names_of_inputs(module))}) of the '
                         f'{type(module).__name__} cannot be called with as many inputs ({reason}): give a list of layouts, one for each input, '
                         'or an example') from None
    for tensor, layout in zip(tensors, layouts):
        if tensor.dim() != layout.dimensions():
            raise ValueError(f'an input of the example has {tensor.dim()} dimensions, and its layout {layout.dimensions()}')
    extents = iter([layout.shape() for layout in layouts])
    free = _pytree.tree_map(lambda leaf: free_dimensions(leaf, next(extents)) if isinstance(leaf, torch.Tensor) else None, given)
    whole = tuple(torch.empty(layout.shape(), dtype=tensor.dtype) for tensor, layout in zip(tensors, layouts))
    shaped = iter(whole)
    return given, free, _pytree.tree_map(lambda leaf: next(shaped) if isinstance(leaf, torch.Tensor) else leaf, given)


def free_dimensions(tensor, extents):
    """The batch, and what differs from the layout."""
    return {d: torch.export.Dim.AUTO for d, n in enumerate(extents) if tensor.shape[d] > 1 and (d == 0 or tensor.shape[d] != n)}


def exported(module, examples, folder, training, keep, dtype):
    given, free, fixed = examples
    modes = [each.training for each in module.modules()]
    if training:
        check_modes(module, keep)
    followed = Followed(module, keep) if keep else contextlib.nullcontext
    try:
        program = program_of(module.eval(), given, free, fixed, followed)
        trained = program_of(module.train(), given, free, fixed, followed) if training else None
    finally:
        for each, mode in zip(module.modules(), modes):
            each.training = mode
    counts = set()
    if trained is not None:
        counts = compared(program, trained, type(module).__name__)
        program = trained
        set_to_inference(program)
    path, parts = os.path.join(folder, f'{type(module).__name__}.pt2'), None
    program._example_inputs = None  # a whole field
    drop_constants(program)
    if keep:
        followed.check()
        parts = cut(program, followed, dtype, folder, type(module).__name__)
    else:
        torch.export.save(program, path)
    outputs = [node.meta['val'] for node in list(program.graph.nodes)[-1].args[0]]
    ranks = [value.dim() if isinstance(value, torch.Tensor) else -1 for value in outputs]
    names = {**program.graph_signature.inputs_to_parameters, **program.graph_signature.inputs_to_buffers}
    used = {names[node.name] for node in program.graph.nodes if node.op == 'placeholder' and node.name in names and node.users}
    state = module.state_dict()
    if parts:
        used = set().union(*[step.names for step in parts.steps if isinstance(step, Piece)])
    complexes = {name: value for name, value in program.state_dict.items() if name in used and value.is_complex()}
    numbers = tuple(save_numbered(program, complexes, folder))
    if filters := filters_of(module):
        for name in os.listdir(folder):
            note_filters(filters, os.path.join(folder, name))
    return Graph(type(module).__name__, program.call_spec.out_spec, ranks, used, counts,
                 marked(given), [name for name, value in state.items() if isinstance(value, torch.Tensor)],
                 {name for name, value in state.items() if not isinstance(value, torch.Tensor)},
                 {name: tuple(value.shape) for name, value in complexes.items()}, path,
                 numbers, parts, dtype)


def save_numbered(program, complexes, folder):
    """Writes files of the graph with numbered elements in complex parameters, and returns their paths."""
    for digit, tensors in enumerate(numbered(complexes) if complexes else []):
        program.state_dict.update({name: torch.nn.Parameter(value) for name, value in tensors.items()})
        path = os.path.join(folder, f'numbered{digit}.pt2')
        torch.export.save(program, path)
        yield path


def program_of(module, given, free, fixed, followed):
    """Exports the module with a free batch, or, if its code fixes the batch, for the layouts'
    extents."""
    with torch.enable_grad(), silenced():  # without gradients some modules compute by other operators
        try:
            with followed():
                return torch.export.export(module, given, dynamic_shapes=as_arguments(module, free))
        except Exception:
            pass
        try:
            with followed():
                return torch.export.export(module, fixed)
        except Exception as reason:
            raise RuntimeError(refusal(module, fixed, reason)) from None


class WithoutGraphs:
    """A stream of text without the graphs that torch.export prints where it fails."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        return len(text) if text.lstrip().startswith('def forward(') else self.stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """Without what torch logs and prints of an export that fails, hundreds of lines before the error, unless TORCH_LOGS is set."""
    loggers = [] if 'TORCH_LOGS' in os.environ else [
        each for name, each in logging.root.manager.loggerDict.items()
        if f'{name}.'.startswith('torch.') and isinstance(each, logging.Logger) and not each.disabled]
    for each in loggers:
        each.disabled = True
    try:
        with contextlib.redirect_stderr(WithoutGraphs(sys.stderr) if loggers else sys.stderr):  # type: ignore[type-var]
            yield
    finally:
        for each in loggers:
            each.disabled = False


def refusal(module, given, reason):
    """Returns what an error of torch.export tells the user, whose frames are within torch, but for one."""
    shapes = ', '.join(str(list(leaf.shape)) for leaf in _pytree.tree_leaves(given) if isinstance(leaf, torch.Tensor))
    folders = tuple(os.path.dirname(file) + os.sep for file in (torch.__file__, __file__))
    frames = [each for each in traceback.extract_tb(reason.__traceback__) if not each.filename.startswith((*folders, '<'))]
    inside = [each for each in frames if each.name != '<module>' and each.line]
    place = f' in {inside[-1].filename}, line {inside[-1].lineno}, in {inside[-1].name}: {inside[-1].line}' if inside else ''
    advice = ('\nWhich operators follow depends on values there: the module inside that does so can stay torch\'s, distribute(..., keep=[...])'
              if 'DataDependent' in type(reason).__name__ else '')
    return (f'torch.export cannot follow the {type(module).__name__} for inputs of {shapes}{place}\n{type(reason).__name__}: '
            f'{str(reason).strip()}{advice}')


def layouts_in(given):
    """Returns the layouts of a layout, or of a list of them."""
    layouts = [given] if isinstance(given, Layout) else list(given) if isinstance(given, (list, tuple)) else []
    if not layouts or not all(isinstance(each, Layout) for each in layouts):
        raise TypeError(f'a tenon.Layout is expected, or a list of one for each input, not {given!r}: '
                        'tenon.Layout.sharded(grid, shape, "S2") makes one')
    return layouts


def names_of_inputs(module):
    """Returns the names of the arguments of forward()."""
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [name for name, each in inspect.signature(module.forward).parameters.items() if each.kind not in kinds]


def as_arguments(module, free):
    """torch.export requires the values of forward(self, *fields) as one argument."""
    kinds = [p.kind for p in inspect.signature(module.forward).parameters.values()]
    star = inspect.Parameter.VAR_POSITIONAL
    named = kinds.index(star) if star in kinds else len(free)
    return free[:named] + ((free[named:],) if free[named:] else ())
