// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss.hpp"

#include "dtensor/host_view.hpp"
#include "kernels/block_copy.hpp"
#include "kernels/reduce.hpp"
#include "kernels/softmax.hpp"
#include "layer/fixed_kernel.hpp"
#include "layer/layer_types.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr int kSamples = 0;
constexpr int kClasses = 1;

// What the kernels know of this rank's logits.
struct LogitsPart {
  Index rows = 0, cols = 0, firstClass = 0, firstSample = 0;
  Index samples, classes; // in all
  bool speaks = true;     // of the copies along class axes one adds the loss
  TenonDataType type;

  LogitsPart(const Layout& use, int rank, TenonDataType dataType)
      : samples(use.shape()[kSamples]), classes(use.shape()[kClasses]), type(dataType) {
    const int position = use.mesh().position(rank);
    const Box box = use.box(position);
    firstSample = box[kSamples].begin;
    firstClass = box[kClasses].begin;
    rows = box[kSamples].size();
    cols = box[kClasses].size();
    for (int axis = 0; axis < use.mesh().axes() && position >= 0; ++axis)
      speaks &= !(use.property(axis) == Property::shard(kClasses)) ||
                use.mesh().coordinate(position, axis) == 0;
  }
};

class RowMaxima final : public FixedKernel {
public:
  explicit RowMaxima(const LogitsPart& part) : part_(part) {}
  void forwardMany(Inputs z, ParameterUses&, DTensor& m, Buffer*) override {
    visitFloating(part_.type, [&]<class T>(T) {
      rowMax<T>(m.context(), part_.rows, part_.cols, z[0]->data<T>(), m.mutableData<T>());
    });
  }
  std::string describe() const override { return "maxima"; }

private:
  LogitsPart part_;
};

// Of z and m: the sums of exp(z - m), and the logits of the labels.
class RowSums final : public FixedKernel {
public:
  RowSums(const LogitsPart& part, std::shared_ptr<const TargetUse> labels)
      : part_(part), labels_(std::move(labels)) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& sums, Buffer*) override {
    checkLabels();
    const std::int64_t* label = labels_->value().data<std::int64_t>();
    visitFloating(part_.type, [&]<class T>(T) {
      const T *z = x[0]->data<T>(), *m = x[1]->data<T>();
      T* s = sums.mutableData<T>();
      sumExpShifted<T>(sums.context(), part_.rows, part_.cols, z, m, s);
      pickLabel<T>(sums.context(), part_.rows, part_.cols, z, label, part_.firstClass,
                   s + part_.rows);
    });
  }
  std::string describe() const override { return "sums"; }

private:
  void checkLabels() const {
    const DTensor& labels = labels_->value();
    const Index bad =
        firstBadLabel(labels.context(), part_.rows, labels.data<std::int64_t>(), part_.classes);
    if (bad >= 0)
      throw Error(TENON_ERR_ARG, fmt::format("label {} of sample {} is outside [0,{})",
                                             HostView<const std::int64_t>(labels)[bad],
                                             part_.firstSample + bad, part_.classes));
  }

  LogitsPart part_;
  std::shared_ptr<const TargetUse> labels_;
};

// Of z, m and the sums over all classes: this rank's addend. Its derivative by z is the total one,
// sums included, so that no cotangent of a sum travels:  (softmax - onehot) / N.
class NegativeLogLikelihood final : public LocalKernel {
public:
  NegativeLogLikelihood(const LogitsPart& part, std::shared_ptr<const TargetUse> labels)
      : part_(part), labels_(std::move(labels)),
        weights_(part.rows * dataTypeSize(part.type), "cross-entropy weights") {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& addend, Buffer* workspace) override {
    if (workspace)
      arrayCombine(addend.context(), Combine::Copy, part_.rows,
                   labels_->value().data<std::int64_t>(), workspace->data<std::int64_t>());
    visitFloating(part_.type, [&]<class T>(T) {
      const T* sums = x[2]->data<T>();
      const double loss =
          sumOfLosses<T>(addend.context(), part_.rows, x[1]->data<T>(), sums, sums + part_.rows);
      setNumber(addend, part_.speaks ? loss / static_cast<double>(part_.samples) : 0);
    });
  }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&, DTensor& addend) override {
    visitFloating(part_.type, [&]<class T>(T) {
      const Index cells = part_.rows * part_.cols;
      const Index bytes = cells * dataTypeSize(part_.type);
      if (gradient_.bytes() < bytes)
        gradient_ = Buffer(bytes, "cross-entropy gradient");
      double sum = 0;
      if (dx[0])
        sum = dot<T>(addend.context(), cells, dx[0]->data<T>(),
                     gradient<T>(point, 1, gradient_.data<T>()));
      setNumber(addend, sum);
    });
  }
  void adjointMany(const KernelPoint& point, const DTensor& dAddend, ParameterUses&,
                   InputCotangents dx) override {
    if (!dx[0])
      return;
    visitFloating(part_.type, [&]<class T>(T) {
      gradient<T>(point, numberOf(dAddend), dx[0]->mutableData<T>());
    });
  }
  std::string describe() const override { return "negative log-likelihood"; }

private:
  // g = seed / N (softmax - onehot)
  template <class T>
  const T* gradient(const KernelPoint& point, double seed, T* g) {
    KernelContext& context = point.inputs[0]->context();
    const Index one = 1;
    fillBlock(context, 1, &part_.rows, static_cast<T>(seed) / static_cast<T>(part_.samples),
              weights_.data<T>(), &one);
    crossEntropyAdjoint<T>(context, part_.rows, part_.cols, point.inputs[0]->data<T>(),
                           point.inputs[1]->data<T>(), point.inputs[2]->data<T>(),
                           point.workspace->data<std::int64_t>(), part_.firstClass,
                           weights_.data<T>(), g);
    return g;
  }

  LogitsPart part_;
  std::shared_ptr<const TargetUse> labels_;
  Buffer weights_;  // of each sample
  Buffer gradient_; // for tangents, once there is one
};

} // namespace

// The maxima, the sums and the addend, in the order of the list.
std::unique_ptr<Setup> setUpCrossentropy(Layer& layer, const Layouts& inputs) {
  const Form form = layer.form(inputs);
  const LogitsPart part(form.uses.front(), layer.comm()->rank(), layer.dataType());
  return setUpLoss(layer, form, [&](int k, const Sources& sources) -> std::unique_ptr<LocalKernel> {
    auto labels = std::static_pointer_cast<const TargetUse>(sources.front());
    switch (k) {
    case 0:
      return std::make_unique<RowMaxima>(part);
    case 1:
      return std::make_unique<RowSums>(part, std::move(labels));
    default:
      return std::make_unique<NegativeLogLikelihood>(part, std::move(labels));
    }
  });
}

} // namespace tenon
