// SPDX-License-Identifier: BSD-2-Clause
// Times normalisation layers on one process, compared with loops that read and write the arrays as
// often as the layer must: forward x for the statistics, then x and y; adjoint x and dy for the
// sums, then both and dx. (Fewer passes are impossible, since the statistics are computed over all
// ranks in between.) If each place of a sample has its own weight and bias, these are arrays of the
// size of a sample, and so are their gradients, which are added to. A rectifier after the layer
// must not read or write more. Times are processor times of one thread; methods take turns.
//
//   OMP_NUM_THREADS=1 tests/bench/normalisation
#include "bench/handles.hpp"
#include "bench/race.hpp"
#include "bench/turns.hpp"
#include "dtensor/fill.hpp"
#include "kernels/base/instruction_set.hpp"
#include "support/layers.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::bench {
namespace {

constexpr double kTarget = 1.3; // times the time of the loops

// Number of independent sums in a loop, enough to hide the latency of an addition.
template <class T, class Term>
T sumOf(Index n, const Term& term) {
  constexpr Index kSums = 64;
  T sums[kSums] = {};
  vectorised([&, n] {
    T own[kSums] = {};
    for (Index i = 0; i + kSums <= n; i += kSums)
      for (Index j = 0; j < kSums; ++j)
        own[j] += term(i + j);
    std::copy_n(own, kSums, sums);
  });
  T all = 0;
  for (const T sum : sums)
    all += sum;
  return all;
}

template <class T>
void readAndWrite(Index n, const T* x, T* y) {
  const T sum = sumOf<T>(n, [=](Index i) { return x[i]; });
  vectorised([=] {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i)
      y[i] = T(0.5) * x[i] + sum;
  });
}

template <class T>
void readAndWriteBack(Index n, const T* x, const T* dy, T* dx) {
  const T sum = sumOf<T>(n, [=](Index i) { return x[i] * dy[i]; });
  vectorised([=] {
#pragma GCC ivdep
    for (Index i = 0; i < n; ++i)
      dx[i] = T(0.5) * x[i] + dy[i] + sum;
  });
}

// The same with a weight and a bias for each of the places of a sample.
template <class T>
struct Places {
  std::vector<T> weight, bias, dWeight, dBias;
  explicit Places(Index count)
      : weight(std::size_t(count), T(1)), bias(weight), dWeight(weight), dBias(weight) {}
  Index count() const { return static_cast<Index>(weight.size()); }
};

template <class T>
void readAndWrite(Index n, const T* x, const Places<T>& of, T* y) {
  const T sum = sumOf<T>(n, [=](Index i) { return x[i]; });
  const T *w = of.weight.data(), *b = of.bias.data();
  for (Index first = 0; first < n; first += of.count())
    vectorised([=, count = of.count()] {
#pragma GCC ivdep
      for (Index i = 0; i < count; ++i)
        y[first + i] = x[first + i] * w[i] + (b[i] + sum);
    });
}

template <class T>
void readAndWriteBack(Index n, const T* x, const T* dy, Places<T>& of, T* dx) {
  const T* w = of.weight.data();
  T *dw = of.dWeight.data(), *db = of.dBias.data();
  for (Index first = 0; first < n; first += of.count()) {
    const T *in = x + first, *dOut = dy + first;
    const T sum = sumOf<T>(of.count(), [=](Index i) { return in[i] * (w[i] * dOut[i]); });
    vectorised([=, count = of.count()] {
#pragma GCC ivdep
      for (Index i = 0; i < count; ++i) {
        dx[first + i] = T(0.5) * in[i] + w[i] * dOut[i] + sum;
        dw[i] += in[i] * dOut[i];
        db[i] += dOut[i];
      }
    });
  }
}

