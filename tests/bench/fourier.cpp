// SPDX-License-Identifier: BSD-2-Clause
// Times a truncated Fourier transform along one dimension and its inverse, by a matrix product and
// by FFTW, on the same arrays, for the last dimension of a field and for an earlier one. It also
// prints which of them the backend "auto" takes, and the ratio of its time to that of the faster
// one. Times are processor times of one thread; methods take turns.
//
//   OMP_NUM_THREADS=1 tests/bench/fourier
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "bench/turns.hpp"
#include "kernels/fourier/stage.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace tenon::bench {
namespace {

constexpr Index kCells = Index(1) << 17; // pairs, where the dimension is not the last

template <class T>
struct Work {
  FourierStageShape shape;
  std::vector<T> x, y, back;

  explicit Work(const FourierStageShape& made)
      : shape(made), x(std::size_t(size(made.dim.count)), T(0.5)),
        y(std::size_t(2 * made.outer * made.inner * made.kept()), T(0.25)), back(x.size()) {}
  Index size(Index count) const {
    return (shape.isReal ? 1 : 2) * shape.outer * shape.inner * count;
  }
};

template <class T>
class Transform {
public:
  template <class Make>
  Transform(Work<T>& work, const Make& make) : work_(work) {
    ScratchPlan plan;
    stage_ = make(context_, plan);
    context_.reserve(plan);
  }
  void thereAndBack() {
    stage_->analyse(work_.shape.outer, work_.x.data(), work_.y.data());
    stage_->adjoint(work_.shape.outer, work_.y.data(), work_.back.data());
  }

private:
  Work<T>& work_;
  KernelContext context_;
  std::unique_ptr<FourierStage<T>> stage_;
};

template <class T>
std::string taken(const FourierStageShape& shape) {
  std::vector<FourierDim> dims{shape.dim};
  if (!shape.isReal)
    dims.push_back({2 * shape.inner, 0, 2 * shape.inner, shape.inner});
  const std::string methods =
      TruncatedFourier<T>(std::make_shared<KernelContext>(), Backend::Auto, dims, 1).methods();
  return methods.substr(0, methods.find(','));
}

template <class T>
void measure(Index extent, Index modes, bool isReal) {
  const Index inner = isReal ? 1 : modes;
  const FourierDim dim{extent, 0, extent, modes};
  Work<T> work({dim, isReal, std::max<Index>(1, kCells / (extent * inner)), inner});
  Transform<T> matrix(work, [&](KernelContext& context, ScratchPlan& plan) {
    return makeDenseFourierStage<T>(context, resolveBackend<T>(Backend::Auto), work.shape, plan);
  });
  Transform<T> fftw(work, [&](KernelContext& context, ScratchPlan& plan) {
    return makeFftwStage<T>(context, work.shape, plan);
  });
  std::vector<Method> methods{{"matrix", [&] { matrix.thereAndBack(); }, 2, {}},
                              {"FFTW", [&] { fftw.thereAndBack(); }, 2, {}}};
  takeTurns(methods);
  const double dense = quantile(methods[0].seconds, 0.5), fast = quantile(methods[1].seconds, 0.5);
  const std::string choice = taken<T>(work.shape);
  fmt::print("{:<8} {:<6} {:>6} {:>5} {:>10.1f} {:>10.1f} {:>11.2f} {:<7} {:>5.2f}\n",
             sizeof(T) == 4 ? "float32" : "float64", isReal ? "last" : "before", extent, modes,
             1e6 * dense, 1e6 * fast, dense / fast, choice,
             (choice == "FFTW" ? fast : dense) / std::min(dense, fast));
}

void run() {
  if (!hasFftw())
    throw std::runtime_error("this build has no FFTW");
  fmt::print("{:<8} {:<6} {:>6} {:>5} {:>10} {:>10} {:>11} {:<7} {:>5}\n", "type", "dim", "extent",
             "modes", "matrix us", "FFTW us", "matrix/FFTW", "auto", "loss");
  for (const bool isReal : {true, false})
    for (const Index extent : {8, 16, 31, 32, 64, 97, 128, 256})
      for (const Index modes : {4, 8, 12, 16, 32})
        if (2 * modes <= extent + (isReal ? 2 : 0)) {
          measure<float>(extent, modes, isReal);
          measure<double>(extent, modes, isReal);
        }
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
