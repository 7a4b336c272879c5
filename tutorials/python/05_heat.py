# SPDX-License-Identifier: BSD-2-Clause
"""05 Heat: a network beside a solver, on the solver's own arrays.

What you learn: a network that stands for a term which a reduced model lacks is trained while the full model runs, and then used
in the time steps of the reduced one; its input, output and gradient are the solver's arrays, ghost cells included, without a
copy. The solver does not use Tenon: heat in a plate, cold outside,

  du/dt = k Laplacian(u) + f(t) - c s^4,

with f a hot spot that moves on an ellipse, and c s^4 the radiation of the rough surface, where s is the mean of u over 3 x 3
cells. Explicit Euler, five-point stencil. The network gives the radiation.

  mpiexec -n 4 python3 05_heat.py
  mpiexec -n 4 python3 05_heat.py 400 40     steps of training and of use
"""
import sys

import numpy
from mpi4py import MPI

import tenon

ROWS, COLUMNS, STEP, REPORTS, LATER = 32, 48, 0.2, 4, 40
CONDUCTIVITY, EMISSION, UNIT = 0.5, 0.05, 0.02
INNER = numpy.s_[1:-1, 1:-1]
train_steps, use_steps = (int(sys.argv[i]) if len(sys.argv) > i else (4000, 400)[i - 1] for i in (1, 2))


class Heat:
    def __init__(self):
        dims = MPI.Compute_dims(MPI.COMM_WORLD.size, 2)
        self.comm = MPI.COMM_WORLD.Create_cart(dims)
        place = self.comm.Get_coords(self.comm.rank)
        self.low = [n * p // d for n, p, d in zip((ROWS, COLUMNS), place, dims)]
        self.high = [n * (p + 1) // d for n, p, d in zip((ROWS, COLUMNS), place, dims)]
        self.below, self.above = self.comm.Shift(0, 1)
        self.left, self.right = self.comm.Shift(1, 1)
        self.i, self.j = numpy.meshgrid(*[numpy.arange(l, h) for l, h in zip(self.low, self.high)], indexing='ij')

    def field(self):
        return numpy.zeros([h - l + 2 for l, h in zip(self.low, self.high)])

    def send(self, source, to, into, of):
        received = numpy.empty_like(source)
        self.comm.Sendrecv(numpy.ascontiguousarray(source), to, 0, received, of)
        if of != MPI.PROC_NULL:
            into[...] = received

    def exchange(self, u):
        """Columns first; the rows then include the corners."""
        self.send(u[1:-1, -2], self.right, u[1:-1, 0], self.left)
        self.send(u[1:-1, 1], self.left, u[1:-1, -1], self.right)
        self.send(u[-2], self.above, u[0], self.below)
        self.send(u[1], self.below, u[-1], self.above)

    def conduction(self, u, time):
        angle = 0.11 * time
        y = self.i - ROWS * (0.5 + 0.25 * numpy.sin(angle))
        x = self.j - COLUMNS * (0.5 + 0.25 * numpy.cos(angle))
        laplacian = u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4 * u[INNER]
        return CONDUCTIVITY * laplacian + 0.25 * numpy.exp(-(x * x + y * y) / 18)

    def radiation(self, u):
        n, m = u.shape
        mean = sum(u[a:n - 2 + a, b:m - 2 + b] for a in range(3) for b in range(3)) / 9
        return -EMISSION * mean ** 4

    def distance(self, u, v):
        return numpy.sqrt(self.comm.allreduce(((u - v)[INNER] ** 2).sum()) / (ROWS * COLUMNS))


class Closure:
    """A function of the 3 x 3 neighbourhood, with 1 -> 16 -> 1 channels. The optimizer is SGD with momentum rather than Adam: its path
    is smooth, so that rounding differences between numbers of processes do not reach the printed digits."""

    def __init__(self, heat):
        self.heat, comm = heat, heat.comm
        self.layout = tenon.Layout.from_boxes(comm, [1, 1, ROWS, COLUMNS], [0, 0, *heat.low], [1, 1, *heat.high])
        self.network = tenon.Layer.sequential(comm)
        self.network.add(tenon.Layer(comm, 'conv', in_channels=1, out_channels=16, kernel=[3, 3], padding=[1, 1]))
        self.network.add(tenon.Layer(comm, 'tanh')).add(
            tenon.Layer(comm, 'conv', in_channels=16, out_channels=1, kernel=[1, 1], padding=[0, 0]))
        self.network.set_data_type('float64').set_from_options().set_up(self.layout)
        self.network.initialize(1)
        self.optimizer = tenon.Optimizer(self.network, 'sgd').set(momentum=0.9).set_learning_rate(0.025)
        self.optimizer.set_from_options()
        self.u, self.answer = tenon.DTensor(self.layout, 'float64'), self.network.create_output()
        self.cotangent = self.network.create_output_cotangent()

    def wrap(self, tensor, field):
        return tensor.place(field[None, None], ghosts=[0, 0, 1, 1])

    def apply(self, u, r, is_training=False):
        self.network.set_training(is_training)
        self.network.apply(self.wrap(self.u, u), self.wrap(self.answer, r))
        r[INNER] *= UNIT

    def train(self, u, wanted, work):
        """The loss L is the mean square of output - wanted, so dL/doutput is 2 (output - wanted) / cells; the solver computes it in
        its own arrays."""
        self.apply(u, work, is_training=True)
        error = self.heat.distance(work, wanted)
        work[INNER] = (work - wanted)[INNER] * (2.0 / (UNIT * ROWS * COLUMNS))
        self.network.apply_adjoint(self.wrap(self.cotangent, work))
        self.optimizer.step()
        return error


def say(text):
    if MPI.COMM_WORLD.rank == 0:
        print(text)


def step_truth(heat, truth, time):
    """One step of the full model; returns the radiation before the step."""
    heat.exchange(truth)
    radiation = heat.field()
    radiation[INNER] = heat.radiation(truth)
    truth[INNER] += STEP * heat.conduction(truth, time) + STEP * radiation[INNER]
    return radiation


def train(heat, closure, truth):
    wanted, work, total = heat.field(), heat.field(), 0
    for step in range(1, train_steps + 1):
        heat.exchange(truth)
        wanted[INNER] = heat.radiation(truth)
        total += closure.train(truth, wanted, work)
        step_truth(heat, truth, STEP * step)
        if step * REPORTS % train_steps < REPORTS:
            say(f'training, step {step:4d}: error of the closure {total * REPORTS / train_steps:.2e}')
            total = 0


def use(heat, closure, truth):
    """All three models from a cold plate."""
    bare, closed, answer = heat.field(), heat.field(), heat.field()
    truth[INNER] = 0
    for step in range(1, use_steps + 1):
        time = LATER + STEP * step
        step_truth(heat, truth, time)
        heat.exchange(bare)
        bare[INNER] += STEP * heat.conduction(bare, time)
        heat.exchange(closed)
        tendency = heat.conduction(closed, time)
        closure.apply(closed, answer)
        closed[INNER] += STEP * tendency + STEP * answer[INNER]
        if step * REPORTS % use_steps < REPORTS:
            errors = heat.distance(truth, bare), heat.distance(truth, closed)
            say(f'use, step {step:4d}: error without closure {errors[0]:.2e}, with closure {errors[1]:.2e}')


with tenon.Session():
    plate = Heat()
    network, temperature = Closure(plate), plate.field()
    train(plate, network, temperature)
    use(plate, network, temperature)
