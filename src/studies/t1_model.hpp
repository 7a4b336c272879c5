// SPDX-License-Identifier: BSD-2-Clause
// Model T1: the communication of training, priced by one latency and one bandwidth, for a network
// that is a table (doc/plan.md). It extends the equations of Gholami et al. (arXiv 1712.04432, see
// doc/papers.md) by redistribution between layers. Its assumptions, numbered as in the code:
//
//    1  latency alpha, alpha lg n for a collective of n processes; beta seconds for each byte of a
//       process; words of 4 bytes. One iteration: forward, backward, sums of gradients; no overlap,
//       sums are free.
//    2  A layer's parts (r, s, b): model, domain and batch; r s b = P. Every layer uses all P
//       processes.
//    3  The domain is split in the table's leading dimensions, which take turns.
//    4  A layer reads its input in (1, s, b), with a copy on each of the r processes, and writes
//       its output in (r, s, b). Pooling and pointwise layers compute on the output in place, at
//       no cost. An add reads and writes (r, s, b).
//    5  A split is possible if b <= B and r <= output channels; if each block of a window's input
//       has at least max(halo, 1) rows, and of its output at least 1, without rounding; and if
//       s = 1 for layers whose space must be whole. Uneven splits cost as if they were even.
//    6  A halo is floor(kernel / 2) rows wide for a convolution, else 0.
//    7  Gradients of the weights W: 2 (alpha lg p + beta (p-1)/p 4 W/r), where p = P/r processes
//       have the same weights; biases are not counted.
//    8  Halos: in each dimension F(s_j) (alpha + beta bytes of a face), where F is 0, 1 or 2, the
//       number of neighbours of a block; all input channels. Counted twice, as the adjoint costs
//       the same; once for a layer that reads the network's input.
//    9  An edge that moves N elements per sample from a layer split by q = (r, s, b) to one split
//       by t: Q = product of t, g = product of max(q, t) / Q, cost 2 (alpha lg g +
//       beta 4 B N/Q (1 - 1/g)), since each process has 1/g of the elements that it needs.
//   10  The network's input is available on all processes at no cost, and has no gradient.
//   11  Loss: the r processes gather the output of the last layer once.
//   12  A plan costs the sum of these.
//   13  Baselines: search/plan_search.hpp.
//   14  Bytes: 12 W/r + 4 B input/(s b) + 4 B output/P of each layer.
//
// An extension beyond the papers, used only if `inputChannels` is true: r = o i, where o processes
// split the output channels and i the input channels. The input is read in (i, s, b), with a copy
// on each of the o processes, and halos have only the channels of a block. The output is a sum of i
// contributions of B output/(o s b) elements; a reduce-scatter distributes it as (r, s, b), and its
// adjoint costs the same. The bytes are 12 W/r + 4 B input/(i s b) + 4 B output/(o s b).
#pragma once

#include "planner/prices/cost_model.hpp"
#include "studies/network_table.hpp"

namespace tenon {

// alpha and beta of assumption 1.
struct T1Link {
  double alpha = 2e-6;     // seconds
  double beta = 1.0 / 6e9; // seconds for each byte
};

// Model T1 of one network table on one fine grid.
class T1Model : public CostModel {
public:
  T1Model(NetworkTable network, Index batch, FineGrid grid, const T1Link& link,
          bool inputChannels = false);

  std::string spatial(int layer) const override;
  Parts parts(int, int parallelization) const override { return parts_[parallelization]; }
  std::string fault(int layer, int parallelization) const override;
  double layerSeconds(int layer, int parallelization, Precision precision) const override;
  double layerBytes(int layer, int parallelization) const override;
  double moveSeconds(int move, int from, int to, Precision precision) const override;

private:
  // The number of parts of the channels that a layer reads.
  Index channelsRead(int layer, const Parts& parts) const {
    return network_.layers[layer].kind == TableLayer::Kind::Add ? parts.channels : parts.inputs;
  }
  double gradientSeconds(const TableLayer& layer, const Parts& parts) const;
  double haloSeconds(const TableLayer& layer, const Parts& parts, double channels) const;
  double gatherSeconds(const TableLayer& layer, Index among, Index others) const;

  NetworkTable network_;
  double batch_;
  T1Link link_;
  std::vector<Parts> parts_; // by parallelization
};

} // namespace tenon
