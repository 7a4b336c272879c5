// SPDX-License-Identifier: BSD-2-Clause
// Times convolution kernels for the sizes of simulation codes on one process: Tenon's direct
// kernels with each set of vector instructions, matrix products by BLAS, and oneDNN, on the same
// arrays, with padding, packing and bias in each call. The reference is a matrix product of 1024^3.
// Then a convolution with a rectifier, in one kernel and in two, functions of each element, and a
// network of few channels (small_network.cpp).
//
// Methods take turns, each with one call that is not timed first, and their values are compared
// before. Rates are medians of the processor time of one thread, in GFLOP/s. p10 is the rate of the
// direct kernel with the widest vectors in the best tenth of its turns; /gemm and /onednn are its
// ratios to the product and to oneDNN.
//
//   OMP_NUM_THREADS=1 tests/bench/convolution [float32|float64] [text in the work's name]
#include "bench/handles.hpp"
#include "bench/small_network.hpp"
#include "bench/turns.hpp"
#include "kernels/base/library_info.hpp"
#include "kernels/convolution/backends.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/products/gemm.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <stdexcept>

namespace tenon::bench {
namespace {

constexpr Index kMatrix = 1024; // rows and columns of the product to compare with

struct Work {
  int rank;
  Index in, out, elements, kernel;
  bool isTarget; // of those whose rates are promised

  std::string name() const {
    return fmt::format("{}-D {} -> {}, {}^{}, kernel {}", rank, in, out, elements, rank, kernel);
  }
  ConvolutionShape shape() const {
    ConvolutionShape s{1, in, out, {}};
    s.window.rank = rank;
    for (int d = 0; d < rank; ++d) {
      s.window.in[d] = s.window.out[d] = elements;
      s.window.kernel[d] = kernel;
      s.window.padLow[d] = kernel / 2;
    }
    return s;
  }
  double flops() const {
    return 2.0 * double(in * out) * std::pow(double(elements), rank) *
           std::pow(double(kernel), rank);
  }
};

constexpr Work kWorks[] = {
    {2, 16, 16, 256, 3, true}, {3, 16, 16, 48, 3, true},    {3, 32, 32, 32, 3, true},
    {3, 4, 8, 48, 3, true},    {2, 64, 64, 64, 3, true},    {2, 2, 2, 256, 3, true},
    {3, 2, 2, 48, 3, true},    {2, 3, 16, 256, 3, true},    {3, 3, 16, 48, 3, true},
    {2, 4, 8, 256, 3, true},   {2, 1, 1, 256, 3, false},    {2, 16, 16, 128, 5, false},
    {2, 16, 16, 27, 3, false}, {3, 16, 16, 8, 3, false},    {3, 16, 16, 16, 3, false},
    {2, 64, 64, 8, 3, false},  {2, 128, 128, 16, 3, false}, {2, 256, 256, 14, 3, false},
    {2, 6, 16, 14, 5, false},  {2, 32, 32, 64, 1, false},   {1, 8, 8, 65536, 5, false}};

enum Pass { kForward, kData, kWeights };
constexpr const char* kPassNames[] = {"forward", "data gradient", "parameter gradient"};
// Targets: in float64 the least share of the matrix product's rate, in float32 the least multiple
// of oneDNN's rate; for less than 16 channels, and for 16 and more.
constexpr double kMinOfGemm[] = {0.85, 0.80, 0.80};
constexpr double kMinOfOneDnn[] = {1.3, 1.0};
constexpr Index kFewChannels = 16;

// Memory with the alignment of the library's tensors.
template <class T>
struct Array {
  explicit Array(Index n) : size(n), memory(Buffer::of<T>(n, "benchmark")) { memory.setZero(); }
  static Array drawn(Index n) {
    static std::mt19937 engine(1);
    Array array(n);
    for (Index i = 0; i < n; ++i)
      array.data()[i] = std::uniform_real_distribution<T>(-1, 1)(engine);
    return array;
  }
  T* data() { return memory.data<T>(); }
  const T* data() const { return memory.data<T>(); }

