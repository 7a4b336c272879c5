# SPDX-License-Identifier: BSD-2-Clause
"""usage: unchanged_modules.py [NAME...]
NAMEs are those of networks, or of the functions that make them: torchvision, segmentation, timm, monai, neuraloperator.
Distributes networks of torchvision, timm, MONAI and neuraloperator as these packages have them, on rows of a field, and
compares outputs, gradients, and 20 steps of Adam with those of PyTorch on one process. Names the networks whose package is
not installed; the exit status 77 means that none is.

Losses agree to 1e-12, or as well as PyTorch's do with those of PyTorch for parameters and inputs that are rounded once more,
by up to one unit in the last place: training lets rounding errors grow, as Adam does where it divides by gradients near 0.
They may differ by 30 times what this changes, since in Tenon each sum of a layer is rounded in another order."""
import copy
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
from tenon.torch.proofs import Exact, prove

COMM = MPI.COMM_WORLD


def of_torchvision(name, **settings):
    import torchvision
    return getattr(torchvision.models, name)(num_classes=5, **settings)


def of_segmentation(name):
    import torchvision
    return getattr(torchvision.models.segmentation, name)(num_classes=3, weights=None, weights_backbone=None)


def of_timm(name, **settings):
    import timm
    return timm.create_model(name, **({'num_classes': 5} | settings))


def of_monai(name, **settings):
    import monai.networks.nets
    return getattr(monai.networks.nets, name)(**({'in_channels': 1, 'out_channels': 2} | settings))


def of_neuraloperator(name, **settings):
    import neuralop.models
    return getattr(neuralop.models, name)(in_channels=2, out_channels=1, **settings)


IMAGE, SLICE = [2, 3, 64, 64], [2, 1, 32, 32]
# The function and its arguments, the shape of the input, or of several, and whether the network is trained as in train():
# random depth of residual networks is not.
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
    # Odd extents, a batch of one, several inputs and outputs.
    'lraspp_mobilenet_v3_large': (of_segmentation, {}, [1, 3, 65, 71], True),
    'resnet26d': (of_timm, {}, [1, 3, 65, 71], True),
    'hrnet_w18_small': (of_timm, {'features_only': True, 'num_classes': 1000}, [1, 3, 64, 96], True),
    'UNETR': (of_monai, {'spatial_dims': 2, 'img_size': (32, 32), 'feature_size': 8, 'hidden_size': 24, 'mlp_dim': 48, 'num_heads': 3,
                         'norm_name': 'instance'}, [1, 1, 32, 32], True),
    'BasicUNetPlusPlus': (of_monai, {'spatial_dims': 2, 'features': (4, 4, 8, 8, 16, 4), 'deep_supervision': True}, [1, 1, 35, 37], True),
    'DiffusionModelUNet': (of_monai, {'spatial_dims': 2, 'out_channels': 1, 'channels': (8, 8), 'attention_levels': (False, True),
                                      'num_res_blocks': 1, 'num_head_channels': 4, 'norm_num_groups': 4}, [[1, 1, 16, 18], [1]], True),
    'TFNO': (of_neuraloperator, {'n_modes': (4, 4), 'hidden_channels': 4, 'n_layers': 2, 'factorization': 'Tucker', 'rank': 0.5},
             [1, 2, 15, 17], True),
    # Others, which the importer was not made by. SegResNetDS has further outputs in train().
    'mnasnet0_5': (of_torchvision, {}, IMAGE, True),
    'regnet_y_400mf': (of_torchvision, {}, IMAGE, True),
    'pvt_v2_b0': (of_timm, {}, IMAGE, True),
    'mobilevitv2_050': (of_timm, {}, IMAGE, True),
    'edgenext_xx_small': (of_timm, {}, IMAGE, True),
    'BasicUNet': (of_monai, {'spatial_dims': 2, 'features': (4, 4, 8, 8, 16, 4)}, SLICE, True),
    'DynUNet': (of_monai, {'spatial_dims': 2, 'kernel_size': [3, 3, 3], 'strides': [1, 2, 2], 'upsample_kernel_size': [2, 2],
                           'filters': [4, 8, 16]}, SLICE, True),
    'VNet': (of_monai, {'spatial_dims': 2}, SLICE, True),
    'SegResNetDS': (of_monai, {'spatial_dims': 2, 'init_filters': 8, 'blocks_down': (1, 1, 1), 'dsdepth': 2}, SLICE, False),
    'UNO': (of_neuraloperator, {'hidden_channels': 4, 'n_layers': 3, 'uno_out_channels': [4, 8, 4], 'uno_n_modes': [[4, 4]] * 3,
                                'uno_scalings': [[1, 1], [0.5, 0.5], [2, 2]], 'channel_mlp_skip': 'linear'}, [2, 2, 16, 16], True),
}
# Their weights are complex64, or they compute something in float32 in any case, as EdgeNeXt does its table of positions.
IN_FLOAT32 = ('FNO', 'TFNO', 'UNO', 'DiffusionModelUNet', 'edgenext_xx_small')
STEPS, GROWTH = 20, 30


