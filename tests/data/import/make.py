# SPDX-License-Identifier: BSD-2-Clause
"""make.py [NAME...]: writes test networks in float64 whose parameters are used in computations, or are shared by the
steps of a recurrence. With each it writes the results of PyTorch, and for a recurrent one also those of several steps of training. Needs torch and onnx."""
import os
import sys

import numpy
import onnx
import onnx.numpy_helper
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{FOLDER}/../../../share/tenon")
from export_torch import export_model


class ParameterValues(nn.Module):
    """Functions of parameters as gains, weights, biases and tables; joined buffers; one weight in two layers."""
    def __init__(self):
        super().__init__()
        draw = lambda *shape: nn.Parameter(torch.randn(shape) / 2)
        self.rows, self.columns = draw(1, 2, 6, 1), draw(1, 2, 1, 5)
        self.gain, self.divisor, self.number = draw(2, 1, 1), draw(2, 1, 1), draw()
        self.dense, self.norms, self.left, self.right = draw(3, 4), draw(3, 1), draw(3, 1), draw(1, 4)
        self.square, self.table, self.kernel, self.slope = draw(5, 5), draw(3, 6, 5), draw(4, 2, 3, 3), draw(3)
        self.conv = weight_norm(nn.Conv2d(4, 4, 3, padding=1))
        self.norm = nn.LayerNorm(5, bias=False)
        for name in ("orography", "land"):
            self.register_buffer(name, torch.randn(1, 1, 6, 5))

    def forward(self, x):
        x = x * torch.exp(self.gain) / F.softplus(self.divisor) + (self.rows + self.columns)
        x = x * (self.square * self.square).mean() + self.number.exp() * x @ (self.square @ self.square)
        x = torch.cat([x, torch.cat([self.orography, self.land], 1).expand(x.shape[0], -1, -1, -1)], 1)
        x = torch.tanh(self.conv(x))
        x = F.conv2d(x[:, :2], self.kernel - self.kernel.mean((1, 2, 3), keepdim=True), padding=1) + x
        x = F.linear(x.movedim(1, -1), self.dense * self.norms + self.left * self.right).movedim(-1, 1)
        x = F.prelu(x, self.slope * self.slope) + torch.cat([self.table[:, :2], self.table[:, 2:].flip(0)], 1)
        x = x + torch.where(self.table > 0, self.table, 0.1 * self.table)[torch.tensor([2, 0, 0])]
        return self.norm(x) + F.linear(F.linear(x.movedim(1, -1), self.dense.t()), self.dense).movedim(-1, 1)


class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 3, batch_first=True)
        self.lstm = nn.LSTM(3, 2, bidirectional=True, batch_first=True)
        self.cell = nn.LSTMCell(4, 3)
        self.attention = nn.MultiheadAttention(3, 1, batch_first=True)

    def forward(self, x):
        h = self.gru(x)[0]
        both = self.lstm(h)[0]
        state = self.cell(both[:, 1], self.cell(both[:, 0]))
        return torch.cat([self.attention(h, h, h, need_weights=False)[0][:, 0], state[0], state[1]], 1)

