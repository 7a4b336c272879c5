// SPDX-License-Identifier: BSD-2-Clause
// Gradients that are reduced together while the adjoint continues. A bucket
// (layer/core/gradient_bucket.hpp) has parameters in the order in which the adjoint completes their
// gradients. Its sum starts when the last gradient of the bucket is complete, and ends with the
// adjoint. The adjoint calls:
//
//    begins(pass)     finds after which step each bucket is complete
//    ran(step)        starts the reductions of the buckets that this step completes
//    ends()           waits for all reductions
#pragma once

#include "layer/core/gradient_bucket.hpp"
#include "layer/core/layer.hpp"
#include "layer/core/pass_observer.hpp"

namespace tenon {

class GradientBuckets final : public PassObserver {
public:
  // Collective. Makes the buckets of a layer that is set up. A bucket has at most `bytes` on any
  // rank, unless it has a single parameter.
  GradientBuckets(const Layer& layer, Index bytes);
  ~GradientBuckets() override;
  GradientBuckets(const GradientBuckets&) = delete;
  GradientBuckets& operator=(const GradientBuckets&) = delete;

  void begins(const BoundMaps& maps, const Pass& pass, bool completes) override;
  void ran(std::size_t step, const ScopeTotals& took, const ScopeTotals& function) override;
  bool waitsFor(std::size_t step) const override {
    return running_ && !running_->full[step].empty();
  }
  void ends() override;

private:
  struct Bucket {
    GradientBucketPtr bucket;
    bool begun = false; // the reduction runs
  };
  // The buckets that are complete after each step of a pass: full[step].
  struct Timetable {
    const Pass* pass;
    std::vector<std::vector<std::size_t>> full;
  };

  Timetable timetableOf(const BoundMaps& maps, const Pass& pass) const;

  std::vector<Bucket> buckets_;
  std::vector<Timetable> timetables_;
  const Timetable* running_ = nullptr; // of the current pass, if it completes gradients
};

} // namespace tenon
