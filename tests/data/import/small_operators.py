# SPDX-License-Identifier: BSD-2-Clause
"""small_operators.py [NAME...]: writes test networks of PyTorch's small operators, in the way of make.py. Needs torch and onnx."""
import functools
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional as F

from make import FOLDER, write, write_bare


class Special(nn.Module):
    """Special functions, questions about numbers, norms, and functions of complex numbers."""
    def forward(self, x):  # [batch, 3, 6, 8], between -1 and 1
        z = torch.roll(x, 1, 3)
        y = torch.logaddexp(x, z) + torch.logaddexp2(40 * x, z[:, :1]) + torch.logit(x, eps=0.7) + torch.logit(x.sigmoid())
        y = y + torch.sinc(3 * x) + torch.special.sinc(F.relu(x)) + torch.deg2rad(60 * x) + torch.rad2deg(x) / 60
        y = y + torch.copysign(x, z) + torch.fmax(x, z) * torch.fmin(x, z) + torch.signbit(x) * z + torch.sgn(x) * z
        y = y + torch.xlogy(x, z.abs()) + torch.special.xlog1py(z, x.abs()) + torch.special.entr(x.abs())
        y = y + torch.erfc(x) + torch.special.ndtr(z) + torch.ldexp(x, torch.arange(8)) / 99 + torch.float_power(x, 2)
        odd = torch.where(x > 0.5, torch.inf, torch.where(x < -0.5, -torch.inf, torch.where(x.abs() < 0.2, torch.nan, x)))
        y = y + torch.nan_to_num(odd, nan=0.3, posinf=2.0, neginf=-3.0) + torch.nan_to_num(torch.where(odd.isfinite(), odd, torch.nan))
        y = y + torch.where(odd.isposinf(), x, torch.where(odd.isneginf(), z, x * z)) + torch.where(odd.isinf(), 1.0, x)
        known = torch.where(odd.isnan(), odd, x)
        y = y + known.nansum(3, keepdim=True) + known.nanmean((1, 2), keepdim=True) + torch.count_nonzero(F.relu(x), 1)[:, None]
        y = y + torch.where(torch.isclose(x, z, rtol=0.2, atol=0.3), x, z) + torch.renorm(x, 2, 1, 4.0) + torch.renorm(x, 1, 3, 9.0)
        low, high = torch.aminmax(x, dim=2, keepdim=True)
        y = y + (x - low) / (high - low) + torch.dist(x, z, 3) + torch.linalg.norm(x, dim=1, keepdim=True) + torch.linalg.matrix_norm(x, keepdim=True)
        y = y + torch.linalg.vector_norm(x, 2.5, dim=(1, 3), keepdim=True) + torch.linalg.vector_norm(x, 0, dim=2, keepdim=True)
        y = y + torch.special.softmax(x, 3) * torch.special.log_softmax(z, 2) + torch.special.logsumexp(x, (1, 3), keepdim=True)
        y = y + torch.fft.hfft(torch.complex(x, z), n=8) / 9
        y = y + F.pad(torch.fft.ihfft(x, norm="ortho").imag, (0, 3)) + torch.fft.hfft(torch.complex(z, x), norm="forward")[..., :8]
        c = torch.polar(1.5 + x, 3 * z) + torch.complex(z, x) ** 3
        y = y + torch.sqrt(c).real + torch.log(c).imag + torch.sgn(c).real + torch.reciprocal(c + 9).imag
        return y + (torch.sin(x + 1j * z) * torch.cosh(c / 3)).real + (torch.cos(c / 3) + torch.tanh(c / 5) * torch.sinh(c / 4)).imag + F.rrelu(x)


