#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""usage: PYTHONPATH=BUILD/python python3 tests/bench/inference.py [-threads 1] [-rounds 11] [-no-compile] [MODEL ...]

Times the inference of networks with random weights in float32: imported by Tenon from a .pt2, by onnxruntime from an
ONNX file, by PyTorch as they are, and by torch.compile. The methods take turns in one process. In each round every
method has a turn: one call that is not timed, then calls for about a tenth of a second. The results are compared with
PyTorch's before that. Printed are milliseconds of a call (median of the rounds) by the processor time of all threads
and by the clock, and the medians of the ratios of Tenon's time to that of each other in the same round; processor time
is compared on one thread only, since threads that wait count as well. The share of each kind of layer in Tenon's time
is that of its log. Needs PyTorch and timm; what else is not installed is absent.

tests/bench/inference.py -threads 2 unet vit
"""
import argparse
import contextlib
import io
import os
import statistics
import sys
import tempfile
import time
import warnings
from collections import Counter

parser = argparse.ArgumentParser(usage=__doc__)
parser.add_argument('-threads', type=int, default=1)
parser.add_argument('-rounds', type=int, default=11)
parser.add_argument('-no-compile', dest='compiles', action='store_false')
parser.add_argument('models', nargs='*')
arguments = parser.parse_args()
os.environ['OMP_NUM_THREADS'] = str(arguments.threads)  # read when the libraries are loaded

import timm
import torch

import tenon

nn = torch.nn
TURN_SECONDS = 0.1


class Unet(nn.Module):
    """Four levels with 16 to 128 channels, two convolutions with batch normalisation in each."""

    def __init__(self, inputs=3, outputs=1, widths=(16, 32, 64, 128)):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(),
                                 nn.Conv2d(o, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU())
        self.down = nn.ModuleList(block(i, o) for i, o in zip((inputs, *widths), widths))
        pairs = list(zip(widths[:0:-1], widths[-2::-1]))
        self.wider = nn.ModuleList(nn.ConvTranspose2d(i, o, 2, stride=2) for i, o in pairs)
        self.up = nn.ModuleList(block(2 * o, o) for _, o in pairs)
        self.last = nn.Conv2d(widths[0], outputs, 1)

    def forward(self, x):
        skipped = []
        for level, down in enumerate(self.down):
            x = down(x if level == 0 else nn.functional.max_pool2d(x, 2))
            skipped.append(x)
        for wider, up, skip in zip(self.wider, self.up, skipped[-2::-1]):
            x = up(torch.cat([wider(x), skip], 1))
        return self.last(x)


class Spectral(nn.Module):
    def __init__(self, channels, modes):
        super().__init__()
        self.modes = modes
        self.low, self.high = (nn.Parameter(torch.randn(channels, channels, modes, modes, dtype=torch.cfloat) / channels)
                               for _ in range(2))

    def forward(self, x):
        m = self.modes
        c = torch.fft.rfft2(x)
        out = torch.zeros_like(c)
        out[:, :, :m, :m] = torch.einsum('bixy,ioxy->boxy', c[:, :, :m, :m], self.low)
        out[:, :, -m:, :m] = torch.einsum('bixy,ioxy->boxy', c[:, :, -m:, :m], self.high)
        return torch.fft.irfft2(out, s=x.shape[-2:])


class Fno(nn.Module):
    """A Fourier neural operator of four layers."""

    def __init__(self, inputs=3, outputs=1, channels=32, modes=12):
        super().__init__()
        self.lift, self.project = nn.Conv2d(inputs, channels, 1), nn.Conv2d(channels, outputs, 1)
        self.spectral = nn.ModuleList(Spectral(channels, modes) for _ in range(4))
        self.local = nn.ModuleList(nn.Conv2d(channels, channels, 1) for _ in range(4))

    def forward(self, x):
        x = self.lift(x)
        for spectral, local in zip(self.spectral, self.local):
            x = nn.functional.gelu(spectral(x) + local(x))
        return self.project(x)


def mlp():
    widths = (8, 64, 64, 64, 4)
    layers = [layer for i, o in zip(widths, widths[1:]) for layer in (nn.Linear(i, o), nn.Tanh())]
    return nn.Sequential(*layers[:-1])


MODELS = {
    'mlp': (mlp, (100000, 8)),
    'resnet18': (lambda: timm.create_model('resnet18'), (1, 3, 224, 224)),
    'resnet18_8': (lambda: timm.create_model('resnet18'), (8, 3, 224, 224)),
    'unet': (Unet, (1, 3, 256, 256)),
    'fno': (Fno, (1, 3, 128, 128)),
    'vit': (lambda: timm.create_model('vit_small_patch16_224'), (1, 3, 224, 224)),
    'convnext': (lambda: timm.create_model('convnext_tiny'), (1, 3, 224, 224)),
    'mobilenet': (lambda: timm.create_model('mobilenetv2_100'), (1, 3, 224, 224)),
}


def with_statistics(model):
    """Draws the statistics of batch normalisations, which are 0 and 1 in a new network."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.running_mean.uniform_(-0.2, 0.2)
            module.running_var.uniform_(0.5, 1.5)
    return model.eval()


