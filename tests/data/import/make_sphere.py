# SPDX-License-Identifier: BSD-2-Clause
"""make_sphere.py NAME...: writes networks on the sphere, each with its test. Needs torch, and torch-harmonics 0.9 for ace,
sfno, parts, local, filters, bare, tied, twice and resampled; torch-harmonics 0.7 and neuraloperator for neuralop, old."""
import math
import os
import sys

import torch
import torch_harmonics as th
from torch import nn

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{FOLDER}/../../../share/tenon")
from export_torch import export_model


def draw(*shape):
    return nn.Parameter(torch.randn(shape) / math.sqrt(shape[0]))


class SpectralConv(nn.Module):
    """The filter of ACE: weights [in, out, degree, 2]."""
    def __init__(self, sht, isht, channels):
        super().__init__()
        self.sht, self.isht = sht, isht
        self.weight, self.bias = draw(channels, channels, sht.lmax, 2), draw(1, channels, 1, 1)

    def forward(self, x):
        dtype, residual = x.dtype, x
        with torch.amp.autocast("cpu", enabled=False):
            x = self.sht(x.float()).contiguous()
        x = torch.einsum("bixy,iox->boxy", x, torch.view_as_complex(self.weight)).contiguous()
        with torch.amp.autocast("cpu", enabled=False):
            x = self.isht(x)
        return x.type(dtype) + self.bias, residual


class Block(nn.Module):
    def __init__(self, sht, isht, channels):
        super().__init__()
        self.norm0, self.norm1 = (nn.InstanceNorm2d(channels, eps=1e-6, affine=True) for _ in range(2))
        self.filter, self.inner_skip = SpectralConv(sht, isht, channels), nn.Conv2d(channels, channels, 1)
        self.mlp = nn.Sequential(nn.Conv2d(channels, 2 * channels, 1), nn.GELU(), nn.Conv2d(2 * channels, channels, 1))

    def forward(self, x):
        x, residual = self.filter(self.norm0(x))
        x = nn.functional.gelu(x + self.inner_skip(residual))
        return self.mlp(self.norm1(x)) + residual


class Ace(nn.Module):
    """The spherical Fourier neural operator of ACE2: encoder, blocks, decoder of the state and of the input."""
    def __init__(self, rows, columns, inputs=3, outputs=2, channels=4, blocks=2):
        super().__init__()
        sht, isht = (kind(rows, columns, lmax=rows, mmax=rows, grid="legendre-gauss").float()
                     for kind in (th.RealSHT, th.InverseRealSHT))
        self.encoder = nn.Sequential(nn.Conv2d(inputs, channels, 1), nn.GELU(), nn.Conv2d(channels, channels, 1, bias=False))
        self.pos_embed = nn.Parameter(0.02 * torch.randn(1, channels, rows, columns))
        self.blocks = nn.Sequential(*(Block(sht, isht, channels) for _ in range(blocks)))
        self.decoder = nn.Sequential(nn.Conv2d(channels + inputs, channels, 1), nn.GELU(), nn.Conv2d(channels, outputs, 1, bias=False))

    def forward(self, x):
        return self.decoder(torch.cat([self.blocks(self.encoder(x) + self.pos_embed), x], dim=1))


class Parts(nn.Module):
    """Transforms whose coefficients are read otherwise, and all kinds of weights: [batch, 4, 8, 14]."""
    def __init__(self):
        super().__init__()
        kinds = {"poles": dict(grid="equiangular", norm="schmidt"), "gauss": dict(grid="legendre-gauss", csphase=False)}
        self.sht, self.isht = nn.ModuleDict(), nn.ModuleDict()
        for name, (rows, columns) in (("poles", (8, 14)), ("gauss", (9, 16))):
            self.sht[name] = th.RealSHT(rows, columns, lmax=6, mmax=6, **kinds[name])
            self.isht[name] = th.InverseRealSHT(rows, columns, lmax=6, mmax=6, **kinds[name])
        self.refined = th.InverseRealSHT(9, 16, lmax=6, mmax=6, grid="legendre-gauss", norm="schmidt")
        self.groups = th.SpectralConvS2((9, 16), (9, 16), 4, 6, num_groups=2, grid_in="legendre-gauss", grid_out="legendre-gauss")
        self.mode, self.separable, self.shared, self.last = draw(6, 4, 6, 6, 2), draw(4, 6, 2), draw(4, 4, 2), draw(4, 4, 2)
        self.constant, self.factor = draw(4, 6, 6, 2), draw(4, 4, 6, 2)
        self.lobatto = th.RealSHT(9, 16, lmax=6, mmax=6, grid="lobatto")
        self.register_buffer("slope", torch.arange(6.0)[:, None] / 6)

    def forward(self, x):
        w = torch.view_as_complex
        # To another grid, with an addend and a filter on the way.
        c = self.sht["poles"](x)
        x = self.refined(c * self.slope + 0.1 * w(self.constant))
        x = self.groups(x)
        x = self.isht["gauss"](torch.einsum("bilm,iolm->bolm", self.sht["gauss"](x), w(self.mode))) + x[:, :4]
        # Twice weighted, by channels and by all.
        c = self.sht["gauss"](x) * w(self.separable).unsqueeze(-1)
        x = self.isht["gauss"](torch.einsum("bilm,io->bolm", c, w(self.shared)))
        x = x + self.isht["gauss"](torch.einsum("bilm,io->bolm", self.sht["gauss"](x), w(self.last)))
        # Rows that no layer has.
        return self.isht["gauss"](torch.einsum("bilm,iol->bolm", self.lobatto(x), w(self.factor)))


