// SPDX-License-Identifier: BSD-2-Clause
// Signatures: the properties of input, parameters and output, per grid axis, under which a layer's
// local kernel alone gives the right answer. A layer type lists its rows, one for each letter of
// its index expression; a signature chooses one row for each axis, in any mix. A signature is its
// own adjoint: the cotangents lie in the duals.
//
// As a text it is a list of runs, each a letter with a number of axes: "n,h,h" is "n,h2". A run of several
// letters takes turns, "dh4" is "d,h,d,h". In a run that ends in '-' the letters are taken from its last axis
// to its first, and that is also the order in which the axes split a dimension: "h3-" splits first along
// the last axis. A letter that ends in a digit, as S0 does, has one axis.
#pragma once

#include "geometry/layout.hpp"

#include <span>

namespace tenon {

struct SignatureRow {
  std::string letter; // how options name the row: "n", "o", "i", "h", "B", ...
  Properties inputs;  // of a type with any number of inputs one, which holds for all
  Properties parameters;
  Property output;

  SignatureRow(std::string name, Property input, Properties parameters, Property output)
      : SignatureRow(std::move(name), Properties{input}, std::move(parameters), output) {}
  SignatureRow(std::string name, Properties inputs, Properties parameters, Property output)
      : letter(std::move(name)), inputs(std::move(inputs)), parameters(std::move(parameters)),
        output(output) {}
};

using SignatureTable = std::vector<SignatureRow>;

// What a signature says of one tensor.
struct TensorSignature {
  Properties properties;
  // By axis: it splits its dimension before the axes in front of it. Empty: none does.
  std::vector<bool> reversed = {};

  TensorSignature(Properties properties, std::vector<bool> reversed = {})
      : properties(std::move(properties)), reversed(std::move(reversed)) {}
};

class Signature {
public:
  // The rows that a text gives to the axes of the grid: "o,i", "n6,o3". Throws TENON_ERR_OPTION naming
  // the letters that `who` has.
  static Signature named(const SignatureTable& table, const Grid& grid, const std::string& letters,
                         const std::string& who);
  // On each axis the first of the rows that leave most of the inputs where they are, or else the first
  // row of the table; on an axis of one process the first row whose output has the first input's
  // property comes before these.
  static Signature following(const SignatureTable& table, std::span<const Layout> inputs);
  static Signature following(const SignatureTable& table, const Layout& input) {
    return following(table, std::span(&input, 1));
  }
  // One of the two. Letters must be named on a grid that is not the first input's.
  static Signature choose(const SignatureTable& table, std::span<const Layout> inputs,
                          const GridPtr& grid, const std::string& letters, const std::string& who);
  static Signature choose(const SignatureTable& table, const Layout& input, const GridPtr& grid,
                          const std::string& letters, const std::string& who) {
    return choose(table, std::span(&input, 1), grid, letters, who);
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

// The rows of tensor dimension d for maps that act on each element alone; P only if the map is
// linear.
SignatureTable elementwiseTable(int rank, bool linear);

// The axes that split a dimension in the order that is asked for; empty if none is, which is that of the grid.
std::vector<int> splitOrder(const TensorSignature& asked, int dim);

// A layout on the grid whose dimension d takes the cuts of a dimension of another layout on it as far as the same
// axes split both, from the major one on: pieces along that one's further axes are joined, and those along further
// axes here are balanced. So split points that a user gave do not move. The axes split in the order that is asked for
// if one is, or else in that of the other layout. cutsFrom[d] = {layout, dimension}, or no layout for balanced cuts.
struct CutSource {
  const Layout* layout = nullptr;
  int dim = 0;
};
Layout makeLayout(const Shape& shape, const GridPtr& grid, const TensorSignature& asked,
                  const std::vector<CutSource>& cutsFrom);
// The same with the cuts of another layout in all dimensions.
Layout makeLayoutLike(const Layout& source, const GridPtr& grid, const TensorSignature& asked);

} // namespace tenon
