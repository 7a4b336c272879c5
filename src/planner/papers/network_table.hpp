// SPDX-License-Identifier: BSD-2-Clause
// A network as a table of layers and edges, for cost models that know nothing but sizes: see
// share/tenon/networks/tables. A file has exactly these keys:
//
//   format, name, about   "tenon-network-table-1" and texts
//   split_dims            how many leading spatial dimensions may be split
//   layers                name; kind: conv, upconv (its stride is its kernel), fc or add; kernel of
//                         conv and upconv; input, output: spatial extents before pooling;
//                         in_channels, out_channels; weights without biases; reads_input: true
//                         where it reads the network's input; split_space: false where space must
//                         be whole, as always of fc
//   edges                 from, to, elements of a sample that is moved
//
// As declarations, the layers are convolutions and affine layers without biases, and sums.
// Pointwise layers and pooling are free and keep the distribution, so that what moves has the
// extents that its reader reads. A transposed convolution, whose stride is its kernel, is priced as
// a convolution of 1 x 1 to that many more channels. An affine layer reads features, among which
// the space of a convolution is counted.
#pragma once

#include "planner/prices/declared_network.hpp"

#include <string>
#include <vector>

namespace tenon {

struct TableLayer {
  enum class Kind { Conv, Upconv, Affine, Add };
  std::string name;
  Kind kind = Kind::Conv;
  Index kernel = 1;
  std::vector<Index> input, output; // spatial extents
  Index inChannels = 1, outChannels = 1, weights = 0;
  bool readsInput = false, splitSpace = true;

  // Rows that a block needs of its neighbour in each direction.
  Index halo() const { return kind == Kind::Conv ? kernel / 2 : 0; }
  // The elements of one sample.
  double inputElements() const;
  double outputElements() const;
};

struct TableEdge {
  int from = 0, to = 0;
  Index elements = 0; // of a sample
};

struct NetworkTable {
  std::string name, about;
  int splitDims = 1;
  std::vector<TableLayer> layers; // each behind those that it reads
  std::vector<TableEdge> edges;

  bool isRead(int layer) const;
  // The shape of a sample, channels and then space, as the first layer that reads the network's
  // input has it.
  std::vector<Index> inputShape() const;
};

// `where` is what messages call the file. Throws TENON_ERR_FORMAT naming file, byte and key.
NetworkTable parseNetworkTable(const std::string& text, const std::string& where);
// Reads a table by its name in share/tenon/networks/tables, or from a path, which is a word with a
// slash or the ending .json.
NetworkTable readNetworkTable(const std::string& nameOrPath);

// The network as declarations of layers. Throws TENON_ERR_SUPPORT naming a layer that no
// declaration of the library describes.
DeclaredNetwork declareNetwork(const NetworkTable& table, Index batch);

} // namespace tenon
