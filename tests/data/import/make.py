# SPDX-License-Identifier: BSD-2-Clause
"""make.py [NAME...]: writes test networks in float64 whose parameters are used in computations, or are shared by the
steps of a recurrence. With each it writes the results of PyTorch, and for a recurrent one also those of several steps of training. Needs torch and onnx."""
import os
import sys

import numpy
import onnx
import onnx.numpy_helper
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.parametrizations import weight_norm

FOLDER = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, f"{FOLDER}/../../../share/tenon")
from export_torch import export_model


class ParameterValues(nn.Module):
    """Functions of parameters as gains, weights, biases and tables; joined buffers; one weight in two layers."""
    def __init__(self):
        super().__init__()
        draw = lambda *shape: nn.Parameter(torch.randn(shape) / 2)
        self.rows, self.columns = draw(1, 2, 6, 1), draw(1, 2, 1, 5)
        self.gain, self.divisor, self.number = draw(2, 1, 1), draw(2, 1, 1), draw()
        self.dense, self.norms, self.left, self.right = draw(3, 4), draw(3, 1), draw(3, 1), draw(1, 4)
        self.square, self.table, self.kernel, self.slope = draw(5, 5), draw(3, 6, 5), draw(4, 2, 3, 3), draw(3)
        self.conv = weight_norm(nn.Conv2d(4, 4, 3, padding=1))
        self.norm = nn.LayerNorm(5, bias=False)
        for name in ("orography", "land"):
            self.register_buffer(name, torch.randn(1, 1, 6, 5))

    def forward(self, x):
        x = x * torch.exp(self.gain) / F.softplus(self.divisor) + (self.rows + self.columns)
        x = x * (self.square * self.square).mean() + self.number.exp() * x @ (self.square @ self.square)
        x = torch.cat([x, torch.cat([self.orography, self.land], 1).expand(x.shape[0], -1, -1, -1)], 1)
        x = torch.tanh(self.conv(x))
        x = F.conv2d(x[:, :2], self.kernel - self.kernel.mean((1, 2, 3), keepdim=True), padding=1) + x
        x = F.linear(x.movedim(1, -1), self.dense * self.norms + self.left * self.right).movedim(-1, 1)
        x = F.prelu(x, self.slope * self.slope) + torch.cat([self.table[:, :2], self.table[:, 2:].flip(0)], 1)
        x = x + torch.where(self.table > 0, self.table, 0.1 * self.table)[torch.tensor([2, 0, 0])]
        return self.norm(x) + F.linear(F.linear(x.movedim(1, -1), self.dense.t()), self.dense).movedim(-1, 1)


class Recurrence(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(2, 3, batch_first=True)
        self.lstm = nn.LSTM(3, 2, bidirectional=True, batch_first=True)
        self.cell = nn.LSTMCell(4, 3)
        self.attention = nn.MultiheadAttention(3, 1, batch_first=True)

    def forward(self, x):
        h = self.gru(x)[0]
        both = self.lstm(h)[0]
        state = self.cell(both[:, 1], self.cell(both[:, 0]))
        return torch.cat([self.attention(h, h, h, need_weights=False)[0][:, 0], state[0], state[1]], 1)


def computed(model, x):
    """The arrays of the tests' NAME.npz."""
    model.eval()
    x = x.clone().requires_grad_()
    y = model(x)
    cot = torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)
    (y * cot).sum().backward()
    arrays = {"in.x": x, "out.y": y, "cot.y": cot, "grad.x": x.grad,
              **{f"param.{name}": p.grad for name, p in model.named_parameters()}}
    return {name: value.detach().numpy() for name, value in arrays.items()}


def write(name, model, x):
    export_model(model, (x,), f"{FOLDER}/{name}.f64.pt2")
    numpy.savez_compressed(f"{FOLDER}/{name}.npz", **computed(model, x))


def parameter_values():
    write("parameter_values", ParameterValues().double(), torch.randn(2, 2, 6, 5, dtype=torch.float64))


def recurrence():
    """And the weights after three steps of gradient descent with the rate 0.1 on the same cotangent."""
    model, x = Recurrence().double(), torch.randn(2, 3, 2, dtype=torch.float64)
    write("recurrence", model, x)
    for _ in range(3):
        model.zero_grad()
        y = model(x)
        (y * torch.cos(torch.arange(y.numel(), dtype=torch.float64)).reshape(y.shape)).sum().backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
    numpy.savez_compressed(f"{FOLDER}/recurrence.trained.npz", **{k: v.numpy() for k, v in model.state_dict().items()})


