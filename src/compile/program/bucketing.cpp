// SPDX-License-Identifier: BSD-2-Clause
// Assigns the gradients of parameters to buckets, which are reduced together (bucketing.hpp). For
// parameters W4, b4, W3, b3, ... in the order in which the adjoint completes their gradients, and
// at most 1 MB per bucket, the first bucket has W4, b4 and W3 if they have at most 1 MB together
// and b3 would exceed it.
//
// Several buckets are open at a time, one for each grid, set of axes with copies, and type of
// elements: gradients of weights that are replicated over the batch and of weights that are split
// over it are summed over different ranks. All ranks make the same buckets from global layouts.
#include "compile/program/bucketing.hpp"

#include <algorithm>
#include <numeric>

namespace tenon {

namespace {

// The axes along which a parameter has copies, or all others. Along an axis of one process there is
// one copy, regardless of the property.
std::vector<int> axesWithCopies(const Layout& layout, bool copies) {
  std::vector<int> axes;
  for (int axis = 0; axis < layout.grid().axes(); ++axis)
    if ((layout.property(axis).isBroadcast() && !layout.grid().isTrivial(axis)) == copies)
      axes.push_back(axis);
  return axes;
}

// Whether two gradients are summed over the same groups of ranks, and can be in one array.
bool fitTogether(const SummedGradient& a, const SummedGradient& b) {
  return a.elementBytes == b.elementBytes && a.space == b.space &&
         a.storage.grid() == b.storage.grid() &&
         axesWithCopies(a.storage, /*copies=*/true) == axesWithCopies(b.storage, /*copies=*/true);
}

} // namespace

std::vector<std::vector<std::size_t>> bucketsOf(const std::vector<SummedGradient>& gradients,
                                                Index bytes) {
  std::vector<std::size_t> order(gradients.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return gradients[i].ready; });
  struct OpenBucket {
    std::vector<std::size_t> members;
    Index bytes = 0;
  };
  std::vector<OpenBucket> openBuckets;
  std::vector<std::vector<std::size_t>> closed;
  for (const std::size_t i : order) {
    const SummedGradient& gradient = gradients[i];
    const Index more = gradient.storage.mostOwnedElements() * gradient.elementBytes;
    auto bucketAt = std::ranges::find_if(openBuckets, [&](const OpenBucket& bucket) {
      return fitTogether(gradients[bucket.members.front()], gradient);
    });
    // The bytes are the maximum over all ranks: all ranks must close a bucket at the same gradient.
    if (bucketAt != openBuckets.end() && bucketAt->bytes + more > bytes) {
      closed.push_back(std::move(bucketAt->members));
      openBuckets.erase(bucketAt);
      bucketAt = openBuckets.end();
    }
    if (bucketAt == openBuckets.end())
      bucketAt = openBuckets.insert(bucketAt, OpenBucket{});
    bucketAt->members.push_back(i);
    bucketAt->bytes += more;
  }
  for (OpenBucket& rest : openBuckets)
    closed.push_back(std::move(rest.members));
  return closed;
}

// The split points of the bucket are the sums of its members' sizes at each position. The local
// block of a rank then consists of exactly its own gradients, and the reduction is an ordinary
// conversion from P to B along the axes with copies.
Layout bucketLayout(const std::vector<Layout>& members) {
  const Layout& first = members.front();
  const Grid& grid = first.grid();
  const std::vector<int> others = axesWithCopies(first, /*copies=*/false),
                         copies = axesWithCopies(first, /*copies=*/true);
  std::vector<Index> cuts(static_cast<std::size_t>(grid.extentOf(others)) + 1, 0);
  for (int position = 0; position < grid.size(); ++position)
    if (grid.coordinateOn(position, copies) == 0)
      for (const Layout& member : members)
        cuts[grid.coordinateOn(position, others) + 1] += elements(member.box(position));
  std::partial_sum(cuts.begin(), cuts.end(), cuts.begin());
  LayoutSpec spec{
      .shape = {cuts.back()}, .grid = first.gridPtr(), .properties = first.properties()};
  for (int axis : others)
    spec.properties[axis] = Property::shard(0);
  spec.splitAxes = {others};
  spec.cuts = {std::move(cuts)};
  return Layout(std::move(spec));
}

} // namespace tenon
