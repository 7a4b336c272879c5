// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss_value.hpp"

#include "declaration/signature.hpp"
#include "kernels/softmax.hpp"
#include "layer/callers_copy.hpp"
#include "layer/held_bytes.hpp"
#include "layer/layer_types.hpp"
#include "layer/saved.hpp"
#include "layer/traffic_text.hpp"

#include <fmt/format.h>

#include <cmath>

namespace tenon {

namespace {

constexpr int kSamples = 0;
constexpr int kClasses = 1;

// The logits' properties with `batch` where an axis splits the samples and `classes` where one
// splits the classes; B and R stay.
Properties replaced(const Properties& logits, Property batch, Property classes) {
  Properties result = logits;
  for (Property& p : result) {
    if (p == Property::shard(kSamples))
      p = batch;
    else if (p == Property::shard(kClasses))
      p = classes;
  }
  return result;
}

// A conversion that is left out where it would move nothing.
class Step {
public:
  Step(const CommPtr& comm, const Layout& from, const Layout& to, TenonDataType type)
      : from_(makeRef<DTensor>(comm, from, type)), to_(from_) {
    if (sameHolding(from, to))
      return;
    // One exchange, which finds the largest too.
    op_ = makeRef<Conversion>(comm, from, to, type, RoutePolicy::exchange());
    to_ = makeRef<DTensor>(comm, to, type);
  }
  DTensor& input() { return *from_; }
  DTensor& sum() {
    if (op_)
      op_->apply(*from_, *to_);
    return *to_;
  }
  DTensor& maximum() {
    if (op_)
      op_->applyMax(*from_, *to_);
    return *to_;
  }

  Index bytes() const { return heldBytes(from_, op_) + (op_ ? heldBytes(to_) : 0); }

private:
  Ref<DTensor> from_, to_;
  Ref<Conversion> op_;
};

struct CrossEntropyFrame final : Frame {
  Ref<DTensor> use, labels;
  SavedTensor logits;
  Buffer maxima, sums; // per local sample, over all classes

  void drop() noexcept override { logits.drop(); }
  Index bytes() const override {
    return heldBytes(use, labels) + logits.bytes() + maxima.bytes() + sums.bytes();
  }
};

class CrossEntropySetup final : public OneInputSetup {
public:
  CrossEntropySetup(const Layer& layer, const Layout& input, const Signature& signature,
                    const Layout& use, LossValue loss)
      : OneInputSetup(input, loss.layout()), layer_(layer), comm_(layer.comm()),
        type_(layer.dataType()), letters_(signature.describe()), use_(use),
        labels_(perSample({use.shape()[0]},
                          replaced(use.properties(), Property::shard(0), Property::broadcast()),
                          0)),
        maxima_(comm_,
                perSample({use.shape()[0]},
                          replaced(use.properties(), Property::shard(0), Property::partial()), 0),
                labels_, type_),
        sums_(comm_,
              perSample({2, use.shape()[0]},
                        replaced(use.properties(), Property::shard(1), Property::partial()), 1),
              perSample({2, use.shape()[0]},
                        replaced(use.properties(), Property::shard(1), Property::broadcast()), 1),
              type_),
        loss_(std::move(loss)), tangentUse_(tensor(use)), adjointUse_(tensor(use.dual())) {
    if (!sameHolding(input, use))
      toUse_ = makeRef<Conversion>(comm_, input, use, type_);
    const Box box = adjointUse_->box();
    rows_ = box[kSamples].size();
    cols_ = box[kClasses].size();
    firstClass_ = box[kClasses].begin;
    if (!loss_.isHeld())
      rows_ = cols_ = 0;
    const int position = adjointUse_->position();
    for (int axis = 0; axis < use.mesh().axes() && position >= 0; ++axis)
      speaks_ &= !(use.property(axis) == Property::shard(kClasses)) ||
                 use.mesh().coordinate(position, axis) == 0;
  }

  std::unique_ptr<Frame> makeFrame() override {
    auto frame = std::make_unique<CrossEntropyFrame>();
    frame->use = tensor(use_);
    if (toUse_)
      frame->use->allocate();
    frame->labels = makeRef<DTensor>(comm_, labels_, TENON_INT64);
    frame->labels->allocate();
    frame->maxima = Buffer(rows_ * dataTypeSize(type_), "cross-entropy maxima");
    frame->sums = Buffer(rows_ * dataTypeSize(type_), "cross-entropy sums");
    return frame;
  }

  void apply(const DTensor& x, DTensor& y, Frame& base, bool training) override {
    auto& frame = static_cast<CrossEntropyFrame&>(base);
    const DTensor& logits = inUseLayout(x, *frame.use);
    inputCopy_.note(!toUse_ && &logits != &x, x);
    convertLabels(*frame.labels);
    const double addend = visitFloating(type_, [&]<class T>(T) {
      const T* z = logits.data<T>();
      const std::int64_t* label = frame.labels->template data<std::int64_t>();
      T* m = frame.maxima.data<T>();
      T* s = frame.sums.data<T>();
      rowMax<T>(rows_, cols_, z, maxima_.input().template mutableData<T>());
      std::copy_n(maxima_.maximum().template data<T>(), rows_, m);
      T* parts = sums_.input().template mutableData<T>();
      sumExpShifted<T>(rows_, cols_, z, m, parts);
      pickLabel<T>(rows_, cols_, z, label, firstClass_, parts + rows_);
      const T* sums = sums_.sum().template data<T>();
      std::copy_n(sums, rows_, s);
      return speaks_ ? localLoss<T>(m, s, sums + rows_) : 0;
    });
    loss_.sum(addend, y);
    if (training)
      keptCopy_.note(frame.logits.keep(logits), logits);
  }

