// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of the cross-entropy loss of logits z [samples, classes, space...], for one label
// at each sample and point of space. All dimensions can be split over ranks. The three kernels run
// in this order, each followed by a reduction over the ranks that split the classes, or all:
//
//   LogitMaxima   m = maxima of z over this rank's classes          -- max over ranks -->
//   LabelSums     s = [sum of exp(z - m), z of the label]           -- sum over ranks -->
//   NegativeLogLikelihood   this rank's part of
//                 sum_i w_i (m_i + log s_i - z_label,i)             -- sum over ranks --> loss
//
// Only the last kernel is differentiated. Its derivative with respect to z, w (softmax - onehot),
// already includes the dependence of m and s on z. The first two kernels therefore have no
// derivatives, and the adjoint needs no messages for them. makeCrossEntropyKernel() is declared in
// core/layer_types.hpp.
#include "layer/types/losses.hpp"

#include "dtensor/host_view.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/rows/cross_entropy.hpp"
#include "kernels/rows/softmax.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "layer/types/loss_weights.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

constexpr int kClassDim = 1;
// Inputs of the last kernel; in a weighted mean, the sum of the weights follows.
constexpr std::size_t kLogits = 0, kMaxima = 1, kSums = 2, kWeightSum = 3;

// This rank's block of a loss, whose terms are labels, and its logits [samples, classes, points].
struct LogitsPart : LossPart {
  LogitsPart(const LossPart& part, int position)
      : LossPart(part), classesHere(use.box(position)[kClassDim]) {
    shape.outer = rows();
    shape.n = classesHere.size();
    for (std::size_t d = kSampleDim + 1; d < box.size(); ++d)
      shape.inner *= box[d].size();
  }
  Index labels() const { return elements(); }
  Index logits() const { return shape.outer * shape.n * shape.inner; }
  Index firstClass() const { return classesHere.begin; }
  Index classes() const { return use.shape()[kClassDim]; } // of all ranks

  Interval classesHere;
  AxisShape shape;
};

// Largest logits. They do not change the loss, but prevent overflow of the exponentials.
class LogitMaxima final : public FixedTensorKernel {
public:
  explicit LogitMaxima(const LogitsPart& part) : part_(part) {}
  void forwardMany(Inputs z, ParameterUses&, DTensor& m, Buffer*) override {
    visitFloating(part_.type, [&]<class T>(T) {
      axisMaxima<T>(m.context(), part_.shape, z[0]->data<T>(), m.mutableData<T>());
    });
  }
  std::string describe() const override { return "maxima"; }
  bool runsOnDevice() const override { return true; }

private:
  LogitsPart part_;
};

// Writes two arrays of one number per label, one after the other: sums of exp(z - m), and the logit
// of the label. The rank that has the class of the label writes its logit and all others write 0,
// so one exchange sums both arrays.
class LabelSums final : public FixedTensorKernel {
public:
  explicit LabelSums(const LogitsPart& part) : part_(part) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& sums, Buffer*) override {
    checkLabels();
    const std::int64_t* label = part_.target->value().data<std::int64_t>();
    visitFloating(part_.type, [&]<class T>(T) {
      const T *z = x[0]->data<T>(), *m = x[1]->data<T>();
      T* expSums = sums.mutableData<T>();
      T* labelLogits = expSums + part_.labels();
      sumExpShifted<T>(sums.context(), part_.shape, z, m, expSums);
      pickLabel<T>(sums.context(), part_.shape, z, label, part_.firstClass(), labelLogits);
    });
  }
  std::string describe() const override { return "sums"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  // Labels are used as indices, so they must be checked first. The host waits for the result, which
  // is why this kernel cannot be recorded.
  void checkLabels() const {
    const DTensor& labels = part_.target->value();
    Index bad = -1;
    visitFloating(part_.type, [&]<class T>(T) {
      bad = firstBadLabel<T>(labels.context(), part_.labels(), labels.data<std::int64_t>(),
                             weightsOf<T>(part_), part_.classes());
    });
    if (bad < 0)
      return;
    const Shape at = indexOf(part_.box, bad);
    throw Error(TENON_ERR_ARG,
                fmt::format("label {} {} is outside [0,{})",
                            HostView<const std::int64_t>(labels)[bad],
                            at.size() == 1 ? fmt::format("of sample {}", at[0])
                                           : fmt::format("at [{}]", fmt::join(at, ",")),
                            part_.classes()));
  }

  LogitsPart part_;
};

