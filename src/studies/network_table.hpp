// SPDX-License-Identifier: BSD-2-Clause
// A network as a table of layers and edges, for cost models that need only sizes: see
// share/tenon/networks/tables. A file has exactly these keys:
//
//   format, name, about   "tenon-network-table-1" and texts
//   split_dims            how many leading spatial dimensions may be split
//   layers                name; kind: conv, upconv (transposed, with its kernel as stride), fc
//                         (fully connected, Kind::Affine) or add; kernel of conv and upconv; input,
//                         output: spatial extents that the layer reads and writes; in_channels,
//                         out_channels; weights: their number without biases; reads_input: whether
//                         the layer reads the network's input; split_space: whether processes can
//                         split its space, which is always false for fc
//   edges                 from, to, elements: number of elements per sample that are moved
//
// Pooling and pointwise layers are not in the table. They cost nothing and preserve the
// distribution; an edge counts the elements after a pooling, as the reader reads them.
#pragma once

#include "planner/parallelizations/declared_network.hpp"

#include <string>
#include <vector>

namespace tenon {

// A row of `layers`.
struct TableLayer {
  enum class Kind { Conv, Upconv, Affine, Add };
  std::string name;
  Kind kind = Kind::Conv;
  Index kernel = 1;
  std::vector<Index> input, output; // spatial extents
  Index inChannels = 1, outChannels = 1, weights = 0;
  bool readsInput = false, splitSpace = true;

  // Rows of the neighbouring block that a block needs in each direction.
  Index halo() const { return kind == Kind::Conv ? kernel / 2 : 0; }
  // Number of elements of one sample.
  double inputElements() const;
  double outputElements() const;
};

// A row of `edges`, between layers by their numbers.
struct TableEdge {
  int from = 0, to = 0;
  Index elements = 0; // per sample
};

// The contents of a file.
struct NetworkTable {
  std::string name, about;
  int splitDims = 1;
  std::vector<TableLayer> layers; // each after the layers that it reads
  std::vector<TableEdge> edges;

  bool isRead(int layer) const;
  // The shape of a sample, channels and then space, from the first layer that reads the network's
  // input.
  std::vector<Index> inputShape() const;
};

// `where` is the name of the file in messages. Throws TENON_ERR_FORMAT with file, byte and key.
NetworkTable parseNetworkTable(const std::string& text, const std::string& where);
// Reads a table by its name in share/tenon/networks/tables, or from a path, which contains a slash
// or ends with .json.
NetworkTable readNetworkTable(const std::string& nameOrPath);

// Returns the network as declarations of layers: convolutions and affine layers without biases, and
// sums. An upconv becomes a 1 x 1 convolution with kernel^d times the output channels. An affine
// layer reads features, which include the spatial extents of a preceding convolution. Throws
// TENON_ERR_SUPPORT with the name of a layer that no declaration of the library describes.
DeclaredNetwork declareNetwork(const NetworkTable& table, Index batch);

} // namespace tenon
