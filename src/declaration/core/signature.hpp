// SPDX-License-Identifier: BSD-2-Clause
// Signatures: how a layer can be distributed. A row of the table states, for one grid axis, the
// properties of inputs, parameters and output for which the local kernel alone computes the right
// result. A layer type has one row per label of its index expression (as in einsum), and a
// signature chooses one row for each axis, in any mix. A signature is its own adjoint: cotangents
// have the dual layouts.
//
// As a text it is a list of runs, each a label with a number of axes: "n,h,h" is "n,h2". A run of
// several labels repeats them in turn: "dh4" is "d,h,d,h". A run that ends in '-' assigns its
// labels from its last axis to its first, which is also the order in which the axes split a
// dimension: "h3-" splits first along the last axis. A label that ends in a digit, such as S0, has
// one axis.
#pragma once

#include "geometry/layout/layout.hpp"

#include <span>

namespace tenon {

struct SignatureRow {
  std::string label; // name of the row in options: "n", "o", "i", "h", "B", ...
  Properties inputs; // one per input; the last applies to all further inputs
  Properties parameters;
  Property output;

  SignatureRow(std::string name, Property input, Properties parameters, Property output)
      : SignatureRow(std::move(name), Properties{input}, std::move(parameters), output) {}
  SignatureRow(std::string name, Properties inputs, Properties parameters, Property output)
      : label(std::move(name)), inputs(std::move(inputs)), parameters(std::move(parameters)),
        output(output) {}
};

using SignatureTable = std::vector<SignatureRow>;

// The part of a signature that concerns one tensor.
struct TensorSignature {
  Properties properties;
  // Flags by axis: whether it splits its dimension before the axes that precede it. If empty, no
  // axis does.
  std::vector<bool> reversed = {};

  TensorSignature(Properties properties, std::vector<bool> reversed = {})
      : properties(std::move(properties)), reversed(std::move(reversed)) {}
};

class Signature {
public:
  // The signature written as text for the axes of the grid: "o,i", "n6,o3". Throws
  // TENON_ERR_OPTION, which lists the labels of `who`.
  static Signature named(const SignatureTable& table, const Grid& grid, const std::string& labels,
                         const std::string& who);
  // The signature with the least redistribution. On each axis it chooses the row that leaves the
  // most inputs in place, the first in case of a tie. On an axis of one process it chooses the
  // first row whose output has the property of the first input, if there is one.
  static Signature following(const SignatureTable& table, std::span<const Layout> inputs);
  static Signature following(const SignatureTable& table, const Layout& input) {
    return following(table, std::span(&input, 1));
  }
  // The signature named by `labels`, or, if these are empty, the one that follows the inputs.
  // Labels are required on a grid other than that of the first input.
  static Signature choose(const SignatureTable& table, std::span<const Layout> inputs,
                          const GridPtr& grid, const std::string& labels, const std::string& who);
  static Signature choose(const SignatureTable& table, const Layout& input, const GridPtr& grid,
                          const std::string& labels, const std::string& who) {
    return choose(table, std::span(&input, 1), grid, labels, who);
  }

  TensorSignature input(int index = 0) const;
  TensorSignature parameter(int index) const;
  TensorSignature output() const;
  std::string describe() const; // "n,h,w", for every axis

private:
  explicit Signature(std::vector<SignatureRow> rows, std::vector<bool> reversed = {})
      : rows_(std::move(rows)), reversed_(std::move(reversed)) {}
  std::vector<SignatureRow> rows_;
  std::vector<bool> reversed_; // by axis; empty: none
};

// The table of elementwise maps: a split of each dimension, B, R, and P only if the map is linear.
SignatureTable elementwiseTable(int rank, bool linear);

// The axes that split a dimension, in the order that the signature requests; empty if it requests
// none, which means the order of the grid.
std::vector<int> splitOrder(const TensorSignature& requested, int dim);

// A layout on the grid. Dimension d takes the split points of a dimension of another layout on the
// same grid as far as the same axes split both, from the major one on: blocks along further axes of
// the source are joined, and blocks along further axes of the result are balanced. So split points
// that a user gave do not move. The axes split in the order that the signature requests, or else in
// that of the source. cutsFrom[d] = {layout, dimension}, or no layout for balanced blocks.
struct CutSource {
  const Layout* layout = nullptr;
  int dim = 0;
};
Layout makeLayout(const Shape& shape, const GridPtr& grid, const TensorSignature& requested,
                  const std::vector<CutSource>& cutsFrom);
// A layout of the source's shape with the source's split points in all dimensions.
Layout makeLayoutLike(const Layout& source, const GridPtr& grid, const TensorSignature& requested);

} // namespace tenon
