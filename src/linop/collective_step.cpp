// SPDX-License-Identifier: BSD-2-Clause
#include "linop/collective_step.hpp"

#include "comm/partition.hpp"

namespace tenon {

namespace {

// By their coordinates on the axes.
std::vector<int> ranksOfLine(const Mesh& mesh, int position, const std::vector<int>& axes) {
  std::vector<int> line = mesh.coordinates(position), ranks(mesh.extentOf(axes));
  for (int c = 0; c < static_cast<int>(ranks.size()); ++c) {
    int rest = c;
    for (std::size_t i = axes.size(); i-- > 0; rest /= mesh.extent(axes[i]))
      line[axes[i]] = rest % mesh.extent(axes[i]);
    ranks[c] = mesh.rank(mesh.positionAt(line));
  }
  return ranks;
}

CollectiveKind collectiveOf(const RouteStep& step) {
  if (!step.collective)
    throw Error(TENON_ERR_INTERNAL, "a collective step was made of an exchange");
  return *step.collective;
}

} // namespace

CollectiveStep::CollectiveStep(const CommPtr& comm, const RouteStep& step, TenonDataType type,
                               Space space)
    : LinearOp(comm, step.from, step.to, type),
      line_(lineComm(*comm, step.from.mesh(), step.axes, AxisUse::Library)),
      kind_(collectiveOf(step)), tree_(step.tree), pieces_(collectivePieces(step, comm->rank())),
      ranks_(step.from.mesh().extentOf(step.axes)) {
  if (!pieces_.takesPart)
    return;
  peers_ = ranksOfLine(step.from.mesh(), step.from.mesh().position(comm->rank()), step.axes);
  const int me = pieces_.coordinate;
  const int own = static_cast<int>(pieces_.piece(me));
  int offset = 0;
  for (int c = 0; c < ranks_; ++c) {
    counts_.push_back(static_cast<int>(pieces_.piece(c)));
    toOthers_.push_back(c == me ? 0 : counts_.back());
    offsets_.push_back(offset);
    offset += counts_.back();
    arrivalCounts_.push_back(c == me ? 0 : own);
    arrivalOffsets_.push_back(c * own);
  }
  mostAddends_ = std::max(pieces_.cells, static_cast<Index>(ranks_) * own);
  wires(space);
}

CollectiveStep::Wires& CollectiveStep::wires(Space space) {
  return bySpace_.of(space, [&] {
    const Index size = dataTypeSize(domainType());
    const KernelContextPtr context = contextOf(comm(), space);
    return std::unique_ptr<Wires>(
        new Wires{.whole = {pieces_.cells * size, title() + " whole", context},
                  .parts = {mostAddends_ * size, title() + " parts", context}});
  });
}

Index CollectiveStep::bufferBytes() const {
  Index bytes = 0;
  bySpace_.visit(
      [&](const Wires& wires) { bytes += wires.whole.heldBytes() + wires.parts.heldBytes(); });
  return bytes;
}

CollectiveKind CollectiveStep::kindOf(Sense sense) const {
  return sense == Sense::Forward ? kind_ : adjointOf(kind_);
}

} // namespace tenon