def block(layout, whole):
    return whole[tuple(slice(low, high) for low, high in zip(*layout.box()))]


def train(network, fields, total, weights):
    """The losses of the steps."""
    optimizer, losses = torch.optim.Adam(network.parameters(), lr=1e-4), []
    for _ in range(STEPS):
        optimizer.zero_grad()
        outputs = torch.utils._pytree.tree_leaves(network(*fields))
        loss = total(sum((weight * (y - 1) ** 2).sum() for y, weight in zip(outputs, weights)))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def rounded(tensor, generator):
    """The tensor with random changes of up to one unit in the last place."""
    draws = torch.rand(tensor.shape, generator=generator, dtype=tensor.real.dtype) - 0.5
    return tensor * (1 + 2 * torch.finfo(draws.dtype).eps * draws)


def train_torch(one, fields, outputs):
    """The losses of PyTorch, and by how much rounding changes them, on all ranks."""
    found = None
    if COMM.rank == 0:
        generator, losses = torch.Generator().manual_seed(3), []
        for is_rounded in (False, True, True):
            network = copy.deepcopy(one)
            given = [rounded(x, generator) if is_rounded else x for x in fields]
            with torch.no_grad():
                for parameter in network.parameters() if is_rounded else ():
                    parameter.copy_(rounded(parameter, generator))
            with Exact(torch.get_default_dtype()):
                losses.append(train(network, given, lambda value: value, [1.0] * outputs))
        found = losses[0], max(apart(each, losses[0]) for each in losses[1:])
    return COMM.bcast(found)


def apart(losses, wanted):
    return max(abs(a - b) / abs(b) for a, b in zip(losses, wanted))


def share_of(layout):
    """The weight of a loss that several ranks compute."""
    copies = 1
    for letter, extent in zip(layout.properties().split(','), layout.partition().extents()):
        copies *= extent if letter == 'B' else 1
    return 1 / copies


def layout_of(shape):
    """Rows over the ranks; what is no field is on all of them."""
    return tenon.Layout.sharded(tenon.Partition(COMM, [COMM.size]), shape, 'S2' if len(shape) > 2 else 'B')


def compare(name):
    make, settings, shape, is_trained = NETWORKS[name]
    torch.set_default_dtype(torch.float32 if name in IN_FLOAT32 else torch.float64)
    torch.manual_seed(1)
    try:
        one = make(name, **settings)
    except ImportError as reason:
        return None, f'skipped: {reason}'
    for part in one.modules():  # masks are not PyTorch's
        if isinstance(part, torch.nn.modules.dropout._DropoutNd):
            part.p = 0.0
    began = time.time()
    shapes = shape if isinstance(shape[0], list) else [shape]
    network = tt.distribute(one, [layout_of(each) for each in shapes], training=is_trained)
    took = time.time() - began
    prove(network, one)
    generator = torch.Generator().manual_seed(2)
    fields = [torch.randn(each, generator=generator) for each in shapes]
    one.train(is_trained)
    wanted, growth = train_torch(one, fields, len(network.output_layouts))
    blocks = [block(layout, x) for layout, x in zip(network.input_layouts, fields)]
    found = apart(train(network, blocks, tt.total, [share_of(each) for each in network.output_layouts]), wanted)
    limit = max(1e-4 if name in IN_FLOAT32 else 1e-12, GROWTH * growth)
    return found <= limit, f'losses to {found:.0e}, PyTorch with itself to {growth:.0e}, made in {took:.1f} s'


def chosen(given):
    return [name for name, (make, *_) in NETWORKS.items() if not given or name in given or make.__name__.removeprefix('of_') in given]


def main():
    torch.set_num_threads(1)
    results = {}
    with tenon.Session():
        for name in chosen(sys.argv[1:]):
            results[name], text = compare(name)
            gc.collect()  # the memory of a network that ranks share, which cycles keep
            if COMM.rank == 0:
                print(f'{name}: {"" if results[name] is not False else "fault: "}{text}', flush=True)
    found = [result for result in results.values() if result is not None]
    return 77 if not found else int(not all(found))


sys.exit(main())
