// SPDX-License-Identifier: BSD-2-Clause
// Movement: how the data of a tensor get from one layout to another, as data. movementOf() decides
// it from the two layouts, the size of an element and the target, without communication. What runs
// is made from it (makeConversion() of linop), and plans, reports and views count its messages and
// buffers.
//
//   Exchange     one exchange of messages
//   Collective   an MPI collective along grid axes
//   Steps        several movements, one after the other
//   Program      a sum over grid axes by a reduction program, or the adjoint of one
//   Vendor       the same by the library of the devices' vendor (NCCL)
//
// For example, P -> B over 8 ranks of two nodes is a Program; within a node it is an Exchange, or
// for large arrays Steps: a reduce-scatter and an all-gather.
#pragma once

#include "reduction/movement/sum_policy.hpp"
#include "reduction/sum_plan.hpp"
#include "sys/memory/memory.hpp"

#include <functional>

namespace tenon {

// All that decides how conversions are carried out, besides their layouts; equal on all ranks.
struct MovementTarget {
  int ranks = 1;
  Space space = Space::Host; // of the arrays that are expected
  RoutePolicy routes = {};
  SumPolicy sums = {};
  SumLevels levels = {}; // of sums

  // The target on that many ranks; `ranksPerNode` is 0 if nodes do not have equal numbers of
  // consecutive ranks. Throws the errors of a machine file, which can be missing on some ranks.
  static MovementTarget on(int ranks, Index ranksPerNode, Space space, RoutePolicy routes,
                           SumPolicy sums);
  // The target with the policies of the options.
  static MovementTarget fromOptions(int ranks, Index ranksPerNode, Space space);
};

// Shared memory of a node, in which data between its ranks are moved through lanes instead of
// messages.
struct SharedByNode {
  Index ranks = 0; // ranks of a node, which are consecutive; 0: messages only
  // Size of a lane for `bytes` if its sender packs `packedBytes` in total.
  std::function<Index(Index bytes, Index packedBytes)> laneBytes = {};

  bool joins(int rank, int other) const { return ranks > 0 && rank / ranks == other / ranks; }
};

struct Movement {
  enum class By { Exchange, Collective, Steps, Program, Vendor };

  By by = By::Exchange;
  // The ends and the predicted seconds; of Collective and Vendor also the collective.
  RouteStep ends;
  Index elementBytes = 4;
  // Of Steps: the steps. Of Vendor: the movement of arrays on the host, if these are expected.
  std::vector<Movement> parts = {};
  ReductionPlan program = {}; // of Program
  std::string why = {};       // reasons for the decision, as lines of a view

  const Layout& from() const noexcept { return ends.from; }
  const Layout& to() const noexcept { return ends.to; }
  // True if this movement, or a part of it, is of that kind.
  bool has(By kind) const;

  // Messages and elements that a rank sends in an application (Role::Source), or in one of the
  // adjoint (Role::Target). For a collective, messages are the calls of MPI or of the vendor's
  // library to which the rank contributes elements.
  Traffic sent(int rank, Role role) const;
  // The largest numbers of any rank: exact for an exchange on one grid, otherwise the largest of a
  // sample of ranks.
  Traffic mostSent(Role role) const;
  // Bytes of buffers that a rank holds for contiguous arrays in the expected space, for
  // applications only, or also for those of the adjoint.
  double bufferBytes(int rank, const SharedByNode& shared, bool bothWays) const;
};

// Decides how a conversion is carried out. Throws TENON_ERR_SHAPE if the global shapes differ, and
// TENON_ERR_ARG if a sum does not fit the program that the user has requested.
Movement movementOf(const Layout& from, const Layout& to, Index elementBytes,
                    const MovementTarget& target);
// A movement by one exchange, regardless of the target: halos and maxima.
Movement exchangeOf(const Layout& from, const Layout& to, Index elementBytes);

} // namespace tenon
