// SPDX-License-Identifier: BSD-2-Clause
// Halo sharing: several consecutive layers with windows share one wider halo exchange
// (communication avoiding, deep halos). Instead of L_2 E_2 L_1 E_1, with an exchange E before each
// layer L, run
//
//     L_2 R_2 L_1' E_1'
//
// E_1' exchanges the halo that both layers together need. L_1' computes L_1 on each rank's block
// and on the elements around the block that L_2 reads. R_2 is local: it fills the elements outside
// the domain by the boundary mode of L_2 (geometry/schedule/refill.hpp). Two 3 x 3 windows exchange
// one halo of width 2 instead of two of width 1: ranks compute some elements redundantly, but wait
// for their neighbours once. The value between the layers has a layout with a halo (G), and its
// cotangent contains contributions that ranks add up (G*). The adjoint is therefore exact, and
// parameter gradients are sums over ranks as before. Pointwise layers between the two layers are
// allowed.
//
// Elements beyond the ends of a periodic dimension are computed like any others if the windows of
// all layers are periodic; otherwise boxes end with the domain.
#pragma once

#include "declaration/core/declaration.hpp"

#include <functional>

namespace tenon {

// Source of the input halo of a layer with windows. Auto: computed by the layers before it, if the
// setting halo_depth allows it.
enum class HaloFrom { Auto, Exchange, Compute };
// Whether the halo of a type's input can be computed by the layers before it, and the setting that
// selects it.
bool hasSharedHalo(const Declaration& type);
HaloFrom haloFrom(const Declaration& type);

// A node of a network. Values are numbered: first the inputs of the network, then the node outputs.
struct SharingNode {
  const Declaration* declaration = nullptr; // null for a container
  std::vector<int> reads;
  HaloFrom halo = HaloFrom::Auto;
  // Its container, if a list joins several; sharing stays within one container.
  std::string container = {};
  // At most this many layers with windows share an exchange in it, not counting those set to
  // "compute".
  Index depth = 1;
  // The form of the node for these inputs, and for the halo that it computes.
  std::function<Form(const Layouts& inputs, const std::optional<Layout>& computedHalo)> form = {};
};

// Decides, node by node, which layers of a network compute the halo of a later layer.
class HaloSharing {
public:
  HaloSharing(std::vector<SharingNode> nodes, int inputs, std::vector<int> outputs);

  // The output layout of a node with the halo that it computes, or none if no reader needs one.
  // Call it for the nodes in order, with the final layouts of their inputs. Throws
  // TENON_ERR_SUPPORT if the node's own halo must be computed (setting halo) but cannot be.
  std::optional<Layout> computedHaloOf(int node, const Layouts& inputs);

private:
  // The halo that a value must have, or the reason why it has none.
  struct Wanted {
    std::optional<Layout> computedHalo = {};
    std::string why = {};
  };
  // For each value, the number of layers with windows since the last halo exchange, or 0 if the
  // value has no halo; and then the reason (`why`).
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
  std::vector<State> values_;
};

} // namespace tenon
