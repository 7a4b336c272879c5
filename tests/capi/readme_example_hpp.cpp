// SPDX-License-Identifier: BSD-2-Clause
// The C++ example of doc/cxx.md as a complete program; tests/config/check_readme.sh compares the
// lines. It is the example of readme_example.c, with random weights. The gradient with respect to
// the input must be equal, bit by bit, to that of the same calls in C.
#include "support/check.h"

#include <tenon.hpp>

#include <algorithm>

namespace {

constexpr TenonInt ny = 18, nx = 9;

// The same evaluation with calls of C, for a layer that is set up.
TenonErrorCode gradientInC(TenonLayer conv, TenonDTensor x, TenonDTensor dx) {
  TenonDTensor y = nullptr, dy = nullptr;
  TenonCall(TenonLayerCreateOutput(conv, 0, &y));
  TenonCall(TenonLayerApply(conv, x, y));
  TenonCall(TenonLayerCreateOutputCotangent(conv, 0, &dy));
  TenonCall(TenonDTensorFillConstant(dy, 1));
  TenonCall(TenonLayerApplyAdjoint(conv, dy, dx));
  TenonCall(TenonDTensorDestroy(&y));
  TenonCall(TenonDTensorDestroy(&dy));
  return TENON_SUCCESS;
}

void example(MPI_Comm comm, TenonInt rank, TenonInt size) {
  const TenonInt x0 = 0, x1 = nx, y0 = ny * rank / size, y1 = ny * (rank + 1) / size;
  const TenonInt length = (y1 - y0 + 2) * (nx + 2);
  std::vector<double> field(static_cast<std::size_t>(length));
  for (TenonInt i = 0; i < length; ++i)
    field[static_cast<std::size_t>(i)] = static_cast<double>((7 * i + rank) % 11);
  double* first_owned = &field[static_cast<std::size_t>(nx + 3)];

  // The README's lines; a test compares them.
  tenon::Layout layout(comm, {1, 1, ny, nx}, {0, 0, y0, x0}, {1, 1, y1, x1});
  tenon::DTensor x(layout, TENON_FLOAT64);
  auto placed = x.place(first_owned, {{}, {0, 0, 1, 1}, {0, 0, 1, 1}, length});
  tenon::Layer conv(comm, "conv");
  conv.set("kernel", {3, 3}).set("padding", {1, 1}).set("in_channels", 1).set("out_channels", 8);
  conv.set("data_type", "float64").setUp(layout);
  conv.initialize(1); // random weights, seed 1
  tenon::DTensor y = conv.createOutput();
  conv.apply(x, y); // forward

  // Backward, as in C; errors are exceptions, and objects release themselves.
  tenon::DTensor dy = conv.createOutputCotangent(), dx = conv.createInputCotangent();
  dy.fill(1); // here L is the sum of y
  conv.applyAdjoint(dy, dx);

  tenon::DTensor inC = conv.createInputCotangent();
  tenon::check(gradientInC(conv, x, inC));
  const auto ours = dx.read<double>(), theirs = inC.read<double>();
  CHECK(ours.size() == static_cast<std::size_t>((y1 - y0) * nx));
  CHECK(std::equal(ours.begin(), ours.end(), theirs.begin(), theirs.end()));
}

} // namespace

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv, "the README's example in C++");
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  example(MPI_COMM_WORLD, rank, size);
}