class Old(nn.Module):
    """More orders than degrees, as torch-harmonics once had by default: [batch, 3, 6, 12]."""
    def __init__(self):
        super().__init__()
        self.sht, self.isht = (kind(6, 12, grid="legendre-gauss").float() for kind in (th.RealSHT, th.InverseRealSHT))
        self.weight, self.constant = draw(3, 2, 6, 2), draw(2, 6, 7, 2)

    def forward(self, x):
        x = self.isht(torch.einsum("bixy,iox->boxy", self.sht(x), torch.view_as_complex(self.weight)))
        return x + self.isht(self.sht(torch.sin(x)) * 0.5 + torch.view_as_complex(self.constant))


class Filters(nn.Module):
    """Filters of all bases, to coarser and finer grids and back: [batch, 2, 6, 12]."""
    def __init__(self):
        super().__init__()
        conv, up = th.DiscreteContinuousConvS2, th.DiscreteContinuousConvTransposeS2
        gauss = dict(grid_in="legendre-gauss", grid_out="legendre-gauss")
        kind = lambda basis, norm: dict(basis_type=basis, basis_norm_mode=norm)
        self.first = conv(2, 4, (6, 12), (5, 6), (3, 2), grid_out="legendre-gauss",
                          theta_cutoff=0.9)
        self.grouped = conv(4, 4, (5, 6), (5, 6), (2, 2), groups=2, bias=False, theta_cutoff=1.1,
                            **kind("morlet", "geometric"), **gauss)
        self.fused = conv(4, 6, (5, 6), (4, 6), 3, theta_cutoff=1.3, fused=True,
                          **kind("zernike", "mean"), **gauss)
        self.up = up(6, 2, (4, 6), (6, 12), (2, 1), groups=2, grid_in="legendre-gauss",
                     theta_cutoff=1.2, **kind("fourier-bessel", "support"))
        # One with fewer outputs than half of its inputs is an autograd function. The last one's hat
        # is wider than the sphere.
        self.fewer = conv(2, 1, (6, 12), (6, 12), (2, 1), bias=False, theta_cutoff=0.7,
                          **kind("harmonic", "modal"))
        self.last = conv(1, 1, (6, 12), (6, 12), 1, basis_norm_mode="none", bias=False,
                         theta_cutoff=4.0)
        for m in (self.first, self.fused, self.up):
            nn.init.normal_(m.bias)

    def forward(self, x):
        y = torch.tanh(self.first(x))
        y = torch.tanh(self.fused(self.grouped(y) + y))
        return self.last(torch.sin(self.fewer(self.up(y))))


class Bare(nn.Module):
    """Sums with basis functions, whose product with weights is another one: [batch, 2, 6, 12]."""
    def __init__(self):
        super().__init__()
        how = dict(kernel_shape=(2, 2), bias=False, theta_cutoff=0.8)
        self.down = th.DiscreteContinuousConvS2(2, 2, (6, 12), (4, 6), **how)
        self.up = th.DiscreteContinuousConvTransposeS2(2, 2, (4, 6), (6, 12), **how)

    def forward(self, x):
        ops = torch.ops.disco_kernels
        lists = lambda m: (m.psi_roff_idx, m.psi_ker_idx, m.psi_row_idx, m.psi_col_idx, m.psi_vals,
                           m.kernel_size)
        z = ops._disco_s2_contraction_optimized(x, *lists(self.down), 4, 6)
        z = torch.sin(z) * self.down.weight.sum((0, 1)).reshape(1, 1, -1, 1, 1)
        return ops._disco_s2_transpose_contraction_optimized(z, *lists(self.up), 6, 12)


