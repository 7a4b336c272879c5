# SPDX-License-Identifier: BSD-2-Clause
"""usage: architectures.py TENON [--mpiexec PATH] [--record] [--ranks N,N...] [--limit SECONDS] [--keep FOLDER] [NAME...]
Exports networks of the field with share/tenon/export_torch.py, with random weights and small inputs, and proves each by
`TENON import -prove`: all networks of architectures.txt, or those whose names contain a NAME. Compares with architectures.txt:
a network that passed has to pass, and none may have wrong values. --record writes the results to the table.

A line of the table is a network's name, what it is made of, and the result. The name starts with that of the package, and
what it is made of is an expression of Python in which the package's networks are known, and the shapes of its inputs, with
"fixed" where torch.export needs fixed extents.
Networks of packages that are not installed are left out by name. Skipped (77) where there is no PyTorch.
--limit is the time for an export or a proof; --keep leaves the exported files in a folder, and reads those that are there."""
import argparse
import collections
import contextlib
import importlib
import io
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

try:
    import torch
except ImportError as missing:
    print(f'skipped: {missing}')
    sys.exit(77)

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name('architectures.txt')
PASSES, WRONG = 'passes', 'WRONG'
# The modules whose names an expression may use, by package. The first is the one that has to be there.
MODULES = {
    'timm': ['timm'],
    'monai': ['monai.networks.nets'],
    'neuralop': ['neuralop.models', 'neuralop.models.local_no', 'neuralop.models.rno', 'neuralop.models.otno'],
    'torch_harmonics': ['torch_harmonics.examples.models', 'torch_harmonics'],
    'torchvision': ['torchvision.models', 'torchvision.models.segmentation', 'torchvision.models.video'],
    'smp': ['segmentation_models_pytorch'],
    'physicsnemo': ['physicsnemo.models.fno'] + [f'physicsnemo.models.{name}' for name in (
        'afno', 'pangu', 'fengwu', 'unet', 'pix2pix', 'srrn', 'mlp', 'rnn', 'dpot', 'dlwp', 'transolver', 'diffusion_unets',
        'swinvrnn', 'topodiff', 'mlp.fully_connected', 'unet.unet', 'srrn.super_res_net', 'pix2pix.pix2pix', 'pangu.pangu',
        'rnn.rnn_one2many', 'rnn.rnn_seq2seq', 'afno.afno', 'afno.modafno', 'fengwu.fengwu', 'dlwp.dlwp', 'swinvrnn.swinvrnn',
        'fno.fno', 'dpot.dpot', 'transolver.transolver', 'topodiff.topodiff')],
    'vit_pytorch': ['vit_pytorch'] + [f'vit_pytorch.{name}' for name in (
        'simple_vit', 'cct', 'mobile_vit', 'max_vit', 'crossformer', 'levit', 'pit', 'cvt')],
    'diffusers': ['diffusers'],
    'torch': ['torch.nn'],
}


def known_in(package):
    """The names that an expression of this package may use, or why there are none."""
    known, words = {'torch': torch, 'nn': torch.nn}, set(re.findall(r'\w+', TABLE.read_text()))
    for place, module in enumerate(MODULES[package]):
        try:
            loaded = importlib.import_module(module)
        except Exception as error:  # packages fail in any way where something that they need is missing
            if place == 0:
                return str(error)
            continue
        known.update({name: value for name, value in vars(loaded).items() if name[0] != '_'})
        # Of packages that load their modules when they are read, what the table names.
        known.update({name: getattr(loaded, name) for name in set(dir(loaded)) - set(vars(loaded)) if name in words})
        known[module.split('.')[0]] = importlib.import_module(module.split('.')[0])
    if package == 'timm':
        known['timm'] = lambda name, **settings: sys.modules['timm'].create_model(name, num_classes=8, **settings)
    return known


def inputs_of(shapes):
    """Random inputs of shapes "2,3,64,64;2,8": dimension 0 is the batch."""
    return tuple(torch.randn([int(n) for n in shape.split(',') if n]) for shape in shapes.split(';'))