class Limits(nn.Module):
    """The same and losses and distances where values are equal, or at limits, where derivatives are those of PyTorch 2.14."""
    def forward(self, x):  # [batch, 3, 6, 8], multiples of 1/4
        z = torch.roll(x, 1, 3)
        y = torch.logaddexp(x, z) + 2 * torch.logaddexp2(x, x) + 3 * torch.logit(x / 2 + 0.5, eps=0.25) + 4 * torch.sinc(2 * x)
        y = y + 5 * torch.copysign(x, -z) + 6 * torch.fmax(x, z) + 7 * torch.fmin(x, z) + 8 * torch.xlogy(x, 1 + z.abs())
        y = y + F.huber_loss(x, z, reduction="none", delta=0.5) + 2 * F.smooth_l1_loss(x, z, reduction="none", beta=0.25)
        y = y + 3 * F.smooth_l1_loss(x, z, reduction="none", beta=0.0) + 4 * F.hinge_embedding_loss(x, x.sign().detach(), reduction="none")
        y = y + 5 * F.margin_ranking_loss(x, z, x.detach().sign(), margin=0.25, reduction="none")
        points, others = x[:, 0], z[:, 1]
        near = torch.stack([torch.cdist(points, others, p) for p in (0.0, 1.0, 2.0, 3.0, torch.inf)], 1).sum(1)
        y = y + (near + torch.cdist(points, points)).repeat(1, 1, 2)[:, None, :, :8] + F.pdist(x[0, 0], torch.inf)[:8]
        zeros = torch.where(torch.arange(6)[:, None] > 2, x, 0.0)
        y = y + F.cosine_similarity(zeros, z, dim=3, eps=0.5)[..., None] + F.pairwise_distance(x, z, eps=0.0, keepdim=True)
        c = torch.polar(x, z) + torch.sgn(torch.complex(x, zeros))
        return y + c.real + 2 * c.imag + x.aminmax(dim=1, keepdim=True)[1] + torch.linalg.vector_norm(zeros, 3, dim=3, keepdim=True)


class Digits(nn.Module):
    """Functions of numbers so small that 1 + x loses their digits, of complex numbers so large that exp() overflows, on
    branch cuts, and a loss at probabilities of 0."""
    def forward(self, x):  # [batch, 3, 6, 8], between -1 and 1
        z = torch.roll(x, 1, 3)
        small = 1e-6 * x
        y = 1e6 * (torch.log1p(small) + 2 * torch.expm1(small) + 3 * torch.special.xlog1py(z, small))
        y = y + torch.log1p(3 * x.abs()) + torch.expm1(3 * x) + torch.special.xlog1py(x.relu(), 5 * z.abs())
        c = torch.tanh(torch.complex(200 * x, z))
        y = y + c.real + 2 * c.imag + torch.pow(torch.complex(x, z), torch.full((1, 1, 1, 1, 1), 3.0, dtype=x.dtype))[0].real
        c = torch.complex(x - 1.5, torch.zeros_like(x)).conj()
        y = y + torch.sqrt(c).imag + torch.log(c).imag + torch.atan2(-torch.floor(x.abs()), x - 1.5)
        p = x - x.detach() + torch.where(x > 0, 0.25, 0.0)
        return y + 1e-12 * F.binary_cross_entropy(p, z.sigmoid().detach(), reduction="none")


class Losses(nn.Module):
    """Losses, and distances of points."""
    def __init__(self):
        super().__init__()
        self.weight, self.centers = nn.Buffer(torch.rand(8) + 0.5), nn.Parameter(torch.randn(5, 8))
        self.bilinear = nn.Bilinear(8, 8, 3)

    def forward(self, x):  # [batch, 3, 6, 8]
        z = torch.roll(x, 1, 3)
        p, q, signs = x.sigmoid(), z.softmax(3), torch.where(z > 0, 1.0, -1.0).to(x.dtype).detach()
        y = F.kl_div(x.log_softmax(3), q, reduction="none") + F.kl_div(x, z.log_softmax(3), reduction="sum", log_target=True)
        y = y + F.poisson_nll_loss(x, 9 * q, full=True, reduction="none") + F.poisson_nll_loss(p, q, log_input=False)
        y = y + F.binary_cross_entropy(p, q, weight=self.weight, reduction="none") + F.soft_margin_loss(x, signs, reduction="none")
        y = y + F.binary_cross_entropy_with_logits(x, q, reduction="none", pos_weight=self.weight) + F.huber_loss(x, z, delta=0.3)
        y = y + F.binary_cross_entropy_with_logits(x, q, weight=self.weight) + F.smooth_l1_loss(x, z, reduction="sum") + F.l1_loss(x, z)
        y = y + F.hinge_embedding_loss(x, signs) + F.margin_ranking_loss(x, z, signs, margin=0.1)
        y = y + F.triplet_margin_loss(x, z, x * z, swap=True, reduction="none")[..., None] + F.pairwise_distance(x, z, keepdim=True)
        y = y + F.cosine_embedding_loss(x[:, 0, 0], z[:, 0, 1], signs[:, 0, 0, 0], reduction="none")[:, None, None, None]
        y = y + F.cosine_similarity(x, self.centers[0], dim=3)[..., None] + torch.cdist(x, self.centers)[..., [0, 1, 2, 3, 4, 0, 1, 2]]
        y = y + torch.cdist(x, z.mT[:, :, :6, [0, 1, 2, 3, 4, 5, 0, 1]], 1.0).repeat(1, 1, 1, 2)[..., :8] + F.pdist(self.centers)[:8]
        return y + self.bilinear(x, z).sum(3, keepdim=True)


