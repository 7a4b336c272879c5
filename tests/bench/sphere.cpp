// SPDX-License-Identifier: BSD-2-Clause
// Times the spherical harmonic transform on a Gauss grid of n x 2n points with n degrees, and its
// inverse, for several numbers of fields: milliseconds of processor time of one thread for each
// field, of the sums over the circles and of those over the meridians. sphere_torch.py prints the
// same numbers of torch-harmonics.
//
//   OMP_NUM_THREADS=1 tests/bench/sphere; OMP_NUM_THREADS=1 python3 tests/bench/sphere_torch.py
#include "bench/handles.hpp"
#include "bench/turns.hpp"
#include "kernels/sphere/circles.hpp"
#include "kernels/sphere/legendre.hpp"

#include <fmt/format.h>

namespace tenon::bench {
namespace {

template <class T>
void measure(Index rows, Index fields) {
  const Index columns = 2 * rows, lines = fields * rows;
  const auto context = std::make_shared<KernelContext>();
  const SphereBlock block{0, rows, 0, rows, 0, rows};
  SphereTable table{.rows = rows, .columns = columns, .degrees = rows, .orders = rows};
  CircleFourier<T> fourier(context, Backend::Auto, {columns, 0, columns, rows}, 0, rows, lines);
  SphereLegendre<T> analysis(context, Backend::Auto, table, block, SphereFields::all(fields));
  table.isSynthesis = true;
  SphereLegendre<T> synthesis(context, Backend::Auto, table, block, SphereFields::all(fields));
  std::vector<T> x(std::size_t(lines * columns), T(0.5)), X(std::size_t(2 * lines * rows)),
      c(std::size_t(2 * fields * rows * rows), T(0.25));
  std::vector<Method> methods{
      {"circles", [&] { fourier.toOrders(lines, x.data(), X.data()); }, 1, {}},
      {"meridians", [&] { analysis.toDegrees(X.data(), c.data()); }, 1, {}},
      {"meridians back", [&] { synthesis.toRows(c.data(), X.data()); }, 1, {}},
      {"circles back", [&] { fourier.toColumns(lines, X.data(), x.data()); }, 1, {}}};
  takeTurns(methods);
  fmt::print("{:<8} {:>5} {:>6}", sizeof(T) == 4 ? "float32" : "float64", rows, fields);
  double sum = 0;
  for (const Method& method : methods) {
    const double ms = 1e3 * quantile(method.seconds, 0.5) / double(fields);
    sum += ms;
    fmt::print(" {:>15.3f}", ms);
  }
  fmt::print(" {:>9.3f}\n", sum);
}

void run() {
  fmt::print("{:<8} {:>5} {:>6} {:>15} {:>15} {:>15} {:>15} {:>9}\n", "type", "rows", "fields",
             "circles ms", "meridians ms", "meridians back", "circles back", "both ways");
  for (const auto& [rows, fields] :
       {std::pair<Index, Index>{180, 1}, {180, 16}, {180, 64}, {360, 1}, {360, 16}, {720, 4}}) {
    measure<float>(rows, fields);
    measure<double>(rows, fields);
  }
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
