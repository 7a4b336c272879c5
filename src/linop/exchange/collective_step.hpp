// SPDX-License-Identifier: BSD-2-Clause
// One step of a route as a collective along a grid axis, or several taken as one. The adjoint is a
// collective again: all-gather and reduce-scatter, broadcast and reduce are pairs, all-reduce is
// its own.
//
// Copies of a sum are equal bit by bit, also on ranks that sum the same contributions in another
// line of the grid. MPI promises neither for its own reductions, which may depend on a rank's
// place, so they are not used: each element is summed on one rank and then copied. Either every
// rank gets the contributions of its piece from all others at once and adds them in the order of
// their coordinates (so the bits are those of the exchange along this axis), or short arrays are
// added along a binomial tree of fixed order.
//
// Arrays whose pieces lie contiguous are read, and by an all-gather or a broadcast written, in
// place; others are packed into buffers. Those on the device are summed on the host, on their way
// from rank to rank.
//
// Non-blocking collectives of MPI start in the first half. So ranks begin actions that are in
// flight together in one order, and end them in one order.
#pragma once

#include "linop/exchange/region_run.hpp"
#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"
#include "machine/route.hpp"

#include <span>
#include <vector>

namespace tenon {

// What a rank has at both ends of a collective: the whole, as the regions of its array that hold
// the pieces in order, and the rank's own piece in an array of its own.
struct CollectiveRegions {
  std::vector<Region> whole;
  Region own;
  bool doFollow = false; // the pieces, in a row-major array of the whole
};
CollectiveRegions collectiveRegions(const CollectivePieces& pieces, int rank);

class CollectiveStep final : public LinearOp {
public:
  // Collective over comm, and may create a communicator.
  CollectiveStep(const CommPtr& comm, const RouteStep& step, TenonDataType type,
                 Space space = Space::Host);

  std::string_view type() const noexcept override { return "collective"; }
  Index bufferBytes() const override;

private:
  void doBegin(const Action& action) override;
  void doEnd(const Action& action) override;
  CollectiveKind kindOf(Sense sense) const;

  // The buffers for arrays in one space.
  struct Wires {
    Wire whole, parts;
  };
  Wires& wires(Space space);

  const std::byte* packed(Wire& wire, const DTensor& x, std::span<const Region> regions,
                          bool inPlace);
  const std::byte* packedWhole(const DTensor& x);
  std::byte* landing(const Action& action);
  void unpack(Wire& wire, const Action& action, const std::byte* from,
              std::span<const Region> regions);
  void unpackWhole(const Action& action, const std::byte* from);
  void count(Index elements) const;
  RankLists& lists();
  void combine(Combine op, Index elements, const std::byte* from, std::byte* to);
  void startAllGather(const std::byte* piece, std::byte* whole);
  void startScatterOfContributions(const std::byte* whole);
  const std::byte* sumOfContributions();
  void sumAlongTree();
  void gatherToRoot(const std::byte* piece);
  void spread(std::byte* whole);
  void wait(int coordinate = -1);

  SubCommPtr line_; // the ranks along the axes
  CollectiveKind kind_;
  bool tree_;
  std::vector<int> axes_;
  CollectivePieces pieces_;
  Index elementBytes_;
  MPI_Datatype mpiType_;
  CollectiveRegions regions_;
  int ownElements_ = 0;
  std::unique_ptr<RankLists> lists_; // of the call in flight
  Index mostContributions_ = 0;      // elements
  PerSpace<Wires> bySpace_;
  Wires* wires_ = nullptr; // of the action in flight
  Event ready_;
  KernelContextPtr context_ = contextOf(comm());
  std::byte* target_ = nullptr; // where the whole is gathered to
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace tenon
