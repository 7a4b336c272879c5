# SPDX-License-Identifier: BSD-2-Clause
"""Times the spherical harmonic transforms of torch-harmonics, and of ducc0 where it is installed, and their inverses on
Gauss grids: milliseconds of processor time of one thread for each field, as tests/bench/sphere prints them."""
import statistics
import time

import numpy
import torch
import torch_harmonics

try:
    import ducc0
except ImportError:
    ducc0 = None


def with_torch(fields, rows, dtype):
    """The transform of torch-harmonics and its inverse, as functions."""
    size = dict(lmax=rows, mmax=rows, grid='legendre-gauss')
    sht = torch_harmonics.RealSHT(rows, 2 * rows, **size).to(dtype)
    inverse = torch_harmonics.InverseRealSHT(rows, 2 * rows, **size).to(dtype)
    x = torch.full((fields, rows, 2 * rows), 0.5, dtype=dtype)
    return lambda: sht(x), inverse


def with_ducc(fields, rows, dtype):
    """The same with ducc0, which transforms one field at a time."""
    x = torch.full((fields, 1, rows, 2 * rows), 0.5, dtype=dtype).numpy()
    options = dict(lmax=rows - 1, spin=0, geometry='GL', nthreads=1)
    analysis = ducc0.sht.experimental.analysis_2d
    synthesis = ducc0.sht.experimental.synthesis_2d
    return (lambda: [analysis(map=field, **options) for field in x],
            lambda c: [synthesis(alm=numpy.asarray(field), ntheta=rows, nphi=2 * rows, **options) for field in c])


torch.set_num_threads(1)
torch.set_grad_enabled(False)
print(f'{"library":<8} {"type":<8} {"rows":>5} {"fields":>6} {"sht ms":>10} {"inverse ms":>10} {"both ways":>10}')
for rows, fields in ((180, 1), (180, 16), (180, 64), (360, 1), (360, 16)):
    for dtype in (torch.float32, torch.float64):
        for name, make in (('torch', with_torch), ('ducc0', with_ducc if ducc0 else None)):
            if make is None:
                continue
            sht, inverse = make(fields, rows, dtype)
            times = [[], []]
            inverse(sht())
            for _ in range(7):
                start = time.thread_time()
                c = sht()
                middle = time.thread_time()
                inverse(c)
                times[0].append(middle - start)
                times[1].append(time.thread_time() - middle)
            a, b = (1e3 * statistics.median(t) / fields for t in times)
            print(f'{name:<8} {str(dtype)[6:]:<8} {rows:>5} {fields:>6} {a:>10.3f} {b:>10.3f} {a + b:>10.3f}')
