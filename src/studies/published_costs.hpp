// SPDX-License-Identifier: BSD-2-Clause
// The communication costs of one training iteration as two papers print them, a function for each
// equation:
//
//   001  Gholami, Azad, Jin, Keutzer, Buluc: Integrated Model, Batch, and Domain Parallelism in
//        Training Neural Networks (arXiv 1712.04432), Eqs. 3 to 9
//   003  its first version, Integrated Model and Data Parallelism in Training Neural Networks, Eq.
//        4
//
// The equations are implemented as printed: logarithms to base 2 are rounded up, an iteration
// includes all terms of the sums, and B and P have the papers' meaning. Our interpretation: d_(i-1)
// and d_i are the input and the output of layer i before pooling (Eq. 2); an element has 4 bytes;
// sums over i from 0 begin with the first layer, since W_0 does not exist; sums in place (add) are
// not layers. An affine layer is a convolution of 1 x 1 pixel: Eq. 7, which the paper does not
// apply to it, charges latency only. In three dimensions, X_W is the product of all but the first.
#pragma once

#include "studies/network_table.hpp"
#include "studies/t1_model.hpp"

namespace tenon {

// The process grid Pr x Pc of the papers.
struct PaperGrid {
  Index rows = 1, columns = 1; // Pr: model or domain; Pc: batch
};

using TableLayers = std::vector<TableLayer>;

// 001: pure model parallelism.
double eq3(const TableLayers& layers, Index batch, Index processes, const T1Link& link);
// Pure batch parallelism.
double eq4(const TableLayers& layers, Index processes, const T1Link& link);
// The volume of batch over that of model parallelism of a convolution: 2 |W| / (3 B d).
double eq5(const TableLayer& layer, Index batch);
// Redistribution of the output of a layer from batch to model parallelism.
double eq6(const TableLayer& layer, Index batch, Index processes, const T1Link& link);
// Pure domain parallelism.
double eq7(const TableLayers& layers, Index batch, Index processes, const T1Link& link);
// Model and batch parallelism on a grid for each layer.
double eq8(const TableLayers& layers, Index batch, const std::vector<PaperGrid>& grids,
           const T1Link& link);
// Model (affine layers) or domain (convolutions) parallelism, and batch parallelism, on one grid.
double eq9(const TableLayers& layers, Index batch, const PaperGrid& grid, const T1Link& link);
// 003: model and data parallelism on a grid.
double eq4Of003(const TableLayers& layers, Index batch, const PaperGrid& grid, const T1Link& link);

// 001, Section 4: the forward pass Y = W X only, by the 1.5-D algorithm (one all-gather of Y) and
// the 2-D algorithm SUMMA: with W stationary 2 B d_(i-1) / P_r + B d_i / P_c elements in four
// steps, or with Y stationary |W| / P_r + B d_(i-1) / P_c in two, the cheaper of the two.
double forward15d(const TableLayers& layers, Index batch, const PaperGrid& grid,
                  const T1Link& link);
double forward2d(const TableLayers& layers, Index batch, const PaperGrid& grid, const T1Link& link);

// The names of the functions that price a whole network: "eq3", "eq4", "eq7", "eq8", "eq9",
// "eq4_003", "forward_1.5d", "forward_2d".
const std::vector<std::string>& publishedCosts();
// The cost of a network by the name of an equation. `convolutions` is the grid of the convolutions
// in Eq. 8. Throws TENON_ERR_ARG for an unknown name, for an extent below 1, and for a grid that is
// not 1 x P or P x 1 if the equation has a single number of processes.
double publishedCost(const std::string& name, const NetworkTable& network, Index batch,
                     const PaperGrid& grid, const PaperGrid& convolutions, const T1Link& link);

} // namespace tenon