// Computes this rank's contribution to the loss from z (input 0), m (input 1), the sums over all
// classes (input 2) and, in a weighted mean, the sum of the weights (input 3). The derivative with
// respect to z is the total one:  scale w (softmax - onehot). Labels and scaled weights are saved
// in the workspace, because the user can have replaced the target when a derivative is computed.
class NegativeLogLikelihood final : public LocalKernel {
public:
  explicit NegativeLogLikelihood(const LogitsPart& part)
      : part_(part), scaledWeights_(part.labels() * dataTypeSize(part.type),
                                    "cross-entropy weights of the labels", part.context->memory()) {
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& contribution, Buffer* workspace) override {
    KernelContext& context = contribution.context();
    const Index labels = part_.labels();
    const double scale = part_.scale(x.size() > kWeightSum ? x[kWeightSum] : nullptr);
    visitFloating(part_.type, [&]<class T>(T) {
      // All ranks that split the classes have the whole loss of a label; only one of them adds it.
      const T* sums = x[kSums]->data<T>();
      const ElementWeights<T> weights = weightsOf<T>(part_);
      sumOfLosses<T>(context, labels, x[kMaxima]->data<T>(), sums, sums + labels, weights,
                     part_.countsTerms ? scale : 0, placeOf<T>(contribution));
      if (!workspace)
        return;
      arrayCombine(context, Combine::Copy, labels, part_.target->value().data<std::int64_t>(),
                   workspace->data<std::int64_t>());
      scaledWeights<T>(context, labels, weights, scale, weightsIn<T>(*workspace));
    });
  }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                   DTensor& contribution) override {
    visitFloating(part_.type, [&]<class T>(T) {
      // Adjoints write the gradient directly to the cotangent of z. Only tangents, which are called
      // rarely, need the gradient as a separate array.
      const Index elements = part_.logits();
      const Index bytes = elements * dataTypeSize(part_.type);
      if (gradient_.bytes() < bytes)
        gradient_ = Buffer(bytes, "cross-entropy gradient", part_.context->memory());
      T* slope = gradient_.data<T>();
      if (dx[0])
        gradient<T>(point, weightsIn<T>(*point.workspace), slope);
      storeSlopeDot<T>(contribution.context(), dx[0] ? elements : 0, slope,
                       dx[0] ? dx[0]->data<T>() : nullptr, placeOf<T>(contribution));
    });
  }
  void adjointMany(const KernelPoint& point, const DTensor& dContribution, ParameterUses&,
                   InputCotangents dx) override {
    if (!dx[0])
      return;
    visitFloating(part_.type, [&]<class T>(T) {
      scaleByNumber<T>(dContribution.context(), part_.labels(), placeOf<T>(dContribution),
                       weightsIn<T>(*point.workspace), scaledWeights_.data<T>());
      gradient<T>(point, scaledWeights_.data<T>(), dx[0]->mutableData<T>());
    });
  }
  std::string describe() const override { return "negative log-likelihood"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  // In the workspace, the scaled weights follow the labels.
  template <class T>
  T* weightsIn(Buffer& workspace) const {
    return reinterpret_cast<T*>(workspace.data<std::int64_t>() + part_.labels());
  }
  // g = w (softmax - onehot)
  template <class T>
  void gradient(const KernelPoint& point, const T* weights, T* g) const {
    crossEntropyAdjoint<T>(*part_.context, part_.shape, point.inputs[kLogits]->data<T>(),
                           point.inputs[kMaxima]->data<T>(), point.inputs[kSums]->data<T>(),
                           point.workspace->data<std::int64_t>(), part_.firstClass(), weights, g);
  }

  LogitsPart part_;
  Buffer scaledWeights_; // weights times the cotangent of the loss
  Buffer gradient_;      // for tangents, allocated on first use
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeCrossEntropyKernel(const KernelSite& at) {
  return makeLossKernel(at, [&](const LossPart& loss) -> std::unique_ptr<LocalKernel> {
    const LogitsPart part(loss, loss.use.grid().position(at.rank));
    if (at.name() == "maxima")
      return std::make_unique<LogitMaxima>(part);
    if (at.name() == "sums")
      return std::make_unique<LabelSums>(part);
    return std::make_unique<NegativeLogLikelihood>(part);
  });
}

} // namespace tenon