  // dloss = 1/N sum of (softmax - onehot) dz, over this rank's samples and classes.
  void tangent(Frame& base, const DTensor* dx, DTensor& dy) override {
    auto& frame = static_cast<CrossEntropyFrame&>(base);
    double sum = 0;
    visitFloating(type_, [&]<class T>(T) {
      if (dx) {
        const T* v = inUseLayout(*dx, *tangentUse_).template data<T>();
        gradient<T>(frame, T(1), adjointUse_->mutableData<T>());
        const T* g = adjointUse_->data<T>();
        for (Index i = 0; i < rows_ * cols_; ++i)
          sum += static_cast<double>(g[i]) * static_cast<double>(v[i]);
      }
    });
    loss_.sum(sum, dy);
  }

  void adjoint(Frame& base, const DTensor& dy, DTensor* dx) override {
    auto& frame = static_cast<CrossEntropyFrame&>(base);
    const double seed = loss_.seed(dy);
    if (!dx)
      return;
    const bool direct = !toUse_ && dx->isContiguous();
    DTensor& use = direct ? *dx : *adjointUse_;
    visitFloating(
        type_, [&]<class T>(T) { gradient<T>(frame, static_cast<T>(seed), use.mutableData<T>()); });
    if (toUse_)
      toUse_->applyAdjoint(use, *dx);
    else if (!direct)
      copyLocal(use, *dx);
    dxCopy_.note(!toUse_ && !direct, *dx);
  }

  std::string describe() const override {
    const Mesh& mesh = input().mesh();
    return fmt::format("  process grid {}, signature {}\n", mesh.describe(), letters_) +
           viewLine("input", input(), toUse_.get(), mesh) + viewLine("output", output(), mesh) +
           inputCopy_.describe("Apply", "input", "strided array") +
           keptCopy_.describe("Apply in training", "input", "saved for the adjoint") +
           dxCopy_.describe("ApplyAdjoint", "input cotangent", "strided array");
  }

  Index bytes() const override {
    return maxima_.bytes() + sums_.bytes() + loss_.bytes() +
           heldBytes(toUse_, fromTarget_, tangentUse_, adjointUse_);
  }

private:
  Ref<DTensor> tensor(const Layout& layout) const { return makeRef<DTensor>(comm_, layout, type_); }

  // A layout whose dimension `dim` is the samples, cut as the logits are.
  Layout perSample(const Shape& shape, const Properties& properties, int dim) const {
    std::vector<CutSource> cuts(shape.size());
    cuts[dim] = {&use_, kSamples};
    return makeLayout(shape, use_.meshPtr(), properties, cuts);
  }

  const DTensor& inUseLayout(const DTensor& x, DTensor& buffer) {
    if (toUse_)
      toUse_->apply(x, buffer);
    else if (x.isContiguous())
      return x;
    else
      copyLocal(x, buffer);
    return buffer;
  }

  void convertLabels(DTensor& labels) {
    takeTarget(layer_, labels, fromTarget_);
    const std::int64_t* label = labels.data<std::int64_t>();
    for (Index r = 0; r < rows_; ++r)
      if (label[r] < 0 || label[r] >= use_.shape()[kClasses])
        throw Error(TENON_ERR_ARG, fmt::format("label {} of sample {} is outside [0,{})", label[r],
                                               labels.box()[0].begin + r, use_.shape()[kClasses]));
  }

  template <class T>
  double localLoss(const T* m, const T* s, const T* picked) const {
    double sum = 0;
    for (Index r = 0; r < rows_; ++r)
      sum += std::log(static_cast<double>(s[r])) + static_cast<double>(m[r]) -
             static_cast<double>(picked[r]);
    return sum / static_cast<double>(use_.shape()[kSamples]);
  }

  // g = seed / N (softmax - onehot)
  template <class T>
  void gradient(CrossEntropyFrame& frame, T seed, T* g) {
    const T scale = seed / static_cast<T>(use_.shape()[kSamples]);
    T* weights = maxima_.input().template mutableData<T>();
    std::fill_n(weights, rows_, scale);
    crossEntropyAdjoint<T>(rows_, cols_, frame.logits.get(layer_.title()).template data<T>(),
                           frame.maxima.data<T>(), frame.sums.data<T>(),
                           frame.labels->template data<std::int64_t>(), firstClass_, weights, g);
  }

  const Layer& layer_;
  CommPtr comm_;
  TenonDataType type_;
  std::string letters_;
  Layout use_, labels_;
  Step maxima_, sums_;
  LossValue loss_;
  Ref<Conversion> toUse_, fromTarget_;
  Ref<DTensor> tangentUse_, adjointUse_;
  CallersCopy inputCopy_, keptCopy_, dxCopy_;
  Index rows_ = 0, cols_ = 0, firstClass_ = 0;
  bool speaks_ = true; // of the copies along class axes one adds the loss
};

} // namespace

std::unique_ptr<Setup> setUpCrossentropy(Layer& layer, const Layouts& inputs) {
  const Form form = layer.form(inputs);
  return std::make_unique<CrossEntropySetup>(
      layer, inputs.front(), form.signature, form.uses.front(),
      LossValue(layer.comm(), form.uses.front(), layer.dataType()));
}

} // namespace tenon
