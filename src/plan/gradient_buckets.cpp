// SPDX-License-Identifier: BSD-2-Clause
// Reduces the gradients of several parameters together (in a bucket) while the adjoint continues.
// The adjoint completes gradients from the last layer to the first:
//
//   steps of the adjoint   layer 4 | layer 3 | layer 2 | layer 1 |
//   bucket {W4, W3}                          [ sum over ranks    ]
//   bucket {W2, W1}                                              [ sum over ranks ]
//
// All ranks must have the same buckets, so the assignment uses only the list of maps (the steps of
// the network) and global layouts, never the data of a rank. The class is an observer of passes,
// which the layer calls at the begin of a pass, after each step and at the end.
#include "plan/gradient_buckets.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tenon {

namespace {

// The last step of an adjoint that adds to the gradient of each parameter. A kernel that recomputes
// inner layers does not list their parameters, so these have no entry.
std::map<const Parameter*, std::size_t> lastSteps(const BoundMaps& maps, const Pass& pass) {
  std::map<const Parameter*, std::size_t> last;
  for (std::size_t s = 0; s < pass.steps.size(); ++s)
    if (const Step& step = pass.steps[s]; addsToGradients(maps.list(), step))
      for (const auto& use : *maps.kernel(maps.list().maps()[step.map].object).uses)
        last[&use->parameter()] = s;
  return last;
}

} // namespace

GradientBuckets::GradientBuckets(const Layer& layer, Index bytes) {
  const Setup& setup = layer.setup(layer.inputLayouts());
  const BoundMaps& maps = setup.maps();
  // The order in which gradients are complete does not depend on whether an input's cotangent is
  // wanted.
  const Chosen noInput(maps.list().inputs().size(), false);
  const auto last = lastSteps(maps, adjointPass(maps.list(), noInput, setup.network().order()));
  std::vector<BucketCandidate> candidates;
  for (const Ref<Parameter>& parameter : layer.parameters())
    // An optimizer can have made a bucket already, for a layer that is in two networks.
    if (parameter->isSummed() && !parameter->isFrozen() && !parameter->isInBucket() &&
        !parameter->isGradientExposed()) {
      const auto known = last.find(parameter.get());
      // A parameter that no step lists is complete when the adjoint ends.
      candidates.push_back(
          {parameter.get(), known == last.end() ? ~std::size_t(0) : known->second});
    }
  for (GradientBucketPtr& bucket : makeBuckets(layer.comm(), candidates, bytes))
    buckets_.push_back({std::move(bucket)});
}

GradientBuckets::~GradientBuckets() {
  for (const Bucket& one : buckets_)
    one.bucket->leave();
}

// The buckets that are complete after each step of a pass: timetable.full[step].
GradientBuckets::Timetable GradientBuckets::timetableOf(const BoundMaps& maps,
                                                        const Pass& pass) const {
  Timetable timetable{.pass = &pass,
                      .full = std::vector<std::vector<std::size_t>>(pass.steps.size())};
  const auto last = lastSteps(maps, pass);
  for (std::size_t b = 0; b < buckets_.size() && !pass.steps.empty(); ++b) {
    std::size_t full = 0;
    for (const Parameter* member : buckets_[b].bucket->members()) {
      const auto known = last.find(member);
      full = std::max(full, known == last.end() ? pass.steps.size() - 1 : known->second);
    }
    // A bucket is complete when the last of its members is.
    timetable.full[full].push_back(b);
  }
  return timetable;
}

void GradientBuckets::begins(const BoundMaps& maps, const Pass& pass, bool completes) {
  running_ = nullptr;
  // `completes` is false if other evaluations are pending, whose adjoints will still add to the
  // gradients.
  if (!completes)
    return;
  const auto known =
      std::ranges::find_if(timetables_, [&](const Timetable& one) { return one.pass == &pass; });
  running_ =
      known != timetables_.end() ? &*known : &timetables_.emplace_back(timetableOf(maps, pass));
}

// After a step of the pass: starts the reductions of the buckets that it completes.
void GradientBuckets::ran(std::size_t step, const ScopeTotals&, const ScopeTotals&) {
  if (!running_)
    return;
  for (std::size_t b : running_->full[step])
    buckets_[b].begun = buckets_[b].bucket->start(GradientBucket::Collect::AllMembers);
}

void GradientBuckets::ends() {
  // Every reduction ends with the pass: gradients are reduced when they are read next.
  for (Bucket& one : buckets_)
    if (std::exchange(one.begun, false))
      one.bucket->finish();
}

} // namespace tenon
