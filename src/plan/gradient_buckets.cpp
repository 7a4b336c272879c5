// SPDX-License-Identifier: BSD-2-Clause
// Gives the parameters of each bucket their places, and reduces it while the adjoint goes on. All
// ranks must put the same parameters into the same buckets in the same order, so that this follows
// from the list of maps and from global layouts, never from what a rank holds.
#include "plan/gradient_buckets.hpp"

#include "linop/exchange/make_conversion.hpp"
#include "planner/prices/bucketing.hpp"
#include "sys/log/log.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace tenon {

namespace {

// The last step of an adjoint that adds to the gradient of each parameter. What a kernel that
// recomputes does for the parameters within it is not in the list, so that these are not found.
std::map<const Parameter*, std::size_t> lastSteps(const BoundMaps& maps, const Pass& pass) {
  std::map<const Parameter*, std::size_t> last;
  for (std::size_t s = 0; s < pass.steps.size(); ++s)
    if (const Step& step = pass.steps[s]; addsToGradients(maps.list(), step))
      for (const auto& use : *maps.kernel(maps.list().maps()[step.map].object).uses)
        last[&use->parameter()] = s;
  return last;
}

} // namespace

// The private constructor has made an object by the time the body runs, so that it is destroyed if
// the body throws, and parameters leave the buckets that they have.
GradientBuckets::GradientBuckets(const Layer& layer, Index bytes) : GradientBuckets() {
  const Setup& setup = layer.setup(layer.inputLayouts());
  const BoundMaps& maps = setup.maps();
  // The order in which the gradients are ready does not depend on whether an input's cotangent is
  // wanted.
  const Chosen none(maps.list().inputs().size(), false);
  const auto last = lastSteps(maps, adjointPass(maps.list(), none, setup.order()));
  Members parameters;
  std::vector<SummedGradient> gradients;
  for (const Ref<Parameter>& parameter : layer.parameters())
    if (parameter->isSummed()) {
      const auto known = last.find(parameter.get());
      parameters.push_back(parameter.get());
      // A parameter that no step of the list names is ready when the adjoint ends.
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
  const Index each = bucket.sums->localElements() * dataTypeSize(type);
  bucket.memory = std::make_shared<Buffer>(
      readableBuffer(*comm, bucket.sums->context(), 2 * each, "gradients"));
  // Gradients accumulate, and parameters may find their memory before anything was added.
  bucket.memory->setZero();
  auto* first = bucket.memory->data<std::byte>();
  bucket.contributions->placeBox(first, false);
  bucket.sums->placeBox(first + each, false);
  buckets_.push_back(bucket);
  Index at = 0;
  for (Parameter* member : members) {
    const bool isLast = member == members.back();
    member->setBucket({bucket.memory, first + at, first + each + at,
                       // The last member stands for the bucket in logs and in counts of what is
                       // reduced.
                       isLast ? std::optional(layout) : std::nullopt});
    at += elements(member->storage().boxOfRank(comm->rank())) * dataTypeSize(type);
  }
}

// The parameters keep the memory, which holds their gradients.
GradientBuckets::~GradientBuckets() {
  for (const Bucket& bucket : buckets_)
    for (Parameter* member : bucket.members)
      member->leaveBucket();
}

GradientBuckets::Timetable GradientBuckets::timetableOf(const BoundMaps& maps,
                                                        const Pass& pass) const {
  Timetable made{&pass, std::vector<std::vector<std::size_t>>(pass.steps.size())};
  const auto last = lastSteps(maps, pass);
  for (std::size_t b = 0; b < buckets_.size() && !pass.steps.empty(); ++b) {
    std::size_t full = 0;
    for (const Parameter* member : buckets_[b].members) {
      const auto known = last.find(member);
      full = std::max(full, known == last.end() ? pass.steps.size() - 1 : known->second);
    }
    // A bucket is full when the last of its members is.
    made.full[full].push_back(b);
  }
  return made;
}

void GradientBuckets::begins(const BoundMaps& maps, const Pass& pass, bool completes) {
  running_ = nullptr;
  // Evaluations that are pending still will add to the gradients.
  if (!completes)
    return;
  const auto known =
      std::ranges::find_if(timetables_, [&](const Timetable& one) { return one.pass == &pass; });
  running_ =
      known != timetables_.end() ? &*known : &timetables_.emplace_back(timetableOf(maps, pass));
}

void GradientBuckets::ran(std::size_t step, const OpenScope&, const OpenScope&) {
  if (!running_)
    return;
  for (std::size_t b : running_->full[step])
    start(buckets_[b]);
}

void GradientBuckets::start(Bucket& bucket) {
  // Frozen parameters have no gradient, but a bucket with one that is not needs all places in its
  // array.
  if (std::ranges::all_of(bucket.members, [](const Parameter* p) { return p->isFrozen(); }))
    return;
  const LogScope scope(bucket.members.back()->event());
  for (Parameter* member : bucket.members)
    member->collect();
  bucket.sum->start({Sense::Forward, 1, bucket.contributions.get(), 0, bucket.sums.get()});
  bucket.begun = true;
  bucket.took = logOpenScope();
}

void GradientBuckets::ends() {
  // Every reduction ends with the pass, so that whoever reads a gradient next finds it reduced.
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
