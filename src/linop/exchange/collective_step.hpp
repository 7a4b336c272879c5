// SPDX-License-Identifier: BSD-2-Clause
// One step of a route as a collective along a grid axis, or several taken as one. The adjoint is a
// collective again: all-gather and reduce-scatter, broadcast and reduce are pairs, all-reduce is
// its own.
//
// Copies of a sum are equal bit by bit, also on ranks that sum the same addends in another line of
// the grid. MPI promises neither for its own reductions, which may depend on a rank's place, so
// they are not used: each element is summed on one rank and then copied. Either every rank gets the
// addends of its piece from all others at once and adds them in the order of their coordinates (so
// the bits are those of the exchange along this axis), or short arrays are added along a binomial
// tree of fixed order.
//
// Arrays whose pieces lie contiguous are read, and by an all-gather or a broadcast written, in
// place; others are packed into buffers. Those on the device are summed on the host, on their way
// from rank to rank.
//
// Non-blocking collectives of MPI start in the first half. So ranks begin actions that are in
// flight together in one order, and end them in one order.
#pragma once

#include "linop/exchange/wire.hpp"
#include "linop/linear_op.hpp"
#include "machine/route.hpp"

namespace tenon {

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

  template <class T>
  void begin(const Action& action);
  template <class T>
  void end(const Action& action);
  template <class T>
  const T* sent(Wire& wire, const T* elements, Index count);
  template <class T>
  const T* arrived(Wire& wire, const T* bytes, Index count);
  template <class T>
  T* whole() {
    return reinterpret_cast<T*>(wires_->whole.bytes());
  }
  template <class T>
  T* parts() {
    return reinterpret_cast<T*>(wires_->parts.bytes());
  }
  template <class T>
  const T* packedWhole(const DTensor& x, bool mayChange);
  template <class T>
  const T* packedPiece(const DTensor& x);
  template <class T>
  T* landing(const Action& action);
  template <class T>
  void unpackWhole(const Action& action, const T* from);
  template <class T>
  void unpackPiece(const Action& action, const T* from);
  template <class T>
  void startAllGather(const void* piece, T* whole);
  template <class T>
  void startScatterOfAddends(const T* whole);
  template <class T>
  const T* sumOfAddends();
  template <class T>
  void sumAlongTree();
  template <class T>
  void gatherToRoot(const T* piece);
  template <class T>
  void spread(T* whole);
  void wait(int coordinate = -1);

  SubCommPtr line_; // the ranks along the axes
  CollectiveKind kind_;
  bool tree_;
  CollectivePieces pieces_;
  int ranks_;
  std::vector<int> peers_;                          // ranks by coordinate
  std::vector<int> counts_, offsets_;               // of the pieces, in elements
  std::vector<int> toOthers_;                       // counts_, nothing for the rank itself
  std::vector<int> arrivalCounts_, arrivalOffsets_; // addends of the own piece, by coordinate
  Index mostAddends_ = 0;                           // elements
  PerSpace<Wires> bySpace_;
  Wires* wires_ = nullptr; // of the action in flight
  Event ready_;
  KernelContextPtr context_ = contextOf(comm());
  void* target_ = nullptr; // where the whole is gathered to
  MPI_Request request_ = MPI_REQUEST_NULL;
};

} // namespace tenon
