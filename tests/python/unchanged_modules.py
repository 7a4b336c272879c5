# SPDX-License-Identifier: BSD-2-Clause
"""usage: unchanged_modules.py [NAME...]
Distributes networks of torchvision, timm, MONAI and neuraloperator as these packages have them, on rows of a field, and
compares outputs, gradients and three steps of training with those of PyTorch on one process. Names the networks whose
package is not installed; the exit status 77 means that none is."""
import gc
import sys
import time

from mpi4py import MPI

try:
    import torch
except ImportError:
    print('skipped: PyTorch is not installed')
    sys.exit(77)
import tenon
import tenon.torch as tt
from tenon.torch.proofs import prove

COMM = MPI.COMM_WORLD


def of_torchvision(name, **settings):
    import torchvision
    return getattr(torchvision.models, name)(num_classes=5, **settings)


def of_segmentation(name):
    import torchvision
    return getattr(torchvision.models.segmentation, name)(num_classes=3, weights=None, weights_backbone=None)


def of_timm(name, **settings):
    import timm
    return timm.create_model(name, num_classes=5, **settings)


def of_monai(name, **settings):
    import monai.networks.nets
    return getattr(monai.networks.nets, name)(in_channels=1, out_channels=2, **settings)


def of_neuraloperator(name, **settings):
    import neuralop.models
    return getattr(neuralop.models, name)(in_channels=2, out_channels=1, **settings)


IMAGE, SLICE = [2, 3, 64, 64], [2, 1, 32, 32]
# The function and its arguments, the shape of the input, and whether the network is trained as in train(): random depth of
# residual networks is not.
NETWORKS = {
    'resnet18': (of_torchvision, {}, IMAGE, True),
    'mobilenet_v2': (of_torchvision, {}, IMAGE, True),
    'squeezenet1_1': (of_torchvision, {}, IMAGE, True),
    'shufflenet_v2_x0_5': (of_torchvision, {}, IMAGE, True),
    'efficientnet_b0': (of_torchvision, {}, IMAGE, False),
    'swin_t': (of_torchvision, {}, IMAGE, False),
    'fcn_resnet50': (of_segmentation, {}, IMAGE, True),
    'vit_tiny_patch16_224': (of_timm, {'img_size': 64, 'depth': 2}, IMAGE, True),
    'convnext_atto': (of_timm, {}, IMAGE, True),
    'poolformer_s12': (of_timm, {}, IMAGE, True),
    'UNet': (of_monai, {'spatial_dims': 2, 'channels': (4, 8, 16), 'strides': (2, 2), 'num_res_units': 2}, SLICE, True),
    'SegResNet': (of_monai, {'spatial_dims': 2, 'init_filters': 8}, SLICE, True),
    'AttentionUnet': (of_monai, {'spatial_dims': 2, 'channels': (4, 8), 'strides': (2,)}, SLICE, True),
    'FNO': (of_neuraloperator, {'n_modes': (4, 4), 'hidden_channels': 4, 'n_layers': 2}, [2, 2, 16, 16], True),
}


def block(layout, whole):
    return whole[tuple(slice(low, high) for low, high in zip(*layout.box()))]


def train(network, x, total, weights):
    """The losses of three steps."""
    optimizer, losses = torch.optim.SGD(network.parameters(), lr=1e-4), []
    for _ in range(3):
        optimizer.zero_grad()
        outputs = torch.utils._pytree.tree_leaves(network(x))
        loss = total(sum((weight * y ** 2).sum() for y, weight in zip(outputs, weights)))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def share_of(layout):
    """The weight of a loss that several ranks compute."""
    copies = 1
    for letter, extent in zip(layout.properties().split(','), layout.partition().extents()):
        copies *= extent if letter == 'B' else 1
    return 1 / copies


def compare(name):
    make, settings, shape, is_trained = NETWORKS[name]
    torch.set_default_dtype(torch.float32 if name == 'FNO' else torch.float64)  # it has weights of complex64
    torch.manual_seed(1)
    try:
        one = make(name, **settings)
    except ImportError as reason:
        return None, f'skipped: {reason}'
    for part in one.modules():  # masks are not PyTorch's
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.0
    began = time.time()
    layout = tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), shape, 'S2')
    network = tt.distribute(one, layout, training=is_trained)
    took = time.time() - began
    prove(network, one)
    x = torch.randn(shape, generator=torch.Generator().manual_seed(2))
    one.train(is_trained)
    found = train(network, block(layout, x), tt.total, [share_of(each) for each in network.output_layouts])
    wanted = train(one, x, lambda value: value, [1.0] * len(network.output_layouts))
    apart = max(abs(a - b) / abs(b) for a, b in zip(found, wanted))
    return apart < (1e-4 if name == 'FNO' else 1e-8), f'losses to {apart:.0e}, made in {took:.1f} s'


def main():
    torch.set_num_threads(1)
    results = {}
    with tenon.Session():
        for name in sys.argv[1:] or NETWORKS:
            results[name], text = compare(name)
            gc.collect()  # the memory of a network that ranks share, which cycles keep
            if COMM.rank == 0:
                print(f'{name}: {text}', flush=True)
    found = [result for result in results.values() if result is not None]
    return 77 if not found else int(not all(found))


sys.exit(main())