class Layouts(nn.Module):
    """Stacks, blocks and diagonals of matrices, products of them, and writes at indices."""
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Parameter(torch.randn(2, 2)), nn.Parameter(torch.randn(3, 4))
        self.v, self.square = nn.Parameter(torch.randn(8)), nn.Parameter(torch.randn(8, 8) / 3)

    def forward(self, x):  # [batch, 3, 6, 8]
        s, r, v = x[0, 0], x[1, 0], self.v  # [6, 8]
        y = torch.hstack([s, r])[:, 4:12] + torch.vstack([s, v, r])[3:9] + torch.dstack([s, r]).sum(2) + torch.row_stack([v, s])[:6]
        y = y + torch.column_stack([s[:, 0], r])[:, :8] + torch.atleast_3d(s).mean(2) + torch.atleast_2d(v) + torch.hstack([v, v])[4:12]
        y = y + s[:, :7] @ torch.block_diag(self.a, self.b, self.a) + torch.kron(self.b, self.a)[:, :6].sum(1, keepdim=True)
        y = y + torch.cartesian_prod(v[:3], v[2:4]).sum(1, keepdim=True) + torch.combinations(v[:4]).sum(1, keepdim=True)
        y = y + torch.diag_embed(v[:7], 1)[:6] + torch.diag_embed(s[:, :5], -1, 0, 2).sum(1)[:, :1] + torch.diag(v[1:])[:6].sum(1, keepdim=True)
        y = y + s.diagonal(1) .sum() + s.diagonal(-2).sum() + torch.trace(s) + torch.diag(r, 2).mean() + torch.linalg.diagonal(x).sum((1, 0))[0]
        y = y + torch.diagonal_scatter(s, v[:6], 1) + torch.linalg.vander(v[:6], N=8) / 9
        y = y + torch.take(s, torch.tensor([[3], [7], [-1], [0], [9], [20]])) + s.index_fill(1, torch.tensor([6, 0]), 0.5)
        y = y + s.index_copy(0, torch.tensor([4, 1]), r[:2]) + s.scatter(1, torch.tensor([[0, 7], [2, 1], [3, 5]]), r[:3, :2])
        y = y + s.T.exp().T * r
        best = r.argmax(1, keepdim=True)
        y = y + torch.zeros_like(s).scatter(1, best, 1.0) * s + s.scatter(1, best, r[:, :1]) + s.scatter(1, torch.arange(6)[:, None], 2.0)
        left, right = torch.hsplit(s, 2)
        y = y + torch.cat([right, left], 1).flipud() + torch.cat(torch.vsplit(s, [2])[::-1]).fliplr() + torch.dsplit(x, 2)[1].sum((0, 1, 2)).repeat(2)[:8] / 9
        y = y + torch.inner(s, self.square) + torch.addmv(v, self.square, v, beta=0.5, alpha=2) + torch.addr(s, s[:, 0], v, alpha=0.5)
        y = y + s @ torch.linalg.matrix_power(self.square, 3) + torch.linalg.multi_dot([s, self.square, self.square.mH])
        y = y + torch.addbmm(s, x[0], x[1].mT @ x[1][:, :, :8] / 9, beta=0.1)
        return x + y + F.channel_shuffle(torch.cat([x, x * x], 1), 2)[:, :3] + x.adjoint().mT


