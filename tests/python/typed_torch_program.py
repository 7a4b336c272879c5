# SPDX-License-Identifier: BSD-2-Clause
"""As typed_program.py, for the modules of PyTorch."""
import torch

import tenon
import tenon.torch as tt


def right(layout: tenon.Layout, x: torch.Tensor) -> torch.Tensor:
    conv = tt.nn.Conv2d(2, 4, 3, padding=1, layout=layout, signature='h', seed=3)
    norm: tenon.torch.Module = tt.nn.BatchNorm2d(4, layout=conv.output_layout, dtype=torch.float64)
    pool = tt.nn.MaxPool2d(2, layout=norm.output_layout)
    act = tt.nn.LeakyReLU(0.1, layout=pool.output_layout)
    network = tt.distribute(torch.nn.Conv2d(2, 4, 3), [layout], proof=True, depth=2)
    gain: torch.nn.Linear = tt.replicated(torch.nn.Linear(1, 4))
    return tt.total(tt.cat([network(x), gain(x), act(x)], [layout, layout, layout], 1).sum())


def wrong(layout: tenon.Layout) -> None:
    tt.nn.Conv2d(2, 4, 3, kernal=3, layout=layout)  # error: call-arg
    tt.nn.Conv2d(2, 4, layout=layout)  # error: call-arg
    tt.nn.Linear(2, '4', layout=layout)  # error: arg-type
    tt.nn.MaxPool2d(2, layout=layout, signature=3)  # error: arg-type
    tt.nn.Convolution(2)  # error: attr-defined
    tt.distribute(layout, layout)  # error: arg-type