def export(expression, shapes, known, path, sender):
    """Exports a network, in a process of its own: sends '' or why it could not."""
    os.close(2)
    os.open(os.devnull, os.O_WRONLY)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter('ignore')
            torch.set_num_threads(1)
            torch.manual_seed(0)
            model = eval(expression, known)
            part = path.with_suffix('.part.pt2')
            shapes, _, fixed = shapes.partition(' ')
            sys.modules['export_torch'].export_model(model, inputs_of(shapes), str(part), free=not fixed)
            part.rename(path)
        sender.send('')
    except BaseException as error:
        sender.send(f'{type(error).__name__}: ' + (str(error).strip() or ' ').splitlines()[0][:140])


def exported(expression, shapes, known, path, limit):
    if path.exists():
        return ''
    receiver, sender = multiprocessing.Pipe(False)
    child = multiprocessing.get_context('fork').Process(target=export, args=(expression, shapes, known, path, sender))
    child.start()
    sender.close()
    try:
        return f'does not export: {said}' if receiver.poll(limit) and (said := receiver.recv()) else '' if path.exists() else 'too slow to export'
    except EOFError:
        return 'does not export: the process ended'
    finally:
        child.kill()
        child.join()


def why(text):
    """What an error of `tenon import` says of the operators, without names and shapes of this network."""
    lines = [line.removeprefix('[0]').rstrip() for line in text.partition('\n-----')[0].splitlines()]
    listed = [line.partition(': ')[2].partition(', with input')[0] for line in lines
              if line.startswith('  ') and line[2:3] != ' ' and ': ' in line and 'cannot be imported' not in line]
    if 'cannot be imported' in text and listed:
        return 'refused: ' + '; '.join(dict.fromkeys(listed))[:200]
    if ' does not give its own results ' in text:
        return f'{WRONG}: ' + text.partition(' on process grid ')[2][:200].partition('\n')[0]
    at = next((i for i, line in enumerate(lines) if 'TENON_ERR' in line), 0)
    return 'fails: ' + ' '.join(lines[at:at + 2]).replace(str(TABLE.parent), '')[:300]


def proved(asked, path, ranks):
    """PASSES, or what happened on the first number of ranks on which it does not pass."""
    for count in ranks:
        command = [asked.mpiexec, '-n', str(count), asked.tenon, 'import', str(path), '-prove']
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=asked.limit, check=False)
        except subprocess.TimeoutExpired:
            return f'too slow on {count} ranks'
        if run.returncode:
            return ('' if count == ranks[0] else f'on {count} ranks ') + why(run.stdout + run.stderr)
    return PASSES


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument('tenon')
    parser.add_argument('names', nargs='*')
    parser.add_argument('--mpiexec', default='mpiexec')
    parser.add_argument('--record', action='store_true')
    parser.add_argument('--ranks', default='1,2,4')
    parser.add_argument('--limit', type=float, default=300)
    parser.add_argument('--keep', type=Path)
    return parser.parse_intermixed_args()


def main():
    asked = arguments()
    sys.path.insert(0, str(ROOT / 'share' / 'tenon'))
    importlib.import_module('export_torch')
    rows = [line.split('\t') for line in TABLE.read_text().splitlines() if line[:1] not in ('', '#')]
    ranks = [int(count) for count in asked.ranks.split(',')]
    known, lost, counted = {}, [], collections.Counter()
    if asked.keep:
        asked.keep.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as own:
        for row in rows:
            name, expression, shapes, kept = (row + [''])[:4]
            package = name.partition('/')[0]
            if asked.names and not any(word in name for word in asked.names):
                continue
            if package not in known:
                known[package] = known_in(package)
                if isinstance(known[package], str):
                    print(f'{package} is left out: {known[package]}', flush=True)
            if isinstance(known[package], str):
                continue
            path = (asked.keep or Path(own)) / (name.replace('/', '.') + '.pt2')
            found = exported(expression, shapes, known[package], path, asked.limit) or proved(asked, path, ranks)
            if not asked.keep:
                path.unlink(missing_ok=True)
            print(f'{name}\t{found}', flush=True)
            counted[found.partition(':')[0]] += 1
            if WRONG in found or (kept == PASSES and found != PASSES):
                lost.append(f'{name}: {found}')
            row[3:] = [found]
    if asked.record:
        head = [line for line in TABLE.read_text().splitlines() if line[:1] == '#']
        TABLE.write_text('\n'.join(head + ['\t'.join(row) for row in rows]) + '\n')
    print(', '.join(f'{count} {what}' for what, count in counted.most_common()))
    print(*lost, sep='\n')
    return bool(lost)


if __name__ == '__main__':
    sys.exit(main())
