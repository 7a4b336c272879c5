// SPDX-License-Identifier: BSD-2-Clause
// What exists: the parallelizations among which a plan can choose for each layer, and the form of a
// layer (the layouts of its inputs, parameters and output) under each. They are the configurations
// of a layer in PaSE (Elango, PaSE: Parallelization Strategies for Efficient DNN Training, IPDPS
// 2021). A process grid P_r x P_c of Gholami et al. (arXiv 1712.04432, Sections 2.3 and 2.4) is one
// parallelization for all layers, and the rows of DistPar's Table 1 are those of the signature
// table of a matrix product.
//
// Parallelizations have numbers, which are the same for all layers:
//
//   0 ... f-1     on the fine grid, whose axes are the prime factors of the number of processes
//                 (parallelization.hpp)
//   f ... b-1     on the process grid of a field: a pinned input or output of the network, or lists
//                 of a mesh (field_parallelizations.hpp)
//   b ... 2b-1    the first b again, with the output divided evenly (balanced), for layers whose
//                 sliding windows divide it into unequal blocks
//
// For example, 4 processes are a fine grid of 2 x 2. Without input channels the parallelizations of
// a two-dimensional convolution are "n2", "n,o", "n,h", "o2", "o,h" and "hw2-", so f is 6. A field
// on a grid of 4 processes, split by rows, adds "input:h", "input:n" and "input:o", so b is 9.
//
// A layer cannot have every parallelization: its signature table needs a row for each label
// (signature_rows.hpp), and each process must have elements of all inputs, parameters and outputs.
// The reason is the fault of the parallelization.
#pragma once

#include "planner/parallelizations/field_parallelizations.hpp"
#include "planner/parallelizations/native_layouts.hpp"
#include "planner/parallelizations/parallelization.hpp"
#include "planner/parallelizations/signature_rows.hpp"

#include <functional>

namespace tenon {

// A layer under one parallelization.
struct ParallelizedLayer {
  Layouts uses = {}, outputs = {}; // of its inputs; of the layer and of its dependents
  std::string signature = {};
  std::string fault = {}; // why the layer cannot have the parallelization; empty: it can
  bool isBalanced = false;
};

// A layer and its parallelizations, by number. Layers that differ only in their names are one kind.
struct LayerKind {
  const DeclaredLayer* layer = nullptr;
  const NativeLayouts* native = nullptr; // null: the network has no lists
  SignatureTable table = {};
  std::vector<ParallelizedLayer> parallelizations = {};

  bool isListed() const { return native && layer->declaration->dependsOnRowDistribution(); }
};

// The layouts that the user has fixed, of the network's inputs and of its output.
struct PinnedLayouts {
  std::vector<std::optional<Layout>> inputs = {};
  std::optional<Layout> output = {};
};

// The parallelizations of all layers of a network, by number, with faults and forms.
class LayerParallelizations {
public:
  // Throws TENON_ERR_STATE if a network with lists has an input that is not pinned. The layers of
  // the network must outlive the kinds.
  LayerParallelizations(const DeclaredNetwork& network, FineGrid grid, bool inputChannels,
                        const PinnedLayouts& pinned);

  int count() const { return 2 * firstBalanced(); }
  int firstBalanced() const { return static_cast<int>(onFineGrid_.size() + onFields_.size()); }
  bool isBalanced(int number) const { return number >= firstBalanced(); }
  // Each parallelization has two numbers: below firstBalanced() the output is aligned with the
  // windows that compute it, and from there on it is divided evenly. Returns the first of them.
  int aligned(int number) const { return number % firstBalanced(); }
  // Null for a parallelization on the fine grid.
  const FieldParallelization* onField(int number) const;
  // Whether this is the one parallelization of a layer with lists.
  bool followsLists(const LayerKind& kind, int number) const;

  // The layer of this number, without parallelizations.
  LayerKind kindOf(const DeclaredNetwork& network, int layer) const;
  // Calls visit(forms), the forms of the layer and of its dependents, while they exist. An error
  // that a declaration or the visit throws becomes the fault of the parallelization.
  using VisitForms = std::function<void(const std::vector<Form>& forms)>;
  // Adds the next parallelization to a kind. Kinds must be completed in network order: the split
  // points of layers on the grid of a field come from the layers before them.
  void addNext(LayerKind& kind, const VisitForms& visit);

  // The text of a parallelization on the grid of a field: "input:h,w".
  std::string fieldTextOf(const LayerKind& kind, int number) const;
  // The numbers of parts under a parallelization.
  Parts parts(const LayerKind& kind, int number) const;

private:
  const Parallelization& onFineGrid(int number) const { return onFineGrid_[aligned(number)]; }
  void addNativeLayouts(const DeclaredNetwork& network, const PinnedLayouts& pinned);
  void addField(const std::string& name, const Layout& layout, bool inputChannels);
  std::string rowsOf(const LayerKind& kind, int number, SignatureRows& rows) const;
  std::string faultBeforeRows(const LayerKind& kind, int number) const;
  std::string faultOfBalance(const LayerKind& kind, int number) const;
  std::string faultOfChannels(const DeclaredLayer& layer, int number) const;
  bool mayHaveEmptyParts(const LayerKind& kind, int number) const;
  Layout inputLayout(const LayerKind& kind, int number, const SignatureRows& rows,
                     std::size_t input) const;
  std::string addForms(const LayerKind& kind, int number, ParallelizedLayer& parallelized,
                       std::vector<Form>& forms) const;
  std::string addInputs(const LayerKind& kind, int number, const SignatureRows& rows,
                        Layouts& inputs) const;
  void learn(int number, const Layouts& outputs);
  Parts partsOnField(const LayerKind& kind, int number) const;

  FineGrid fineGrid_;
  GridPtr grid_; // of the fine grid
  std::vector<Parallelization> onFineGrid_;
  std::vector<FieldParallelization> onFields_;
  std::vector<Field> fields_;
  std::vector<NativeLayouts> natives_; // by layer; empty: the network has no lists
};

} // namespace tenon
