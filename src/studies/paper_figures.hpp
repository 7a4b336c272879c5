// SPDX-License-Identifier: BSD-2-Clause
// Figures 6, 7, 9 and 10 of Gholami, Azad, Jin, Keutzer and Buluc (arXiv 1712.04432), computed from
// the paper's equations: the communication of an epoch of 1.2 million images on each process grid.
//
//    6    Eq. 8, one grid for all layers; batch 2048, 8 to 512 processes
//    7    Eq. 8, convolutions with batch parallelism alone; batch 2048, 8 to 512 processes
//    9    as 6, with 4 samples for each process: the paper does not say which batches it has
//    10   batch 512 on 512 to 4096 processes, of which 512 groups have a sample each: Eq. 9, where
//         the processes of a group divide the domain, and Eq. 8, where they divide the model
#pragma once

#include "sys/types.hpp"

#include <string>
#include <vector>

namespace tenon {

// A bar: the predicted communication time of an epoch on one process grid.
struct FigureBar {
  std::string label;                   // the grid
  double seconds = 0, ofGradients = 0; // of an epoch; the part that does not depend on the batch
};

// A panel of a figure: bars with their heights in seconds.
struct FigurePanel {
  std::string title;
  std::vector<FigureBar> bars;
};

// The panels of a figure; none for a number that is not listed above. `network` is a name or a file
// (readNetworkSource(), named_plan.hpp). The latency is in seconds, and the bandwidth in bytes per
// second.
std::vector<FigurePanel> figureOf(const std::string& network, Index figure, double latency,
                                  double bandwidth);

} // namespace tenon
