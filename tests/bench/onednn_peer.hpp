// SPDX-License-Identifier: BSD-2-Clause
// The peers of the benchmark layer_step: one step (forward, and the adjoint in data and parameters)
// of a layer in float32, written with oneDNN alone as its manual recommends: oneDNN chooses memory
// formats, reorders convert from and to plain arrays where formats differ, and everything is
// created once.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <unordered_map>
#include <vector>

namespace tenon::bench {

// The arrays of a step; w, b, dw, db are empty for layers without parameters.
struct StepArrays {
  std::vector<float> x, w, b, y, dx, dw, db, dy;
};

// One primitive with its operands. oneDNN numbers the operands of a primitive by `argument`, such
// as DNNL_ARG_SRC. input() and output() attach an operand to an array of the step: `plain` is the
// format of the array, `wanted` the one that the primitive requires. If they differ, run() copies
// inputs before the primitive and outputs after it. other() attaches memory in the wanted format.
class PeerProduct {
public:
  explicit PeerProduct(dnnl::primitive primitive) : primitive_(std::move(primitive)) {}
  void input(int argument, const dnnl::memory::desc& wanted, const dnnl::memory::desc& plain,
             const std::vector<float>& array);
  void output(int argument, const dnnl::memory::desc& wanted, const dnnl::memory::desc& plain,
              std::vector<float>& array);
  void other(int argument, const dnnl::memory& memory) { arguments_[argument] = memory; }
  void run(dnnl::stream& stream);

private:
  struct Copy {
    dnnl::reorder reorder;
    dnnl::memory from, to;
  };
  dnnl::primitive primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
  std::vector<Copy> before_, after_;
};

// The primitives of one layer; step() runs them once.
class Peer {
public:
  void step();

protected:
  std::vector<PeerProduct> products_;

private:
  dnnl::stream stream_{engine()};

public:
  // The CPU, one for all peers and for the layers that they are compared with.
  static const dnnl::engine& engine();
};

// A convolution with square windows of stride 1.
struct ConvolutionCase {
  int batch, in, out, height, width, kernel, padding;
};
class PeerConvolution : public Peer {
public:
  PeerConvolution(const ConvolutionCase& c, StepArrays& arrays);
};

// Pooling whose stride is the size of its window.
struct PoolingCase {
  int batch, channels, height, width, kernel;
  bool isMax;
};
class PeerPooling : public Peer {
public:
  PeerPooling(const PoolingCase& c, StepArrays& arrays);
};

struct AffineCase {
  int batch, in, out;
};
class PeerAffine : public Peer {
public:
  PeerAffine(const AffineCase& c, StepArrays& arrays);
};

} // namespace tenon::bench
