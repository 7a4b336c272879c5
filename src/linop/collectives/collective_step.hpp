// SPDX-License-Identifier: BSD-2-Clause
// CollectiveStep: converts a tensor between two layouts by one MPI collective in each line of the
// process grid: the ranks that differ only in their coordinates on the given grid axes. The adjoint
// is a collective too: all-gather and reduce-scatter are adjoint to each other, and so are
// broadcast and reduce; all-reduce is its own adjoint.
//
//   all-gather      MPI_Iallgatherv
//   broadcast       MPI_Ibcast
//   reduce-scatter  MPI_Ialltoallv of the contributions; each rank adds those to its piece
//   reduce          reduce-scatter, then MPI_Igatherv;   or sum along a binomial tree
//   all-reduce      reduce-scatter, then all-gather;     or sum along the tree, then broadcast
//
// MPI's own reductions are not used, since their order of additions can depend on the rank. Here
// each element is summed on one rank, in the order of coordinates (as in an exchange along this
// axis) or along the fixed tree, which is used for short arrays, and the sum is then copied. All
// copies of a sum are therefore bitwise identical, also in different lines that sum the same
// contributions.
//
// An array whose pieces are contiguous is read in place, and written in place by an all-gather, a
// broadcast or the all-gather of an all-reduce; other arrays are packed into buffers. Device arrays
// are summed on the host.
//
// Non-blocking MPI collectives start in doBegin(). If several actions are in flight, all ranks must
// begin them in the same order, and end them in the same order.
#pragma once

#include "linop/exchange/region_run.hpp"
#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"
#include "machine/route.hpp"

#include <span>
#include <vector>

namespace tenon {

// The regions of the two local arrays of a collective: those of the whole array, one per piece in
// the order of ranks (or a single one if the pieces are consecutive), and that of this rank's piece
// in the array that contains only this piece.
struct CollectiveRegions {
  std::vector<Region> whole;
  Region own;
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
  std::byte* addressOfWhole(const Action& action);
  void unpack(Wire& wire, const Action& action, const std::byte* from,
              std::span<const Region> regions);
  void unpackWhole(const Action& action, const std::byte* from);
  void logElements(Index elements) const;
  RankLists& lists();
  void combine(Combine op, Index elements, const std::byte* from, std::byte* to);
  void startAllGather(const std::byte* piece, std::byte* whole);
  void startScatterOfContributions(const std::byte* whole);
  const std::byte* sumOfContributions();
  void sumAlongTree();
  void startGatherToRoot(const std::byte* piece);
  void startBroadcast(std::byte* whole);
  void wait(int coordinate = -1);

  SubCommPtr line_; // Communicator of the ranks along the axes.
  CollectiveKind kind_;
  bool tree_; // True if sums are computed along the binomial tree.
  std::vector<int> axes_;
  CollectivePieces pieces_;
  Index elementBytes_;
  MPI_Datatype mpiType_;
  CollectiveRegions regions_;
  int ownElements_ = 0; // of this rank's piece
  // Sizes and offsets of the pieces, for the MPI call in flight.
  std::unique_ptr<RankLists> lists_;
  // Size of the largest set of contributions that a sum reads, in elements.
  Index maxContributions_ = 0;
  PerSpace<Wires> bySpace_;
  Wires* wires_ = nullptr; // The buffers of the action in flight.
  Event ready_;            // Completes after the copy of a staged wire to the host.
  KernelContextPtr context_ = contextOf(comm());
  std::byte* target_ = nullptr; // Address at which the whole array is received.
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace tenon
