// SPDX-License-Identifier: BSD-2-Clause
// Gradients that are reduced together while the adjoint goes on. A bucket is a list of parameters
// on one grid that are copies along the same axes of it, in the order in which the adjoint is done
// with them. Their gradients lie one after the other in one array: a tensor of one dimension, P
// along these axes and split along the others, whose conversion to B starts as soon as the last of
// them is ready, and ends with the adjoint.
#pragma once

#include "layer/core/layer.hpp"
#include "layer/core/pass_observer.hpp"

namespace tenon {

class GradientBuckets final : public PassObserver {
public:
  // Collective. Makes the buckets of a layer that is set up. No bucket has more than `bytes` on any
  // rank, unless it has one parameter only.
  GradientBuckets(const Layer& layer, Index bytes);
  ~GradientBuckets() override;
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  void begins(const BoundMaps& maps, const Pass& pass, bool completes) override;
  void ran(std::size_t step, const OpenScope& took, const OpenScope& function) override;
  bool waitsFor(std::size_t step) const override {
    return running_ && !running_->full[step].empty();
  }
  void ends() override;

  int count() const noexcept { return static_cast<int>(buckets_.size()); }
  // Memory on this rank, allocated now.
  Index bytes() const;

private:
  GradientBuckets() = default;

  using Members = std::vector<Parameter*>;
  struct Bucket {
    Members members;
    std::shared_ptr<Buffer> memory;
    Ref<DTensor> contributions, sums;
    LinearOpRef sum;
    bool begun = false;
    OpenScope took;
  };
  // The buckets that are full after each step of a pass.
  struct Timetable {
    const Pass* pass;
    std::vector<std::vector<std::size_t>> full;
  };

  void add(const Layer& layer, const Members& members);
  Timetable timetableOf(const BoundMaps& maps, const Pass& pass) const;
  void start(Bucket& bucket);

  std::vector<Bucket> buckets_;
  std::vector<Timetable> timetables_;
  const Timetable* running_ = nullptr; // of the pass that runs, if it completes gradients
};

} // namespace tenon