class ShiftedModes(nn.Module):
    """A spectral layer in the order of modes of fftshift: the negative ones before the others, with one complex weight."""
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        self.weight = nn.Parameter(torch.randn(channels, channels, *modes[:-1], modes[-1] // 2 + 1, dtype=torch.complex64) / channels)
        self.bias = nn.Parameter(torch.randn(channels, *[1 for _ in modes]) / 5)

    def forward(self, x):
        dims = list(range(-len(self.modes), 0))
        size = list(x.shape[2:])
        z = torch.fft.rfftn(x, norm="forward", dim=dims)
        z = torch.fft.fftshift(z, dim=dims[:-1])
        made = torch.zeros([x.shape[0], self.weight.shape[1], *size[:-1], size[-1] // 2 + 1], dtype=torch.cfloat)
        part = [slice(None), slice(None)]
        for n, modes in zip(size[:-1], self.weight.shape[2:-1]):
            part.append(slice(n // 2 - modes // 2, n // 2 + modes // 2))
        part.append(slice(None, self.weight.shape[-1]))
        labels = "xyz"[:len(dims)]
        part = tuple(part)
        made[part] = torch.einsum(f"bi{labels},io{labels}->bo{labels}", z[part], self.weight)
        made = torch.fft.ifftshift(made, dim=dims[:-1])
        return torch.fft.irfftn(made, s=size, dim=dims, norm="forward") + self.bias


class PaddedModes(nn.Module):
    """A spectral layer whose spectrum is a sum of padded products, with weights of real and imaginary parts."""
    def __init__(self, channels, modes, space):
        super().__init__()
        self.modes, self.space = modes, space
        self.weights = nn.ParameterList(torch.randn(channels, channels, *[modes for _ in range(space)], 2) / channels
                                        for _ in range(2 ** (space - 1)))

    def forward(self, x):
        z = torch.fft.rfftn(x, dim=list(range(2, 2 + self.space)))
        made = torch.zeros_like(z)
        for signs, weight in enumerate(self.weights):
            part, pads = [slice(None), slice(None)], []
            for s in range(self.space):
                n, is_high = z.shape[2 + s], signs >> s & 1
                part.append(slice(n - self.modes, n) if is_high else slice(0, self.modes))
                pads = [n - self.modes if is_high else 0, 0 if is_high else n - self.modes, *pads]
            labels = "xyz"[:self.space]
            product = torch.einsum(f"bi{labels},io{labels}->bo{labels}", z[tuple(part)], torch.view_as_complex(weight))
            made = made + F.pad(product, pads)
        return torch.fft.irfftn(made, s=x.shape[2:], dim=list(range(2, 2 + self.space)))


class Filters(nn.Module):
    """Transforms that are no spectral convolutions: blocks of channels, last, with a soft threshold; a derivative; a filter."""
    def __init__(self):
        super().__init__()
        draw = lambda *shape: nn.Parameter(torch.randn(shape) / 3)
        self.first, self.second = draw(2, 2, 3, 3), draw(2, 2, 3, 3)
        self.bias, self.gain, self.turned = draw(2, 2, 3), draw(4), nn.Parameter(torch.randn(5, dtype=torch.complex64))

    def forward(self, x):  # [batch, 5, 8, 6]
        n, h, w, c = x.shape
        z = torch.fft.rfft2(x, dim=(1, 2), norm="ortho").reshape(n, h, w // 2 + 1, 2, 3)
        real = F.relu(torch.einsum("...bi,bio->...bo", z.real, self.first[0])
                      - torch.einsum("...bi,bio->...bo", z.imag, self.first[1]) + self.bias[0])
        imaginary = F.relu(torch.einsum("...bi,bio->...bo", z.imag, self.second[0])
                           + torch.einsum("...bi,bio->...bo", z.real, self.second[1]) + self.bias[1])
        z = torch.view_as_complex(F.softshrink(torch.stack([real, imaginary], -1), 0.01)).reshape(n, h, w // 2 + 1, c)
        x = x + torch.fft.irfft2(z, s=(h, w), dim=(1, 2), norm="ortho")
        k = torch.arange(w // 2 + 1)
        slope = torch.fft.irfft(torch.fft.rfft(x, dim=2) * (1j * k)[:, None], n=w, dim=2)
        z = torch.fft.fft(x, dim=1) * self.turned[:, None, None]
        return slope + torch.fft.ifft(z, dim=1).real + torch.view_as_real(torch.fft.rfft(x, n=6)).mean((3, 4))[..., None] + abs(z)


class Functions(nn.Module):
    def forward(self, x):  # [batch, 3, 6, 8], between -1 and 1
        y = torch.tan(x) + torch.asin(x / 2) * torch.acos(x / 2) + torch.atan(3 * x) + torch.sinh(x) * torch.cosh(x)
        y = y + torch.asinh(x) * torch.acosh(x + 3) + torch.atanh(x / 2) + torch.erf(x) + torch.exp2(x)
        y = y + torch.log2(x + 2) * torch.log10(x + 2) + torch.special.expit(x) + torch.clip(x, -0.5, 0.5)
        y = y + torch.floor(4 * x) + torch.ceil(4 * x) * x + torch.round(4 * x) + torch.trunc(4 * x) + torch.frac(4 * x)
        y = y + torch.remainder(x, 0.3) + torch.fmod(x, -0.3) + torch.div(x, 0.3, rounding_mode="floor") * x
        y = y + F.softshrink(x, 0.1) + F.hardshrink(x, 0.2) + (x > 0.1).to(torch.int64) * x
        y = torch.concat([torch.rot90(y, 1, (2, 3)).swapdims(2, 3), torch.rot90(x, 3, (3, 2)).swapdims(2, 3),
                          torch.rot90(x, 2, (2, 3))], 1)
        both = torch.empty(x.shape[0], 2, *x.shape[1:], dtype=x.dtype)
        both[:, 0], both[:, 1] = x, y[:, :3] * torch.outer(torch.arange(1., 7.), torch.arange(8.) - 3).to(x.dtype)
        rest = torch.roll(both, (1, 1), (1, 2)).sum(1)
        scratch = x * 2
        scratch.zero_()
        tall = F.interpolate(x, size=(9, 5), mode="bicubic").prod(2, keepdim=True)[..., :4].repeat(1, 1, 6, 2)
        return y[:, :3] + rest + scratch + F.interpolate(x, (6, 8), mode="bicubic", align_corners=True) * tall + x.argmax(3, keepdim=True)


class Places(nn.Module):
    """Powers of two tensors, norms, the least elements, and elements that are written and added at lists of indices."""
    def forward(self, x):  # [batch, 3, 6, 8]
        y = torch.pow(x.abs() + 0.1, x) + torch.pow(x, torch.arange(8.)) + torch.pow(2.5, x)
        y = y + torch.linalg.vector_norm(x, 1, dim=3, keepdim=True) - torch.norm(x, p=float("inf"), dim=2, keepdim=True)
        y = y * (1 + x.norm(p=1, dim=(2, 3), keepdim=True)) + torch.linalg.vector_norm(x, -float("inf"), dim=1, keepdim=True)
        y = y + x.argmin(2, keepdim=True) * x + x.argmin()
        z = x * 2
        z[:, [0, 2], :, [1, 5]] = y[:, 1:2, :, 0].transpose(0, 1) * torch.ones(2, 1, 1)
        z[:, :, torch.tensor([4, 0])] = y[:, :, 1:3]
        z = z.index_put((torch.tensor([0, 1]), torch.tensor([2, 2])), y[0, 1], accumulate=True)
        z[x > 0.5] = 0.25
        return z + y[:, [2, 0, 1]]


class Samples(nn.Module):
    """Fields at points that are computed, rows of a table at computed places, losses of classes."""
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(6, 3)
        self.register_buffer("weights", torch.tensor([0.5, 2.0, 1.5]))

    def forward(self, x):  # [batch, 3, 6, 8]
        points = torch.stack([x[:, 0], x[:, 1]], -1) * 1.3
        y = self.table(x.argmax(1)).permute(0, 3, 1, 2) + x
        for mode in "bilinear", "nearest", "bicubic":
            for outside in "zeros", "border", "reflection":
                y = y + F.grid_sample(x * (1 + y.mean()), points, mode, outside, align_corners=outside != "border")
        turned = F.affine_grid(x[:, :2, 0, :3], (x.shape[0], 3, 6, 8), align_corners=False)
        y = y + F.grid_sample(x, turned, "bicubic", "reflection", align_corners=False)
        deep = F.grid_sample(x[:, :1].unflatten(3, (2, 4)), x[:, :, :2, :4].permute(0, 2, 3, 1)[:, :, None], align_corners=False)
        classes = (2 * x[:, [1, 2, 0]]).argmin(1)
        loss = F.cross_entropy(x, classes, self.weights, ignore_index=2) + F.nll_loss(x, classes, reduction="sum") / 50
        return (y + deep.sum((3, 4))[..., None, None][:, :, 0]) * loss + F.nll_loss(x, classes, reduction="none")[:, None] * F.mse_loss(x, y)


class FixedGrid(nn.Module):
    """Products and points that are computed of constants in float32, of which PyTorch rounds each."""
    def forward(self, x):  # [2, 3, 6, 8]
        points = F.affine_grid(torch.eye(2, 3)[None].repeat(2, 1, 1) * 0.9, (2, 3, 6, 8), align_corners=True)
        y = F.grid_sample(x, points - 0.1 * x[:, :2].permute(0, 2, 3, 1), padding_mode="border", align_corners=True)
        stack = torch.linspace(0, 1, 30).reshape(2, 5, 3) @ torch.linspace(-1, 1, 24).reshape(2, 3, 4) + torch.arange(4) / 3
        return y + torch.einsum("nij,nj->n", stack, stack[:, 0])[:, None, None, None] * x


class Recurrences(nn.Module):
    def __init__(self):
        super().__init__()
        self.smooth, self.sharp = nn.RNN(2, 3, batch_first=True, bidirectional=True), nn.RNN(6, 2, num_layers=2, nonlinearity="relu")
        self.cell = nn.RNNCell(2, 3)

    def forward(self, x):
        y = self.sharp(self.smooth(x)[0].transpose(0, 1))[0]
        return self.cell(y[0], self.cell(y[1], torch.zeros(x.shape[0], 3, dtype=x.dtype)))


class Biases(nn.Module):
    """Tables of biases at the differences of positions, with indices of two dimensions, in an attention."""
    def __init__(self, side=3):
        super().__init__()
        places = torch.cartesian_prod(torch.arange(side), torch.arange(side))
        apart = (places[:, None] - places[None]).abs()
        self.register_buffer("indices", apart[..., 0] * side + apart[..., 1])
        self.register_buffer("both", places)
        self.biases, self.table = nn.Parameter(torch.randn(2, side * side)), nn.Parameter(torch.randn(side, side, 4))
        self.qkv = nn.Linear(4, 12)

    def forward(self, x):  # [batch, 9, 4]
        x = x + self.table[self.both[:, 0], self.both[:, 1]]
        q, k, v = self.qkv(x).unflatten(2, (3, 2, 2)).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / 2 + self.biases[:, self.indices]
        y = (scores.softmax(-1) @ v).transpose(1, 2).flatten(2) * self.table[1, 2]
        return y


class Kinks(nn.Module):
    """Rectifiers of differences that are as small as rounding errors at a few points, where their derivatives are arbitrary."""
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(2, 4, 1, bias=False), nn.Conv2d(4, 1, 3, padding=1)
        with torch.no_grad():
            self.first.weight[0, :, 0, 0] = torch.tensor([1.0, -1.0])

    def forward(self, x):
        return self.second(F.relu6(self.first(x)))


class Views(nn.Module):
    """Writes to the real and imaginary parts of spectra, and to other views."""
    def forward(self, x):  # [batch, 3, 6, 8]
        z = torch.fft.rfft(x)
        z[..., 1].imag = 0.25
        z.imag = z.imag * 0.5
        z.real[..., 1:3] *= 0.25
        torch.view_as_real(z)[:, 1:, 2:4, 3, 1] = x[:, 1:, 2:4, 0]
        y = x * 2
        y.real[:, 1].mul_(3)
        y.unsqueeze_(2)
        y[:, :, :, 0].squeeze_(2).add_(1)
        turned = x * 1
        turned.transpose_(1, 2)
        turned[:, 0] *= 2
        return torch.fft.irfft(z, n=8) + y.squeeze(2) + turned.swapaxes(1, 2) * x.swapaxes(1, 2).mean(1)[:, :, None]


class Ties(nn.Module):
    """Bounds and values that are equal, where derivatives are those of PyTorch 2.14."""
    def __init__(self):
        super().__init__()
        self.register_buffer("low", torch.arange(-6.0, 2.0) / 4)
        self.register_buffer("some", (torch.arange(6.0) % 2)[:, None])
        self.register_buffer("slope", torch.tensor([0.5]))

    def forward(self, x):  # multiples of 1/4
        y = torch.clamp(x, -0.5, 0.5) + 4 * F.relu6(4 * x)
        y = y + 5 * torch.maximum(x, torch.tensor(0.5)) + 6 * torch.minimum(self.low, x) + 7 * F.hardtanh(x, -0.25, 0.25)
        y = y + 8 * torch.clamp(x, self.low, torch.tensor(0.5)) + 9 * torch.clamp(x, min=self.low)
        y = y + 10 * torch.clamp(x, min=-0.5) + 11 * torch.clamp(x, max=0.25) + 12 * F.threshold(x, 0.25, 0.25) + 13 * x.abs()
        y = y + F.hardswish(12 * x) + 3 * F.hardshrink(x) + 4 * F.softshrink(x) + 5 * F.elu(x, 0.5)
        y = y + 2 * F.leaky_relu(x, 0.25) + 3 * F.prelu(x, self.slope) + 4 * F.celu(x, 0.5) + 5 * torch.where(x > 0, x, 2 * x)
        y = y + x.max(2, keepdim=True)[0] + 2 * x.min(3, keepdim=True)[0] + 3 * x.amax((2, 3), keepdim=True) + 4 * x.amin(1, keepdim=True)
        y = y + 5 * x.max() + 6 * F.max_pool2d(x, 3, 1, 1) + 7 * F.adaptive_max_pool2d(x, 1)
        y = y + 8 * F.interpolate(F.adaptive_max_pool2d(x, (3, 2)), (6, 8)) + 9 * x.cumprod(2) + x.prod(3, keepdim=True)
        zeros = x * self.some  # whose norms are 0 in some places
        y = y + torch.linalg.vector_norm(zeros, dim=1, keepdim=True) + 2 * zeros.std(1, keepdim=True) + 3 * F.normalize(zeros, dim=3)
        return y + 4 * torch.complex(zeros, zeros).abs() + 5 * x.norm(float("inf"), 1, keepdim=True) + 6 * x.norm(1, 2, keepdim=True)


class Stops(nn.Module):
    """Values that pass no gradient: detach(), regions without gradients, and one row of a table."""
    def __init__(self):
        super().__init__()
        self.conv, self.table = nn.Conv2d(3, 3, 3, padding=1), nn.Embedding(4, 8, padding_idx=2)
        self.register_buffer("rows", torch.tensor([2, 0, 2, 3, 1, 2]))

    def forward(self, x):  # [batch, 3, 6, 8]
        y = self.conv(x)
        with torch.no_grad():
            size = torch.sqrt((self.conv(x) ** 2).mean((2, 3), keepdim=True)) + self.table(self.rows).tanh()
            shift = size.sin()
        z = torch.fft.rfft(x).detach()
        return y / (2 + size) + shift * x * y.detach() + self.table(self.rows) + 0.05 * (z * torch.fft.rfft(y)).real[..., 1:2]


class Further(nn.Module):
    """Writes with a step, angles, cross products, frequencies, and elements at computed indices."""
    def __init__(self):
        super().__init__()
        self.edges, self.table = nn.Buffer(torch.linspace(-1, 1, 6)), nn.Parameter(torch.randn(7, 8))

    def forward(self, x):  # [batch, 3, 6, 8]
        y = torch.empty_like(x)
        y[..., ::2], y[..., 1::2] = x[..., 1::2] * 2, x[..., ::2] * x[..., 1::2]
        y[:, :, 1:6:3] = 0.5
        y = y.slice_scatter(x[:, :, ::5], 2, 0, 6, 5)
        first, *rest = torch.tensor_split(x, 3, dim=3)
        y = y + torch.cat([*rest, first], 3) + torch.cat(x.tensor_split((2, 5), 2)[::-1], 2)
        y = y + torch.linalg.cross(x, y, dim=1) + torch.hypot(x, y) + torch.atan2(x - 0.3, y) + torch.cross(x, x.flip(1), dim=1)
        z = torch.fft.rfft(x) * torch.exp(-0.1 * torch.fft.rfftfreq(8, d=0.25, dtype=x.dtype) ** 2 + 1j * torch.fft.rfftfreq(8, dtype=x.dtype))
        y = y + torch.fft.irfft(z, n=8) + torch.exp(torch.complex(x, y / 9)).real + torch.fft.fftfreq(8) * torch.complex(x, y).angle()
        bucket = torch.bucketize(x[..., 0], self.edges)
        row = torch.searchsorted(self.edges, x[:, 0, :, 1], right=True)
        y = y + self.table[bucket] + self.table.index_select(0, row[0])
        places = (x.abs() * 3).floor().clamp(max=7).long()
        y = y + torch.gather(x, 3, places) + torch.take_along_dim(x, x.argmax(2, keepdim=True), 2)
        return torch.zeros_like(x).scatter_add(3, places, x * x) + y.index_add(3, row[0], x[..., :6], alpha=0.5)


class Exceptions(nn.Module):
    """Infinities in tables, a quotient that is not quite a norm, and the first of equal elements of all of space."""
    def __init__(self):
        super().__init__()
        table = torch.randn(7, 8)
        table[2, 1:4], table[5, 0], table[6] = -torch.inf, torch.inf, -torch.inf
        self.table = nn.Buffer(table)

    def forward(self, x):  # [batch, 3, 6, 8]
        rows = (x[..., 0].abs() * 4).floor().clamp(max=6).long()
        y = self.table[rows].sigmoid() + F.embedding(rows, self.table).sigmoid() * x
        y = y + self.table.index_select(0, rows[0, 0]).sigmoid() + torch.gather(self.table, 0, rows[0, :, :8]).sigmoid().sum()
        mean = x.mean(1, keepdim=True)
        v = ((x - mean) ** 2).mean(1, keepdim=True) + 0.1
        y = y + (x - mean) / torch.where(v > 1, v, torch.sqrt(v)) + (x - mean) / torch.where(v == 1, v, torch.sqrt(v))
        equal = (3 * x).clamp(-1, 1)
        return y + F.adaptive_max_pool2d(equal, 1) + F.adaptive_max_pool2d(equal.transpose(2, 3), 1)


class Settings(nn.Module):
    """Arguments that have other than their usual values."""
    def forward(self, x):  # [batch, 4, 6, 8]
        y = F.scaled_dot_product_attention(x, x[:, ::2], x[:, 1::2], enable_gqa=True)
        y = y + torch.baddbmm(x[:, 0], x[:, 1], x[:, 2].mT @ x[:, 3], beta=0.5, alpha=-2)[:, None]
        y = y + torch.rsub(x, x * x, alpha=3)
        sized = torch.ops.aten.upsample_bilinear2d.default(x, [9, 13], False, 1.6, 1.7)
        sized = sized + torch.ops.aten.upsample_nearest2d.default(x, [9, 13], 1.6, 1.7)
        windows = F.unfold(x[0], (2, 3), padding=1)
        y = y + F.fold(windows * windows, (6, 8), (2, 3), padding=1) + sized[:, :, :6, 5:]
        flags = torch.arange(8).to(torch.bool) & (torch.full((8,), 2, dtype=torch.bool) | torch.zeros(8, dtype=torch.bool))
        y = y + (x * flags).sum(3, keepdim=True) * flags.sum() + torch.full((8,), 2.7, dtype=torch.int64)
        z = torch.fft.fft(x)
        y = y + z.to(x.dtype) + torch.linalg.vector_norm(z, 2, dim=3, keepdim=True) + x.type_as(torch.arange(2))
        return y + torch.fft.ifft(x.to(z.dtype) * (1 + 2j)).imag


def write_bare(name, model, x):
    """Without a test in the file, for networks at kinks, where a test of the export would say nothing."""
    torch.export.save(torch.export.export(model, (x,)), f"{FOLDER}/{name}.f64.pt2")
    numpy.savez_compressed(f"{FOLDER}/{name}.npz", **computed(model, x))


def views():
    write_bare("views", Views().double(), torch.randn(2, 3, 6, 8, dtype=torch.float64))


def ties():
    write_bare("ties", Ties().double(), torch.randint(-4, 5, (2, 3, 6, 8)).double() / 4)


def stops():
    write("stops", Stops().double(), torch.randn(2, 3, 6, 8, dtype=torch.float64))


def further():
    write("further", Further().double(), torch.randn(2, 3, 6, 8, dtype=torch.float64))


def exceptions():
    write("exceptions", Exceptions().double(), torch.randn(2, 3, 6, 8, dtype=torch.float64))


def settings():
    write_bare("settings", Settings().double(), torch.randn(2, 4, 6, 8, dtype=torch.float64) * 2)


def kinks():
    x = torch.randn(2, 2, 8, 6, dtype=torch.float64)
    x[:, 1, 4, 2:4] = x[:, 0, 4, 2:4] * (1 + 1e-8 * torch.randn(2, 2, dtype=torch.float64))
    write_test("kinks", Kinks().double(), x)


def shifted_modes():
    write_test("shifted_modes", nn.Sequential(nn.Conv2d(2, 3, 1), ShiftedModes(3, (4, 4)), nn.GELU(), ShiftedModes(3, (2, 6))),
               torch.randn(2, 2, 8, 10))


def padded_modes():
    write_test("padded_modes", nn.Sequential(PaddedModes(2, 2, 3), nn.Tanh()), torch.randn(1, 2, 5, 6, 4))


def filters():
    write_test("filters", Filters(), torch.randn(2, 5, 8, 6))


def functions():
    write_test("functions", Functions(), torch.rand(2, 3, 6, 8) * 2 - 1)


def places():
    write_test("places", Places(), torch.rand(2, 3, 6, 8) * 2 - 1)


def samples():
    write_test("samples", Samples(), torch.rand(2, 3, 6, 8) * 2 - 1)


def fixed_grid():
    write_test("fixed_grid", FixedGrid(), torch.rand(2, 3, 6, 8) * 2 - 1)


def recurrences():
    write_test("recurrences", Recurrences(), torch.randn(2, 3, 2))


def biases():
    write_test("biases", Biases(), torch.randn(2, 9, 4))


def write_test(name, model, x):
    export_model(model, (x,), f"{FOLDER}/{name}.f64.pt2")


def computed(model, x):
    """The arrays of the tests' NAME.npz."""
    model.eval()
    x = x.clone().requires_grad_()
    y = model(x)
    cot = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)
    (y * cot).sum().backward()
    arrays = {"in.x": x, "out.y": y, "cot.y": cot, "grad.x": x.grad,
              **{f"param.{name}": p.grad for name, p in model.named_parameters()}}
    return {name: value.detach().numpy() for name, value in arrays.items()}


def write(name, model, x):
    export_model(model, (x,), f"{FOLDER}/{name}.f64.pt2")
    numpy.savez_compressed(f"{FOLDER}/{name}.npz", **computed(model, x))


def parameter_values():
    write("parameter_values", ParameterValues().double(), torch.randn(2, 2, 6, 5, dtype=torch.float64))


def recurrence():
    """And the weights after three steps of gradient descent with the rate 0.1 on the same cotangent."""
    model, x = Recurrence().double(), torch.randn(2, 3, 2, dtype=torch.float64)
    write("recurrence", model, x)
    for _ in range(3):
        model.zero_grad()
        y = model(x)
        (y * torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)).sum().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
    numpy.savez_compressed(f"{FOLDER}/recurrence.trained.npz", **{k: v.numpy() for k, v in model.state_dict().items()})


def tables():
    """Tables that a network of float64 makes in float32, as PyTorch does unless told otherwise."""
    class Tables(nn.Module):
        def forward(self, x):
            return x + torch.arange(12) / 11 * torch.full((12,), 0.1) - torch.sqrt(torch.arange(1., 13.)) * x

    write("tables", Tables(), torch.randn(2, 3, 4, 12, dtype=torch.float64))


def nothing():
    """Operators that do nothing, and one on a parameter that no layer has."""
    values = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, [2, 3, 4])
    whole = lambda name, numbers: onnx.numpy_helper.from_array(numpy.array(numbers), name)
    steps = [("Dropout", [], {}), ("Transpose", [], {"perm": [0, 1, 2]}), ("Pad", ["pads"], {}), ("Clip", [], {}),
             ("Slice", ["starts", "ends"], {}), ("Identity", [], {})]
    nodes = [onnx.helper.make_node(kind, [f"v{i}" if i else "x", *more], [f"v{i + 1}" if i + 1 < len(steps) else "y"], **has)
             for i, (kind, more, has) in enumerate(steps)]
    made = [whole("pads", [0] * 6), whole("starts", [0, 0, 0]), whole("ends", [2, 3, 4])]
    graph = onnx.helper.make_graph(nodes, "nothing", [values("x")], [values("y")], made)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]),
              f"{FOLDER}/nothing.written17d.f64.onnx")
    write("nothing", nn.Sequential(nn.Identity(), nn.Dropout()).double(), torch.randn(2, 3, 4, dtype=torch.float64))

    class Refused(nn.Module):
        def __init__(self):
            super().__init__()
            self.decay = nn.Parameter(torch.rand(4))

        def forward(self, x):
            return x * torch.cummax(self.decay.exp(), 0)[0]

    torch.export.save(torch.export.export(Refused(), (torch.randn(2, 4),)), f"{FOLDER}/refused_parameter.pt2")


def region_writes():
    """A write to a tensor from outside of a region without gradients, which the import refuses."""
    class RegionWrites(nn.Module):
        def forward(self, x):
            y = x * 2
            with torch.no_grad():
                y[:, 0].clamp_(0, 1)
            return y * 3

    torch.export.save(torch.export.export(RegionWrites(), (torch.randn(2, 4),)), f"{FOLDER}/region_writes.pt2")


def wide():
    """The maximum of more elements than the layer counts at once."""
    example = torch.randn(1, 1, 4, 4)
    free = {"x": {2: torch.export.Dim("h"), 3: torch.export.Dim("w")}}

    class Wide(nn.Module):
        def forward(self, x):
            return F.adaptive_max_pool2d(x, 1)

    torch.export.save(torch.export.export(Wide(), (example,), dynamic_shapes=free), f"{FOLDER}/wide.pt2")


def hidden_one():
    """ONNX's GRU and LSTM of hidden size 1, whose gates and biases are in another order."""
    model = nn.ModuleDict({"gru": nn.GRU(2, 1), "lstm": nn.LSTM(1, 1)}).double()
    forward = lambda x: model["lstm"](model["gru"](x)[0])[0]
    x = torch.randn(3, 2, 2, dtype=torch.float64)
    tensor = lambda name, value: onnx.numpy_helper.from_array(value[None].detach().numpy(), name)
    made, nodes = [], []
    for name, order in (("gru", [1, 0, 2]), ("lstm", [0, 3, 1, 2])):
        part = model[name]
        made += [tensor(name + "W", part.weight_ih_l0[order]), tensor(name + "R", part.weight_hh_l0[order]),
                 tensor(name + "B", torch.cat([part.bias_ih_l0[order], part.bias_hh_l0[order]]))]
        given, gives = ("x", "g") if name == "gru" else ("g", "y")
        more = {"linear_before_reset": 1} if name == "gru" else {}
        nodes += [onnx.helper.make_node(name.upper(), [given, name + "W", name + "R", name + "B"], [name + "Y"],
                                        hidden_size=1, **more),
                  onnx.helper.make_node("Squeeze", [name + "Y", "axes"], [gives])]
    made.append(onnx.numpy_helper.from_array(numpy.array([1]), "axes"))
    values = lambda name, shape: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, shape)
    graph = onnx.helper.make_graph(nodes, "hidden_one", [values("x", [3, 2, 2])], [values("y", [3, 2, 1])], made)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]),
              f"{FOLDER}/hidden_one.written17d.f64.onnx")

    class Both(nn.Module):
        def forward(self, x):
            return forward(x)

    numpy.savez_compressed(f"{FOLDER}/hidden_one.npz", **computed(Both(), x))


if __name__ == "__main__":
    torch.manual_seed(7)
    for name in sys.argv[1:] or ("parameter_values", "recurrence", "tables", "nothing", "hidden_one", "shifted_modes",
                                 "padded_modes", "filters", "functions", "places", "samples", "recurrences", "biases", "kinks", "views", "ties",
                                 "settings", "stops", "further", "fixed_grid", "exceptions", "region_writes", "wide"):
        globals()[name]()
