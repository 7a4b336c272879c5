// SPDX-License-Identifier: BSD-2-Clause
#include "layer/loss.hpp"

#include "kernels/loss.hpp"
#include "layer/fixed_kernel.hpp"
#include "layer/layer_types.hpp"

namespace tenon {

namespace {

Index columns(const LossPart& part) {
  return part.rows() > 0 ? part.cells() / part.rows() : 0;
}

// Of each sample the squared norms of error and target over this rank's cells.
class SquaresOfSamples final : public FixedKernel {
public:
  explicit SquaresOfSamples(LossPart part) : part_(std::move(part)) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& squares, Buffer*) override {
    const DTensor& target = part_.target->value();
    visitFloating(part_.type, [&]<class T>(T) {
      T* e = squares.mutableData<T>();
      visitFloating(target.dataType(), [&]<class U>(U) {
        relativeSums<T>(squares.context(), part_.rows(), columns(part_), x[0]->data<T>(),
                        target.data<U>(), part_.cellWeights<T>(), e, e + part_.rows());
      });
    });
  }
  std::string describe() const override { return "squared norms of samples"; }
  bool runsOnDevice() const override { return true; }
  bool isRepeatable() const override { return false; }

private:
  LossPart part_;
};

// Of x and these sums over whole samples: this rank's addend, and the total derivative by x.
class RelativeErrors final : public KeptGradient {
public:
  RelativeErrors(LossPart part, double epsilon) : part_(std::move(part)), epsilon_(epsilon) {}
  void forwardMany(Inputs x, ParameterUses&, DTensor& addend, Buffer* workspace) override {
    const DTensor& target = part_.target->value();
    const RelativeScale scale{part_.scale(x.size() > 2 ? x[2] : nullptr), epsilon_, part_.speaks};
    visitFloating(part_.type, [&]<class T>(T) {
      const T* e = x[1]->data<T>();
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitFloating(target.dataType(), [&]<class U>(U) {
        relativeTerms<T>(addend.context(), part_.rows(), columns(part_), x[0]->data<T>(),
                         target.data<U>(), part_.cellWeights<T>(), part_.sampleWeights<T>(), e,
                         e + part_.rows(), scale, gradient, placeOf<T>(addend));
      });
    });
  }
  std::string describe() const override { return "relative errors of samples"; }

private:
  LossPart part_;
  double epsilon_;
};

} // namespace

std::unique_ptr<Setup> setUpRelativel2(Layer& layer, const Layouts& inputs) {
  return setUpLoss(
      layer, inputs,
      [&](const std::string& name, const LossPart& part) -> std::unique_ptr<LocalKernel> {
        if (name == "squares")
          return std::make_unique<SquaresOfSamples>(part);
        return std::make_unique<RelativeErrors>(part, layer.declaration().value<double>("epsilon"));
      });
}

} // namespace tenon
