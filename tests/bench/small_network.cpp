// SPDX-License-Identifier: BSD-2-Clause
// Part of the benchmark convolution (small_network.hpp): the tanh of each element, and a network of
// few channels (8 -> 32 -> 32 -> 4, tanh in between) at each point, as one layer "columnmlp" and as
// separate layers, compared with the same network in TorchScript, if libtorch is installed. One row
// per case, with a target: nanoseconds per element for tanh, a share of TorchScript's time for the
// network.
#include "bench/small_network.hpp"

#include "bench/handles.hpp"
#include "bench/torch_peer.hpp"
#include "bench/turns.hpp"
#include "kernels/elementwise/pointwise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <stdexcept>

namespace tenon::bench {
namespace {

const std::vector<int> kWidths{8, 32, 32, 4};
constexpr Index kElements = 4096;

template <class T>
constexpr TenonDataType kType = sizeof(T) == 8 ? TENON_FLOAT64 : TENON_FLOAT32;
template <class T>
constexpr const char* kName = sizeof(T) == 8 ? "float64" : "float32";

// One row of the table. `reached` is the number that is compared with the target; none without a
// peer.
struct Row {
  std::string work;
  double microseconds = 0;
  std::optional<double> torch; // microseconds of TorchScript
  double target = 0;
  std::optional<double> reached;
};

void print(const char* type, const Row& row) {
  const bool isKnown = row.reached.has_value();
  fmt::print("{:<8} {:<31} {:>10.3f} {:>12} {:>8} {:>7}  {}\n", type, row.work, row.microseconds,
             row.torch ? fmt::format("{:.3f}", *row.torch) : "-",
             isKnown ? fmt::format("{:.2f}", *row.reached) : "absent", row.target,
             isKnown ? *row.reached <= row.target ? "met" : "not met" : "");
  std::fflush(stdout);
}

template <class T>
void measureTanh() {
  KernelContext context;
  std::vector<T> x(kElements), y(kElements);
  for (Index i = 0; i < kElements; ++i)
    x[i] = T(-4 + 8.0 * double(i) / double(kElements));
  std::vector<Method> methods{
      {"tanh",
       [&] { pointwiseForward<T>(context, Pointwise::Tanh, kElements, x.data(), y.data()); },
       100,
       {}}};
  takeTurns(methods);
  const double seconds = quantile(methods[0].seconds, 0.5);
  print(kName<T>, {fmt::format("tanh of {} elements, ns each", kElements),
                   1e6 * seconds,
                   {},
                   sizeof(T) == 8 ? 1.5 : 0.6,
                   1e9 * seconds / double(kElements)});
}

// The network as one layer and as separate ones, with the same parameters, on one input.
template <class T>
class Networks {
public:
  explicit Networks(int batch) : batch_(batch) {
    input_ = makeLayout(MPI_COMM_SELF, {batch, kWidths.front()}, "B");
    require(TenonDTensorCreate(input_, kType<T>, x_.out()));
    require(TenonDTensorFillUniform(x_, /*seed=*/1, /*stream=*/1, -1, 1));
    require(TenonLayerCreateType(MPI_COMM_SELF, "columnmlp", column_.out()));
    const std::vector<TenonInt> widths(kWidths.begin(), kWidths.end());
    require(TenonObjectSetIntegers(TenonObject(TenonLayer(column_)), "widths", int(widths.size()),
                                   widths.data()));
    setUp(column_);
    require(TenonLayerCreateSequential(MPI_COMM_SELF, separate_.out()));
    for (std::size_t l = 0; l + 1 < widths.size(); ++l) {
      LayerHandle affine, tanh;
      require(TenonLayerCreateAffine(MPI_COMM_SELF, kWidths[l], kWidths[l + 1], affine.out()));
      require(TenonLayerSequentialAdd(separate_, affine));
      if (l + 2 == widths.size())
        continue;
      require(TenonLayerCreateType(MPI_COMM_SELF, "tanh", tanh.out()));
      require(TenonLayerSequentialAdd(separate_, tanh));
    }
    setUp(separate_);
    require(TenonLayerInitialize(column_, 1));
    for (std::size_t p = 0; p < 2 * (widths.size() - 1); ++p)
      copyParameter(int(p));
    require(TenonLayerCreateOutput(column_, 0, y_.out()));
    require(TenonLayerCreateOutput(separate_, 0, ySeparate_.out()));
  }