class Tied(nn.Module):
    """Filters and their transposes by the lists of one module, whose normalisation is that of the first: [batch, 2, 6, 12]."""
    def __init__(self):
        super().__init__()
        self.conv = th.DiscreteContinuousConvS2(2, 2, (6, 12), (6, 12), (2, 2), bias=False, theta_cutoff=0.8)

    def forward(self, x):
        ops, m = torch.ops.disco_kernels, self.conv
        lists = (m.psi_roff_idx, m.psi_ker_idx, m.psi_row_idx, m.psi_col_idx, m.psi_vals, m.kernel_size)
        z = ops._disco_s2_contraction_optimized(x, *lists, 6, 12)
        z = torch.sin(z) * m.weight.sum((0, 1)).reshape(1, 1, -1, 1, 1)
        return ops._disco_s2_transpose_contraction_optimized(z, *lists, 6, 12)


class Twice(th.DiscreteContinuousConvS2):
    """A module that is the network, whose result is read with other biases and without: [batch, 2, 6, 12]."""
    def __init__(self):
        super().__init__(2, 2, (6, 12), (4, 6), (2, 1), bias=False, theta_cutoff=1.1)
        self.shift, self.other = draw(1, 2, 1, 1), draw(2, 1, 1)

    def forward(self, x):
        y = super().forward(x)
        return torch.tanh(y + self.shift) * y + torch.sin(y + self.other)


class Resampled(nn.Module):
    """Bilinear resampling: beyond the outer rows to the poles, to other rows and columns, and of
    angles: [batch, 2, 4, 6]."""
    def __init__(self):
        super().__init__()
        self.up = th.ResampleS2(4, 6, 7, 9, grid_in="legendre-gauss")
        self.angles = th.ResampleS2(7, 9, 6, 12, grid_out="legendre-gauss",
                                    mode="bilinear-spherical")
        self.down = th.ResampleS2(6, 12, 3, 5, grid_in="legendre-gauss", grid_out="legendre-gauss")

    def forward(self, x):
        return self.down(torch.sin(self.angles(2 * self.up(x))))


def ace():
    return Ace(8, 16), torch.randn(2, 3, 8, 16)


def sfno():
    from torch_harmonics.examples.models import SphericalFourierNeuralOperator
    model = SphericalFourierNeuralOperator(img_size=(9, 16), scale_factor=2, in_chans=2, out_chans=2, embed_dim=4, num_layers=3,
                                           normalization_layer="instance_norm", pos_embed="learnable latlon", bias=True)
    return model, torch.randn(2, 2, 9, 16)


def parts():
    return Parts(), torch.randn(2, 4, 8, 14)


def local():
    from torch_harmonics.examples.models import LocalSphericalNeuralOperator
    model = LocalSphericalNeuralOperator(img_size=(10, 16), scale_factor=2, in_chans=2, out_chans=2,
                                         embed_dim=4, num_layers=2, kernel_shape=(2, 2),
                                         encoder_kernel_shape=(2, 2))
    return model, torch.randn(2, 2, 10, 16)


def filters():
    return Filters(), torch.randn(2, 2, 6, 12)


def bare():
    return Bare().float(), torch.randn(2, 2, 6, 12)  # its filters are rounded to float32


def tied():
    return Tied(), torch.randn(2, 2, 6, 12)


def twice():
    return Twice(), torch.randn(2, 2, 6, 12)


def resampled():
    return Resampled(), torch.randn(2, 2, 4, 6)


def neuralop():
    from neuralop.models import SFNO
    model = SFNO(n_modes=(7, 12), in_channels=2, out_channels=1, hidden_channels=4, n_layers=2, projection_channel_ratio=2)
    x = torch.randn(2, 2, 9, 16)
    model(x)  # makes its transforms
    return model, x


def old():
    return Old(), torch.randn(2, 3, 6, 12)


for name in sys.argv[1:]:
    torch.manual_seed(len(name))
    model, x = globals()[name]()
    export_model(model, (x,), f"{FOLDER}/sphere_{name}.pt2")
