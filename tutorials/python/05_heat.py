# SPDX-License-Identifier: BSD-2-Clause
"""05 Heat: a network beside a solver, on the solver's own arrays.

What you learn: a network that stands for a term which a reduced model lacks is trained while the full model runs, and then used
in the time steps of the reduced one; its input, output and gradient are the solver's arrays, ghost cells included, without a
copy. The solver (heat.py) does not use Tenon: a plate conducts heat and radiates it. The network gives the radiation.

  mpiexec -n 4 python3 05_heat.py
  mpiexec -n 4 python3 05_heat.py 400 40     steps of training and of use
"""
import sys

import tenon
from heat import COLUMNS, INNER, LATER, ROWS, STEP, Field, Heat, say

REPORTS, UNIT = 4, 0.02
train_steps, use_steps = (int(sys.argv[i]) if len(sys.argv) > i else (4000, 400)[i - 1] for i in (1, 2))


class Closure:
    """A function of the 3 x 3 neighbourhood, with 1 -> 16 -> 1 channels. The optimizer is SGD with momentum rather than Adam: its path
    is smooth, so that rounding differences between numbers of processes do not reach the printed digits."""

    def __init__(self, heat: Heat) -> None:
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

    def wrap(self, tensor: tenon.DTensor, field: Field) -> tenon.DTensor:
        return tensor.place(field[None, None], ghosts=[0, 0, 1, 1])

    def apply(self, u: Field, r: Field, is_training: bool = False) -> None:
        self.network.set_training(is_training)
        self.network.apply(self.wrap(self.u, u), self.wrap(self.answer, r))
        r[INNER] *= UNIT

    def train(self, u: Field, wanted: Field, work: Field) -> float:
        """The loss L is the mean square of output - wanted, so dL/doutput is 2 (output - wanted) / cells; the solver computes it in
        its own arrays."""
        self.apply(u, work, is_training=True)
        error = self.heat.distance(work, wanted)
        work[INNER] = (work - wanted)[INNER] * (2.0 / (UNIT * ROWS * COLUMNS))
        self.network.apply_adjoint(self.wrap(self.cotangent, work))
        self.optimizer.step()
        return error


def train(heat: Heat, closure: Closure, truth: Field) -> None:
    wanted, work, total = heat.field(), heat.field(), 0.0
    for step in range(1, train_steps + 1):
        heat.exchange(truth)
        wanted[INNER] = heat.radiation(truth)
        total += closure.train(truth, wanted, work)
        heat.step(truth, STEP * step, heat.radiation)
        if step * REPORTS % train_steps < REPORTS:
            say(f'training, step {step:4d}: error of the closure {total * REPORTS / train_steps:.2e}')
            total = 0.0


def use(heat: Heat, closure: Closure, truth: Field) -> None:
    """All three models from a cold plate."""
    bare, closed, answer = heat.field(), heat.field(), heat.field()
    truth[INNER] = 0

    def radiation(u: Field) -> Field:
        closure.apply(u, answer)
        return answer[INNER]

    for step in range(1, use_steps + 1):
        time = LATER + STEP * step
        heat.step(truth, time, heat.radiation)
        heat.step(bare, time)
        heat.step(closed, time, radiation)
        if step * REPORTS % use_steps < REPORTS:
            errors = heat.distance(truth, bare), heat.distance(truth, closed)
            say(f'use, step {step:4d}: error without closure {errors[0]:.2e}, with closure {errors[1]:.2e}')


with tenon.Session():
    plate = Heat()
    network, temperature = Closure(plate), plate.field()
    train(plate, network, temperature)
    use(plate, network, temperature)
