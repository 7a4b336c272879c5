# SPDX-License-Identifier: BSD-2-Clause
"""Complex parameters of a distributed module, such as the weights of Fourier layers.

Tenon has them as real ones of another shape and order, several in one. Where their elements are is
read from a second import, of the same graph with numbered elements in place of their values: BASE,
BASE + 1, ... in the real parts and BASE + 0.5, BASE + 1.5, ... in the imaginary ones, negative where
Tenon has the opposite value. Other parameters keep their values there, which are smaller.

A network can read only some of the elements, such as those of a Fourier layer for fewer modes than its weight has. Tenon does not have
the others, which stay as the first rank has them."""
from __future__ import annotations

import numpy
import torch

from ..models import weights

BASE = 1 << 20  # a float32 represents the numbers from here to twice this, and their halves


def numbered(tensors):
    """Returns the tensors with numbered elements, as one dictionary for each digit of the numbers."""
    count = sum(tensor.numel() for tensor in tensors.values())
    made = []
    for digit in range(1 if count <= BASE else 2):
        begin = 0
        made.append({})
        for name, tensor in tensors.items():
            numbers = torch.arange(begin, begin + tensor.numel(), dtype=torch.float64)
            digits = torch.floor(numbers / BASE ** digit) % BASE + BASE
            made[-1][name] = torch.complex(digits, digits + 0.5).to(tensor.dtype).reshape(tensor.shape)
            begin += tensor.numel()
    return made


class ComplexMap:
    """The elements of complex parameters, by name, in Tenon's real ones, by their number in the layer."""

    def __init__(self, shapes, layers, real):
        self.shapes = shapes
        digits = [list(weights(layer).values()) for layer in layers]
        self.places = {}
        count = 2 * sum(numpy.prod(shape, dtype=int) for shape in shapes.values())
        found = numpy.zeros(count, bool)
        for index in real:
            low = digits[0][index].astype('float64')
            if ((low != 0) & (abs(low) < BASE)).any():
                continue  # made of real parameters
            number = sum((numpy.floor(abs(of[index])).astype('int64') - BASE) * BASE ** digit for digit, of in enumerate(digits))
            place = numpy.where(low == 0, 0, 2 * number + (abs(low) % 1 == 0.5))
            if place.size and not (place.min() >= 0 and place.max() < count):
                raise RuntimeError(f'the imported network has numbers that are no elements of the complex parameters {", ".join(shapes)}')
            self.places[index] = place, numpy.sign(low)
            found[place[low != 0]] = True
        self.unread = numpy.flatnonzero(~found)  # places that Tenon does not have

    def flat(self, given):
        """Returns the real numbers of complex parameters in one array."""
        return torch.view_as_real(torch.cat([given[name].detach().cpu().reshape(-1) for name in self.shapes])).reshape(-1).numpy()

    def to_complex(self, wholes, own, comm):
        """Returns the complex parameters from the whole real ones, by number, and the rest from the first rank's `own`. Collective."""
        flat = numpy.empty(2 * sum(numpy.prod(shape, dtype=int) for shape in self.shapes.values()), next(iter(wholes.values())).dtype)
        if self.unread.size:
            flat[self.unread] = comm.bcast(self.flat(own)[self.unread] if comm.rank == 0 else None)
        for index, (place, sign) in self.places.items():
            flat[place[sign != 0]] = (sign * wholes[index])[sign != 0]
        values = torch.view_as_complex(torch.from_numpy(flat).view(-1, 2))
        parts = values.split([int(numpy.prod(shape, dtype=int)) for shape in self.shapes.values()])
        return {name: part.reshape(shape).clone() for (name, shape), part in zip(self.shapes.items(), parts)}

    def to_real(self, given):
        """Returns the whole real parameters, by number, from the complex ones."""
        flat = self.flat(given)
        return {index: torch.from_numpy(numpy.where(sign != 0, sign * flat[place], 0).astype(flat.dtype))
                for index, (place, sign) in self.places.items()}
