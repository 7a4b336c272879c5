# SPDX-License-Identifier: BSD-2-Clause
"""Times the layers and training steps of the benchmark gpu (gpu.cpp) in PyTorch on the same device, and compares.

Usage: gpu_torch.py [FILE]. FILE has the lines "time NAME SECONDS" that gpu has printed; the script prints a table of
the ratios of Tenon's times to PyTorch's. Without FILE it prints PyTorch's times.
"""
import statistics
import sys
import time
import warnings

import torch
from torch import nn

TIMES = 20
TARGETS = {"lenet5_step": 1.0, "unet_step": 1.0, "lenet5_step_graphs": 0.9, "unet_step_graphs": 0.9}
TYPES = {"float32": torch.float32, "float64": torch.float64}

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
warnings.filterwarnings("ignore", message=".*capturable=True")  # of the steps before the recording


def seconds_of(work):
    """Returns the seconds of a call, by the host's clock between two waits for the device, as secondsOf() in
    gpu_times.cpp does."""
    times = []
    for turn in range(-3, TIMES):
        torch.cuda.synchronize()
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        if turn >= 0:
            times.append(time.perf_counter() - start)
    return statistics.median(times)


def passes(name, layer, x):
    """Times forward, and forward with the gradients of x and the parameters."""
    layer, x = layer.cuda(), x.cuda().requires_grad_()
    dy = torch.rand_like(layer(x))

    def both():
        layer.zero_grad(set_to_none=True)
        x.grad = None
        layer(x).backward(dy)

    with torch.no_grad():
        forward = seconds_of(lambda: layer(x))
    yield f"{name}_forward", forward
    yield f"{name}_both", seconds_of(both)


def training(name, network, loss, x, target):
    """Times a step, and the same recorded as a graph."""
    network, x, target = network.cuda(), x.cuda(), target.cuda()

    def stepper(adam):
        def step():
            adam.zero_grad(set_to_none=True)
            loss(network(x), target).backward()
            adam.step()
        return step

    yield f"{name}_step", seconds_of(stepper(torch.optim.Adam(network.parameters(), fused=True)))
    step = stepper(torch.optim.Adam(network.parameters(), fused=True, capturable=True))
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    yield f"{name}_step_graphs", seconds_of(graph.replay)


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10))


def pair(inputs, outputs):
    layers = []
    for channels in (inputs, outputs):
        layers += [nn.Conv3d(channels, outputs, 3, padding=1), nn.GroupNorm(2, outputs), nn.ReLU()]
    return nn.Sequential(*layers)


class UNet(nn.Module):
    def __init__(self, channels, levels):
        super().__init__()
        widths = [channels << level for level in range(levels + 1)]
        self.down = nn.ModuleList(pair(i, o) for i, o in zip([1] + widths, widths))
        self.up = nn.ModuleList(nn.ConvTranspose3d(2 * w, w, 2, stride=2) for w in reversed(widths[:-1]))
        self.join = nn.ModuleList(pair(2 * w, w) for w in reversed(widths[:-1]))
        self.last = nn.Conv3d(channels, 1, 1)

    def forward(self, x):
        skips = []
        for level, layers in enumerate(self.down):
            x = layers(x if level == 0 else nn.functional.max_pool3d(x, 2))
            skips.append(x)
        skips.pop()
        for up, join in zip(self.up, self.join):
            x = join(torch.cat((skips.pop(), up(x)), 1))
        return self.last(x)


def everything():
    for name, layer, shape in (("conv2d", nn.Conv2d(64, 64, 3, padding=1), (32, 64, 128, 128)),
                               ("conv3d", nn.Conv3d(32, 32, 3, padding=1), (2, 32, 64, 64, 64)),
                               ("affine", nn.Linear(4096, 4096), (4096, 4096))):
        for kind, dtype in TYPES.items():
            yield from passes(f"{name}_{kind}", layer.to(dtype), torch.rand(shape, dtype=dtype))
    yield from training("lenet5", lenet5(), nn.functional.cross_entropy, torch.rand(256, 1, 28, 28),
                        torch.randint(10, (256,)))
    yield from training("unet", UNet(16, 3), nn.functional.huber_loss, torch.rand(1, 1, 64, 64, 64),
                        torch.rand(1, 1, 64, 64, 64))


def main():
    measured = {}
    if len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8") as lines:
            words = [line.split() for line in lines if line.startswith("time ") and line.endswith("\n")]
            measured = {name: float(seconds) for _, name, seconds in (line for line in words if len(line) == 3)}
    if not torch.cuda.is_available():
        sys.exit("PyTorch " + torch.__version__ + " sees no GPU")
    for name, seconds in everything():
        if name in measured:
            print(f"{name:<46} {'PyTorch ' + torch.__version__:<34} {seconds / measured[name]:6.2f}  "
                  f">= {TARGETS.get(name, 0.95)}  ({1e3 * measured[name]:.3f} ms)", flush=True)
        else:
            print(f"time {name} {seconds:.4g}", flush=True)


main()
