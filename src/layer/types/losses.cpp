// SPDX-License-Identifier: BSD-2-Clause
// Local kernels of losses. Each rank computes its contribution to the loss; the sum over the ranks
// follows as a separate step of the layer. The derivative with respect to x is computed and saved
// in the same pass over memory as the value. Derivatives therefore never read the target, which the
// user can have replaced when they are computed. The cross-entropy has its own file.
//
//   ElementTerms      squared error, absolute error, Huber: one term per element
//   GradientTerms     gradient penalty: squared differences of the error between neighbours
//   SquaresOfSamples, then RelativeErrors      relative L2 error: one term per sample, which needs
//                     the norms of a sample over all ranks first
//   WeightSum         sum of the weights, by which a weighted mean is divided
//
// Then follow the parts that all losses share (losses.hpp): TargetUse, which redistributes the
// user's target or weights; SavedGradient, the derivatives of all kernels with Terms or Errors in
// their name; and makeLossKernel().
#include "layer/types/losses.hpp"

#include "declaration/core/window_layout.hpp"
#include "declaration/losses/losses.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/host_view.hpp"
#include "kernels/elementwise/reduce.hpp"
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"
#include "layer/types/loss_weights.hpp"
#include "linop/exchange/make_conversion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace tenon {

// Losses whose terms depend on the error (input minus target) of each element, or on differences of
// the error in space.

namespace {

// Terms that depend on the error of one element.
class ElementTerms final : public SavedGradient {
public:
  ElementTerms(LossPart part, ErrorTerm term, double delta)
      : part_(std::move(part)), term_(term), delta_(delta) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& contribution, Buffer* workspace) override {
    const Index elements = part_.elements();
    const double scale = part_.scale(weightSum(x));
    visitFloating(part_.type, [&]<class T>(T) {
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitTarget<T>(part_, [&](const auto* target) {
        errorTerms<T>(contribution.context(), term_, delta_, elements, x[0]->data<T>(), target,
                      weightsOf<T>(part_), scale, gradient, placeOf<T>(contribution));
      });
    });
  }
  std::string describe() const override { return "terms of the error"; }

private:
  LossPart part_;
  ErrorTerm term_;
  double delta_;
};

// Terms of the gradient penalty. Differences read one element past those that the rank owns, so x
// has a halo (extent_), while terms, weights and counts refer to owned elements (owned_).
class GradientTerms final : public SavedGradient {
public:
  GradientTerms(LossPart part, int position, std::vector<double> spacing)
      : part_(std::move(part)), spacing_(std::move(spacing)),
        extent_(extents(part_.use.box(position))), owned_(extents(part_.box)) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& contribution, Buffer* workspace) override {
    const double scale = part_.scale(weightSum(x));
    const DifferenceBox box{.rank = static_cast<int>(extent_.size()),
                            .first = kFirstSpatial,
                            .extent = extent_.data(),
                            .owned = owned_.data(),
                            .spacing = spacing_.data()};
    visitFloating(part_.type, [&]<class T>(T) {
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitTarget<T>(part_, [&](const auto* target) {
        differenceTerms<T>(contribution.context(), box, x[0]->data<T>(), target,
                           weightsOf<T>(part_), scale, gradient, placeOf<T>(contribution));
      });
    });
  }
  std::string describe() const override { return "squared differences in space"; }

private:
  LossPart part_;
  std::vector<double> spacing_;
  Shape extent_, owned_;
};

std::unique_ptr<LocalKernel> makeTerms(const KernelSite& at, ErrorTerm term, double delta = 0) {
  return makeLossKernel(
      at, [&](const LossPart& part) { return std::make_unique<ElementTerms>(part, term, delta); });
}

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeMeanSquaredErrorKernel(const KernelSite& at) {
  return makeTerms(at, ErrorTerm::Squared);
}

std::unique_ptr<LocalKernel> makeMeanAbsoluteErrorKernel(const KernelSite& at) {
  return makeTerms(at, ErrorTerm::Absolute);
}

std::unique_ptr<LocalKernel> makeHuberKernel(const KernelSite& at) {
  return makeTerms(at, ErrorTerm::Huber, at.layer.declaration().value<double>("delta"));
}

std::unique_ptr<LocalKernel> makeGradientPenaltyKernel(const KernelSite& at) {
  return makeLossKernel(at, [&](const LossPart& part) {
    return std::make_unique<GradientTerms>(
        part, part.use.grid().position(at.rank),
        spacing(at.layer.declaration().value<std::string>("spacing"),
                part.use.ndim() - kFirstSpatial, at.layer.title()));
  });
}

