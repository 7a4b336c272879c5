// SPDX-License-Identifier: BSD-2-Clause
// Signatures: the properties of inputs, parameters and output on each grid axis under which a
// layer's local kernel alone gives the right answer. A layer type lists its rows, one for each
// label of its index expression, and a signature chooses one row for each axis, in any mix. A
// signature is its own adjoint: the cotangents lie in the duals.
//
// As a text it is a list of runs, each a label with a number of axes: "n,h,h" is "n,h2". The
// labels of a longer run take turns: "dh4" is "d,h,d,h". In a run that ends in '-' the labels are
// taken from its last axis to its first, and that is also the order in which the axes split a
// dimension: "h3-" splits first along the last axis. A label that ends in a digit, as S0 does, has
// one axis.
#pragma once

#include "geometry/layout/layout.hpp"

#include <span>

namespace tenon {

struct SignatureRow {
  std::string label; // how options name the row: "n", "o", "i", "h", "B", ...
  Properties inputs; // one for each; the last holds for all further inputs
  Properties parameters;
  Property output;

  SignatureRow(std::string name, Property input, Properties parameters, Property output)
      : SignatureRow(std::move(name), Properties{input}, std::move(parameters), output) {}
  SignatureRow(std::string name, Properties inputs, Properties parameters, Property output)
      : label(std::move(name)), inputs(std::move(inputs)), parameters(std::move(parameters)),
        output(output) {}
};

using SignatureTable = std::vector<SignatureRow>;

// What a signature says of one tensor.
struct TensorSignature {
  Properties properties;
  // For each axis, whether it splits its dimension before the axes in front of it. Empty: none
  // does.
  std::vector<bool> reversed = {};

  TensorSignature(Properties properties, std::vector<bool> reversed = {})
      : properties(std::move(properties)), reversed(std::move(reversed)) {}
};

class Signature {
public:
  // The signature that a text names for the axes of the grid: "o,i", "n6,o3". Throws
  // TENON_ERR_OPTION naming the labels that `who` has.
  static Signature named(const SignatureTable& table, const Grid& grid, const std::string& labels,
                         const std::string& who);
  // The signature that moves least. On each axis it takes the row that leaves most of the inputs
  // where they are, and the first of equal ones; on an axis of one process it takes the first row,
  // if there is one, whose output has the first input's property.
  static Signature following(const SignatureTable& table, std::span<const Layout> inputs);
  static Signature following(const SignatureTable& table, const Layout& input) {
    return following(table, std::span(&input, 1));
  }
  // The named signature if labels are given, or else the one that follows the inputs. On a grid
  // that is not the first input's, labels must be given.
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

// The rows of maps that act on each element alone: a split of each dimension, B, R, and P only if
// the map is linear.
SignatureTable elementwiseTable(int rank, bool linear);

// The axes that split a dimension, in the order that the signature asks for; empty if it asks for
// none, which means the order of the grid.
std::vector<int> splitOrder(const TensorSignature& requested, int dim);

// A layout on the grid. Dimension d takes the cuts of a dimension of another layout on the same
// grid as far as the same axes split both, from the major one on: pieces along further axes of that
// one are joined, and pieces along further axes here are balanced. So split points that a user gave
// do not move. The axes split in the order that the signature asks for, or else in that of the
// other layout. cutsFrom[d] = {layout, dimension}, or no layout for balanced cuts.
struct CutSource {
  const Layout* layout = nullptr;
  int dim = 0;
};
Layout makeLayout(const Shape& shape, const GridPtr& grid, const TensorSignature& requested,
                  const std::vector<CutSource>& cutsFrom);
// A layout of the source's shape that takes the source's cuts in all dimensions.
Layout makeLayoutLike(const Layout& source, const GridPtr& grid, const TensorSignature& requested);

} // namespace tenon
