# SPDX-License-Identifier: BSD-2-Clause
"""Tenon's operators and layers in PyTorch: halo exchange, repartition, broadcast, sum-reduction and whole layers as
functions of torch.autograd, on tensors of torch without a copy (Hewett and Grady 2020).

A tensor of torch contains this rank's block of a distributed tensor, with the extents of its layout's box, halo included.
The gradient of an output is the cotangent in the dual layout: the gradient with respect to a copy (B) is one contribution
(P) to the gradient with respect to the copied tensor. A loss is therefore computed on one rank (R), or from blocks (S) and
added by total(). If every copy computed it, it would count once per copy.

Every call is collective: all ranks run the same forward and backward passes in the same order."""
from . import nn
from .exports import distribute
from .functions import (Operator, allgather, allreduce, block, broadcast, gather, halo_exchange, reducescatter, repartition, scatter,
                        sum_reduce, whole)
from .joins import Sequential, cat, cat_layout, replicated
from .layers import Module
from .models import difference, load
from .networks import clip_grad_norm_, gather_state_dict, mean, scatter_state_dict, sum_gradients, synchronize, total

__all__ = ['Module', 'Operator', 'Sequential', 'allgather', 'allreduce', 'block', 'broadcast', 'cat', 'cat_layout', 'clip_grad_norm_',
           'difference', 'distribute', 'gather', 'gather_state_dict', 'halo_exchange', 'load', 'mean', 'nn', 'reducescatter',
           'repartition', 'replicated', 'scatter', 'scatter_state_dict', 'sum_gradients', 'sum_reduce', 'synchronize', 'total', 'whole']