namespace {

// The number of elements of a sample on this rank.
Index columns(const LossPart& part) {
  return part.rows() > 0 ? part.elements() / part.rows() : 0;
}

// Writes two arrays [samples], one after the other: the squared norms of error and of target over
// this rank's elements of each sample. One exchange then sums both arrays over the ranks.
class SquaresOfSamples final : public FixedTensorKernel {
public:
  explicit SquaresOfSamples(LossPart part) : part_(std::move(part)) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& squares, Buffer*) override {
    const DTensor& target = part_.target->value();
    visitFloating(part_.type, [&]<class T>(T) {
      T* errorSquares = squares.mutableData<T>();
      T* targetSquares = errorSquares + part_.rows();
      visitFloating(target.dataType(), [&]<class U>(U) {
        relativeSums<T>(squares.context(), part_.rows(), columns(part_), x[0]->data<T>(),
                        target.data<U>(), elementWeightsOf<T>(part_), errorSquares, targetSquares);
      });
    });
  }
  std::string describe() const override { return "squared norms of samples"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  LossPart part_;
};

// Computes this rank's contribution from x (input 0), the sums over whole samples (input 1) and, in
// a weighted mean, the sum of the weights (input 2). The derivative that it saves includes the
// dependence of the sums on x, so the exchange of sums is not differentiated.
class RelativeErrors final : public SavedGradient {
public:
  RelativeErrors(LossPart part, double epsilon) : part_(std::move(part)), epsilon_(epsilon) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& contribution, Buffer* workspace) override {
    const DTensor& target = part_.target->value();
    const RelativeScale scale{.scale = part_.scale(x.size() > 2 ? x[2] : nullptr),
                              .epsilon = epsilon_,
                              .isCounted = part_.countsTerms};
    visitFloating(part_.type, [&]<class T>(T) {
      const T* errorSquares = x[1]->data<T>();
      const T* targetSquares = errorSquares + part_.rows();
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitFloating(target.dataType(), [&]<class U>(U) {
        relativeTerms<T>(contribution.context(), part_.rows(), columns(part_), x[0]->data<T>(),
                         target.data<U>(), elementWeightsOf<T>(part_), part_.sampleWeights<T>(),
                         errorSquares, targetSquares, scale, gradient, placeOf<T>(contribution));
      });
    });
  }
  std::string describe() const override { return "relative errors of samples"; }

private:
  LossPart part_;
  double epsilon_;
};

} // namespace

std::unique_ptr<LocalKernel> makeRelativeL2Kernel(const KernelSite& at) {
  return makeLossKernel(at, [&](const LossPart& part) -> std::unique_ptr<LocalKernel> {
    if (at.name() == "squares")
      return std::make_unique<SquaresOfSamples>(part);
    return std::make_unique<RelativeErrors>(part, at.layer.declaration().value<double>("epsilon"));
  });
}

Shape indexOf(const Box& box, Index element) {
  Shape index(box.size());
  for (std::size_t d = box.size(); d-- > 0; element /= box[d].size())
    index[d] = box[d].begin + element % box[d].size();
  return index;
}

TargetUse::TargetUse(const Layer& layer, const SourceEntry& entry)
    : layer_(layer), of_(entry.of), use_(entry.use) {}

const DTensor& TargetUse::userTensor() const {
  return of_ == SourceEntry::Of::Weights ? layer_.targetWeights() : layer_.target();
}

// A target keeps its own type, float32 or float64, instead of being rounded to the type of the
// layer.
TenonDataType TargetUse::wantedType(const DTensor& userTensor) const {
  if (of_ == SourceEntry::Of::Labels)
    return TENON_INT64;
  if (of_ == SourceEntry::Of::Weights)
    return layer_.dataType();
  return userTensor.dataType() == TENON_FLOAT32 ? TENON_FLOAT32 : TENON_FLOAT64;
}

void TargetUse::check(const DTensor& userTensor, TenonDataType type) const {
  const char* what = of_ == SourceEntry::Of::Weights ? "weights" : "target";
  if (userTensor.dataType() != type)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("the {4} of {0} must be {1}, but {2} is {3}", layer_.title(),
                            dataTypeName(type), userTensor.title(),
                            dataTypeName(userTensor.dataType()), what));
  if (userTensor.layout().shape() != use_.shape())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the {4} of {0} must have shape [{1}], but {2} has [{3}]",
                            layer_.title(), fmt::join(use_.shape(), ","), userTensor.title(),
                            fmt::join(userTensor.layout().shape(), ","), what));
}

