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

from .functions import shown

# Types of layers that are linear or affine in their input and, if they have parameters, also in
# these.
LINEAR = {'adaptiveaveragepooling', 'affine', 'averagepooling', 'channelaffine', 'conv', 'crop', 'flatten', 'globalaveragepooling',
          'identity', 'pad', 'pixelshuffle', 'resample', 'reshape', 'scale', 'slice', 'transpose', 'transposedconv'}
# Types of layers that are piecewise linear.
PIECEWISE = {'abs', 'clamp', 'leakyrelu', 'maxpooling', 'relu'}


class Evaluation:
    """One evaluation of a layer whose gradient torch can request."""
    __slots__ = ('__weakref__', 'ports', 'training')

    def __init__(self, training, ports=None):
        self.training, self.ports = training, ports


def has_second(module):
    return len(module.inputs) == len(module.outputs) == 1 and module.layer.type() in LINEAR | PIECEWISE


class ApplyLayer(torch.autograd.Function):
    @staticmethod
    def forward(ctx, module, *given):
        ctx.module, ctx.evaluation = module, Evaluation(module.training)
        ctx.save_for_backward(*given)  # inputs and parameters
        made = module.run(given[:len(module.inputs)], ctx.evaluation if any(ctx.needs_input_grad) else None)
        return made if len(made) > 1 else made[0]

    @staticmethod
    def backward(ctx, *dy):
        module, given = ctx.module, ctx.saved_tensors  # torch checks that they were not modified
                                                       # since
        wanted = ctx.needs_input_grad[1:]
        if not torch.is_grad_enabled():
            return None, *adjoint(module, ctx.evaluation, wanted, dy, given)
        function = module.local_function()  # create_graph=True
        if function is not None:
            return None, *torch.autograd.grad(function(given[0]), given[0], dy[0], create_graph=True)
        return None, *ApplyAdjoint.apply(module, ctx.evaluation, wanted, *dy, *given)


def adjoint(module, evaluation, wanted, dy, given):
    count = len(module.inputs)
    dx, gradients = module.run_adjoint(evaluation, given[:count], dy, wanted[:count], wanted[count:])
    return *dx, *gradients


class ApplyAdjoint(torch.autograd.Function):
    """The gradients of a layer's inputs and parameters as a function of the gradients of its
    outputs, the inputs and the parameters."""

    @staticmethod
    def forward(ctx, module, evaluation, wanted, *given):
        ctx.module = module
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*given)
        count = len(module.outputs)
        made = adjoint(module, evaluation, wanted, given[:count], given[count:])
        ctx.mode = evaluation.training, evaluation.ports
        return made

    @staticmethod
    def backward(ctx, *directions):
        module, count = ctx.module, len(ctx.module.inputs)
        if all(direction is None for direction in directions):
            return (None,) * len(ctx.needs_input_grad)
        if any(direction is not None for direction in directions[count:]):
            raise RuntimeError(f'the gradients of the parameters of {named(module)} are differentiated again (create_graph=True), and '
                               'Tenon has second derivatives of layers only by way of the gradients of their inputs')
        if not has_second(module):
            raise RuntimeError(
                f'the gradient of {named(module)} is differentiated again (create_graph=True), and Tenon has no second derivative of it. '
                'It has those of operators, convolutions, Linear, pooling, padding, Upsample, PixelShuffle, Flatten and functions of each '
                'element in tenon.torch.nn; a container of Tenon can be a network of these')
        u, (dy, x, *parameters) = directions[0], ctx.saved_tensors
        wanted = ctx.needs_input_grad[3:]
        of_dy = ApplyTangent.apply(module, ctx.mode, u, x, *parameters) if wanted[0] else None
        return None, None, None, of_dy, None, *mixed(module, ctx.mode, wanted[2:], dy, u, parameters)


class ApplyTangent(torch.autograd.Function):
    """The tangent of a (piecewise) linear layer with respect to its input."""

    @staticmethod
    def forward(ctx, module, mode, u, x, *parameters):
        ctx.module, ctx.mode = module, mode
        ctx.save_for_backward(u, x, *parameters)
        return module.run_tangent(Evaluation(*mode), x, u)

    @staticmethod
    def backward(ctx, dy):
        module, (u, x, *parameters) = ctx.module, ctx.saved_tensors
        wanted = ctx.needs_input_grad[2:]
        of_u = None
        if wanted[0]:
            only_dx = (True, *[False] * len(parameters))
            of_u = ApplyAdjoint.apply(module, Evaluation(*ctx.mode), only_dx, dy, x, *parameters)[0]
        return None, None, of_u, None, *mixed(module, ctx.mode, wanted[2:], dy, u, parameters)


def mixed(module, mode, wanted, dy, u, parameters):
    """Returns the derivatives of <dy, J u> with respect to the parameters."""
    if not any(wanted):
        return (None,) * len(parameters)
    at_u, at_0 = (ApplyAdjoint.apply(module, Evaluation(*mode), (False, *wanted), dy, x, *parameters)[1:]
                  for x in (u, torch.zeros_like(u)))
    return [None if a is None else a - b for a, b in zip(at_u, at_0)]


def named(module):
    return f'{type(module).__name__} (a layer "{module.layer.type()}", {shown(module.input_layouts)} -> {shown(module.output_layouts)})'
