# SPDX-License-Identifier: BSD-2-Clause
"""Unchanged modules of torch on layouts of Tenon.

The first rank exports the module by torch.export to a temporary file, which Tenon imports on all
ranks. The graphs of train() and eval() must differ in batch normalisation and dropout only, whose
layers Tenon has for both modes. The file has that of train(), in which y and dropout(y) are two
tensors, with these operators in inference, as networks are in files."""
from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import re
import shutil
import tempfile
import weakref
from typing import Any, Sequence

import torch
from mpi4py import MPI
from torch.utils import _pytree

from ..calls import Layer, Layout
from .complexes import numbered
from .copies import raise_on_all
from .functions import data_type_of
from .parts import Distributed
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
    arguments: Any           # of the module, with torch.Tensor in place of its tensors; on the first rank
    names: list[str]         # of the tensors of the state_dict(), in its order
    others: set[str]         # of its other entries, which modules can add
    complexes: dict[str, tuple[int, ...]]  # the shapes of complex parameters that it reads
    path: str = ''
    numbered: tuple[str, ...] = ()  # files of complexes.py


def distribute(module: torch.nn.Module, layout: Layout | Sequence[Layout], example: Any = None, *, training: bool = True,
               proof: bool = False, depth: int = 1, seed: int | None = None, **settings: Any) -> Distributed:
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
    the source. Collective on the layouts."""
    layouts = [layout] if isinstance(layout, Layout) else list(layout)
    comm = layouts[0].comm()
    dtype = next((p.dtype for p in module.parameters() if p.is_floating_point()), torch.get_default_dtype())
    type_of_elements = data_type_of(dtype)
    graph = exported_on_first(comm, module, layouts, example, dtype, training)
    drawn = seed if seed is not None else drawn_seed(comm)

    def make(path=graph.path):
        layer = Layer.from_model(comm, path)
        layer.set_data_type(type_of_elements)
        return layer.set(seed=drawn, model_test='off', model_training=training, **settings)
    made = Distributed(make, layouts, module, graph, depth, settings if training else {**settings, 'training': False})
    made.train(module.training)
    if proof:
        prove(made, module)
    return made


def exported_on_first(comm, module, layouts, example, dtype, training):
    """Exports the module on the first rank, and returns the graph, whose file all ranks can read.
    Collective."""
    graph, packed, folder, error = None, None, None, None
    if comm.rank == 0:
        try:
            folder = tempfile.mkdtemp(prefix='tenon-')
            graph = exported(module, examples_for(module, layouts, example, dtype), folder, training)
            packed = pickle.dumps(dataclasses.replace(graph, arguments=None))
        except Exception as reason:
            if folder is not None:
                shutil.rmtree(folder, ignore_errors=True)
            error = reason
    raise_on_all(comm, error, 'the module was not exported')
    packed = comm.bcast(packed)
    graph = graph if graph is not None else pickle.loads(packed)
    for path in (graph.path, *graph.numbered):
        if spread_file(comm, path):
            weakref.finalize(graph, shutil.rmtree, os.path.dirname(path), True)
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


def exported(module, examples, folder, training):
    given, free, fixed = examples
    modes = [each.training for each in module.modules()]
    if training:
        check_modes(module)
    try:
        program = program_of(module.eval(), given, free, fixed)
        trained = program_of(module.train(), given, free, fixed) if training else None
    finally:
        for each, mode in zip(module.modules(), modes):
            each.training = mode
    counts = set()
    if trained is not None:
        counts = compared(program, trained, type(module).__name__)
        program = trained
        set_to_inference(program)
    path = os.path.join(folder, f'{type(module).__name__}.pt2')
    program._example_inputs = None  # a whole field
    torch.export.save(program, path)
    outputs = [node.meta['val'] for node in list(program.graph.nodes)[-1].args[0]]
    ranks = [value.dim() if isinstance(value, torch.Tensor) else -1 for value in outputs]
    names = {**program.graph_signature.inputs_to_parameters, **program.graph_signature.inputs_to_buffers}
    used = {names[node.name] for node in program.graph.nodes if node.op == 'placeholder' and node.name in names and node.users}
    state = module.state_dict()
    complexes = {name: value for name, value in program.state_dict.items() if name in used and value.is_complex()}
    return Graph(type(module).__name__, program.call_spec.out_spec, ranks, used, counts,
                 _pytree.tree_map(lambda leaf: torch.Tensor if isinstance(leaf, torch.Tensor) else leaf, given),
                 [name for name, value in state.items() if isinstance(value, torch.Tensor)],
                 {name for name, value in state.items() if not isinstance(value, torch.Tensor)},
                 {name: tuple(value.shape) for name, value in complexes.items()}, path,
                 tuple(save_numbered(program, complexes, folder)))


def save_numbered(program, complexes, folder):
    """Writes files of the graph with numbered elements in complex parameters, and returns their paths."""
    for digit, tensors in enumerate(numbered(complexes) if complexes else []):
        program.state_dict.update({name: torch.nn.Parameter(value) for name, value in tensors.items()})
        path = os.path.join(folder, f'numbered{digit}.pt2')
        torch.export.save(program, path)
        yield path


# Files of torch.nn with modules that compute the same in both modes.
MODELESS = {f'torch.nn.modules.{name}' for name in ('container', 'conv', 'flatten', 'linear', 'normalization', 'padding', 'pixelshuffle',
                                                    'pooling', 'sparse', 'upsampling')}


def check_modes(module):
    """Refuses children in another mode than the whole, such as a batch normalisation that is frozen
    by eval()."""
    for name, child in module.named_modules():
        if child.training != module.training and type(child).__module__ not in MODELESS:
            modes = ['eval()', 'train()']
            raise ValueError(
                f'{name}, a {type(child).__name__}, is in {modes[child.training]}, and the whole {type(module).__name__} in '
                f'{modes[module.training]}. A distributed module has one mode: call train() or eval() of the whole before, or '
                'distribute(..., training=False), which makes a module that behaves as in eval() in both modes')


def program_of(module, given, free, fixed):
    """Exports the module with a free batch, or, if its code fixes the batch, for the layouts'
    extents."""
    with torch.enable_grad():  # without gradients some modules compute by other operators
        try:
            return torch.export.export(module, given, dynamic_shapes=as_arguments(module, free))
        except Exception:
            return torch.export.export(module, fixed)


def as_arguments(module, free):
    """torch.export requires the values of forward(self, *fields) as one argument."""
    import inspect
    kinds = [p.kind for p in inspect.signature(module.forward).parameters.values()]
    star = inspect.Parameter.VAR_POSITIONAL
    named = kinds.index(star) if star in kinds else len(free)
    return free[:named] + ((free[named:],) if free[named:] else ())


# Arguments by which operators know that they are trained, for which Tenon has both modes; for
# recurrent networks these are the same without dropout.
DROPOUTS = {f'{kind}dropout{end}': 'train' for kind in ('', 'alpha_', 'feature_', 'feature_alpha_') for end in ('', '_')}
RECURRENT = {'lstm': 'train', 'gru': 'train', 'rnn_tanh': 'train', 'rnn_relu': 'train'}
OF_TRAINING = {'batch_norm': 'training', **DROPOUTS, **RECURRENT}


def name_of(node):
    """Returns the name of an operator of PyTorch without its namespace and overload."""
    return getattr(getattr(node.target, '_schema', None), 'name', '').rpartition('::')[2]


def counting_in(program):
    """Returns the placeholders of buffers that count batches."""
    buffers = program.graph_signature.inputs_to_buffers
    return {node for node in program.graph.nodes if node.op == 'placeholder' and
            buffers.get(node.name, '').rpartition('.')[2] == 'num_batches_tracked' and node.users}


def set_to_inference(program):
    """Sets batch normalisation and dropout in a graph of train() to inference, and lets it count no
    batches. Batch normalisation without running statistics is the same in both modes."""
    counting = counting_in(program)
    for node in list(program.graph.nodes):
        if counting & set(node.all_input_nodes):
            program.graph.erase_node(node)
        elif name_of(node) in OF_TRAINING and arguments_of(node).get('running_mean', node) is not None:
            place = [argument.name for argument in node.target._schema.arguments].index(OF_TRAINING[name_of(node)])
            node.args = (*node.args[:place], False, *node.args[place + 1:])
    program.graph_module.recompile()


def compared(evaluated, trained, name):
    """Compares the graphs of both modes, and returns the names of the buffers that count batches."""
    check_arguments(evaluated, False, name)
    check_arguments(trained, True, name)
    buffers, counting = trained.graph_signature.inputs_to_buffers, counting_in(trained)
    ours = [node for node in evaluated.graph.nodes if makes_tensors(node)]
    theirs = [node for node in trained.graph.nodes if makes_tensors(node) and not counting & set(node.all_input_nodes)]
    same = dict(zip([node for node in trained.graph.nodes if node.op == 'placeholder'],
                    [node for node in evaluated.graph.nodes if node.op == 'placeholder']))
    for number, node in enumerate(theirs):
        if number == len(ours) or not are_alike(ours[number], node, same):
            raise ValueError(
                f'{name} computes in train() what it does not in eval(), beside batch normalisation and dropout: {described(node)}. '
                'distribute(..., training=False) makes a module that behaves as in eval() in both modes')
        same[node] = ours[number]
    if len(ours) > len(theirs):
        raise ValueError(f'{name} computes in eval() what it does not in train(): {described(ours[len(theirs)])}. '
                         'distribute(..., training=False) makes a module that behaves as in eval() in both modes')
    return {buffers[node.name] for node in counting}


def check_arguments(program, mode, name):
    """Refuses batch normalisation and dropout that do not follow the mode: Tenon would train them in
    train(), and not in eval()."""
    for node in program.graph.nodes:
        kind = name_of(node)
        if kind not in OF_TRAINING or kind in RECURRENT:
            continue
        values = arguments_of(node)
        has_effect = values['p'] != 0 if kind in DROPOUTS else values['running_mean'] is not None
        if has_effect and values[OF_TRAINING[kind]] != mode:
            what = 'is not trained in train(), as if it were frozen' if mode else 'is trained in eval()'
            raise ValueError(f'{name} has an operator that {what}: {described(node)}. Batch normalisation and dropout follow train() and '
                             'eval() of the whole, ' + ('or distribute(..., training=False) makes a module that behaves as in eval() in '
                                                        'both modes' if mode else 'as torch.nn.Dropout does, and dropout(x, p, self.training)'))


def arguments_of(node):
    """Returns the arguments of an operator by their names, with its defaults."""
    schema = node.target._schema.arguments
    return {**{each.name: each.default_value for each in schema}, **dict(zip([each.name for each in schema], node.args)), **node.kwargs}


def makes_tensors(node):
    """Whether a node computes tensors; others compute extents, in an order that can differ."""
    return (node.op == 'call_function' and source(node) is node
            and any(isinstance(value, torch.Tensor) for value in _pytree.tree_leaves(node.meta.get('val'))))


def source(node):
    """Returns the node without dropout, which returns its argument in eval(), and slices of all
    elements, in which exports differ."""
    while name_of(node) in DROPOUTS or node.target is torch.ops.aten.slice.Tensor and node.args[2:] == (0, 2**63 - 1):
        node = node.args[0]
    return node


def are_alike(evaluated, trained, same):
    if evaluated.target != trained.target or len(evaluated.args) > len(trained.args):
        return False
    schema = getattr(trained.target, '_schema', None)
    names = [argument.name for argument in schema.arguments] if schema else []
    allowed = OF_TRAINING.get(name_of(trained))
    if name_of(trained) in RECURRENT and dict(zip(names, trained.args)).get('dropout', 0) != 0:
        return False
    extent = object()

    def known(node):
        node = source(node)
        return node if node.op != 'call_function' or makes_tensors(node) else extent
    given, settings = torch.fx.node.map_arg((trained.args, trained.kwargs), lambda node: same.get(source(node), known(node)))
    wanted, others = torch.fx.node.map_arg((tuple(filled(evaluated, schema, len(trained.args))), evaluated.kwargs), known)

    def agree(a, b):
        pairs = list(zip(_pytree.tree_leaves(a), _pytree.tree_leaves(b), strict=True))
        return all(x is y or x == y or extent in (x, y) and isinstance(y if x is extent else x, int) for x, y in pairs)
    try:
        return agree(settings, others) and all(number < len(names) and names[number] == allowed or agree(a, b)
                                               for number, (a, b) in enumerate(zip(wanted, given)))
    except ValueError:
        return False  # lists of different lengths


def filled(node, schema, count):
    """Returns the arguments of a node, with defaults for those that another call has and this one
    has not."""
    defaults = [argument.default_value for argument in schema.arguments] if schema else []
    return [*node.args, *defaults[len(node.args):count]]


def described(node):
    found = re.findall(r'File "([^"]+)", line (\d+), in ([^\n]+)(?:\n([^\n]*))?', node.meta.get('stack_trace') or '')
    if not found:
        return str(node.target)
    file, line, function, text = next((each for each in reversed(found) if '/torch/' not in each[0]), found[-1])
    return f'{node.target}, {file}, line {line}, in {function}: {text.strip()}'