void TargetUse::begin() {
  const TenonDataType type = wantedType(userTensor());
  // Labels of int32 are moved as such, in messages of half the size, and widened on arrival.
  const bool areNarrow = type == TENON_INT64 && userTensor().dataType() == TENON_INT32;
  const TenonDataType movedType = areNarrow ? TENON_INT32 : type;
  check(userTensor(), movedType);
  const DTensor& source = inSpace(userTensor(), layer_.comm(), layer_.space(), arrived_);
  // The tensor and the conversion are created at the first call, and again only if the user sets a
  // tensor of another layout or type. This happens on all ranks together, since all ranks set
  // tensors of the same layout.
  if (!value_ || value_->dataType() != type)
    value_ = makeRef<DTensor>(layer_.comm(), use_, type, layer_.space());
  if (!areNarrow)
    moved_ = {};
  else if (!moved_)
    moved_ = makeRef<DTensor>(layer_.comm(), use_, movedType, layer_.space());
  if (!conversion_ || !(conversion_->domain() == source.layout()) ||
      conversion_->domainType() != movedType)
    conversion_ = makeConversion(layer_.comm(), source.layout(), use_, movedType);
  conversion_->start({.sense = Sense::Forward,
                      .alpha = 1,
                      .x = &source,
                      .beta = 0,
                      .y = (areNarrow ? moved_ : value_).get()});
}

void TargetUse::end() {
  conversion_->finish();
  if (moved_)
    copyLocal(*moved_, *value_);
  if (of_ == SourceEntry::Of::Weights)
    checkWeights();
}

// Reports a negative or infinite weight with its index; otherwise only the loss would be wrong.
void TargetUse::checkWeights() const {
  visitFloating(value_->dataType(), [&]<class T>(T) {
    const Index badIndex =
        firstBadWeight<T>(value_->context(), value_->localElements(), value_->data<T>());
    if (badIndex >= 0)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("weight {} of {} at [{}] is outside [0,inf): weights must be finite, "
                      "and 0 or more",
                      HostView<const T>(*value_)[badIndex], layer_.title(),
                      fmt::join(indexOf(value_->layout().box(value_->position()), badIndex), ",")));
  });
}

// The derivative g of the contribution is saved as an array. The tangent is the dot product of g
// and dx, and the adjoint is dx = dContribution g. The kernels read the number dContribution where
// it is stored, so the host does not wait for the device.
void SavedGradient::tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                                DTensor& contribution) {
  visitFloating(contribution.dataType(), [&]<class T>(T) {
    const Index elements = dx[0] ? dx[0]->localElements() : 0;
    storeSlopeDot<T>(contribution.context(), elements, point.workspace->data<T>(),
                     dx[0] ? dx[0]->data<T>() : nullptr, placeOf<T>(contribution));
  });
}

void SavedGradient::adjointMany(const KernelPoint& point, const DTensor& dContribution,
                                ParameterUses&, InputCotangents dx) {
  if (!dx[0])
    return;
  visitFloating(dContribution.dataType(), [&]<class T>(T) {
    scaleByNumber<T>(dx[0]->context(), dx[0]->localElements(), placeOf<T>(dContribution),
                     point.workspace->data<T>(), dx[0]->mutableData<T>());
  });
}

double LossPart::scale(const DTensor* weightSum) const {
  if (!isMean)
    return 1;
  if (!weightSum)
    return 1 / terms;
  // The host reads the sum of the weights, to report a sum of 0. A rank that does not hold it has
  // no terms.
  const double sum = numberOf(*weightSum);
  if (sum == 0 && weightSum->localElements() > 0)
    throw Error(TENON_ERR_ARG, "the weights of a mean loss sum to 0; give a positive one, or set "
                               "loss_reduction to sum");
  return sum == 0 ? 0 : 1 / sum;
}

