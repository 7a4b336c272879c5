# SPDX-License-Identifier: BSD-2-Clause
"""The modes of a module of torch: the graphs of train() and eval() must differ in what Tenon has in
both modes only, batch normalisation and dropout."""
from __future__ import annotations

import functools
import re

import torch
from torch.utils import _pytree

# Files of torch.nn with modules that compute the same in both modes.
MODELESS = {f'torch.nn.modules.{name}' for name in ('container', 'conv', 'flatten', 'linear', 'normalization', 'padding', 'pixelshuffle',
                                                    'pooling', 'sparse', 'upsampling')}


def check_modes(module, keep):
    """Refuses children in another mode than the whole, such as a batch normalisation that is frozen
    by eval(), but for those that stay torch's."""
    for name, child in module.named_modules():
        if any(f'{name}.'.startswith(f'{each}.') for each in keep):
            continue
        if child.training != module.training and type(child).__module__ not in MODELESS:
            modes = ['eval()', 'train()']
            raise ValueError(
                f'{name}, a {type(child).__name__}, is in {modes[child.training]}, and the whole {type(module).__name__} in '
                f'{modes[module.training]}. A distributed module has one mode: call train() or eval() of the whole before, or '
                'distribute(..., training=False), which makes a module that behaves as in eval() in both modes')


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
    for program, mode in ((evaluated, False), (trained, True)):
        check_regions(program.graph, name)
        check_arguments(program, mode, name)
    buffers, counting = trained.graph_signature.inputs_to_buffers, counting_in(trained)
    same = compare(evaluated.graph, trained.graph, name, counting)
    mine, other = (list(program.graph.nodes)[-1] for program in (evaluated, trained))
    if evaluated.call_spec.out_spec != trained.call_spec.out_spec or not are_alike(mine, other, same):
        counts = [len(node.args[0]) for node in (other, mine)]
        raise ValueError(f'{name} returns in train() what it does not in eval(), such as further outputs for deep supervision: {counts[0]} and '
                         f'{counts[1]} outputs. distribute(..., training=False) makes a module that behaves as in eval() in both modes; or '
                         'let forward() return the same in both')
    return {buffers[node.name] for node in counting}


def compare(evaluated, trained, name, counting=frozenset()):
    """Compares two graphs, and those of their regions. Returns the nodes of the first one by those of the other."""
    ours = [node for node in evaluated.nodes if makes_tensors(node)]
    theirs = [node for node in trained.nodes if makes_tensors(node) and not counting & set(node.all_input_nodes)]
    same = dict(zip([node for node in trained.nodes if node.op == 'placeholder'],
                    [node for node in evaluated.nodes if node.op == 'placeholder']))
    for number, node in enumerate(theirs):
        if number < len(ours) and ours[number].target == node.target:
            for mine, other in zip(regions_of(ours[number]), regions_of(node)):
                compare_regions(mine, other, name)
                same[other] = mine
        if number == len(ours) or not are_alike(ours[number], node, same):
            raise ValueError(
                f'{name} computes in train() what it does not in eval(), beside batch normalisation and dropout: {described(node)}. '
                'distribute(..., training=False) makes a module that behaves as in eval() in both modes')
        same[node] = ours[number]
    if len(ours) > len(theirs):
        raise ValueError(f'{name} computes in eval() what it does not in train(): {described(ours[len(theirs)])}. '
                         'distribute(..., training=False) makes a module that behaves as in eval() in both modes')
    return same


def regions_of(node):
    """Returns the nodes that stand for the graphs of an operator: a region, as of torch.no_grad(), is an operator with one."""
    return [each for each in node.all_input_nodes if each.op == 'get_attr' and isinstance(graph_at(each), torch.fx.Graph)]


def graph_at(node):
    return getattr(functools.reduce(getattr, node.target.split('.'), node.graph.owning_module), 'graph', None)


def compare_regions(evaluated, trained, name):
    """Compares the graphs for which two nodes stand, with their results."""
    evaluated, trained = graph_at(evaluated), graph_at(trained)
    same = compare(evaluated, trained, name)
    mine, other = (list(graph.nodes)[-1] for graph in (evaluated, trained))
    if not are_alike(mine, other, same):
        raise ValueError(f'{name} has a region that returns in train() what it does not in eval(): {other.format_node()}. '
                         'distribute(..., training=False) makes a module that behaves as in eval() in both modes')


def check_regions(graph, name, kind=''):
    """Refuses batch normalisation, dropout and recurrent networks in a region, such as one of torch.no_grad(), which
    set_to_inference() does not enter."""
    for node in graph.nodes:
        if kind and name_of(node) in OF_TRAINING:
            raise ValueError(f'{name} has an operator that follows train() and eval() in a region, {kind}: {described(node)}. '
                             'Let torch.no_grad() or torch.autocast() begin after it, take the detach() of its result, or '
                             'distribute(..., training=False), which makes a module that behaves as in eval() in both modes')
        for region in regions_of(node):
            check_regions(graph_at(region), name, str(node.target))


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
    return node.op == 'call_function' and source(node) is node and (
        any(isinstance(value, torch.Tensor) for value in _pytree.tree_leaves(node.meta.get('val'))) or bool(regions_of(node)))


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
    if schema is None and len(evaluated.args) < len(trained.args):
        return False
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
