// SPDX-License-Identifier: BSD-2-Clause
// The memory of a process in a run of a network whose layers all have their forms, found as a run
// finds it: from the joined list of maps, the lifetimes of the values of its passes, the parameters
// and the buffers of what moves.
#pragma once

#include "declaration/core/declaration.hpp"
#include "declaration/core/rewriting.hpp"
#include "machine/route.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace tenon {

// A layer with its form, in the order in which layers run. It reads nodes before it, or from -1
// downwards inputs.
struct RunNode {
  std::shared_ptr<const Declaration> declaration;
  Form form;
  std::vector<int> reads;
};

// The scratch that the kernels of a node take which has this form, in bytes.
using ScratchOf = std::function<Index(int node, const Form& form)>;

// Memory that the ranks of a node share, in which what moves between them goes by lanes, not by
// messages.
struct SharedByNode {
  Index ranks = 0; // of a node, which follow each other; 0: all are messages
  // Of a lane for so many bytes, where its sender packs so many for all.
  std::function<Index(Index bytes, Index packedBytes)> laneBytes = {};

  bool joins(int rank, int other) const { return ranks > 0 && rank / ranks == other / ranks; }
};

struct RunTask {
  Target target = {};
  Index elementBytes = 4;
  bool trains = true;
  bool savesRounded = false; // what adjoints read, in bfloat16
  Index stackDepth = 1;      // each level keeps its own
  Index optimizerStates = 2;
  std::vector<bool> inputCotangents = {}; // by input: whether its cotangent is wanted
  std::vector<bool> recomputed = {};      // by node: is run again for the adjoint; none: no node is
  RoutePolicy routes = {};
  Index bucketBytes = 0; // of gradients that are reduced together (bucketing.hpp); 0: none are
  SharedByNode shared = {};
};

struct RunBytes {
  double arguments = 0;  // inputs, output, and in training the output's cotangent
  double saved = 0;      // from Apply to its adjoint
  double shared = 0;     // values of all passes by turns
  double parameters = 0; // with gradients, their contributions, and what the optimizer keeps
  double messages = 0;   // buffers of what moves, and constants

  double total() const { return arguments + saved + shared + parameters + messages; }
};

class RunMemory {
public:
  // The output of the last node is the network's.
  RunMemory(const std::vector<RunNode>& nodes, const Layouts& inputs, RunTask task);
  RunBytes of(int rank) const;

  // As with other nodes that are run again.
  void recompute(std::vector<bool> nodes);
  // Of the bytes of a rank those that depend on it.
  double savedBytes(int rank) const;
  double sharedBytes(int rank) const;
  double savedBytesOf(ValueId v, int rank) const {
    return double(task_.stackDepth) * bytesOf(list_.values()[v].layout, rank);
  }
  // The joined list without recomputation, and that which runs.
  const MapList& joined() const noexcept { return joined_; }
  const MapList& list() const noexcept { return list_; }
  const Pass& adjoint() const noexcept { return passes_.back(); }
  const std::vector<Pass>& passes() const noexcept { return passes_; }

private:
  struct HeldParameter {
    Layout storage, use;
    Route toUse; // empty where nothing moves
    bool isSummed = false;
    int node = 0;
  };
  void add(const RunNode& node, std::vector<ValueId>& values, bool isLast);
  void findRoutes();
  void findSums();
  double bytesOf(const Layout& layout, int rank) const;
  Index sharedBytes(const Pass& pass, int rank) const;
  void addParameter(const HeldParameter& parameter, int rank, RunBytes& bytes) const;
  Route routeOf(const Layout& from, const Layout& to) const;
  double carriedBytes(const Route& route, int rank, bool bothWays) const;
  double exchangedBytes(const Schedule& schedule, int rank) const;
  double listedBytes(const OperatorEntry& op, int rank) const;

  RunTask task_;
  MapList joined_, list_;
  std::vector<HeldParameter> parameters_;
  std::vector<int> firstKernels_; // by node
  std::vector<Route> routes_;     // of the operators
  std::vector<Route> sums_;       // of the gradients
  std::vector<Pass> passes_;
};

} // namespace tenon