  void column() { require(TenonLayerApply(column_, x_, y_)); }
  void separate() { require(TenonLayerApply(separate_, x_, ySeparate_)); }
  T* output() { return arrayOf<T>(y_, kType<T>); }
  T* outputOfSeparate() { return arrayOf<T>(ySeparate_, kType<T>); }
  std::size_t outputs() const { return std::size_t(batch_ * kWidths.back()); }

  NetworkArrays<T> arrays(T* y) {
    NetworkArrays<T> all{kWidths, batch_, arrayOf<T>(x_, kType<T>), {}, {}, y};
    for (std::size_t l = 0; l + 1 < kWidths.size(); ++l) {
      all.weights.push_back(parameter(column_, int(2 * l)));
      all.biases.push_back(parameter(column_, int(2 * l + 1)));
    }
    return all;
  }

private:
  void setUp(TenonLayer layer) {
    require(TenonLayerSetDataType(layer, kType<T>));
    require(TenonLayerSetTraining(layer, TENON_FALSE));
    require(TenonLayerSetUp(layer, input_));
  }
  // The handle is destroyed at the end: while a program has one, the layer must expect that the
  // parameter changes at any time.
  static const T* parameter(TenonLayer layer, int number) {
    TensorHandle value;
    require(TenonLayerGetParameter(layer, number, value.out()));
    return arrayOf<T>(value, kType<T>);
  }
  void copyParameter(int number) {
    TensorHandle from, to;
    require(TenonLayerGetParameter(column_, number, from.out()));
    require(TenonLayerGetParameter(separate_, number, to.out()));
    require(TenonDTensorCopy(from, to));
  }

  int batch_;
  LayoutHandle input_;
  TensorHandle x_, y_, ySeparate_;
  LayerHandle column_, separate_;
};

template <class T>
void requireClose(const char* what, const T* got, const T* want, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (!(std::abs(double(got[i]) - double(want[i])) <= (sizeof(T) == 8 ? 1e-12 : 1e-5)))
      throw std::runtime_error(
          fmt::format("{} computes {}, not {}, at {}: nothing is timed", what, got[i], want[i], i));
}

template <class T>
void measureNetwork(int batch, double target, bool withSeparate) {
  Networks<T> networks(batch);
  const int calls = std::max(1, 20000 / batch);
  std::vector<Method> methods{{"column", [&] { networks.column(); }, calls, {}},
                              {"separate", [&] { networks.separate(); }, calls, {}}};
  networks.column();
  networks.separate();
  requireClose("the network of separate layers", networks.outputOfSeparate(), networks.output(),
               networks.outputs());
#ifdef TENON_BENCH_TORCH
  std::vector<T> y(networks.outputs());
  methods.push_back({"TorchScript", torchNetwork<T>(networks.arrays(y.data())), calls, {}});
  for (int warm = 0; warm < 5; ++warm) // TorchScript optimises itself during the first calls
    methods.back().run();
  requireClose("TorchScript", y.data(), networks.output(), networks.outputs());
#endif
  takeTurns(methods);
  std::optional<double> torch;
  if (methods.back().name == "TorchScript")
    torch = 1e6 * quantile(methods.back().seconds, 0.5);
  const auto row = [&](const char* form, const Method& method, double least) {
    const double time = 1e6 * quantile(method.seconds, 0.5);
    print(kName<T>, {fmt::format("network{}, batch {}", form, batch), time, torch, least,
                     torch ? std::optional(time / *torch) : std::nullopt});
  };
  row("", methods[0], target);
  if (withSeparate)
    row(" of layers", methods[1], 0.5);
}

template <class T>
void measure(const std::string& name) {
  const auto wanted = [&](const char* row) {
    return std::string(row).find(name) != std::string::npos;
  };
  if (wanted("tanh"))
    measureTanh<T>();
  if (!wanted("network"))
    return;
  constexpr bool kIsDouble = sizeof(T) == 8;
  measureNetwork<T>(1, 0.05, false);
  measureNetwork<T>(16, kIsDouble ? 0.3 : 0.15, false);
  measureNetwork<T>(256, kIsDouble ? 0.35 : 0.3, false);
  measureNetwork<T>(4096, 0.25, kIsDouble);
}

} // namespace

void measureSmallNetworks(const std::string& type, const std::string& name) {
  fmt::print("{:<8} {:<31} {:>10} {:>12} {:>8} {:>7}\n", "type", "work", "us", "TorchScript",
             "reached", "target");
  if (type != "float32")
    measure<double>(name);
  if (type != "float64")
    measure<float>(name);
}

} // namespace tenon::bench
