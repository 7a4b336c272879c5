// SPDX-License-Identifier: BSD-2-Clause
// Several layers with windows in a row that share one halo exchange (communication avoiding, wide
// or deep halos): in place of L_2 E_2 L_1 E_1, with an exchange E before each layer L,
//
//     L_2 R_2 L_1' E_1'
//
// where E_1' brings the halo that all of them together need, L_1' is L_1 on each rank's part and on
// the cells around it that L_2 reads, and R_2 is local: it fills what lies beyond the domain by the
// boundary mode of L_2 (geometry/schedule/refill.hpp). Each rank computes some cells that its
// neighbours compute too, and waits for them once. Nothing else changes: a value with such a halo
// has the layout G, its cotangent is contributions in G*, so that the adjoint is as exact and the
// gradients of parameters are sums over ranks as before. Layers that work point by point may stand
// between.
//
// Beyond the ends of a periodic dimension cells are computed like any other, where the windows of
// all layers go round alike; elsewhere boxes end with the domain.
#pragma once

#include "declaration/core/declaration.hpp"

#include <functional>

namespace tenon {

// Where windows have the halo of their input from; Auto: from layers before, as far as `depth`
// allows.
enum class HaloFrom { Auto, Exchange, Compute };
// Whether the halo of a type's input can be computed by layers before it; and what its setting
// says.
bool hasSharedHalo(const Declaration& type);
HaloFrom haloFrom(const Declaration& type);

// A node of a network. Values are numbered as there, its inputs first.
struct SharingNode {
  const Declaration* declaration = nullptr; // null of a container
  std::vector<int> reads;
  HaloFrom halo = HaloFrom::Auto;
  std::string container = {}; // of several in one list; halos are shared within one
  // Its form for inputs, and with the halo that it computes.
  std::function<Form(const Layouts& inputs, const std::optional<Layout>& computedHalo)> form = {};
};

class HaloSharing {
public:
  // At most `depth` layers with windows share an exchange, but for those that are to compute.
  HaloSharing(std::vector<SharingNode> nodes, int inputs, std::vector<int> outputs, Index depth);

  // The output of a node with the halo that it computes; none where nobody needs one. Nodes are
  // asked in their order, with the layouts that their inputs have then. Throws TENON_ERR_SUPPORT
  // where the halo of the node is to be computed and cannot be.
  std::optional<Layout> computedHaloOf(int node, const Layouts& inputs);

private:
  // A halo that a value is to have, or why it has none.
  struct Wanted {
    std::optional<Layout> computedHalo = {};
    std::string why = {};
  };
  // Of a value: by how many windows its halo is computed since the last exchange, 0 without a halo.
  struct State {
    Index windows = 0;
    std::string why = {};
  };

  static bool readsHalo(const SharingNode& node, const Form& form);
  [[noreturn]] static void throwNotComputed(const SharingNode& node, const std::string& why);
  Wanted wanted(int node, const Layout& input, const Layout& output, Index windows) const;
  Wanted wantedBy(const SharingNode& reader, int number, const Layout& value, Index windows) const;

  std::vector<SharingNode> nodes_;
  int inputs_;
  std::vector<int> outputs_;
  Index depth_;
  std::vector<State> values_;
};

} // namespace tenon
