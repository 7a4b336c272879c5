// SPDX-License-Identifier: BSD-2-Clause
#include "plan/kernel_measurement.hpp"

#include "dtensor/data_type.hpp"
#include "dtensor/fill.hpp"
#include "layer/layer_types.hpp"
#include "plan/timing.hpp"
#include "planner/kernel_cost.hpp"

#include <algorithm>

namespace tenon {

namespace {

constexpr std::uint64_t kSeed = 1;
constexpr double kLeastShare = 0.1; // of a time, without the call
constexpr double kAlike = 1.2;      // operations for a byte of which two points are one

struct Subject {
  std::string type;
  std::vector<std::pair<std::string, SettingValue>> settings;
  Shape input;
};

Subject convolution(Index in, Index out, Index kernel, Index pixels, Index batch) {
  const std::vector<Index> window = {kernel, kernel}, padding = {kernel / 2, kernel / 2};
  return {"conv",
          {{"in_channels", in}, {"out_channels", out}, {"kernel", window}, {"padding", padding}},
          {batch, in, pixels, pixels}};
}

Subject affine(Index width, Index batch) {
  return {"affine", {{"inputs", width}, {"outputs", width}}, {batch, width}};
}

// Activations beyond the caches that a core has for itself, as those of a batch are: between two kernels on the
// same data there are others.
std::vector<Subject> subjects() {
  std::vector<Subject> all = {convolution(1, 4, 3, 64, 16),
                              convolution(4, 8, 3, 32, 32),
                              convolution(8, 8, 5, 16, 64),
                              convolution(16, 16, 3, 16, 64),
                              convolution(64, 64, 3, 8, 32),
                              affine(16, 64),
                              affine(64, 64),
                              affine(256, 64),
                              affine(1024, 64)};
  const Shape field = {64, 8, 32, 32};
  for (const char* type : {"relu", "tanh", "sigmoid", "flatten", "dropout"})
    all.push_back({type, {}, field});
  for (const char* type : {"maxpooling", "averagepooling"})
    all.push_back({type,
                   {{"kernel", std::vector<Index>{2, 2}}, {"stride", std::vector<Index>{2, 2}}},
                   field});
  all.push_back({"batchnorm", {{"channels", Index(8)}}, field});
  return all;
}

// A layer of one process.
class Measured {
public:
  Measured(const Subject& subject, TenonDataType type, Space space)
      : self_(Communicator::of(MPI_COMM_SELF)), layer_(makeLayer(self_, subject.type)),
        cellBytes_(dataTypeSize(type)) {
    layer_->setDataType(type);
    layer_->setSpace(space);
    for (const auto& [name, value] : subject.settings)
      layer_->set(name, value);
    const Layout input(
        {.shape = subject.input, .mesh = Mesh::make({1}), .properties = {Property::broadcast()}});
    layer_->setUp(input);
    layer_->initialize(kSeed, 0);
    const Layout& output = layer_->outputLayout(input);
    x_ = makeRef<DTensor>(self_, input, type, space);
    y_ = makeRef<DTensor>(self_, output, type, space);
    dy_ = makeRef<DTensor>(self_, output.dual(), type, space);
    dx_ = makeRef<DTensor>(self_, input.dual(), type, space);
    fillUniform(*x_, kSeed, 1, -1, 1);
    fillUniform(*dy_, kSeed, 2, -1, 1);
  }

  void apply() {
    layer_->apply(*x_, *y_);
    layer_->forgetLast();
  }
  void applyAndAdjoint() {
    layer_->apply(*x_, *y_);
    layer_->applyAdjoint(*dy_, dx_.get());
  }
  KernelCost cost() const {
    return kernelCost(layer_->declaration(), layer_->form(layer_->inputLayouts()), true, cellBytes_,
                      {}, Looks::First);
  }

private:
  CommPtr self_;
  Ref<Layer> layer_;
  Index cellBytes_;
  Ref<DTensor> x_, y_, dy_, dx_;
};

class Curves {
public:
  void add(const std::string& layer, KernelPass pass, Index cellBytes, const KernelWork& work,
           double seconds) {
    const auto isSame = [&](const KernelCurve& known) {
      return known.layer == layer && known.pass == pass && known.cellBytes == cellBytes;
    };
    auto curve = std::ranges::find_if(all, isSame);
    if (curve == all.end())
      curve = all.insert(all.end(), {layer, pass, cellBytes, {}});
    const KernelCurve::Point point{work.flops / work.bytes, work.bytes / seconds};
    const auto at =
        std::ranges::upper_bound(curve->points, point.flops, {}, &KernelCurve::Point::flops);
    if (at == curve->points.begin() || at[-1].flops * kAlike < point.flops)
      curve->points.insert(at, point);
  }

  std::vector<KernelCurve> all;
};

// Of a kernel on a few cells: what each call takes, whatever it does.
double secondsOfACall(const Communicator& comm, const KernelContext& at, int rounds) {
  Measured few({"relu", {}, {1, 8}}, TENON_FLOAT64, at.space());
  return leastSeconds(comm, rounds, at, [&] { few.apply(); });
}

} // namespace

KernelRates measuredKernels(const Communicator& comm, Space space, int rounds) {
  const KernelContextPtr at = contextOf(Communicator::of(MPI_COMM_SELF), space);
  KernelRates rates{.flops = 0, .memory = 0, .call = secondsOfACall(comm, *at, rounds)};
  Curves curves;
  for (const TenonDataType type : {TENON_FLOAT32, TENON_FLOAT64})
    for (const Subject& subject : subjects()) {
      Measured one(subject, type, space);
      const KernelCost cost = one.cost();
      const auto add = [&](KernelPass pass, const KernelWork& work, double took) {
        const double seconds = std::max(took - rates.call, kLeastShare * took);
        curves.add(subject.type, pass, dataTypeSize(type), work, seconds);
        rates.flops = std::max(rates.flops, work.flops / seconds);
        if (subject.type == "relu")
          rates.memory = std::max(rates.memory, work.bytes / seconds);
      };
      const double both = leastSeconds(comm, rounds, *at, [&] { one.applyAndAdjoint(); });
      const double apply = leastSeconds(comm, rounds, *at, [&] { one.apply(); });
      add(KernelPass::Apply, cost.apply, apply);
      add(KernelPass::Adjoint, cost.adjoint, std::max(both - apply, kLeastShare * both));
    }
  rates.curves = std::move(curves.all);
  return rates;
}

} // namespace tenon
