# SPDX-License-Identifier: BSD-2-Clause
"""Message passing on several ranks compared with PyTorch (index_add) on one: outputs, and gradients of nodes, edges and
parameters. Nodes are scattered over the ranks; the graph has loops, parallel edges and nodes without edges."""
import random
import unittest

from mpi4py import MPI

import tenon

try:
    import torch
except ImportError:
    raise unittest.SkipTest('PyTorch is not installed')
import tenon.torch as tt

COMM = MPI.COMM_WORLD
torch.set_default_dtype(torch.float64)
NODES, EDGES, CHANNELS, FEATURES, MESSAGE = 40, 150, 3, 2, 4


def apart(a, b):
    return float((a - b).detach().abs().max()) if a.numel() else 0.0


class Graph:
    """The same on all ranks, and what this rank has of it."""

    def __init__(self, seed):
        draw = random.Random(seed)
        ids = [draw.randrange(-2**54, 2**54) * 256 + n for n in range(NODES)]  # each another
        owners = [draw.randrange(COMM.size) for _ in ids]
        self.source = [draw.randrange(NODES) for _ in range(EDGES)]
        self.target = [draw.randrange(NODES // 2) for _ in range(EDGES)]
        self.nodes = [n for n in range(NODES) if owners[n] == COMM.rank]
        self.edges = [e for e in range(EDGES) if owners[self.target[e]] == COMM.rank]
        listed = self.nodes + sorted({self.source[e] for e in self.edges} - set(self.nodes))
        self.map = tenon.IndexMap.from_ids(COMM, len(self.nodes), [ids[n] for n in listed])
        self.list = tenon.Edges(self.map, self.map, [listed.index(self.target[e]) for e in self.edges],
                                [listed.index(self.source[e]) for e in self.edges], self.edges)
        self.layouts = [self.map.layouts([0, CHANNELS]).domain, self.list.layout([0, FEATURES])]
        draw = torch.Generator().manual_seed(seed)
        self.x, self.f = torch.randn(NODES, CHANNELS, generator=draw), torch.randn(EDGES, FEATURES, generator=draw)
        self.weights = torch.randn(NODES, CHANNELS, generator=draw)  # of the outputs in the loss

    def summed(self, rows, mean):
        at, zeros = torch.tensor(self.target), torch.zeros(NODES, rows.shape[1])
        sums = zeros.index_add(0, at, rows)
        degree = torch.zeros(NODES).index_add(0, at, torch.ones(EDGES)).clamp(min=1)
        return sums / degree[:, None] if mean else sums


def perceptron(*widths):
    return tenon.Layer(COMM, 'columnmlp', widths=list(widths))


def perceptron_of(weights):
    w1, b1, w2, b2 = weights
    return lambda x: torch.tanh(x @ w1.T + b1) @ w2.T + b2


class MessagePassing(unittest.TestCase):
    def check(self, graph, layer, reference):
        """reference(x, f, lists of the parameters of each network) on whole tensors."""
        layer.set(data_type='float64')
        module = tt.Module(layer, graph.layouts)
        own = [graph.x[graph.nodes].requires_grad_(), graph.f[graph.edges].requires_grad_()]
        y = module(*own)
        (y * graph.weights[graph.nodes]).sum().backward()
        whole = [graph.x.clone().requires_grad_(), graph.f.clone().requires_grad_()]
        parameters = [p.detach().clone().requires_grad_() for p in module.parameters()]
        wanted = reference(*whole, [parameters[i:i + 4] for i in range(0, len(parameters), 4)])
        (wanted * graph.weights).sum().backward()
        self.assertLess(apart(y, wanted[graph.nodes]), 1e-12)
        self.assertLess(apart(own[0].grad, whole[0].grad[graph.nodes]), 1e-12)
        self.assertLess(apart(own[1].grad, whole[1].grad[graph.edges]), 1e-12)
        for got, want in zip(module.parameters(), parameters):
            self.assertLess(apart(got.grad, want.grad) / max(1, float(want.grad.abs().max())), 1e-12)

    def test_a_step(self):
        graph = Graph(1)
        f = perceptron(2 * CHANNELS + FEATURES, 8, MESSAGE)
        g = perceptron(CHANNELS + MESSAGE, 8, CHANNELS)
        step = f.message_passing(g, 2, 'sum').set_edges('', graph.list)

        def reference(x, f, networks):
            message = perceptron_of(networks[0])(torch.cat([x[graph.target], x[graph.source], f], 1))
            return perceptron_of(networks[1])(torch.cat([x, graph.summed(message, False)], 1))

        self.check(graph, step, reference)

    def test_steps_whose_edges_are_carried_on(self):
        graph = Graph(2)
        network = tenon.Layer(COMM, 'graph', input_count=2)
        x, e = -1, -2
        for _ in range(2):
            ends = network.add_node(tenon.Layer(COMM, 'gather'), [x, e])
            change = network.add_node(perceptron(2 * CHANNELS + FEATURES, 8, FEATURES), [ends])
            e = network.add_node(tenon.Layer(COMM, 'add'), [e, change])
            mean = network.add_node(tenon.Layer(COMM, 'segmentsum', aggregation='mean'), [e])
            joined = network.add_node(tenon.Layer(COMM, 'concatenate', dim=1), [x, mean])
            change = network.add_node(perceptron(CHANNELS + FEATURES, 8, CHANNELS), [joined])
            x = network.add_node(tenon.Layer(COMM, 'add'), [x, change])
        network.set_edges('', graph.list)

        def reference(x, e, networks):
            for phi, psi in zip(networks[::2], networks[1::2]):
                e = e + perceptron_of(phi)(torch.cat([x[graph.target], x[graph.source], e], 1))
                x = x + perceptron_of(psi)(torch.cat([x, graph.summed(e, True)], 1))
            return x

        self.check(graph, network, reference)