def tables():
    """Tables that a network of float64 makes in float32, as PyTorch does unless told otherwise."""
    class Tables(nn.Module):
        def forward(self, x):
            return x + torch.arange(12) / 11 * torch.full((12,), 0.1) - torch.sqrt(torch.arange(1., 13.)) * x

    write("tables", Tables(), torch.randn(2, 3, 4, 12, dtype=torch.float64))


def nothing():
    """Operators that do nothing, and one on a parameter that no layer has."""
    values = lambda name: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, [2, 3, 4])
    whole = lambda name, numbers: onnx.numpy_helper.from_array(numpy.array(numbers), name)
    steps = [("Dropout", [], {}), ("Transpose", [], {"perm": [0, 1, 2]}), ("Pad", ["pads"], {}), ("Clip", [], {}),
             ("Slice", ["starts", "ends"], {}), ("Identity", [], {})]
    nodes = [onnx.helper.make_node(kind, [f"v{i}" if i else "x", *more], [f"v{i + 1}" if i + 1 < len(steps) else "y"], **has)
             for i, (kind, more, has) in enumerate(steps)]
    made = [whole("pads", [0] * 6), whole("starts", [0, 0, 0]), whole("ends", [2, 3, 4])]
    graph = onnx.helper.make_graph(nodes, "nothing", [values("x")], [values("y")], made)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]),
              f"{FOLDER}/nothing.written17d.f64.onnx")
    write("nothing", nn.Sequential(nn.Identity(), nn.Dropout()).double(), torch.randn(2, 3, 4, dtype=torch.float64))

    class Refused(nn.Module):
        def __init__(self):
            super().__init__()
            self.decay = nn.Parameter(torch.rand(4))

        def forward(self, x):
            return x * torch.cumprod(self.decay.exp(), 0)

    torch.export.save(torch.export.export(Refused(), (torch.randn(2, 4),)), f"{FOLDER}/refused_parameter.pt2")


def hidden_one():
    """ONNX's GRU and LSTM of hidden size 1, whose gates and biases are in another order."""
    model = nn.ModuleDict({"gru": nn.GRU(2, 1), "lstm": nn.LSTM(1, 1)}).double()
    forward = lambda x: model["lstm"](model["gru"](x)[0])[0]
    x = torch.randn(3, 2, 2, dtype=torch.float64)
    tensor = lambda name, value: onnx.numpy_helper.from_array(value[None].detach().numpy(), name)
    made, nodes = [], []
    for name, order in (("gru", [1, 0, 2]), ("lstm", [0, 3, 1, 2])):
        part = model[name]
        made += [tensor(name + "W", part.weight_ih_l0[order]), tensor(name + "R", part.weight_hh_l0[order]),
                 tensor(name + "B", torch.cat([part.bias_ih_l0[order], part.bias_hh_l0[order]]))]
        given, gives = ("x", "g") if name == "gru" else ("g", "y")
        more = {"linear_before_reset": 1} if name == "gru" else {}
        nodes += [onnx.helper.make_node(name.upper(), [given, name + "W", name + "R", name + "B"], [name + "Y"],
                                        hidden_size=1, **more),
                  onnx.helper.make_node("Squeeze", [name + "Y", "axes"], [gives])]
    made.append(onnx.numpy_helper.from_array(numpy.array([1]), "axes"))
    values = lambda name, shape: onnx.helper.make_tensor_value_info(name, onnx.TensorProto.DOUBLE, shape)
    graph = onnx.helper.make_graph(nodes, "hidden_one", [values("x", [3, 2, 2])], [values("y", [3, 2, 1])], made)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]),
              f"{FOLDER}/hidden_one.written17d.f64.onnx")

    class Both(nn.Module):
        def forward(self, x):
            return forward(x)

    numpy.savez_compressed(f"{FOLDER}/hidden_one.npz", **computed(Both(), x))


if __name__ == "__main__":
    torch.manual_seed(7)
    for name in sys.argv[1:] or ("parameter_values", "recurrence", "tables", "nothing", "hidden_one"):
        globals()[name]()
