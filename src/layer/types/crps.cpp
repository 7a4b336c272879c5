// SPDX-License-Identifier: BSD-2-Clause
// The local kernel of the loss `crps` (declaration/losses/crps.cpp): the scores of this rank's
// elements of the target, each of which compares all members with it and with each other. All
// members of a sample are on this rank. makeCrpsKernel() is declared in core/layer_types.hpp.
#include "layer/core/layer_types.hpp"
#include "layer/types/loss_weights.hpp"

namespace tenon {

namespace {

class EnsembleScores final : public SavedGradient {
public:
  EnsembleScores(LossPart part, Index members, double alpha)
      : part_(std::move(part)), ensemble_{
                                    .members = members,
                                    .inner = part_.rows() > 0 ? part_.elements() / part_.rows() : 1,
                                    .pairFactor = (1 - alpha) / double(members * members)} {
    // With one member the fair score does not exist, and alpha is 0.
    if (alpha > 0)
      ensemble_.pairFactor += alpha / double(members * (members - 1));
  }

  void forwardMany(Inputs x, ParameterUses&, DTensor& contribution, Buffer* workspace) override {
    const double scale = part_.scale(weightSum(x));
    visitFloating(part_.type, [&]<class T>(T) {
      T* gradient = workspace ? workspace->data<T>() : nullptr;
      visitTarget<T>(part_, [&](const auto* target) {
        ensembleTerms<T>(contribution.context(), ensemble_, part_.elements(), x[0]->data<T>(),
                         target, weightsOf<T>(part_), scale, gradient, placeOf<T>(contribution));
      });
    });
  }
  std::string describe() const override { return "scores of an ensemble"; }

private:
  LossPart part_;
  Ensemble ensemble_;
};

} // namespace

std::unique_ptr<LocalKernel> makeCrpsKernel(const KernelSite& at) {
  return makeLossKernel(at, [&](const LossPart& part) {
    const Declaration& loss = at.layer.declaration();
    return std::make_unique<EnsembleScores>(part, loss.value<Index>("members"),
                                            loss.value<double>("alpha"));
  });
}

} // namespace tenon