def by_tenon(model, x, folder):
    path = os.path.join(folder, 'model.pt2')
    torch.export.save(torch.export.export(model, (x,)), path)
    layout = tenon.Layout.sharded(tenon.Partition(None, [1]), list(x.shape), 'S0')
    layer = tenon.load(path, layout, data_type='float32').set_training(False)
    given, made = tenon.DTensor(layout, 'float32'), layer.create_output()
    given.assign(x.numpy())
    return (lambda: layer.apply(given, made)), (lambda: torch.from_numpy(made.numpy())), kinds(layer)


def by_onnxruntime(model, x, folder):
    import onnxruntime
    path = os.path.join(folder, 'model.onnx')
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action='ignore'):  # long pages if it fails
        torch.onnx.export(model, (x,), path, input_names=['x'], dynamo=False)
    how = onnxruntime.SessionOptions()
    how.intra_op_num_threads = arguments.threads
    how.inter_op_num_threads = 1
    session, values = onnxruntime.InferenceSession(path, how, providers=['CPUExecutionProvider']), {'x': x.numpy()}
    return (lambda: session.run(None, values)), (lambda: torch.from_numpy(session.run(None, values)[0]))


def by_pytorch(model, x, folder):
    return (lambda: model(x)), (lambda: model(x))


def by_compile(model, x, folder):
    compiled = torch.compile(model)
    return (lambda: compiled(x)), (lambda: compiled(x))


METHODS = {'Tenon': by_tenon, 'onnxruntime': by_onnxruntime, 'PyTorch': by_pytorch}
if arguments.compiles:
    METHODS['compile'] = by_compile


def prepared(model, x, folder):
    wanted, runs, types, errors = model(x), {}, {}, []
    for name, make in METHODS.items():
        try:
            run, result, *of = make(model, x, folder)
            run()
        except Exception as failure:  # an operator that it does not have, a package that is not installed
            print(f'  {name} is absent: {str(failure).strip().splitlines()[0][:150]}', file=sys.stderr)
            continue
        error = float((result() - wanted).abs().max() / wanted.abs().max())
        if not error < 1e-4:
            raise SystemExit(f'{name} differs from PyTorch by {error:.1e} of the largest value')
        errors.append(f'{name} {error:.1e}')
        runs[name] = run
        types.update(*of)
    print(f'           largest difference from PyTorch: {", ".join(errors)}')
    return runs, types


def taken_in_turns(runs):
    """Returns, by method, (processor seconds, seconds) of a call in each round."""
    calls = {}
    for name, run in runs.items():
        begin = time.perf_counter()
        run()
        calls[name] = max(1, round(TURN_SECONDS / (time.perf_counter() - begin)))
    times = {name: [] for name in runs}
    names = list(runs)
    for turn in range(arguments.rounds):
        for name in names[turn % len(names):] + names[:turn % len(names)]:
            runs[name]()
            processor, clock = time.process_time(), time.perf_counter()
            for _ in range(calls[name]):
                runs[name]()
            times[name].append(((time.process_time() - processor) / calls[name], (time.perf_counter() - clock) / calls[name]))
    return times


def kinds(layer):
    """Returns the type of each layer in a network by name."""
    found = {}
    for child in (layer.child(str(number)) for number in range(layer.child_count())):
        found.update(kinds(child) or {child.name(): child.type()})
    return found


def shares(run, types):
    """Returns the time of the layers of each type; of a layer the least of several calls."""
    def logged():
        table = tenon.log()
        return Counter(dict(zip(table['event'], table['time'])))
    best = {}
    tenon.log_enable(True)
    for _ in range(7):
        before = logged()
        run()
        for event, seconds in (logged() - before).items():
            best[event] = min(best.get(event, seconds), seconds)
    tenon.log_enable(False)
    times = Counter()
    for event, seconds in best.items():
        if event in types:
            times[types[event]] += seconds
    return times


def report(name, runs, types):
    times = taken_in_turns(runs)
    threads = arguments.threads
    for kind, what in ((0, 'processor'), (1, 'clock')):
        if kind == 0 and threads > 1:
            continue
        median = {method: statistics.median(t[kind] for t in rounds) for method, rounds in times.items()}
        text = '  '.join(f'{method} {1e3 * seconds:8.2f}' for method, seconds in median.items())
        ratios = '  '.join(f'{method} {statistics.median(a[kind] / b[kind] for a, b in zip(times["Tenon"], times[method])):.2f}'
                           for method in times if method != 'Tenon' and 'Tenon' in times)
        print(f'{name:<10} {threads} thread{"s" if threads > 1 else ""} {what:<9} ms: {text}   Tenon over {ratios}', flush=True)
    if 'Tenon' in runs:
        parts = shares(runs['Tenon'], types)
        whole = sum(parts.values())
        print('           ' + ', '.join(f'{event} {100 * seconds / whole:.0f} %' for event, seconds in parts.most_common(9)
                                        if seconds > 0.01 * whole), flush=True)


torch.set_num_threads(arguments.threads)
with tenon.Session(), torch.no_grad(), tempfile.TemporaryDirectory() as folder:
    for name in arguments.models or MODELS:
        make, shape = MODELS[name]
        torch.manual_seed(0)
        print(f'{name}: load {" ".join(f"{x:.1f}" for x in os.getloadavg())}', flush=True)
        report(name, *prepared(with_statistics(make()), torch.randn(shape), folder))
        torch.compiler.reset()
