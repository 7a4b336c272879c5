// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss.hpp"

#include "declaration/loss.hpp"
#include "dtensor/host_view.hpp"
#include "dtensor/in_space.hpp"
#include "kernels/loss.hpp"
#include "kernels/reduce.hpp"
#include "layer/composed_setup.hpp"
#include "layer/fixed_kernel.hpp"
#include "linop/make_conversion.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

namespace {

// The global index of a cell of a row-major box.
Shape indexOf(const Box& box, Index cell) {
  Shape index(box.size());
  for (std::size_t d = box.size(); d-- > 0; cell /= box[d].size())
    index[d] = box[d].begin + cell % box[d].size();
  return index;
}

} // namespace

TargetUse::TargetUse(const Layer& layer, const SourceEntry& entry)
    : layer_(layer), of_(entry.of), use_(entry.use) {}

const DTensor& TargetUse::given() const {
  return of_ == SourceEntry::Of::Weights ? layer_.targetWeights() : layer_.target();
}

TenonDataType TargetUse::wantedType(const DTensor& given) const {
  if (of_ == SourceEntry::Of::Labels)
    return TENON_INT64;
  if (of_ == SourceEntry::Of::Weights)
    return layer_.dataType();
  return given.dataType() == TENON_FLOAT32 ? TENON_FLOAT32 : TENON_FLOAT64;
}

void TargetUse::check(const DTensor& given, TenonDataType type) const {
  const char* what = of_ == SourceEntry::Of::Weights ? "weights" : "target";
  if (given.dataType() != type)
    throw Error(TENON_ERR_DATATYPE, fmt::format("the {4} of {0} must be {1}, but {2} is {3}",
                                                layer_.title(), dataTypeName(type), given.title(),
                                                dataTypeName(given.dataType()), what));
  if (given.layout().shape() != use_.shape())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("the {4} of {0} must have shape [{1}], but {2} has [{3}]",
                            layer_.title(), fmt::join(use_.shape(), ","), given.title(),
                            fmt::join(given.layout().shape(), ","), what));
}

void TargetUse::begin() {
  const TenonDataType type = wantedType(given());
  check(given(), type);
  const DTensor& from = inSpace(given(), layer_.comm(), layer_.space(), arrived_);
  if (!value_ || value_->dataType() != type)
    value_ = makeRef<DTensor>(layer_.comm(), use_, type, layer_.space());
  if (!conversion_ || !(conversion_->domain() == from.layout()) ||
      conversion_->domainType() != type)
    conversion_ = makeConversion(layer_.comm(), from.layout(), use_, type);
  conversion_->start({Sense::Forward, 1, &from, 0, value_.get()});
}

void TargetUse::end() {
  conversion_->finish();
  if (of_ == SourceEntry::Of::Weights)
    checkWeights();
}

void TargetUse::checkWeights() const {
  visitFloating(value_->dataType(), [&]<class T>(T) {
    const Index bad = firstBadWeight<T>(value_->context(), value_->localCells(), value_->data<T>());
    if (bad >= 0)
      throw Error(
          TENON_ERR_ARG,
          fmt::format("weight {} of {} at [{}] is outside [0,inf): weights must be finite, "
                      "and 0 or more",
                      HostView<const T>(*value_)[bad], layer_.title(),
                      fmt::join(indexOf(value_->layout().box(value_->position()), bad), ",")));
  });
}

void KeptGradient::tangentMany(const KernelPoint& point, Inputs dx, ParameterUses&,
                               DTensor& addend) {
  visitFloating(addend.dataType(), [&]<class T>(T) {
    const Index cells = dx[0] ? dx[0]->localCells() : 0;
    storeDot<T>(addend.context(), cells, point.workspace->data<T>(),
                dx[0] ? dx[0]->data<T>() : nullptr, placeOf<T>(addend));
  });
}

