// SPDX-License-Identifier: BSD-2-Clause
// A solver's field with ghost cells goes through a network, whose gradient is checked by a
// difference.
#include <cmath>
#include <cstdio>
#include <tenon.hpp>

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const TenonInt ny = 16, nx = 12, y0 = ny * rank / size, y1 = ny * (rank + 1) / size;
  std::vector<double> u((y1 - y0 + 2) * (nx + 2)); // one ghost cell on each side
  for (TenonInt y = y0; y < y1; ++y)
    for (TenonInt x = 0; x < nx; ++x)
      u[(y - y0 + 1) * (nx + 2) + x + 1] = std::sin(0.3 * y) * std::cos(0.5 * x);

  tenon::Layout layout(MPI_COMM_WORLD, {1, 1, ny, nx}, {0, 0, y0, 0}, {1, 1, y1, nx});
  tenon::DTensor x(layout, TENON_FLOAT64), step(layout, TENON_FLOAT64);
  auto placed = x.place(&u[nx + 3], {{}, {0, 0, 1, 1}, {0, 0, 1, 1}, TenonInt(u.size())});
  tenon::Layer net(MPI_COMM_WORLD, "sequential"), conv(MPI_COMM_WORLD, "conv");
  conv.set("in_channels", 1).set("out_channels", 4).set("kernel", {3, 3}).set("padding", {1, 1});
  net.add(conv.set("boundary", "periodic")).add(tenon::Layer(MPI_COMM_WORLD, "tanh"));
  net.set("data_type", "float64").set("stack_depth", 3).setUp(layout);

  tenon::DTensor y = net.createOutput(), one = net.createOutputCotangent(),
                 dx = net.createInputCotangent();
  one.fill(1); // the loss is the sum of the output
  const auto loss = [&] { return net.apply(x, y), y.pairing(one); };
  const double h = 1e-5;
  step.fillUniform(1, 1, -1, 1);
  x.axpby(h, step, 1);
  const double above = loss(), below = (x.axpby(-2 * h, step, 1), loss());
  x.axpby(h, step, 1), loss(), net.applyAdjoint(one, dx);
  const double slope = step.pairing(dx), difference = (above - below) / (2 * h);
  if (rank == 0)
    std::printf("gradient %.9f, difference %.9f\n", slope, difference);
  return std::abs(slope - difference) < 1e-8 * std::abs(slope) ? 0 : 1;
}
