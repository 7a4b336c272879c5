// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of the cross-entropy loss of logits z [samples, classes]. Samples and classes can
// both be split over ranks. The three kernels run in this order, each followed by a reduction:
//
//   LogitMaxima   m = maxima of z over this rank's classes          -- max over ranks -->
//   RowSums       s = [sum of exp(z - m), z of the label]           -- sum over ranks -->
//   NegativeLogLikelihood   this rank's part of
//                 sum_i w_i (m_i + log s_i - z_label,i)             -- sum over ranks --> loss
//
// Only the last kernel is differentiated. Its derivative with respect to z, w (softmax - onehot),
// already includes the dependence of m and s on z. The first two kernels therefore have no
// derivatives, and the adjoint needs no messages for them. makeCrossEntropyKernel() is declared in
// core/layer_types.hpp.
#include "layer/types/losses.hpp"

#include "dtensor/host_view.hpp"
#include "kernels/elementwise/pointwise.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "kernels/rows/cross_entropy.hpp"
#include "kernels/rows/losses.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

#include <fmt/format.h>

namespace tenon {

namespace {

constexpr int kClassDim = 1;
// Inputs of the last kernel; in a weighted mean, the sum of the weights follows.
constexpr std::size_t kLogits = 0, kMaxima = 1, kSums = 2, kWeightSum = 3;

// This rank's block of a loss, viewed as logits [samples, classes].
struct LogitsPart : LossPart {
  explicit LogitsPart(const LossPart& part) : LossPart(part) {}
  Index cols() const { return box[kClassDim].size(); } // classes of this rank
  Index firstClass() const { return box[kClassDim].begin; }
  Index firstSample() const { return box[kSampleDim].begin; }
  Index classes() const { return use.shape()[kClassDim]; } // of all ranks
};

// Largest logits. They do not change the loss, but prevent overflow of the exponentials.
class LogitMaxima final : public FixedTensorKernel {
public:
  explicit LogitMaxima(const LogitsPart& part) : part_(part) {}
  void forwardMany(Inputs z, ParameterUses&, DTensor& m, Buffer*) override {
    visitFloating(part_.type, [&]<class T>(T) {
      rowMax<T>(m.context(), part_.rows(), part_.cols(), z[0]->data<T>(), m.mutableData<T>());
    });
  }
  std::string describe() const override { return "maxima"; }
  bool runsOnDevice() const override { return true; }

private:
  LogitsPart part_;
};

// Writes two arrays [samples], one after the other: sums of exp(z - m), and the logit of the label.
// The rank that has the class of the label writes its logit and all others write 0, so one exchange
// sums both arrays.
class RowSums final : public FixedTensorKernel {
public:
  explicit RowSums(const LogitsPart& part) : part_(part) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& sums, Buffer*) override {
    checkLabels();
    const std::int64_t* label = part_.target->value().data<std::int64_t>();
    visitFloating(part_.type, [&]<class T>(T) {
      const T *z = x[0]->data<T>(), *m = x[1]->data<T>();
      T* expSums = sums.mutableData<T>();
      T* labelLogits = expSums + part_.rows();
      sumExpShifted<T>(sums.context(), part_.rows(), part_.cols(), z, m, expSums);
      pickLabel<T>(sums.context(), part_.rows(), part_.cols(), z, label, part_.firstClass(),
                   labelLogits);
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
    Index badSample = -1;
    visitFloating(part_.type, [&]<class T>(T) {
      badSample = firstBadLabel<T>(labels.context(), part_.rows(), labels.data<std::int64_t>(),
                                   part_.sampleWeights<T>(), part_.classes());
    });
    if (badSample >= 0)
      throw Error(TENON_ERR_ARG, fmt::format("label {} of sample {} is outside [0,{})",
                                             HostView<const std::int64_t>(labels)[badSample],
                                             part_.firstSample() + badSample, part_.classes()));
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
      : part_(part),
        scaledWeights_(part.rows() * dataTypeSize(part.type),
                       "cross-entropy weights of the samples", part.context->memory()) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& contribution, Buffer* workspace) override {
    KernelContext& context = contribution.context();
    const Index rows = part_.rows();
    const double scale = part_.scale(x.size() > kWeightSum ? x[kWeightSum] : nullptr);
    visitFloating(part_.type, [&]<class T>(T) {
      // All ranks that split the classes have the whole loss of a sample; only one of them adds it.
      const T *sums = x[kSums]->data<T>(), *weights = part_.sampleWeights<T>();
      sumOfLosses<T>(context, rows, x[kMaxima]->data<T>(), sums, sums + rows, weights,
                     part_.countsSamples ? scale : 0, placeOf<T>(contribution));
      if (!workspace)
        return;
      arrayCombine(context, Combine::Copy, rows, part_.target->value().data<std::int64_t>(),
                   workspace->data<std::int64_t>());
      // Without weights, the scale is saved as the weight of each sample: the derivatives then have
      // one code path.
      const Index one = 1;
      if (weights)
        axpby<T>(context, rows, static_cast<T>(scale), weights, T(0), weightsIn<T>(*workspace));
      else
        fillBlock(context, 1, &rows, static_cast<T>(scale), weightsIn<T>(*workspace), &one);
    });
  }
  void tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                   DTensor& contribution) override {
    visitFloating(part_.type, [&]<class T>(T) {
      // Adjoints write the gradient directly to the cotangent of z. Only tangents, which are called
      // rarely, need the gradient as a separate array.
      const Index elements = part_.rows() * part_.cols();
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
      scaleByNumber<T>(dContribution.context(), part_.rows(), placeOf<T>(dContribution),
                       weightsIn<T>(*point.workspace), scaledWeights_.data<T>());
      gradient<T>(point, scaledWeights_.data<T>(), dx[0]->mutableData<T>());
    });
  }
  std::string describe() const override { return "negative log-likelihood"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  // In the workspace, the scaled weights [samples] follow the labels [samples].
  template <class T>
  T* weightsIn(Buffer& workspace) const {
    return reinterpret_cast<T*>(workspace.data<std::int64_t>() + part_.rows());
  }
  // g = w (softmax - onehot)
  template <class T>
  void gradient(const KernelPoint& point, const T* weights, T* g) const {
    crossEntropyAdjoint<T>(*part_.context, part_.rows(), part_.cols(),
                           point.inputs[kLogits]->data<T>(), point.inputs[kMaxima]->data<T>(),
                           point.inputs[kSums]->data<T>(), point.workspace->data<std::int64_t>(),
                           part_.firstClass(), weights, g);
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
    const LogitsPart part(loss);
    if (at.name() == "maxima")
      return std::make_unique<LogitMaxima>(part);
    if (at.name() == "sums")
      return std::make_unique<RowSums>(part);
    return std::make_unique<NegativeLogLikelihood>(part);
  });
}

} // namespace tenon
