// SPDX-License-Identifier: BSD-2-Clause
// Losses whose terms are of the difference of input and target in each cell, or of its differences in
// space. The derivative is made with the value, and kept.
#include "layer/loss.hpp"

#include "declaration/spacing.hpp"
#include "declaration/window_layout.hpp"
#include "kernels/loss.hpp"
#include "layer/layer_types.hpp"

namespace tenon {

namespace {

// visit(values or null) of a loss whose target may be float32 or float64, or missing.
template <class T, class Visit>
void visitTarget(const LossPart& part, Visit&& visit) {
  if (!part.target)
    return visit(static_cast<const T*>(nullptr));
  const DTensor& target = part.target->value();
  visitFloating(target.dataType(), [&]<class U>(U) { visit(target.data<U>()); });
}

// Those of cells lie as the cells do that this rank owns.
template <class T>
CellWeights<T> weightsOf(const LossPart& part) {
  if (part.weighsCells)
    return {part.cellWeights<T>(), 1};
  if (part.weighsSamples)
    return {part.sampleWeights<T>(),
            std::max<Index>(1, part.rows() > 0 ? part.cells() / part.rows() : 1)};
  return {};
}

const DTensor* weightSum(Inputs x) {
  return x.size() > 1 ? x[1] : nullptr;
}

class ElementTerms final : public KeptGradient {
public:
  ElementTerms(LossPart part, ErrorTerm term, double delta)
      : part_(std::move(part)), term_(term), delta_(delta) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& addend, Buffer* workspace) override {
    const Index cells = part_.cells();
    const double scale = part_.scale(weightSum(x));
    visitFloating(part_.type, [&]<class T>(T) {
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitTarget<T>(part_, [&](const auto* target) {
        errorTerms<T>(addend.context(), term_, delta_, cells, x[0]->data<T>(), target,
                      weightsOf<T>(part_), scale, gradient, placeOf<T>(addend));
      });
    });
  }
  std::string describe() const override { return "terms of the error"; }

private:
  LossPart part_;
  ErrorTerm term_;
  double delta_;
};

class GradientTerms final : public KeptGradient {
public:
  GradientTerms(LossPart part, int position, std::vector<double> spacing)
      : part_(std::move(part)), spacing_(std::move(spacing)),
        extent_(extents(part_.use.box(position))), owned_(extents(part_.box)) {}

  void forwardMany(Inputs x, ParameterUses&, DTensor& addend, Buffer* workspace) override {
    const double scale = part_.scale(weightSum(x));
    const DifferenceBox box{static_cast<int>(extent_.size()), kFirstSpatial, extent_.data(),
                            owned_.data(), spacing_.data()};
    visitFloating(part_.type, [&]<class T>(T) {
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitTarget<T>(part_, [&](const auto* target) {
        differenceTerms<T>(addend.context(), box, x[0]->data<T>(), target, weightsOf<T>(part_),
                           scale, gradient, placeOf<T>(addend));
      });
    });
  }
  std::string describe() const override { return "squared differences in space"; }

private:
  LossPart part_;
  std::vector<double> spacing_;
  Shape extent_, owned_;
};

std::unique_ptr<Setup> setUpTerms(Layer& layer, const Layouts& inputs, ErrorTerm term,
                                  double delta = 0) {
  return setUpLoss(layer, inputs, [&](const std::string&, const LossPart& part) {
    return std::make_unique<ElementTerms>(part, term, delta);
  });
}

} // namespace

std::unique_ptr<Setup> setUpMeansquarederror(Layer& layer, const Layouts& inputs) {
  return setUpTerms(layer, inputs, ErrorTerm::Squared);
}

std::unique_ptr<Setup> setUpMeanabsoluteerror(Layer& layer, const Layouts& inputs) {
  return setUpTerms(layer, inputs, ErrorTerm::Absolute);
}

std::unique_ptr<Setup> setUpHuber(Layer& layer, const Layouts& inputs) {
  return setUpTerms(layer, inputs, ErrorTerm::Huber, layer.declaration().value<double>("delta"));
}

std::unique_ptr<Setup> setUpGradientpenalty(Layer& layer, const Layouts& inputs) {
  return setUpLoss(layer, inputs, [&](const std::string&, const LossPart& part) {
    const int position = part.use.mesh().position(layer.comm()->rank());
    return std::make_unique<GradientTerms>(
        part, position,
        spacing(layer.declaration().value<std::string>("spacing"), part.use.rank() - kFirstSpatial,
                layer.title()));
  });
}

} // namespace tenon