  Index size;
  Buffer memory;
};

template <class T>
struct Arrays {
  explicit Arrays(const ConvolutionShape& s)
      : x(Array<T>::drawn(s.inChannels * inputVolume(s.window))),
        w(Array<T>::drawn(s.outChannels * s.inChannels * kernelVolume(s.window))),
        b(Array<T>::drawn(s.outChannels)),
        y(Array<T>::drawn(s.outChannels * outputVolume(s.window))) {}
  Array<T> x, w, b, y;
};

// The methods by name: the direct kernels last, with increasing width of vectors.
template <class T>
std::vector<std::pair<std::string, std::unique_ptr<Convolution<T>>>>
convolutions(const ConvolutionShape& shape) {
  std::vector<std::pair<std::string, std::unique_ptr<Convolution<T>>>> all;
  all.emplace_back("blas", makeConvolution<T>(shape, Backend::Blas));
  if constexpr (std::is_same_v<T, float>)
    if (hasOneDnn())
      all.emplace_back("onednn", makeConvolution<T>(shape, Backend::OneDnn));
  for (InstructionSet set : directInstructionSets())
    all.emplace_back(instructionSetName(set),
                     makeDirectConvolution<T>(shape, std::make_shared<KernelContext>(), set));
  return all;
}

template <class T>
Index resultsOf(Pass pass, const Arrays<T>& a) {
  return pass == kForward ? a.y.size : pass == kData ? a.x.size : a.w.size + a.b.size;
}

template <class T>
void runPass(Convolution<T>& op, Pass pass, const Arrays<T>& a, T* result) {
  if (pass == kForward)
    op.forward(a.x.data(), a.w.data(), a.b.data(), result, false);
  else if (pass == kData)
    op.adjointData(a.w.data(), a.y.data(), result);
  else
    op.adjointWeights(a.x.data(), a.y.data(), result, result + a.w.size);
}

template <class T>
void requireSame(const std::string& what, const Array<T>& got, const Array<T>& want) {
  double difference = 0, scale = 0;
  for (Index i = 0; i < want.size; ++i) {
    difference = std::max(difference, std::abs(double(got.data()[i]) - double(want.data()[i])));
    scale = std::max(scale, std::abs(double(want.data()[i])));
  }
  if (!(difference <= (sizeof(T) == 8 ? 1e-12 : 1e-4) * scale))
    throw std::runtime_error(
        fmt::format("{} differs from BLAS by {} of {}: nothing is timed", what, difference, scale));
}

template <class T>
struct Product {
  Array<T> a = Array<T>::drawn(kMatrix * kMatrix), b = Array<T>::drawn(kMatrix * kMatrix),
           c{kMatrix * kMatrix};
  KernelContext context;
  void run() {
    gemm<T>(context, Backend::Blas, false, false, kMatrix, kMatrix, kMatrix, T(1), a.data(),
            kMatrix, b.data(), kMatrix, T(0), c.data(), kMatrix);
  }
};

std::string verdict(const Work& work, Pass pass, bool isDouble, double ofGemm, double ofOneDnn) {
  if (!work.isTarget || (!isDouble && ofOneDnn == 0))
    return "";
  if (isDouble && std::min(work.in, work.out) < 4)
    return "";
  const double least =
      isDouble ? kMinOfGemm[pass] : kMinOfOneDnn[std::min(work.in, work.out) >= kFewChannels];
  return fmt::format(">= {} of {}, {}", least, isDouble ? "gemm" : "oneDNN",
                     (isDouble ? ofGemm : ofOneDnn) >= least ? "met" : "not met");
}

template <class T>
void measure(const Work& work, Pass pass, Product<T>& product) {
  const ConvolutionShape shape = work.shape();
  const Arrays<T> arrays(shape);
  auto ops = convolutions<T>(shape);
  std::vector<Array<T>> results;
  for (std::size_t i = 0; i < ops.size(); ++i)
    results.emplace_back(resultsOf(pass, arrays));
  const int calls = 1 + int(1e8 / work.flops());
  std::vector<Method> methods{{"gemm", [&] { product.run(); }, 1, {}}};
  for (std::size_t i = 0; i < ops.size(); ++i) {
    auto run = [&, i] { runPass(*ops[i].second, pass, arrays, results[i].data()); };
    run();
    requireSame(ops[i].first + " on " + work.name(), results[i], results.front());
    methods.push_back({ops[i].first, run, calls, {}});
  }
  takeTurns(methods);
  const auto quantileOf = [](const Method& m, double share) { return quantile(m.seconds, share); };
  const double flops = work.flops() * 1e-9;
  const double gemmRate = 2e-9 * double(kMatrix * kMatrix * kMatrix) / quantileOf(methods[0], 0.5);
  const double rate = flops / quantileOf(methods.back(), 0.5);
  fmt::print("{:<8} {:<31} {:<18} {:>6.1f}", sizeof(T) == 8 ? "float64" : "float32", work.name(),
             kPassNames[pass], gemmRate);
  double oneDnn = 0;
  for (const char* name : {"blas", "onednn", "avx2", "avx512"}) {
    const auto found = std::find_if(methods.begin(), methods.end(),
                                    [&](const Method& m) { return m.name == name; });
    if (found == methods.end()) {
      fmt::print(" {:>6}", "-");
      continue;
    }
    fmt::print(" {:>6.1f}", flops / quantileOf(*found, 0.5));
    if (found->name == "onednn")
      oneDnn = flops / quantileOf(*found, 0.5);
  }
  fmt::print(" {:>6.1f} {:>6.2f}", flops / quantileOf(methods.back(), 0.1), rate / gemmRate);
  if (oneDnn > 0)
    fmt::print(" {:>6.2f}", rate / oneDnn);
  else
    fmt::print(" {:>6}", "-");
  fmt::print("  {}\n",
             verdict(work, pass, sizeof(T) == 8, rate / gemmRate, oneDnn > 0 ? rate / oneDnn : 0));
  std::fflush(stdout);
}

template <class T>
void measureAll(const std::string& name) {
  Product<T> product;
  for (const Work& work : kWorks)
    if (work.name().find(name) != std::string::npos)
      for (Pass pass : {kForward, kData, kWeights})
        measure<T>(work, pass, product);
}

void measureConvolutions(const std::string& type, const std::string& name) {
  if (directInstructionSets().empty())
    throw std::runtime_error(
        "this processor has neither AVX2 with FMA nor NEON: there is no direct convolution");
  if (computeThreads() != 1)
    throw std::runtime_error("processor time is measured of one thread: set OMP_NUM_THREADS=1");
  const std::string advice = blasAdvice(blasInfo().kernel, processorFlags());
  fmt::print("# BLAS {}, oneDNN {}, {} thread(s), {} rounds{}{}\n", blasInfo().kernel,
             oneDnnVersion(), computeThreads(), kTurns, advice.empty() ? "" : "; ", advice);
  fmt::print("{:<8} {:<31} {:<18} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6}  {}\n", "type",
             "work", "pass", "gemm", "blas", "onednn", "avx2", "avx512", "p10", "/gemm", "/onednn",
             "target");
  if (type != "float32")
    measureAll<double>(name);
  if (type != "float64")
    measureAll<float>(name);
}

// With few input channels most of the time is spent on the outputs, which a separate kernel for the
// rectifier reads and writes again.
constexpr Work kRectified[] = {
    {2, 1, 16, 512, 3, true}, {3, 1, 8, 96, 3, true}, {2, 16, 16, 512, 3, true}};
constexpr double kMaxOfConvolution = 1.1; // times the time without the rectifier

template <class T>
void measureRectifiers(const std::string& name) {
  for (const Work& work : kRectified) {
    if (work.name().find(name) == std::string::npos)
      continue;
    const ConvolutionShape shape = work.shape();
    const Arrays<T> a(shape);
    const auto context = std::make_shared<KernelContext>();
    const auto op = makeConvolution<T>(shape, Backend::Direct, context);
    const PointwiseFunction relu(Pointwise::Relu);
    Array<T> y(a.y.size), z(a.y.size), both(a.y.size);
    const auto convolve = [&] { op->forward(a.x.data(), a.w.data(), a.b.data(), y.data(), false); };
    const auto apart = [&] {
      convolve();
      pointwiseForward<T>(*context, relu, y.size, y.data(), z.data());
    };
    const auto together = [&] {
      op->forwardThen(a.x.data(), a.w.data(), a.b.data(), relu, both.data());
    };
    apart();
    together();
    requireSame("a rectifier behind " + work.name(), both, z);
    const int calls = 1 + int(1e8 / work.flops());
    std::vector<Method> methods{{"alone", convolve, calls, {}},
                                {"apart", apart, calls, {}},
                                {"together", together, calls, {}}};
    takeTurns(methods);
    const auto ratio = [&](int method) {
      return quantile(methods[method].seconds, 0.5) / quantile(methods[0].seconds, 0.5);
    };
    fmt::print("{:<8} {:<31} {:>10.2f} {:>12.2f}  <= {}, {}\n",
               sizeof(T) == 8 ? "float64" : "float32", work.name(), ratio(2), ratio(1),
               kMaxOfConvolution, ratio(2) <= kMaxOfConvolution ? "met" : "not met");
  }
}

void measureRectifiers(const std::string& type, const std::string& name) {
  fmt::print("{:<8} {:<31} {:>10} {:>12}  {}\n", "type", "work and a rectifier", "of work",
             "by its own", "target");
  if (type != "float32")
    measureRectifiers<double>(name);
  if (type != "float64")
    measureRectifiers<float>(name);
}

} // namespace
} // namespace tenon::bench

int main(int argc, char** argv) {
  const std::string type = argc > 1 ? argv[1] : "", name = argc > 2 ? argv[2] : "";
  return tenon::bench::benchmarkMain(argc, argv, [&] {
    tenon::bench::measureConvolutions(type, name);
    tenon::bench::measureRectifiers(type, name);
    tenon::bench::measureSmallNetworks(type, name);
  });
}
