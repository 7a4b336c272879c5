// SPDX-License-Identifier: BSD-2-Clause
// What the phases of each layer of a network took in the last passes that ran while the log was on.
#pragma once

#include "layer/step_watch.hpp"
#include "plan/prediction.hpp"

namespace tenon {

class Measurement final : public StepWatch {
public:
  static constexpr int kPasses = 32; // that are kept

  // nodes: the layers in the order in which they run.
  explicit Measurement(const std::vector<const Layer*>& nodes);

  void begins(const MapList& list, const Pass& pass) noexcept override;
  void ran(const MapList& list, const Step& step, const OpenScope& took) noexcept override;
  void reduced(const Parameter& parameter, const OpenScope& took) noexcept override;

  // The median of the seconds of the passes that are kept, and the messages of the last.
  PhaseCost of(int node, Phase phase) const;
  // Passes that are kept, of the fewest of Apply and adjoint.
  int passes() const;
  // Whether the last adjoint gave the cotangent of the network's input.
  bool wantedInput() const noexcept { return wantedInput_; }

private:
  struct Sums {
    OpenScope kernel, move;
  };
  // The last passes of one kind, as a ring.
  struct Ring {
    explicit Ring(std::size_t nodes) : nodes(nodes), sums(nodes * kPasses) {}
    void begin() noexcept;
    Sums& at(int pass, int node) {
      return sums[nodes * static_cast<std::size_t>(pass % kPasses) +
                  static_cast<std::size_t>(node)];
    }
    const Sums& at(int pass, int node) const { return const_cast<Ring*>(this)->at(pass, node); }
    std::size_t nodes;
    std::vector<Sums> sums; // [pass][node]
    int begun = 0;
  };
  const Ring& ringOf(Phase phase) const;

  std::vector<std::pair<const Parameter*, int>> parameters_; // with their nodes
  Ring apply_, adjoint_, gradients_;
  bool isTangent_ = false, wantedInput_ = false;
};

} // namespace tenon
