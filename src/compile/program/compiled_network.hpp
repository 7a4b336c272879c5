// SPDX-License-Identifier: BSD-2-Clause
// Compiles a network: decides the layouts of all its arrays and the list of kernels and exchanges
// that run. The steps of the constructor, in this order:
//
//   forms    for each node, the layouts of its arrays, whether it computes in pieces that overlap
//            its halo exchange, and which layers compute the halo of a later one
//   lists    the map list of each node (declaration/core/map_list.hpp)
//   join     one list for the network
//   rewrite  the list that runs on the target (rewriting.hpp), with the nodes that recompute
//
// The result is a value: equal on all ranks, and without MPI or objects. Set-up creates the
// objects of a program and runs it, and the planner prices programs, so what is planned is what
// runs.
#pragma once

#include "compile/network/network.hpp"
#include "compile/program/joined_maps.hpp"
#include "compile/program/rewriting.hpp"

#include <map>

namespace tenon {

// The result of compiling a network: a form, lists of maps and flags for each node, and the list
// that runs.
class CompiledNetwork {
public:
  struct Node {
    // The layouts of all arrays of the layer. None for a container that recomputes as a whole,
    // whose layers are in `segment`.
    std::optional<Form> form = {};
    std::optional<Layout> computedHalo = {}; // the output with the halo that the node computes
    Layouts inputs = {};                     // of the values that it reads
    Layouts storage = {};                    // of its parameters
    MapList maps = {};                       // the node's own list, before the lists are joined
    // An earlier node of the same layer and for the same inputs, whose objects it uses, or -1.
    int sameAs = -1;
    std::shared_ptr<const CompiledNetwork> segment = nullptr; // the layers in such a container
  };

  // Compiles a network for these layouts of its inputs. Throws the errors of Declaration::form().
  CompiledNetwork(Network network, const Layouts& inputs, const Target& target);

  const Network& network() const noexcept { return network_; }
  const std::vector<Node>& nodes() const noexcept { return nodes_; }
  // The layouts of the values: those of the inputs, then the output of each node.
  const Layouts& values() const noexcept { return values_; }
  const Layout& outputOf(std::size_t node) const { return values_[network_.inputs + node]; }
  Layouts outputs() const;
  Order order() const noexcept { return order_; }
  // The list that runs.
  const MapList& list() const noexcept { return list_; }
  // The node that declares a kernel of the lists; a fused kernel belongs to the last node.
  std::size_t nodeOfKernel(int kernel) const;
  // The list in which no node recomputes, and the list in which the marked nodes recompute their
  // outputs in the adjoint.
  const MapList& saving() const noexcept { return saving_; }
  MapList recomputing(const std::vector<bool>& nodes) const;

private:
  // By declaration of a layer: the layouts in which its parameters are stored when the next node is
  // bound. The nodes before, also those within segments, will have created these parameters by
  // then.
  using Stored = std::map<const Declaration*, Layouts>;
  CompiledNetwork(Network network, const Layouts& inputs, const Target& target, Stored& stored);
  void compileNodes(const Target& target, Stored& stored);
  void addRepartition(const Target& target, Stored& stored);
  void addNode(int number, const Target& target, const std::optional<Layout>& computedHalo,
               Stored& stored);
  void compileNode(int number, const Target& target, Stored& stored);
  MapList join();
  Form formOfNode(const NetworkNode& node, const Layouts& inputs, const Target& target,
                  const std::optional<Layout>& computedHalo) const;
  Layouts storageOf(const NetworkNode& node, const Form& form, const Stored& stored) const;
  Layouts read(const NetworkNode& node) const;

  Network network_;
  std::vector<Node> nodes_;
  Layouts values_;
  Order order_ = Order::Overlapped;
  std::vector<JoinedObjects> firstObjects_; // by node: its first object in each table of the lists
  MapList saving_, list_;
};

} // namespace tenon
