// SPDX-License-Identifier: BSD-2-Clause
// Signatures: the properties of input, parameters and output, per mesh axis, under which a layer's
// local kernel alone gives the right answer. A layer type lists its rows, one for each letter of
// its index expression; a signature chooses one row for each axis, in any mix. A signature is its
// own adjoint: the cotangents lie in the duals.
#pragma once

#include "geometry/layout.hpp"

namespace tenon {

struct SignatureRow {
  std::string letter; // how options name the row: "n", "o", "i", "h", "B", ...
  Property input;
  std::vector<Property> parameters;
  Property output;
};

using SignatureTable = std::vector<SignatureRow>;

class Signature {
public:
  // One row per mesh axis. With `forced` ("o,i") the rows of these letters; else on each axis the
  // first row whose input property is the tensor's own, so that nothing moves, or else the first
  // row of the table; on an axis of one process the first row whose output has the input's property
  // comes before these. Throws TENON_ERR_OPTION naming the letters that `who` has.
  Signature(const SignatureTable& table, const Layout& input, const std::string& forced,
            const std::string& who);

  Properties input() const;
  Properties parameter(int index) const;
  Properties output() const;
  std::string describe() const; // "n,h,w"

private:
  std::vector<SignatureRow> rows_;
};

// The rows of tensor dimension d for maps that act on each element alone; P only if the map is
// linear.
SignatureTable elementwiseTable(int rank, bool linear);

// A layout on the mesh of `like`, whose dimension d takes the cuts of a dimension of another layout
// where the same axes split both: cutsFrom[d] = {layout, dimension}, or no layout for balanced
// cuts.
struct CutSource {
  const Layout* layout = nullptr;
  int dim = 0;
};
Layout makeLayout(const Shape& shape, const MeshPtr& mesh, const Properties& properties,
                  const std::vector<CutSource>& cutsFrom);

} // namespace tenon
