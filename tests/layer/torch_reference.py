#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: torch_reference.py FOLDER
Computes with PyTorch on the CPU the cases that torch_cases_test.cpp has written into FOLDER: the output, and the gradients
by autograd. Compares them with the results in FOLDER, with a tolerance of 1e-12 in float64 and 1e-5 in float32, relative to the
largest element."""
import re
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

POINTWISE = {
    'relu': lambda x, s: torch.relu(x), 'tanh': lambda x, s: torch.tanh(x), 'sigmoid': lambda x, s: torch.sigmoid(x),
    'gelu': lambda x, s: F.gelu(x), 'gelutanh': lambda x, s: F.gelu(x, approximate='tanh'),
    'silu': lambda x, s: F.silu(x), 'softplus': lambda x, s: F.softplus(x), 'exp': lambda x, s: torch.exp(x),
    'sine': lambda x, s: torch.sin(x), 'identity': lambda x, s: x * 1, 'stopgradient': lambda x, s: x.detach() + 0 * x,
    'leakyrelu': lambda x, s: F.leaky_relu(x, float(s['slope'])), 'elu': lambda x, s: F.elu(x, float(s['alpha'])),
    'scale': lambda x, s: x * float(s['factor']) + float(s['shift']), 'cosine': lambda x, s: torch.cos(x),
    'clamp': lambda x, s: torch.clamp(x, float(s['low']), float(s['high'])), 'abs': lambda x, s: torch.abs(x),
    'sqrt': lambda x, s: torch.sqrt(x), 'reciprocal': lambda x, s: torch.reciprocal(x),
    'power': lambda x, s: torch.pow(x, float(s['exponent'])), 'log': lambda x, s: torch.log(x),
    'softsign': lambda x, s: F.softsign(x), 'mish': lambda x, s: F.mish(x), 'hardswish': lambda x, s: F.hardswish(x),
    'selu': lambda x, s: F.selu(x), 'celu': lambda x, s: F.celu(x, float(s['alpha'])),
    **{name: lambda x, s, name=name: getattr(torch, name)(x) for name in (
        'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'asinh', 'acosh', 'atanh', 'erf', 'floor', 'ceil', 'round')},
}
TOLERANCE = {'float32': 1e-5, 'float64': 1e-12}


class NotComparable(Exception):
    """The case has no counterpart in PyTorch."""


def numbers(settings, name, count=None, default=0):
    """The integers of a setting. With a count, one number is repeated: for example, padding 1 is
    [1, 1] for two spatial dimensions."""
    given = [int(n) for n in settings.get(name, str(default)).split(',')]
    return given * count if count and len(given) == 1 else given


def source(at, extent, below, above):
    """The element that an index of a padded dimension reads, and its sign (0: the value is zero), by the boundary mode of
    the side beyond which the index is. The index is reflected at both sides until it is inside."""
    sign, mode = 1, below if at < 0 else above
    while not 0 <= at < extent:
        if mode in ('none', 'zero'):
            return 0, 0
        if mode == 'periodic':
            at %= extent
        elif mode == 'replicate':
            at = 0 if at < 0 else extent - 1
        elif mode in ('symmetric', 'odd'):
            at = -1 - at if at < 0 else 2 * extent - 1 - at
        elif mode in ('reflect', 'odd_point') and extent > 1:
            at = -at if at < 0 else 2 * (extent - 1) - at
        elif mode == 'reflect':
            at = 0
        else:
            raise NotComparable(f'boundary {mode}')
        sign *= -1 if mode in ('odd', 'odd_point') else 1
    return at, sign


def modes_of(settings, channel, spatial):
    """The modes (below, above) of each spatial dimension for a channel. The setting has one list for each channel, or a list
    for all channels and further ones for some, written as "c=" or "begin:end="."""
    lists = settings.get('boundary', 'none').split(';')
    chosen = lists[0]
    if len(lists) > 1 and not any('=' in given for given in lists):
        chosen = lists[channel]
    for given in lists:
        channels, is_named, modes = given.rpartition('=')
        if is_named:
            begin, _, end = channels.partition(':')
            if int(begin) <= channel < (int(end) if end else int(begin) + 1):
                chosen = modes
    modes = chosen.split(',')
    modes = modes * spatial if len(modes) == 1 else modes
    return [mode.split('/') if '/' in mode else (mode, mode) for mode in modes]


def modes_anywhere(settings):
    """The set of modes that the setting has for any channel, dimension or side."""
    return set(re.sub(r'[0-9:]+=', '', settings.get('boundary', 'none')).replace('/', ',').replace(';', ',').split(','))


def padded(x, settings, low, high):
    """The tensor with low[s] elements more below spatial dimension s, and high[s] above it, by the
    modes of each channel. Convolutions and poolings then need no padding of their own."""
    spatial = x.dim() - 2
    channels = []
    for channel in range(x.shape[1]):
        y = x[:, channel:channel + 1]
        for s, (below, above) in enumerate(modes_of(settings, channel, spatial)):
            found = [source(at, x.shape[s + 2], below, above) for at in range(-low[s], x.shape[s + 2] + high[s])]
            shape = [1] * x.dim()
            shape[s + 2] = len(found)
            y = y.index_select(s + 2, torch.tensor([at for at, _ in found], dtype=torch.long))
            y = y * torch.tensor([float(sign) for _, sign in found], dtype=x.dtype).reshape(shape)
        channels.append(y)
    return torch.cat(channels, 1)


def paddings(settings, spatial):
    low = numbers(settings, 'padding', spatial)
    return low, numbers(settings, 'padding_high', spatial) if 'padding_high' in settings else low


def convolution(x, p, s):
    spatial = x.dim() - 2
    low, high = paddings(s, spatial)
    call = (F.conv1d, F.conv2d, F.conv3d)[spatial - 1]
    return call(padded(x, s, low, high), p['weight'], p.get('bias'), stride=numbers(s, 'stride', spatial),
                dilation=numbers(s, 'dilation', spatial), groups=int(s['groups']))


def transposed(x, p, s):
    """The transposed convolution, computed as the gradient of the convolution whose adjoint it is."""
    spatial = x.dim() - 2
    stride, dilation = numbers(s, 'stride', spatial), numbers(s, 'dilation', spatial)
    more, kernel = numbers(s, 'output_padding', spatial), p['weight'].shape[2:]
    low, high = paddings(s, spatial)
    shape = [x.shape[0], int(s['out_channels'])]
    for d in range(spatial):
        shape.append((x.shape[d + 2] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1 + more[d] - low[d] - high[d])
    field = torch.zeros(shape, dtype=x.dtype, requires_grad=True)
    there = convolution(field, {'weight': p['weight']}, s)
    if there.shape != x.shape:
        raise NotComparable('shapes of the convolution')
    (y,) = torch.autograd.grad(there, field, x, create_graph=True)
    return y if 'bias' not in p else y + p['bias'].reshape([1, -1] + [1] * spatial)


def pooling(x, s, maximum):
    spatial = x.dim() - 2
    low, high = paddings(s, spatial)
    modes = modes_anywhere(s)
    kernel = numbers(s, 'kernel', spatial)
    stride = numbers(s, 'stride', spatial) if 'stride' in s else kernel
    dilation = numbers(s, 'dilation', spatial)
    if s.get('ceil') == 'true' or modes & {'values'}:
        raise NotComparable('ceil or values')
    plain = modes == {'none'}
    # counts is 1 in the domain and 0 in padding with zeros; summed over a window, it is the number
    # of elements of the domain, by which an average without padding is divided.
    windows, counts = padded(x, s, low, high), padded(torch.ones_like(x), s, low, high)
    if maximum and plain:  # what is padded is no candidate
        windows = torch.where(counts > 0, windows, torch.full_like(windows, -torch.inf))
    elif not plain and 'none' in modes:
        raise NotComparable('mixed padding')
    for d in range(spatial):  # one dimension after another: gathers its windows and reduces them
        reach = (kernel[d] - 1) * dilation[d] + 1
        at = [[o * stride[d] + k * dilation[d] for k in range(kernel[d])]
              for o in range((windows.shape[d + 2] - reach) // stride[d] + 1)]
        index = torch.tensor(at, dtype=torch.long)

        def gathered(z):
            z = z.index_select(d + 2, index.reshape(-1))
            return z.reshape(z.shape[:d + 2] + index.shape + z.shape[d + 3:])
        if maximum:
            windows = gathered(windows).amax(d + 3) if not windows.requires_grad else gathered(windows).max(d + 3)[0]
        else:
            windows, counts = gathered(windows).sum(d + 3), gathered(counts).sum(d + 3)
    if maximum:
        return windows
    taps = float(np.prod(kernel))
    return windows / (taps if s.get('include_padding') == 'true' or not plain else counts)


def resampled(x, s):
    spatial = x.dim() - 2
    size = numbers(s, 'size', spatial) if 'size' in s else [
        n * f for n, f in zip(x.shape[2:], numbers(s, 'scale_factor', spatial))]
    if s['method'] == 'nearest':
        return F.interpolate(x, size=size, mode='nearest')
    return F.interpolate(x, size=size, mode=('linear', 'bilinear', 'trilinear')[spatial - 1],
                         align_corners=s['align_corners'] == 'true')


def spectral(x, p, s):
    """Transforms, multiplies the lowest modes by the weights, and transforms back, with zeros as
    the other modes. The last dimension has modes 0..m-1 only, since the transform of real values
    has no negative ones there; the others have 0..m-1, then -m..-1, which the transform has last.
    """
    modes = numbers(s, 'modes')
    dims = list(range(2, x.dim()))
    X = torch.fft.rfftn(x, dim=dims)
    weight = torch.view_as_complex(p['weight'].contiguous())
    kept = X
    rows = []  # for each dimension, the indices of its kept modes in the transform
    for d, m in zip(dims, modes):
        n = X.shape[d]
        at = list(range(m)) if d == dims[-1] else list(range(m)) + list(range(n - m, n))
        rows.append(torch.tensor(at))
        kept = kept.index_select(d, rows[-1])
    Y = torch.einsum('ni...,io...->no...', kept, weight)
    for d, at in reversed(list(zip(dims, rows))):
        shape = list(Y.shape)
        shape[d] = X.shape[d]
        Y = torch.zeros(shape, dtype=Y.dtype).index_add(d, at, Y)
    return torch.fft.irfftn(Y, s=x.shape[2:], dim=dims)


def normalised(type_, x, p, s, states):
    epsilon, weight, bias = float(s['epsilon']), p.get('weight'), p.get('bias')
    if type_ == 'batchnorm' and s['statistics'] == 'running':
        return F.batch_norm(x, states['running_mean'], states['running_var'], weight, bias, training=False, eps=epsilon)
    if type_ == 'batchnorm':
        return F.batch_norm(x, None, None, weight, bias, training=True, eps=epsilon)
    if type_ == 'instancenorm':
        w, space = area_weights(s, x), tuple(range(2, x.dim()))
        centred = x - mean(x, w, space)
        y = centred / (mean(centred**2, w, space) + epsilon).sqrt()
        channels = [1, -1] + [1] * len(space)
        return y if weight is None else y * weight.reshape(channels) + bias.reshape(channels)
    if type_ == 'groupnorm':
        return F.group_norm(x, int(s['groups']), weight, bias, epsilon)
    shape = numbers(s, 'shape')
    first = int(s.get('dim', x.dim() - len(shape)))
    # PyTorch normalises over the last dimensions only: those of the layer are moved there and back.
    inside = [*range(first), *range(first + len(shape), x.dim()), *range(first, first + len(shape))]
    y = F.layer_norm(x.permute(inside), shape, weight, bias, epsilon)
    return y.permute([inside.index(d) for d in range(x.dim())])


def area_weights(s, x):
    """The part of the sphere of each element of x. Weights of the latitudes are those that integrate all Legendre polynomials
    that so many rows can."""
    if s.get('area', 'none') == 'none':
        return torch.ones_like(x)
    dim = int(s['area_dim'])
    rows, columns = x.shape[dim], x.shape[dim + 1 if dim + 1 < x.dim() else dim - 1]
    legendre = np.polynomial.legendre
    nodes = {'gauss': legendre.leggauss(rows)[0], 'cells': np.cos(np.pi * (np.arange(rows) + 0.5) / rows),
             'poles': np.cos(np.pi * np.arange(rows) / max(rows - 1, 1))}[s['area']]
    weights = np.linalg.solve(legendre.legvander(nodes, rows - 1).T, 2 * np.eye(rows)[0])
    of_rows = torch.from_numpy(weights / (2 * columns)).to(x.dtype).reshape([-1] + [1] * (x.dim() - dim - 1))
    return of_rows * torch.ones_like(x)


def mean(x, w, dims):
    return (w * x).sum(dims, keepdim=True) / w.sum(dims, keepdim=True)


def loss(type_, x, t, s):
    how = s['loss_reduction']
    if s.get('loss_weights', 'none') != 'none':
        raise NotComparable('weights')
    if type_ == 'crossentropy':
        w = area_weights(s, x)[:, 0]
        terms = w * F.cross_entropy(x, t.long(), reduction='none')
        return (terms.sum() / (w.sum() if how == 'mean' else 1)).reshape(1)
    if type_ == 'meansquarederror':
        return F.mse_loss(x, t, reduction=how).reshape(1)
    if type_ == 'meanabsoluteerror':
        return F.l1_loss(x, t, reduction=how).reshape(1)
    if type_ == 'huber':
        return F.huber_loss(x, t, reduction=how, delta=float(s['delta'])).reshape(1)
    if type_ == 'relativel2':
        d = (x - t).reshape(x.shape[0], -1).norm(dim=1)
        terms = d / (t.reshape(x.shape[0], -1).norm(dim=1) + float(s['epsilon']))
    elif type_ == 'crps':
        members, alpha = int(s['members']), float(s['alpha'])
        x = x.reshape(-1, members, *x.shape[1:])
        pairs = alpha / max(members * (members - 1), 1) + (1 - alpha) / members**2
        terms = (x - t[:, None]).abs().mean(1) - pairs / 2 * (x[:, :, None] - x[:, None]).abs().sum((1, 2))
    else:  # gradientpenalty: the sum of squared forward differences
        d = x - t if s['with_target'] == 'true' else x
        spatial = x.dim() - 2
        h = [float(w) for w in s['spacing'].split(',')]
        h = h * spatial if len(h) == 1 else h
        terms = torch.zeros_like(d)
        for k in range(spatial):
            step = torch.roll(d, -1, k + 2) - d
            if s['periodic'] != 'true':
                step = torch.cat([step.narrow(k + 2, 0, d.shape[k + 2] - 1), 0 * step.narrow(k + 2, 0, 1)], k + 2)
            terms = terms + (step / h[k]) ** 2
    return (terms.mean() if how == 'mean' else terms.sum()).reshape(1)


def evaluate(type_, s, x, p, target, states):
    if type_ in POINTWISE:
        return POINTWISE[type_](x[0], s)
    if type_ in ('conv', 'transposedconv', 'pad') and len(x) > 1 or 'values' in s.get('boundary', ''):
        raise NotComparable('boundary values')
    spatial = x[0].dim() - 2
    if type_ == 'conv':
        return convolution(x[0], p, s)
    if type_ == 'transposedconv':
        return transposed(x[0], p, s)
    if type_ in ('maxpooling', 'averagepooling'):
        return pooling(x[0], s, type_ == 'maxpooling')
    if type_ == 'pad':
        low, high = paddings(s, spatial)
        return padded(x[0], s, low, high)
    if type_ == 'globalaveragepooling':
        return mean(x[0], area_weights(s, x[0]), tuple(range(2, x[0].dim())))
    if type_ == 'adaptiveaveragepooling':
        call = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)[spatial - 1]
        return call(x[0], numbers(s, 'size', spatial))
    if type_ == 'resample':
        return resampled(x[0], s)
    if type_ == 'crop':
        at, size = numbers(s, 'offset', spatial), numbers(s, 'size', spatial)
        y = x[0]
        for d in range(spatial):
            y = y.narrow(d + 2, at[d], size[d])
        return y
    if type_ == 'slice':
        index = [slice(None)] * x[0].dim()
        index[int(s['dim'])] = slice(int(s['begin']), int(s['end']) if 'end' in s else None, int(s['step']))
        return x[0][tuple(index)]
    if type_ == 'transpose':
        return x[0].permute(numbers(s, 'permutation'))
    if type_ == 'affine':
        return F.linear(x[0], p['weight'], p.get('bias'))
    if type_ == 'constant':
        return p['value'] * 1
    if type_ == 'compare':
        return getattr(torch, {'greater': 'gt', 'greater_equal': 'ge', 'less': 'lt', 'less_equal': 'le', 'equal': 'eq',
                               'not_equal': 'ne'}[s['relation']])(x[0], x[1]).to(x[0].dtype) + 0 * (x[0] + x[1])
    if type_ == 'where':
        return torch.where(x[0] != 0, x[1], x[2] if len(x) > 2 else float(s['otherwise']))
    if type_ == 'reduce':
        w, dims = area_weights(s, x[0]), numbers(s, 'dims')
        y = {'mean': lambda: mean(x[0], w, dims), 'sum': lambda: (w * x[0]).sum(dims, keepdim=True),
             'max': lambda: x[0].amax(dims, keepdim=True)}[s['method']]()  # without ties, by which max() differs
        kept = [n for d, n in enumerate(y.shape) if s['keep_dims'] == 'true' or d not in dims]
        return y.reshape(kept or [1])
    if type_ == 'pixelshuffle' and x[0].dim() == 4:
        return F.pixel_shuffle(x[0], int(s['upscale']))
    if type_ == 'prelu':
        return F.prelu(x[0], p['weight'])
    if type_ == 'channelaffine':
        shape = [1, -1] + [1] * spatial
        return x[0] * p['scale'].reshape(shape) + p['shift'].reshape(shape)
    if type_ == 'matmul':
        return x[0] @ x[1]
    if type_ == 'multiply':
        return x[0] * x[1]
    if type_ == 'divide':
        return x[0] / x[1]
    if type_ == 'subtract':
        return x[0] - x[1]
    if type_ == 'add':
        return sum(x[1:], x[0])
    if type_ == 'concatenate':
        return torch.cat(x, int(s['dim']))
    if type_ == 'reshape':
        return x[0].reshape([x[0].shape[d] if n == 0 else n for d, n in enumerate(numbers(s, 'shape'))])
    if type_ == 'flatten':
        return x[0].flatten(1)
    if type_ == 'softmax':
        return torch.softmax(x[0], int(s['dim']))
    if type_ == 'spectralconv':
        return spectral(x[0], p, s)
    if type_ in ('batchnorm', 'instancenorm', 'groupnorm', 'layernorm'):
        return normalised(type_, x[0], p, s, states)
    if target is not None or type_ == 'gradientpenalty':
        return loss(type_, x[0], target, s)
    raise NotComparable(type_)


def compare(what, got, want, tolerance, faults):
    """Compares PyTorch's values (got) with the library's (want), relative to the largest, or
    absolutely if none exceeds 1."""
    if tuple(got.shape) != tuple(want.shape):
        faults.append(f'{what}: shape {tuple(want.shape)}, PyTorch has {tuple(got.shape)}')
        return
    if not want.numel():
        return
    # Partial sums of an input can lie outside a function's domain, where both have no number.
    same = (got == want) | (got.isnan() & want.isnan())
    size = max(1.0, float(want.nan_to_num(0, 0, 0).abs().max()))
    error = float(torch.where(same, 0, (got - want).abs()).max()) / size
    if not error <= tolerance:
        faults.append(f'{what}: differs by {error:.2e}, more than {tolerance}')


def check(path, type_, real, settings):
    """The faults of one case. Its file has inputs x0, x1, ..., parameters "p.", states "s.", the
    target if there is one, the output y, its gradient dy, and the library's gradients "d."."""
    arrays = {name: torch.from_numpy(np.array(values)) for name, values in np.load(path).items()}
    x = [arrays[f'x{i}'].clone().requires_grad_() for i in range(sum(n.startswith('x') for n in arrays))]
    p = {n[2:]: arrays[n].clone().requires_grad_() for n in arrays if n.startswith('p.')}
    states = {n[2:]: values for n, values in arrays.items() if n.startswith('s.')}
    y = evaluate(type_, settings, x, p, arrays.get('target'), states)
    faults = []
    compare('output', y.detach(), arrays['y'], TOLERANCE[real], faults)
    if faults:
        return faults
    variables = {f'x{i}': z for i, z in enumerate(x)} | {f'p.{n}': z for n, z in p.items()}
    gradients = torch.autograd.grad(y, list(variables.values()), arrays['dy'], allow_unused=True)
    for name, gradient in zip(variables, gradients):
        want = arrays[f'd.{name}']
        compare(f'gradient by {name}', torch.zeros_like(want) if gradient is None else gradient, want, TOLERANCE[real],
                faults)
    return faults


def main():
    folder = Path(sys.argv[1])
    compared, left_out, failed = {}, {}, 0
    for line in (folder / 'cases.txt').read_text().splitlines():
        name, type_, real, *words = line.split('\t')
        settings = dict(word.split('=', 1) for word in words)
        try:
            faults = check(folder / name, type_, real, settings)
        except NotComparable as why:
            left_out.setdefault(type_, set()).add(str(why))
            continue
        compared[type_] = compared.get(type_, 0) + 1
        for fault in faults:
            failed += 1
            print(f'{type_} {real} {settings}: {fault}')
    for type_, reasons in sorted(left_out.items()):
        if type_ not in compared:
            print(f'note: {type_} is not compared: {", ".join(sorted(reasons))}')
    print(f'{sum(compared.values())} cases of {len(compared)} types beside PyTorch {torch.__version__}, '
          f'{failed} differences')
    sys.exit(1 if failed or not compared else 0)


main()
