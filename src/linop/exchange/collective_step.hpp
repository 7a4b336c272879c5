// SPDX-License-Identifier: BSD-2-Clause
// CollectiveStep: one step of a route, or several merged into one, as an MPI collective along grid
// axes. The adjoint is a collective too: all-gather and reduce-scatter, and broadcast and reduce,
// are adjoint pairs; all-reduce is its own adjoint.
//
// Copies of a sum are bitwise identical, also between lines of the grid that sum the same
// contributions. MPI does not promise this for its reductions, whose order can depend on the rank's
// place, so they are not used: each element is summed on one rank and then copied. Either each rank
// gets the contributions to its piece from all other ranks and adds them in the order of their
// coordinates (the same bits as the exchange along this axis), or short arrays are added along a
// binomial tree of fixed order.
//
// Arrays whose pieces are contiguous are read in place, and written in place by an all-gather or a
// broadcast; others are packed into buffers. Device arrays are summed on the host.
//
// Non-blocking MPI collectives start in the first half of an action, so all ranks must begin the
// actions that are in flight together in the same order, and end them in the same order.
#pragma once

#include "linop/exchange/region_run.hpp"
#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"
#include "machine/route.hpp"

#include <span>
#include <vector>

namespace tenon {

// The memory at the two ends of a collective: the whole array, as regions that hold the pieces in
// order, and this rank's piece in an array that holds only it.
struct CollectiveRegions {
  std::vector<Region> whole;
  Region own;
  bool doFollow = false; // True if the pieces are consecutive in a row-major array of the whole.
};
CollectiveRegions collectiveRegions(const CollectivePieces& pieces, int rank);

class CollectiveStep final : public LinearOp {
public:
  // Collective over comm; can create a communicator.
  CollectiveStep(const CommPtr& comm, const RouteStep& step, TenonDataType type,
                 Space space = Space::Host);

  std::string_view type() const noexcept override { return "collective"; }
  Index bufferBytes() const override;

private:
  void doBegin(const Action& action) override;
  void doEnd(const Action& action) override;
  CollectiveKind kindOf(Sense sense) const;

  // The message buffers for arrays in one space: the whole array, and its pieces or contributions.
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

  SubCommPtr line_; // Communicator of the ranks along the axes.
  CollectiveKind kind_;
  bool tree_;
  std::vector<int> axes_;
  CollectivePieces pieces_;
  Index elementBytes_;
  MPI_Datatype mpiType_;
  CollectiveRegions regions_;
  int ownElements_ = 0;
  // Sizes and offsets of the pieces, for the MPI call in flight.
  std::unique_ptr<RankLists> lists_;
  // Size of the largest set of contributions that a sum reads, in elements.
  Index maxContributions_ = 0;
  PerSpace<Wires> bySpace_;
  Wires* wires_ = nullptr; // The buffers of the action in flight.
  Event ready_;
  KernelContextPtr context_ = contextOf(comm());
  std::byte* target_ = nullptr; // Address at which the whole array is received.
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace tenon
