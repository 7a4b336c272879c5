// SPDX-License-Identifier: BSD-2-Clause
// GradientBucket: the gradients of several parameters, which are summed over the ranks in one
// conversion. They are contiguous in one buffer, as a one-dimensional tensor of partial sums; a
// second tensor has the sums, which are the directions of an optimizer:
//
//   contributions   [ gradient of W4  | of b4 | of W3 ]   to which the kernels of this rank add
//   sums            [ direction of W4 | of b4 | of W3 ]   of all ranks
//
// A plan reduces its buckets while the adjoint continues (plan/gradient_buckets.hpp), an optimizer
// all others in its step. Each member holds the bucket, and no member holds another. So a bucket
// does not depend on the time at which a rank destroys an optimizer or a layer: the elements of a
// parameter that was destroyed are reduced like those of a frozen one. Collecting a gradient can
// need messages, so an optimizer collects only those of its own parameters, which all ranks have.
#pragma once

#include "layer/core/parameter.hpp"
#include "sys/options/options.hpp"

#include <memory>
#include <vector>

namespace tenon {

class GradientBucket : public std::enable_shared_from_this<GradientBucket> {
public:
  // Collective. The members are on one grid, with copies along the same axes, and have one data
  // type and space.
  GradientBucket(const CommPtr& comm, std::vector<Parameter*> members);

  // Moves the gradients of the members into the bucket, and out of it: then each member reduces its
  // own.
  void enter();
  void leave() noexcept;
  // The member is destroyed, or enters another bucket.
  void forget(Parameter& member) noexcept;

  // The sum of what the members have collected, in two halves or whole. start() does nothing and
  // returns false if all members are frozen. Collective.
  enum class Collect { Nothing, AllMembers };
  bool start(Collect before);
  void finish();
  void reduce() {
    if (start(Collect::Nothing))
      finish();
  }

  const std::vector<Parameter*>& members() const noexcept { return members_; }
  const std::shared_ptr<Buffer>& memory() const noexcept { return memory_; }
  // The member for which logs and reports have the traffic of the whole bucket: the last one.
  const Parameter* reported() const noexcept;
  const Layout& layout() const noexcept { return sums_->layout(); }
  // Bytes of the sum's own buffers.
  Index bufferBytes() const { return sum_->bufferBytes(); }

private:
  std::vector<Parameter*> members_; // null: destroyed, or in another bucket
  std::shared_ptr<Buffer> memory_;  // of both tensors
  Ref<DTensor> contributions_, sums_;
  LinearOpRef sum_;
  ScopeTotals took_; // time and messages of start()
};

using GradientBucketPtr = std::shared_ptr<GradientBucket>;

// A parameter, and the step of the adjoint that completes its gradient, if known.
struct BucketCandidate {
  Parameter* parameter;
  std::size_t ready = 0;
};

// Collective, within inOneAgreement(): divides the gradients among buckets of at most `bytes`
// (compile/program/bucketing.hpp), and moves them into those that have at least `least` members.
// If the agreement fails, each parameter reduces its own gradient.
std::vector<GradientBucketPtr> makeBuckets(const CommPtr& comm,
                                           const std::vector<BucketCandidate>& candidates,
                                           Index bytes, std::size_t least = 1);

// The option of plans and optimizers for `bytes`.
inline constexpr OptionSpec kGradientBucketOption{
    "gradient_bucket",
    OptionSpec::Int,
    "-1",
    "bytes of gradients that are reduced together; 0: each parameter by itself; -1: in the adjoint "
    "of a plan as many that latency is a twentieth of the predicted time, otherwise all, in a step "
    "of the optimizer",
    nullptr,
    {-1, 1e15}};

} // namespace tenon