class Grids(nn.Module):
    """Derivatives, integrals and differences along dimensions of grids, tables of windows, and cumulative sums of exponentials."""
    def __init__(self):
        super().__init__()
        self.register_buffer("depth", torch.tensor([0.0, 1.0, 1.5, 2.5, 3.0, 3.5, 5.0, 7.0]))

    @staticmethod
    def table(window, *arguments):
        return window(8, *arguments, dtype=torch.float64)

    def forward(self, x):  # [batch, 3, 6, 8]
        y = torch.gradient(x, dim=3)[0] + torch.gradient(x, spacing=0.5, dim=(2, 3), edge_order=2)[0]
        first, second = torch.gradient(x, spacing=[0.25, 2.0], dim=(3, 2))
        y = y + first * second + torch.gradient(x, spacing=(self.depth,), dim=3)[0] + torch.gradient(x[0, 0])[1]
        y = y + torch.gradient(x, spacing=(self.depth[:6], self.depth.exp() / 50), dim=(2, 3), edge_order=2)[1]
        y = y + torch.trapezoid(x, dx=0.5, dim=2)[:, :, None] + torch.trapezoid(x, self.depth)[..., None] + torch.trapz(x, dim=1)[:, None]
        y = y + torch.trapezoid(x, x.abs().cumsum(3), dim=3)[..., None] + F.pad(torch.cumulative_trapezoid(x, self.depth), (1, 0))
        y = y + F.pad(torch.cumulative_trapezoid(x, dim=2), (0, 0, 0, 1)) + torch.diff(x, prepend=x[..., -1:]) + torch.diff(x, append=x[..., :2], n=2)
        y = y + torch.logcumsumexp(3 * x, 3) + torch.logcumsumexp(x, 2) * self.table(torch.hann_window) + self.table(torch.bartlett_window, False) * x
        y = y + self.table(torch.hamming_window, True, 0.6, 0.4) * self.table(torch.blackman_window) + torch.logspace(0, 1, 8, dtype=x.dtype)
        return y + torch.zeros(6, 8).index_put(tuple(torch.tril_indices(6, 8, -1)), torch.tensor(1.0)) * x * torch.triu_indices(3, 3).sum()


class Booleans(nn.Module):
    """Operators of truth values: as functions, as Python's operators, and in place; their arguments are read afterwards too."""
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", torch.rand(6, 8) > 0.4)
        self.register_buffer("ids", torch.randint(0, 7, (6, 8)))

    def forward(self, x):  # [batch, 3, 6, 8], between -1 and 1
        a, b, mask = x > -0.3, x < 0.4, self.mask
        y = torch.where(a & b, x, 2 * x) + torch.where(a | ~mask, x * x, 3.0) + torch.where(a ^ b, x, -x)
        y = y + torch.where(torch.bitwise_xor(a, mask), x, 0.5) + torch.where(torch.logical_xor(x, a), x, 0.25) * (a ^ True)
        y = y + torch.where(a == b, x, 1.0) + torch.where(a != mask, 2.0, x) + (a > b) * x + torch.where(b.eq(False), x, 0.125)
        y = y + torch.where(torch.where(a, True, mask), x, -2.0) + torch.where(a, mask, False) * x + (b & True) * (a | False) * x
        y = y + torch.where(torch.isin(self.ids, torch.tensor([1, 4])), x, 0.5) + torch.isin(torch.round(3 * x), torch.arange(2), invert=True) * x
        y = y + torch.isin(self.ids, 5) * x + torch.where(torch.tensor(True), x, 0.0) + torch.stack([a, b]).all(0) * x
        c, d = a.clone(), a.clone()
        c &= b
        y = y + torch.where(c.clone(), x, 0.75)
        c |= mask
        y = y + c.clone() * x
        c ^= b
        d[..., 0], d[:, :, :2] = True, False
        c.bitwise_xor_(d)
        return y + torch.where(c, x, 1.5) + torch.where(a, x, 0.0) + torch.where(b, x, 0.0) + d * x + torch.where(mask, x, 0.0)


