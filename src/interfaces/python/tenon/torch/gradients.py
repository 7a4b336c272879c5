# SPDX-License-Identifier: BSD-2-Clause
"""Layers as functions of torch.autograd, and their second derivatives.

A layer y = f(x, p) has the adjoint (dx, dp) = J(x, p)* dy. It is linear in dy, and its
derivative with respect to dy is the tangent J. Its derivatives with respect to x and p are
second derivatives of f, which Tenon does not have in general. They are 0 if f is piecewise
linear. If f is linear in x and in p, such as a convolution, they are the adjoint at another
input: the derivative of <u, dx> with respect to p is dp(u) - dp(0), where the second term is
that of a bias. Elementwise functions use the derivatives of torch on each rank's block. All
derivatives are such functions again, so third derivatives exist as well; a missing one is an
error."""
from __future__ import annotations

import torch

from .functions import also_direct, call, is_forward, is_transforming, refuse_vmap, shown

# Types of layers that are linear or affine in their input and, if they have parameters, also in
# these.
LINEAR = {'adaptiveaveragepooling', 'affine', 'averagepooling', 'channelaffine', 'conv', 'crop', 'flatten', 'globalaveragepooling',
          'identity', 'pad', 'pixelshuffle', 'resample', 'reshape', 'scale', 'slice', 'transpose', 'transposedconv'}
# Types of layers that are piecewise linear.
PIECEWISE = {'abs', 'clamp', 'leakyrelu', 'maxpooling', 'relu'}


class Evaluation:
    """One evaluation of a layer whose gradient or tangent torch can request."""
    __slots__ = ('__weakref__', 'ports', 'training')

    def __init__(self, training, ports=None):
        self.training, self.ports = training, ports


def has_second(module):
    return len(module.inputs) == len(module.outputs) == 1 and module.layer.type() in LINEAR | PIECEWISE


@also_direct
class ApplyLayer(torch.autograd.Function):
    @staticmethod
    def forward(module, evaluation, *given):
        made = module.run(given[:len(module.inputs)], evaluation)
        return made if len(made) > 1 else made[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.module, ctx.evaluation, *given = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*given)  # inputs and parameters
        if is_forward():
            ctx.save_for_forward(*given)

    @staticmethod
    def backward(ctx, *dy):
        module, given = ctx.module, ctx.saved_tensors  # torch checks that they were not modified
                                                       # since
        wanted = ctx.needs_input_grad[2:]
        dy = [each if each is not None else port.cotangent.new(given[0]).zero_() for port, each in zip(ctx.evaluation.ports.outputs, dy)]
        if not torch.is_grad_enabled():
            return None, None, *adjoint(module, ctx.evaluation, wanted, dy, given)
        function = module.local_function()  # create_graph=True
        if function is not None and not is_transforming():
            return None, None, *torch.autograd.grad(function(given[0]), given[0], dy[0], create_graph=True)
        return None, None, *call(ApplyAdjoint, module, ctx.evaluation, wanted, *dy, *given)

    @staticmethod
    def jvp(ctx, _module, _evaluation, *directions):
        has = tuple(direction is not None for direction in directions)
        return call(ApplyTangent, ctx.module, ctx.evaluation, has, *[each for each in directions if each is not None], *ctx.saved_tensors)

    @staticmethod
    def vmap(info, in_dims, module, *_):
        refuse_vmap(named(module))


def adjoint(module, evaluation, wanted, dy, given):
    count = len(module.inputs)
    dx, gradients = module.run_adjoint(evaluation, given[:count], dy, wanted[:count], wanted[count:])
    return *dx, *gradients


@also_direct
class ApplyAdjoint(torch.autograd.Function):
    """The gradients of a layer's inputs and parameters as a function of the gradients of its
    outputs, the inputs and the parameters."""

    @staticmethod
    def forward(module, evaluation, wanted, *given):
        count = len(module.outputs)
        return adjoint(module, evaluation, wanted, given[:count], given[count:])

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.module, evaluation, _, *given = inputs
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*given)
        ctx.mode = evaluation.training, evaluation.ports

    @staticmethod
    def backward(ctx, *directions):
        module, count = ctx.module, len(ctx.module.inputs)
        if all(direction is None for direction in directions):
            return (None,) * len(ctx.needs_input_grad)
        if any(direction is not None for direction in directions[count:]):
            raise RuntimeError(f'the gradients of the parameters of {named(module)} are differentiated again (create_graph=True), and '
                               'Tenon has second derivatives of layers only by way of the gradients of their inputs')
        require_second(module)
        u, (dy, x, *parameters) = directions[0], ctx.saved_tensors
        wanted = ctx.needs_input_grad[3:]
        of_dy = call(ApplyTangent, module, Evaluation(*ctx.mode), only_first(parameters), u, x, *parameters) if wanted[0] else None
        return None, None, None, of_dy, None, *mixed(module, ctx.mode, wanted[2:], dy, u, parameters)


def require_second(module):
    if not has_second(module):
        raise RuntimeError(
            f'the gradient of {named(module)} is differentiated again (create_graph=True), and Tenon has no second derivative of it. '
            'It has those of operators, convolutions, Linear, pooling, padding, Upsample, PixelShuffle, Flatten and functions of each '
            'element in tenon.torch.nn; a container of Tenon can be a network of these')


def only_first(parameters):
    """The directions of a tangent in the first input alone."""
    return (True, *[False] * len(parameters))


@also_direct
class ApplyTangent(torch.autograd.Function):
    """The tangent of a layer. `has` tells which inputs and parameters have directions, which are the
    first of the tensors; the inputs and parameters themselves are the others."""

    @staticmethod
    def forward(module, evaluation, has, *tensors):
        given = tensors[sum(has):]
        directions = iter(tensors)
        made = module.run_tangent(evaluation, given[:len(module.inputs)], [next(directions) if each else None for each in has])
        return made if len(made) > 1 else made[0]

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.module, evaluation, ctx.has, *tensors = inputs
        ctx.mode = evaluation.training, evaluation.ports
        ctx.save_for_backward(*tensors)
        ctx.set_materialize_grads(False)

    @staticmethod
    def backward(ctx, *dy):
        module, wanted = ctx.module, ctx.needs_input_grad[3:]
        if all(each is None for each in dy):
            return (None,) * len(ctx.needs_input_grad)
        require_second(module)
        if any(ctx.has[1:]):
            raise RuntimeError(f'the tangent of {named(module)} in the direction of parameters is differentiated again, and Tenon has second '
                               'derivatives of layers only by way of their inputs')
        u, x, *parameters = ctx.saved_tensors
        of_u = None
        if wanted[0]:
            of_u = call(ApplyAdjoint, module, Evaluation(*ctx.mode), only_first(parameters), *dy, x, *parameters)[0]
        return None, None, None, of_u, None, *mixed(module, ctx.mode, wanted[2:], dy[0], u, parameters)


def mixed(module, mode, wanted, dy, u, parameters):
    """Returns the derivatives of <dy, J u> with respect to the parameters."""
    if not any(wanted):
        return (None,) * len(parameters)
    at_u, at_0 = (call(ApplyAdjoint, module, Evaluation(*mode), (False, *wanted), dy, x, *parameters)[1:]
                  for x in (u, torch.zeros_like(u)))
    return [None if a is None else a - b for a, b in zip(at_u, at_0)]


def named(module):
    return f'{type(module).__name__} (a layer "{module.layer.type()}", {shown(module.input_layouts)} -> {shown(module.output_layouts)})'
