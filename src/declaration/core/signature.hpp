// SPDX-License-Identifier: BSD-2-Clause
// Signatures: how a layer can be distributed over a process grid. A layer type has a table with one
// row per label of its index expression (as in einsum). A row states, for one grid axis, the
// properties of inputs, parameters and output (split, replicated, partial sum) for which the local
// kernel computes the right result without communication. For a matrix product y[n,o] = sum over i
// of x[n,i] W[o,i]:
//
//   label   x             W             y
//   n       split by n    replicated    split by n
//   o       replicated    split by o    split by o
//   i       split by i    split by i    partial sum
//
// A signature chooses one row for each axis, in any mix. The adjoint has the same signature, since
// cotangents have the dual layouts.
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

// A row of the table: a label, and the properties that inputs, parameters and output have along a
// grid axis with this label.
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
  // The signature with the least redistribution. On each axis it chooses the row for which the
  // fewest elements are communicated, then the one that leaves the most elements in their layout,
  // then the first. On an axis of one process it chooses the first row whose output has the
  // property of the first input, if there is one.
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

// Makes a layout on the grid. Dimension d takes its split points from dimension cutsFrom[d].dim of
// a source, cutsFrom[d].layout, on the same grid, or has balanced blocks if there is no source.
// Split points are taken as far as the same axes split both dimensions, beginning with the slowest
// axis. Blocks along further axes of the source are joined, and blocks along further axes of the
// result are balanced. Split points that a user set therefore never move. The order of the axes is
// the requested one, or else that of the source.
struct CutSource {
  const Layout* layout = nullptr;
  int dim = 0;
};
Layout makeLayout(const Shape& shape, const GridPtr& grid, const TensorSignature& requested,
                  const std::vector<CutSource>& cutsFrom);
// A layout of the source's shape with the source's split points in all dimensions.
Layout makeLayoutLike(const Layout& source, const GridPtr& grid, const TensorSignature& requested);
// The layout with each split point of a dimension moved to the nearest multiple of `of`, so groups
// of so many elements are on one rank each. The extent must be a multiple.
Layout cutAtMultiples(const Layout& layout, int dim, Index of);

} // namespace tenon