class Stored(nn.Module):
    """What booleans and integers keep of sums and of numbers that are written to them."""
    def forward(self, x):  # [batch, 3, 6, 8], between -1 and 1
        a, b, z = x > -0.3, x < 0.4, torch.where(x.abs() < 0.5, 0.0, torch.roll(x, 1, 3))
        y = (a + b) * x + torch.where(a + True, x, 0.5) + torch.add(a, b, alpha=True) * z + (a * b) * x + sum([x > -0.5, x > 0.0, x > 0.5]) * x
        y = y + (a.long() + b) * x + torch.where(a, b, 2) * x + torch.cat([a, b], 1)[:, 1:4] * x + (a.to(x.dtype) + b) * z
        y = y + a.sum(1, keepdim=True) * x + a.cumsum(3) * z + (a + b).sum(2, keepdim=True) * x + torch.stack([a, b]).sum(0) * z
        y = y + a.prod(3, keepdim=True) * x + torch.maximum(a, b) * x + a.masked_fill(b, 3) * x + (a + b).logical_not() * 9 + ((a + b) == a) * x
        c, d, e, f = a.clone(), a.clone(), torch.zeros_like(a), torch.zeros_like(a)
        c += b
        d.add_(b)
        e += a
        e += b
        f[..., :5] = z[..., :5]
        f[:, 1] += b[:, 0]
        y = y + c.clone() * x + d.clone() * z + e.clone() * x + f.clone() * x
        c[:], d[0, 1:, 2:], g = z, 0.5, a.clone()
        e.fill_(0.25)
        f.masked_fill_(a, 7)
        g.index_fill_(3, torch.tensor([0, 2]), 7)
        y = y + c * x + d * z + e * x + f * x + g * z + torch.slice_scatter(a, z[:, :, :2].detach(), 2, 1, 3) * x
        n, m, k = (3 * x).long(), (3 * x).long(), torch.zeros_like(x, dtype=torch.int32)
        n.copy_(5 * z)
        m[..., :5] = 5 * x[..., :5]
        k.fill_(2.7)
        return y + n * x + m * z + k * x + torch.slice_scatter(m, 5 * z[:, :, :2].detach(), 2, 1, 3) * x


class Thresholds(nn.Module):
    """Tables in float32 and narrower types, compared with numbers, which PyTorch rounds to the table's type."""
    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.linspace(0, 1, 11, dtype=torch.float32)[:8].clone())

    def forward(self, x):  # [batch, 3, 6, 8] in float64
        t, grid = self.table, torch.linspace(0, 1, 11, dtype=torch.float32)[:8]
        y = (t == 0.3) * x + 2 * (t <= 0.3) * x + 3 * (t > 0.7) * x + 4 * (t < 0.1) * x + 5 * (t >= 0.6) * x + 6 * (t != 0.7) * x
        y = y + torch.where(grid == 0.1, x, 2 * x) + x.masked_fill(grid == 0.3, 0.0) + 7 * (torch.arange(8) * 0.1 <= 0.3) * x
        y = y + torch.isin(t, 0.3) * x + 3 * (t.clamp(max=0.3) == 0.3) * x + 4 * ((1.1 - t) == 0.8) * x
        y = y + 5 * (grid.half() == 0.3) * x + 6 * (grid.bfloat16() < 0.6) * x + 7 * (t.double() == 0.3) * x + 8 * t.eq(0.3).logical_not() * x
        y = y + torch.bucketize(t, torch.tensor([0.3, 0.6], dtype=torch.float32)) * x + t // 0.1 * x
        y = y + torch.bucketize(0.3, t, right=True) * x + torch.searchsorted(t, 0.3, right=True) * x + F.hardshrink(t, 0.3) * x + torch.floor_divide(grid, 0.1) * x
        return y + F.threshold(t, 0.3, 9.0) * x


class Points(nn.Module):
    """Functions of two numbers where derivatives are 0, infinite or none: of each function, one row of points (x, z)."""
    def forward(self, x, z):
        counts = [functools.partial(F.poisson_nll_loss, log_input=log, full=full, reduction="none") for log in (True, False) for full in (True, False)]
        functions = [torch.xlogy, torch.special.xlog1py, *counts, functools.partial(F.kl_div, reduction="none"), lambda p, q: torch.special.entr(torch.where(p.isposinf(), 0.5, p)) + q]
        return torch.cat([f(x[i:i + 1], z[i:i + 1]) for i, f in enumerate(functions)])


class Pools(nn.Module):
    """Sums, maxima and means over space, mostly after its dimensions were merged, which are given to all of the field."""
    def __init__(self):
        super().__init__()
        self.score, self.mix = nn.Conv2d(3, 1, 1), nn.Linear(3, 3)

    def forward(self, x):  # [batch, 3, 12, 16]
        b, c, h, w = x.shape
        spread = lambda pooled: pooled.view(b, -1, 1, 1)
        v, shares = x.flatten(2), self.score(x).flatten(2).softmax(2)
        y = x * torch.sigmoid(spread(self.mix(v.mean(2)))) + spread(self.mix((v @ shares.mT)[:, :, 0]))
        y = y + spread(self.mix((shares @ v.mT)[:, 0])) + (v.unsqueeze(1) @ shares.unsqueeze(3)).view(b, c, 1, 1)
        y = y + spread(torch.einsum("bchw,bhw->bc", x, self.score(x)[:, 0].sigmoid())) / (h * w)
        y = y + (x - spread(v.mean(2))) / spread(v.std(2)) + spread(v.amax(2)) + x / spread(x.flatten(1).norm(dim=1))
        y = y + self.score(x).view(b, -1).softmax(1).view(b, 1, h, w) * x + spread(v.mT.mean(1)) + spread((2 * v).exp().sum(2).log())
        return y + x.mean((2, 3), keepdim=True) * x.amax((2, 3), keepdim=True) * x


