// SPDX-License-Identifier: BSD-2-Clause
// The memory that a process needs to run a compiled network (compile/program/compiled_network.hpp).
// It is counted by what runs: the passes Apply and adjoint are derived from its list, and the
// lifetimes of their values determine the shared memory. Parameters and communication buffers are
// added.

#pragma once

#include "compile/program/compiled_network.hpp"
#include "reduction/movement/movement.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace tenon {

// The scratch memory in bytes of the kernels of a node of this type and form.
using ScratchOf = std::function<Index(int node, const Declaration& type, const Form& form)>;

// How the network is run, as far as memory depends on it.
struct RunTask {
  bool trains = true;
  Index stackDepth = 1; // each level saves its own activations
  Index optimizerStates = 2;
  std::vector<bool> inputCotangents = {}; // by input: whether its cotangent is wanted
  std::vector<bool> frozen = {};          // by node: no gradients of its parameters; empty: none
  MovementTarget movement = {};
  Index bucketBytes = 0; // size of a bucket of gradients (compile/program/bucketing.hpp); 0: none
  SharedByNode shared = {};
};

// The bytes of a process, by purpose.
struct RunBytes {
  double arguments = 0;  // inputs, output, and in training the output's cotangent
  double saved = 0;      // from Apply to its adjoint
  double shared = 0;     // temporary values of all passes
  double parameters = 0; // with gradients, their partial sums, and the optimizer state
  double messages = 0;   // communication buffers, and constants

  double total() const { return arguments + saved + shared + parameters + messages; }
};

// Counts the bytes of a compiled network; recompute() changes which nodes run again.
class RunMemory {
public:
  RunMemory(CompiledNetwork compiled, RunTask task);
  RunBytes of(int rank) const;

  // Changes the set of nodes that run again.
  void recompute(const std::vector<bool>& nodes);
  // The bytes of a rank that depend on recomputation.
  double savedBytes(int rank) const;
  double sharedBytes(int rank) const;
  double savedBytesOf(ValueId v, int rank) const {
    return double(task_.stackDepth) * bytesOf(list_.values()[v].layout, rank);
  }
  const CompiledNetwork& network() const noexcept { return compiled_; }
  // The list that runs.
  const MapList& list() const noexcept { return list_; }
  const Pass& adjoint() const noexcept { return passes_.back(); }
  const std::vector<Pass>& passes() const noexcept { return passes_; }

private:
  struct HeldParameter {
    Layout storage, use;
    std::optional<Movement> toUse; // none if storage and use are the same
    bool isSummed = false;
    bool isTrained = false;
    int node = 0;
  };
  void addParameters();
  void derivePasses();
  Index elementBytes() const noexcept { return compiled_.network().elementBytes; }
  void findMovements();
  void findSums();
  double bytesOf(const Layout& layout, int rank) const;
  Index sharedBytes(const Pass& pass, int rank) const;
  void addParameter(const HeldParameter& parameter, int rank, RunBytes& bytes) const;
  Movement movementOf(const Layout& from, const Layout& to) const;
  double listedBytes(const OperatorEntry& op, int rank) const;

  CompiledNetwork compiled_;
  RunTask task_;
  MapList list_;
  std::vector<HeldParameter> parameters_;
  std::vector<Movement> movements_; // of the operators
  std::vector<Movement> sums_;      // of the gradients
  std::vector<Pass> passes_;
};

} // namespace tenon
