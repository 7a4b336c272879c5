# SPDX-License-Identifier: BSD-2-Clause
"""Times torch-harmonics' spherical harmonic transform and its inverse on Gauss grids: milliseconds of processor time
of one thread for each field, as tests/bench/sphere prints them. Needs PyTorch and torch-harmonics."""
import statistics
import time

import torch
import torch_harmonics

torch.set_num_threads(1)
print(f'{"type":<8} {"rows":>5} {"fields":>6} {"sht ms":>10} {"inverse ms":>10} {"both ways":>10}')
for rows, fields in ((180, 1), (180, 16), (180, 64), (360, 1), (360, 16)):
    for dtype in (torch.float32, torch.float64):
        size = dict(lmax=rows, mmax=rows, grid='legendre-gauss')
        sht = torch_harmonics.RealSHT(rows, 2 * rows, **size).to(dtype)
        inverse = torch_harmonics.InverseRealSHT(rows, 2 * rows, **size).to(dtype)
        x = torch.full((fields, rows, 2 * rows), 0.5, dtype=dtype)
        with torch.no_grad():
            times = [[], []]
            c = sht(x)
            inverse(c)
            for _ in range(7):
                start = time.thread_time()
                c = sht(x)
                middle = time.thread_time()
                inverse(c)
                times[0].append(middle - start)
                times[1].append(time.thread_time() - middle)
        a, b = (1e3 * statistics.median(t) / fields for t in times)
        print(f'{str(dtype)[6:]:<8} {rows:>5} {fields:>6} {a:>10.3f} {b:>10.3f} {a + b:>10.3f}')