namespace {

// This rank's contribution to the sum of the weights of all terms.
class WeightSum final : public FixedTensorKernel {
public:
  explicit WeightSum(LossPart part, bool termsAreSamples)
      : part_(std::move(part)), termsAreSamples_(termsAreSamples) {}
  void forwardMany(Inputs, ParameterUses&, DTensor& contribution, Buffer*) override {
    visitFloating(part_.type, [&]<class T>(T) {
      const DTensor& weights = part_.weights->value();
      if (part_.area && part_.weighsElements)
        return addByRows<T>(weights, contribution);
      const double sum =
          tenon::sum<T>(contribution.context(), weights.localElements(), weights.data<T>());
      setNumber(contribution, sum * timesEach());
    });
  }
  std::string describe() const override { return "sum of weights"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  // Weights of elements, each times that of its row.
  template <class T>
  void addByRows(const DTensor& weights, DTensor& contribution) {
    const LossArea& area = *part_.area;
    const Shape extent = extents(part_.box);
    std::array<Index, kMaxDims> along{}, nowhere{};
    along[area.dim] = 1;
    scaleArray(0, contribution);
    if (part_.countsTerms && contribution.localElements() > 0)
      blockMultiplyAdd<T>(contribution.context(), weights.ndim(), extent.data(), T(1),
                          area.values<T>(), along.data(), weights.data<T>(),
                          weights.strides().data(), placeOf<T>(contribution), nowhere.data());
  }
  // The number of this rank's terms per weight, or the sum of their weights by area. All ranks that
  // share a term, such as a whole sample, have its weight, and one of them counts it.
  double timesEach() const {
    if (!part_.countsTerms)
      return 0;
    if (termsAreSamples_)
      return 1;
    const Index rows = part_.weighsElements ? 0 : part_.rows();
    const Index elementsOfRow = rows == 0 ? 1 : part_.elements() / rows;
    if (!part_.area || part_.area->rows == 0)
      return static_cast<double>(elementsOfRow);
    return static_cast<double>(elementsOfRow / part_.area->rows) * part_.area->sumOfRows;
  }

  LossPart part_;
  bool termsAreSamples_;
};

// The block of a loss on this rank, from the layouts of the form. Not collective.
LossPart lossPart(const Layer& layer, const Loss& loss, const Form& form) {
  const Layout& use = form.uses.front();
  const Layout terms = loss.termsLayout(use);
  const int position = use.grid().position(layer.comm()->rank());
  LossPart part{.use = use,
                .box = terms.box(position),
                .countsTerms = true,
                .terms = 1,
                .isMean = loss.value<std::string>("loss_reduction") == "mean",
                .type = layer.dataType(),
                .context = contextOf(layer.comm(), layer.space()),
                .target = {},
                .weights = {}};
  // If a dimension is split that does not split the terms, such as classes, several ranks have
  // parts of the same term. Only the rank with coordinate 0 along the grid axis that splits it
  // counts it.
  for (int axis = 0; axis < use.grid().axes() && position >= 0; ++axis)
    part.countsTerms &= !use.property(axis).isShard() || loss.splitsTerms(use.property(axis).dim) ||
                        use.grid().coordinate(position, axis) == 0;
  // The mean is over the terms of all ranks: count them by the global shape.
  for (std::size_t d = 0; d < (loss.termsAreSamples() ? 1 : terms.shape().size()); ++d)
    part.terms *= static_cast<double>(terms.shape()[d]);
  if (const auto area = loss.areaOfTerms(use.shape())) {
    if (!part.box.empty() && position >= 0)
      part.area = std::make_shared<const LossArea>(*area, part.box, part.type, *part.context);
    // The weights by area of one sphere sum to 1, so those of all terms to the number of spheres
    // (samples, channels and levels).
    if (!loss.termsAreSamples())
      part.terms /= double(terms.shape()[area->dim]) * double(area->longitudes);
  }
  const std::string weights = loss.value<std::string>("loss_weights");
  part.weighsElements = weights == "element";
  part.weighsSamples = weights == "sample";
  return part;
}

} // namespace

std::unique_ptr<LocalKernel> makeLossKernel(const KernelSite& at, const MakeLossKernel& make) {
  const auto& loss = dynamic_cast<const Loss&>(at.layer.declaration());
  LossPart part = lossPart(at.layer, loss, at.form);
  // at.sources are the target, if the loss has one, followed by the weights.
  std::size_t next = 0;
  if (loss.takesTarget())
    part.target = std::static_pointer_cast<const TargetUse>(at.sources[next++]);
  if (loss.takesTargetWeights())
    part.weights = std::static_pointer_cast<const TargetUse>(at.sources[next]);
  if (at.name() == "weights")
    return std::make_unique<WeightSum>(part, loss.termsAreSamples());
  return make(part);
}

} // namespace tenon
