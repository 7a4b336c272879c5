// SPDX-License-Identifier: BSD-2-Clause
// Reduces the gradients of several parameters together (in a bucket) while the adjoint continues.
// The adjoint completes gradients from the last layer to the first:
//
//   steps of the adjoint   layer 4 | layer 3 | layer 2 | layer 1 |
//   bucket {W4, W3}                          [ sum over ranks    ]
//   bucket {W2, W1}                                              [ sum over ranks ]
//
// Each parameter has an offset in the array of its bucket, where its kernels add its gradient. All
// ranks must have the same buckets with the same order of parameters, so the assignment uses only
// the list of maps (the steps of the network) and global layouts, never the data of a rank. The
// class is an observer of passes, which the layer calls at the begin of a pass, after each step and
// at the end.
#include "plan/gradient_buckets.hpp"

#include "linop/exchange/make_conversion.hpp"
#include "planner/prices/bucketing.hpp"
#include "sys/log/log.hpp"

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

// The private constructor has completed when this body runs. If the body throws, the destructor
// therefore runs, and removes the parameters from their buckets.
GradientBuckets::GradientBuckets(const Layer& layer, Index bytes) : GradientBuckets() {
  const Setup& setup = layer.setup(layer.inputLayouts());
  const BoundMaps& maps = setup.maps();
  // The order in which gradients are complete does not depend on whether an input's cotangent is
  // wanted.
  const Chosen noInput(maps.list().inputs().size(), false);
  const auto last = lastSteps(maps, adjointPass(maps.list(), noInput, setup.network().order()));
  Members parameters;
  std::vector<SummedGradient> gradients;
  for (const Ref<Parameter>& parameter : layer.parameters())
    if (parameter->isSummed() && !parameter->isFrozen()) {
      const auto known = last.find(parameter.get());
      parameters.push_back(parameter.get());
      // A parameter that no step lists is complete when the adjoint ends.
      // Its layout, the bytes of an element, and the step that completes it.
      gradients.push_back({parameter->storage(), dataTypeSize(parameter->dataType()),
                           known == last.end() ? ~std::size_t(0) : known->second});
    }
  for (const std::vector<std::size_t>& bucket : bucketsOf(gradients, bytes)) {
    Members members;
    for (const std::size_t i : bucket)
      members.push_back(parameters[i]);
    add(layer, members);
  }
}

// Collective. Makes a bucket: one buffer with the rank's contributions and then the sums, two
// tensors on its two halves, and the conversion that sums.
void GradientBuckets::add(const Layer& layer, const Members& members) {
  const CommPtr& comm = layer.comm();
  const TenonDataType type = members.front()->dataType();
  std::vector<Layout> storages;
  for (const Parameter* member : members)
    storages.push_back(member->storage());
  const Layout layout = bucketLayout(storages);
  Bucket bucket{
      .members = members, .memory = {}, .contributions = {}, .sums = {}, .sum = {}, .took = {}};
  const Space space = layer.space();
  bucket.contributions = makeRef<DTensor>(comm, layout.dual(), type, space);
  bucket.sums = makeRef<DTensor>(comm, layout, type, space);
  bucket.sum =
      makeConversion(comm, layout.dual(), layout, type, MovementPolicy::fromOptions(space));
  const Index halfBytes = bucket.sums->localElements() * dataTypeSize(type);
  bucket.memory = std::make_shared<Buffer>(
      readableBuffer(*comm, bucket.sums->context(), 2 * halfBytes, "gradients"));
  // The array starts with zeros: gradients accumulate, and can be read before anything was added.
  bucket.memory->setZero();
  auto* first = bucket.memory->data<std::byte>();
  bucket.contributions->placeBox(first, false);
  bucket.sums->placeBox(first + halfBytes, false);
  buckets_.push_back(bucket);
  Index offset = 0; // of the member, in bytes
  for (Parameter* member : members) {
    const bool isLast = member == members.back();
    member->setBucket({bucket.memory, first + offset, first + halfBytes + offset,
                       // The last member represents the bucket in logs and in counts of reductions.
                       isLast ? std::optional(layout) : std::nullopt});
    offset += elements(member->storage().boxOfRank(comm->rank())) * dataTypeSize(type);
  }
}

// The parameters retain the memory, which contains their gradients.
GradientBuckets::~GradientBuckets() {
  for (const Bucket& bucket : buckets_)
    for (Parameter* member : bucket.members)
      member->leaveBucket();
}

// The buckets that are complete after each step of a pass: timetable.full[step].
GradientBuckets::Timetable GradientBuckets::timetableOf(const BoundMaps& maps,
                                                        const Pass& pass) const {
  Timetable timetable{.pass = &pass,
                      .full = std::vector<std::vector<std::size_t>>(pass.steps.size())};
  const auto last = lastSteps(maps, pass);
  for (std::size_t b = 0; b < buckets_.size() && !pass.steps.empty(); ++b) {
    std::size_t full = 0;
    for (const Parameter* member : buckets_[b].members) {
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
void GradientBuckets::ran(std::size_t step, const OpenScope&, const OpenScope&) {
  if (!running_)
    return;
  for (std::size_t b : running_->full[step])
    start(buckets_[b]);
}

void GradientBuckets::start(Bucket& bucket) {
  // Frozen parameters have no gradient, but a bucket with at least one gradient needs all places of
  // its array.
  if (std::ranges::all_of(bucket.members, [](const Parameter* p) { return p->isFrozen(); }))
    return;
  const LogScope scope(bucket.members.back()->event());
  for (Parameter* member : bucket.members)
    member->collect();
  // sums <- 1 * sum over ranks of contributions + 0 * sums
  bucket.sum->start({Sense::Forward, 1, bucket.contributions.get(), 0, bucket.sums.get()});
  bucket.begun = true;
  bucket.took = logOpenScope();
}

void GradientBuckets::ends() {
  // Every reduction ends with the pass: gradients are reduced when they are read next.
  for (Bucket& bucket : buckets_) {
    if (!std::exchange(bucket.begun, false))
      continue;
    const LogScope scope(bucket.members.back()->event());
    bucket.sum->finish();
    const OpenScope rest = logOpenScope();
    for (Parameter* member : bucket.members)
      member->setReduced({});
    bucket.members.back()->setReduced({bucket.took.seconds + rest.seconds,
                                       bucket.took.messages + rest.messages,
                                       bucket.took.bytes + rest.bytes});
  }
}

Index GradientBuckets::bytes() const {
  Index sum = 0;
  for (const Bucket& bucket : buckets_)
    sum += bucket.memory->bytes() + bucket.sum->bufferBytes();
  return sum;
}

} // namespace tenon