template <class T>
void measure(const char* type, const Shape& shape) {
  constexpr TenonDataType kType = sizeof(T) == 4 ? TENON_FLOAT32 : TENON_FLOAT64;
  const CommPtr comm = Communicator::of(MPI_COMM_SELF);
  const Layout layout(
      {.shape = shape, .grid = Grid::make({1}), .properties = {Property::broadcast()}});
  const auto layer = test::newLayer(comm, type);
  if (layer->declaration().settings().has("channels"))
    layer->set("channels", shape[1]);
  else
    layer->set("shape", std::vector<Index>(shape.begin() + 1, shape.end()));
  if (layer->declaration().settings().has("groups"))
    layer->set("groups", Index(4));
  layer->set("affine", true);
  layer->setDataType(kType);
  const auto rectified = test::newLayer(comm, "sequential");
  appendLayer(*rectified, layer);
  appendLayer(*rectified, test::newLayer(comm, "relu"));
  rectified->setDataType(kType);
  rectified->setUp(layout);
  layer->setUp(layout);
  layer->initialize(1, 0);
  DTensor x(comm, layout, kType), y(comm, layout, kType), dy(comm, layout.dual(), kType),
      dx(comm, layout.dual(), kType);
  fillUniform(x, /*seed=*/1, /*stream=*/1, -1, 1);
  fillUniform(dy, /*seed=*/1, /*stream=*/2, -1, 1);
  const Index n = x.localElements();
  const T *in = std::as_const(x).data<T>(), *dOut = std::as_const(dy).data<T>();
  const int calls = static_cast<int>(std::max<Index>(1, (Index(1) << 23) / n));
  const bool hasPlaces = layer->parameters().front()->storage().shape().size() > 1;
  Places<T> places(hasPlaces ? n / shape[0] : 1);
  const auto forward = [&] {
    T* out = y.mutableData<T>();
    hasPlaces ? readAndWrite<T>(n, in, places, out) : readAndWrite<T>(n, in, out);
  };
  const auto back = [&] {
    T* out = dx.mutableData<T>();
    hasPlaces ? readAndWriteBack<T>(n, in, dOut, places, out)
              : readAndWriteBack<T>(n, in, dOut, out);
  };
  std::vector<Method> methods{{"forward",
                               [&] {
                                 layer->apply(x, y);
                                 layer->forgetLast();
                               },
                               calls,
                               {}},
                              {"both",
                               [&] {
                                 layer->apply(x, y);
                                 layer->applyAdjoint(dy, &dx);
                               },
                               calls,
                               {}},
                              {"with a rectifier",
                               [&] {
                                 rectified->apply(x, y);
                                 rectified->forgetLast();
                               },
                               calls,
                               {}},
                              {"loops forward", forward, calls, {}},
                              {"loops both",
                               [&] {
                                 forward();
                                 back();
                               },
                               calls,
                               {}}};
  takeTurns(methods);
  const auto row = [&](const char* pass, std::size_t ours, std::size_t theirs) {
    const double time = quantile(methods[ours].seconds, 0.5),
                 limit = quantile(methods[theirs].seconds, 0.5);
    fmt::print("{:<13} {:<8} {:<17} {:<20} {:>10.1f} {:>10.1f} {:>6.2f}  <= {} {}\n", type,
               sizeof(T) == 4 ? "float32" : "float64", fmt::format("{}", fmt::join(shape, "x")),
               pass, 1e6 * time, 1e6 * limit, time / limit, kTarget,
               time <= kTarget * limit ? "met" : "not met");
  };
  row("forward", 0, 3);
  row("forward, relu", 2, 3);
  row("forward and adjoint", 1, 4);
}

void run() {
  fmt::print("{:<13} {:<8} {:<17} {:<20} {:>10} {:>10} {:>6}  target\n", "layer", "type", "input",
             "pass", "us", "loops us", "ratio");
  for (const char* type : {"batchnorm", "groupnorm", "instancenorm", "layernorm"})
    for (const Shape& shape : {Shape{1, 16, 24, 24, 24}, Shape{2, 16, 64, 64, 64}}) {
      measure<float>(type, shape);
      measure<double>(type, shape);
    }
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::benchmarkMain(argc, argv, tenon::bench::run);
}
