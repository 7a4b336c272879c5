// SPDX-License-Identifier: BSD-2-Clause
// Gradients that are reduced together (gradient_bucket.hpp). All ranks must have the same buckets
// with the same order of members, so their choice uses only global layouts, and whether a bucket is
// reduced depends only on what all ranks know: which members are frozen or have a new gradient.
#include "layer/core/gradient_bucket.hpp"

#include "comm/agreement/batched.hpp"
#include "compile/program/bucketing.hpp"
#include "linop/exchange/make_conversion.hpp"

#include <algorithm>
#include <utility>

namespace tenon {

namespace {

Layout layoutOf(const std::vector<Parameter*>& members) {
  std::vector<Layout> storages;
  for (const Parameter* member : members)
    storages.push_back(member->storage());
  return bucketLayout(storages);
}

} // namespace

GradientBucket::GradientBucket(const CommPtr& comm, std::vector<Parameter*> members)
    : members_(std::move(members)) {
  Parameter& first = *members_.front();
  const TenonDataType type = first.dataType();
  const Space space = first.value().space();
  const Layout layout = layoutOf(members_);
  contributions_ = makeRef<DTensor>(comm, layout.dual(), type, space);
  sums_ = makeRef<DTensor>(comm, layout, type, space);
  sum_ = makeConversion(comm, layout.dual(), layout, type, MovementPolicy::fromOptions(space));
  const Index bytes = sums_->localElements() * dataTypeSize(type);
  memory_ =
      std::make_shared<Buffer>(readableBuffer(*comm, sums_->context(), 2 * bytes, "gradients"));
  // Gradients accumulate, and can be read before anything was added.
  memory_->setZero();
  contributions_->placeBox(memory_->data<std::byte>(), /*readOnly=*/false);
  sums_->placeBox(memory_->data<std::byte>() + bytes, /*readOnly=*/false);
}

void GradientBucket::enter() {
  auto* gradient = memory_->data<std::byte>();
  auto* direction = gradient + sums_->localElements() * dataTypeSize(sums_->dataType());
  for (Parameter* member : members_) {
    member->enterBucket(shared_from_this(), gradient, direction);
    const Index bytes = member->value().localElements() * dataTypeSize(member->dataType());
    gradient += bytes;
    direction += bytes;
  }
}

void GradientBucket::leave() noexcept {
  const GradientBucketPtr self = shared_from_this(); // The members hold the bucket.
  for (Parameter* member : members_)
    if (member && member->bucket() == self)
      member->leaveBucket();
}

void GradientBucket::forget(Parameter& member) noexcept {
  std::ranges::replace(members_, &member, nullptr);
}

const Parameter* GradientBucket::reported() const noexcept {
  const auto last = std::find_if(members_.rbegin(), members_.rend(),
                                 [](const Parameter* member) { return member != nullptr; });
  return last == members_.rend() ? nullptr : *last;
}

bool GradientBucket::start(Collect before) {
  // A frozen parameter has no gradient, but the sum of the others includes its elements.
  if (std::ranges::all_of(members_, [](const Parameter* p) { return !p || p->isFrozen(); }))
    return false;
  const LogScope scope(reported()->event());
  for (Parameter* member : members_)
    if (member && before == Collect::AllMembers)
      member->collect();
  // sums <- 1 * sum over ranks of contributions + 0 * sums
  sum_->start({.sense = Sense::Forward,
               .alpha = 1,
               .x = contributions_.get(),
               .beta = 0,
               .y = sums_.get()});
  took_ = logTotalsOfOpenScope();
  return true;
}

void GradientBucket::finish() {
  const LogScope scope(reported()->event());
  sum_->finish();
  const ScopeTotals rest = logTotalsOfOpenScope();
  // Contributions of a member that were not collected yet are not in its sum, which is then not up
  // to date.
  for (Parameter* member : members_)
    if (member && member->isCollected())
      member->setReduced(member == reported()
                             ? ScopeTotals{took_.seconds + rest.seconds,
                                           took_.messages + rest.messages, took_.bytes + rest.bytes}
                             : ScopeTotals{});
}

std::vector<GradientBucketPtr> makeBuckets(const CommPtr& comm,
                                           const std::vector<BucketCandidate>& candidates,
                                           Index bytes, std::size_t least) {
  std::vector<SummedGradient> gradients;
  for (const auto& [parameter, ready] : candidates)
    gradients.push_back({.storage = parameter->storage(),
                         .elementBytes = dataTypeSize(parameter->dataType()),
                         .ready = ready,
                         .space = parameter->value().space()});
  // Registered first: also a rank that fails below then has no reduction of any of the gradients,
  // like the ranks that have entered the buckets.
  comm->batch()->ifFailed([candidates] {
    for (const BucketCandidate& one : candidates) {
      one.parameter->leaveBucket();
      one.parameter->dropReduction();
    }
  });
  std::vector<GradientBucketPtr> buckets;
  for (const std::vector<std::size_t>& indices : bucketsOf(gradients, bytes)) {
    std::vector<Parameter*> members;
    for (const std::size_t i : indices)
      members.push_back(candidates[i].parameter);
    if (members.size() >= least)
      buckets.push_back(std::make_shared<GradientBucket>(comm, std::move(members)));
  }
  for (const GradientBucketPtr& bucket : buckets)
    bucket->enter();
  return buckets;
}

} // namespace tenon