class Orders(nn.Module):
    """Sums of a field with weights, over merged dimensions that a transpose moves behind or between those of stacks."""
    def forward(self, x):  # [4, 6, 2, 3]: height, width, batch, channels
        means, v = x.mean(3).flatten(0, 1), x.flatten(0, 1)
        stacked = lambda pooled: pooled.reshape(1, 1, 2, 3)
        y = x * stacked(means.t()[:, None] @ v.transpose(0, 1)) + stacked(v.permute(1, 2, 0) @ means.t()[:, :, None])
        y = y + x * stacked(means.softmax(0).t()[:, None] @ v.transpose(0, 1)) + stacked(v.permute(1, 2, 0) @ means.t().softmax(1)[:, :, None])
        channels, w = x.mean(2).flatten(0, 1), 3 + v.sum(2)
        y = y + stacked((channels.t()[:, None] @ v.permute(2, 0, 1))[:, 0].t()) + x * stacked((v.permute(2, 1, 0) @ channels.t()[:, :, None])[..., 0].t())
        y = y + stacked((channels.t().softmax(1)[:, None] @ v.permute(2, 0, 1))[:, 0].t()) * x / stacked((w.t()[:, None] @ v.permute(1, 0, 2)) ** 2 + 1)
        return y + stacked(v.permute(1, 0, 2).sum(1)) * x + v.permute(2, 1, 0).amax(2).t().reshape(1, 1, 2, 3)


def field():
    return torch.randn(2, 3, 6, 8, dtype=torch.float64)


def special():
    write("special", Special().double(), torch.rand(2, 3, 6, 8, dtype=torch.float64) * 2 - 1)


def limits():
    write_bare("limits", Limits().double(), torch.randint(-4, 5, (2, 3, 6, 8)).double() / 4)


def digits():
    write_bare("digits", Digits().double(), torch.rand(2, 3, 6, 8, dtype=torch.float64) * 2 - 1)


def losses():
    write("losses", Losses().double(), field())


def booleans():
    write("booleans", Booleans().double(), torch.rand(2, 3, 6, 8, dtype=torch.float64) * 2 - 1)


def stored():
    write("stored", Stored().double(), torch.rand(2, 3, 6, 8, dtype=torch.float64) * 2 - 1)


def thresholds():
    write_bare("thresholds", Thresholds(), field())


def orders():
    write("orders", Orders().double(), torch.randn(4, 6, 2, 3, dtype=torch.float64))


def points():
    """The numbers of PyTorch are in points.exact.npz, NaN among them."""
    numbers = torch.tensor([-2, -1, -0.5, -0.0, 0, 0.25, 1, 3, torch.nan, torch.inf, -torch.inf], dtype=torch.float64)
    x, z = (v.reshape(1, -1).repeat(8, 1) for v in torch.meshgrid(numbers, numbers, indexing="ij"))
    torch.export.save(torch.export.export(Points(), (x, z)), f"{FOLDER}/points.f64.pt2")
    x, z = x.requires_grad_(), z.requires_grad_()
    y = Points()(x, z)
    y.backward(torch.ones_like(y))
    numpy.savez_compressed(f"{FOLDER}/points.exact.npz", **{"in.x": x.detach(), "in.z": z.detach(), "out.y": y.detach(), "grad.x": x.grad,
                                                            "grad.z": z.grad})


def pools():
    write("pools", Pools().double(), torch.randn(2, 3, 12, 16, dtype=torch.float64))


def layouts():
    write("layouts", Layouts().double(), field())


def grids():
    write("grids", Grids().double(), field())


if __name__ == "__main__":
    torch.manual_seed(7)
    for name in sys.argv[1:] or ("special", "limits", "digits", "losses", "layouts", "grids", "booleans", "stored", "thresholds", "points", "pools", "orders"):
        globals()[name]()