void KeptGradient::adjointMany(const KernelPoint& point, const DTensor& dAddend, ParameterUses&,
                               InputCotangents dx) {
  if (!dx[0])
    return;
  visitFloating(dAddend.dataType(), [&]<class T>(T) {
    scaleByNumber<T>(dx[0]->context(), dx[0]->localCells(), placeOf<T>(dAddend),
                     point.workspace->data<T>(), dx[0]->mutableData<T>());
  });
}

double LossPart::scale(const DTensor* weightSum) const {
  if (!isMean)
    return 1;
  if (!weightSum)
    return 1 / terms;
  const double sum = numberOf(*weightSum);
  if (sum == 0 && weightSum->localCells() > 0)
    throw Error(TENON_ERR_ARG, "the weights of a mean loss sum to 0; give a positive one, or set "
                               "loss_reduction to sum");
  return 1 / sum;
}

namespace {

// This rank's addend of the sum of the weights of all terms.
class WeightSum final : public FixedKernel {
public:
  explicit WeightSum(LossPart part, bool termsAreSamples)
      : part_(std::move(part)), termsAreSamples_(termsAreSamples) {}
  void forwardMany(Inputs, ParameterUses&, DTensor& own, Buffer*) override {
    visitFloating(part_.type, [&]<class T>(T) {
      const DTensor& weights = part_.weights->value();
      const double sum = tenon::sum<T>(own.context(), weights.localCells(), weights.data<T>());
      setNumber(own, sum * timesEach());
    });
  }
  std::string describe() const override { return "sum of weights"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  // How many terms of this rank have one weight.
  double timesEach() const {
    if (termsAreSamples_)
      return part_.speaks ? 1 : 0;
    const Index rows = part_.weighsCells ? 0 : part_.rows();
    const Index cellsOfRow = rows == 0 ? 1 : part_.cells() / rows;
    return static_cast<double>(cellsOfRow);
  }

  LossPart part_;
  bool termsAreSamples_;
};

LossPart lossPart(const Layer& layer, const Loss& loss, const Form& form) {
  const Layout& use = form.uses.front();
  const int position = use.mesh().position(layer.comm()->rank());
  LossPart part{.use = use,
                .box = use.withoutMargins().box(position),
                .speaks = true,
                .terms = 1,
                .isMean = loss.value<std::string>("loss_reduction") == "mean",
                .type = layer.dataType(),
                .context = contextOf(layer.comm(), layer.space()),
                .target = {},
                .weights = {}};
  for (int axis = 0; axis < use.mesh().axes() && position >= 0; ++axis)
    part.speaks &= !use.property(axis).isShard() ||
                   use.property(axis).dim == LossPart::kSampleDim ||
                   use.mesh().coordinate(position, axis) == 0;
  for (std::size_t d = 0; d < (loss.termsAreSamples() ? 1 : use.shape().size()); ++d)
    part.terms *= static_cast<double>(use.shape()[d]);
  const std::string weights = loss.value<std::string>("loss_weights");
  part.weighsCells = weights == "element";
  part.weighsSamples = weights == "sample";
  return part;
}

} // namespace

std::unique_ptr<Setup> setUpLoss(Layer& layer, const Layouts& inputs, const MakeLossKernel& make) {
  const Form form = layer.form(inputs);
  const auto& loss = dynamic_cast<const Loss&>(layer.declaration());
  const MapList list = loss.maps(form, {});
  LossPart part = lossPart(layer, loss, form);
  const auto makeKernel = [&](int k, const Sources& sources) -> std::unique_ptr<LocalKernel> {
    std::size_t next = 0;
    if (loss.takesTarget())
      part.target = std::static_pointer_cast<const TargetUse>(sources[next++]);
    if (loss.takesTargetWeights())
      part.weights = std::static_pointer_cast<const TargetUse>(sources[next]);
    const std::string& name = list.kernels()[k].name;
    if (name == "weights")
      return std::make_unique<WeightSum>(part, loss.termsAreSamples());
    return make(name, part);
  };
  return setUpComposed(layer, form, makeKernel);
}

} // namespace tenon
