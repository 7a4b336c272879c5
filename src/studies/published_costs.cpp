// SPDX-License-Identifier: BSD-2-Clause
// The cost equations of two papers, one function for each; published_costs.hpp lists the papers and
// states what we interpreted. They are implemented as printed, with rounded logarithms and with
// latencies even for one process, so their results can be compared with the papers. Corrections
// belong in model T1 (t1_model.hpp). Most terms are those of a ring of n processes:
//
//   ringTerm(n, elements) = alpha ceil(log2 n) + beta 4 (n - 1)/n elements
//
// alpha is the latency of the link in seconds, beta its seconds per byte.
#include "studies/published_costs.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

constexpr double kElementBytes = 4;

// ceil(log2 n), which is 0 for one process.
double roundedLog(Index n) {
  return std::bit_width(static_cast<std::uint64_t>(n - 1));
}

// The cost of a ring: alpha ceil(log n) + beta (n-1)/n elements.
double ringTerm(const T1Link& link, Index n, double elements) {
  return link.alpha * roundedLog(n) +
         link.beta * kElementBytes * (double(n - 1) / double(n)) * elements;
}

double weightsOf(const TableLayer& layer) {
  return static_cast<double>(layer.weights);
}

// Number of elements of a row of pixels, which includes all dimensions but the first.
double rowElements(const std::vector<Index>& extents, Index channels) {
  double elements = static_cast<double>(channels);
  for (std::size_t d = 1; d < extents.size(); ++d)
    elements *= static_cast<double>(extents[d]);
  return elements;
}

// One message with a halo of `row` elements times half the kernel, for all samples.
double haloTerm(const T1Link& link, double batch, double row, const TableLayer& layer) {
  const Index halo = layer.kernel / 2;
  return link.alpha + link.beta * kElementBytes * batch * row * double(halo);
}

// The three sums of Eq. 8 for one layer.
double modelAndBatch(const TableLayer& layer, bool isFirst, double batch, const PaperGrid& grid,
                     const T1Link& link) {
  const double local = batch / double(grid.columns);
  double seconds = ringTerm(link, grid.rows, local * layer.outputElements());
  if (!isFirst)
    seconds += 2 * ringTerm(link, grid.rows, local * layer.inputElements());
  return seconds + 2 * ringTerm(link, grid.columns, weightsOf(layer) / double(grid.rows));
}

TableLayers withoutSums(const TableLayers& layers) {
  // Sums in place have neither weights nor windows, and the papers do not count them as layers.
  TableLayers weightedLayers;
  std::copy_if(layers.begin(), layers.end(), std::back_inserter(weightedLayers),
               [](const TableLayer& layer) { return layer.kind != TableLayer::Kind::Add; });
  return weightedLayers;
}

} // namespace

double eq3(const TableLayers& layers, Index batch, Index processes, const T1Link& link) {
  double seconds = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    seconds += ringTerm(link, processes, double(batch) * layers[i].outputElements());
    if (i > 0)
      seconds += 2 * ringTerm(link, processes, double(batch) * layers[i].inputElements());
  }
  return seconds;
}

double eq4(const TableLayers& layers, Index processes, const T1Link& link) {
  double seconds = 0;
  for (const TableLayer& layer : layers)
    seconds += 2 * ringTerm(link, processes, weightsOf(layer));
  return seconds;
}

double eq5(const TableLayer& layer, Index batch) {
  return 2 * weightsOf(layer) / (3 * double(batch) * layer.outputElements());
}

double eq6(const TableLayer& layer, Index batch, Index processes, const T1Link& link) {
  return ringTerm(link, processes, double(batch) * layer.outputElements());
}

double eq7(const TableLayers& layers, Index batch, Index processes, const T1Link& link) {
  double seconds = 0;
  for (const TableLayer& layer : layers) {
    const double all = static_cast<double>(batch);
    seconds += haloTerm(link, all, rowElements(layer.input, layer.inChannels), layer) +
               haloTerm(link, all, rowElements(layer.output, layer.outChannels), layer) +
               2 * ringTerm(link, processes, weightsOf(layer));
  }
  return seconds;
}

double eq8(const TableLayers& layers, Index batch, const std::vector<PaperGrid>& grids,
           const T1Link& link) {
  double seconds = 0;
  for (std::size_t i = 0; i < layers.size(); ++i)
    seconds += modelAndBatch(layers[i], i == 0, double(batch), grids[i], link);
  return seconds;
}

// The halo of the output is a row of the next layer's input. The input of an affine layer has no
// rows: the row is then the channels of one pixel.
double eq9(const TableLayers& layers, Index batch, const PaperGrid& grid, const T1Link& link) {
  const double local = double(batch) / double(grid.columns);
  double seconds = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const TableLayer& layer = layers[i];
    if (layer.kind == TableLayer::Kind::Affine) {
      seconds += modelAndBatch(layer, /*isFirst=*/false, double(batch), grid, link);
      continue;
    }
    const bool hasNext = i + 1 < layers.size() && !layers[i + 1].input.empty();
    const double next = hasNext ? rowElements(layers[i + 1].input, layers[i + 1].inChannels)
                                : double(layer.outChannels);
    seconds += haloTerm(link, local, rowElements(layer.input, layer.inChannels), layer) +
               haloTerm(link, local, next, layer) +
               2 * ringTerm(link, grid.rows * grid.columns, weightsOf(layer));
  }
  return seconds;
}

double eq4Of003(const TableLayers& layers, Index batch, const PaperGrid& grid, const T1Link& link) {
  const double local = double(batch) / double(grid.columns);
  double seconds = 0;
  for (const TableLayer& layer : layers)
    seconds += 3 * ringTerm(link, grid.rows, local * layer.outputElements()) +
               2 * ringTerm(link, grid.columns, weightsOf(layer) / double(grid.rows));
  return seconds;
}

double forward15d(const TableLayers& layers, Index batch, const PaperGrid& grid,
                  const T1Link& link) {
  double seconds = 0;
  for (const TableLayer& layer : layers)
    seconds +=
        ringTerm(link, grid.rows, double(batch) / double(grid.columns) * layer.outputElements());
  return seconds;
}

double forward2d(const TableLayers& layers, Index batch, const PaperGrid& grid,
                 const T1Link& link) {
  const double rows = double(grid.rows), columns = double(grid.columns);
  double seconds = 0;
  for (const TableLayer& layer : layers) {
    const double x = double(batch) * layer.inputElements(),
                 y = double(batch) * layer.outputElements();
    // X is gathered along rows and redistributed to its part of W in two steps; Y is reduced and
    // redistributed in two steps.
    const double stationaryW = 2 * ringTerm(link, grid.columns, x / rows) +
                               ringTerm(link, grid.rows, y / columns) +
                               link.alpha * roundedLog(grid.rows);
    const double stationaryY = ringTerm(link, grid.columns, weightsOf(layer) / rows) +
                               ringTerm(link, grid.rows, x / columns);
    seconds += std::min(stationaryW, stationaryY);
  }
  return seconds;
}

namespace {

// The grid of each layer in Eq. 8: affine layers and convolutions have one each.
std::vector<PaperGrid> gridsOf(const TableLayers& layers, const PaperGrid& grid,
                               const PaperGrid& convolutions) {
  std::vector<PaperGrid> grids;
  for (const TableLayer& layer : layers)
    grids.push_back(layer.kind == TableLayer::Kind::Affine ? grid : convolutions);
  return grids;
}

void checkGrid(const PaperGrid& grid) {
  if (grid.rows < 1 || grid.columns < 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("the grid is {} x {}; both must be >= 1", grid.rows, grid.columns));
}

} // namespace

const std::vector<std::string>& publishedCosts() {
  static const std::vector<std::string> kNames = {"eq3", "eq4",     "eq7",          "eq8",
                                                  "eq9", "eq4_003", "forward_1.5d", "forward_2d"};
  return kNames;
}

double publishedCost(const std::string& name, const NetworkTable& network, Index batch,
                     const PaperGrid& grid, const PaperGrid& convolutions, const T1Link& link) {
  checkGrid(grid);
  checkGrid(convolutions);
  const TableLayers layers = withoutSums(network.layers);
  if (name == "eq8")
    return eq8(layers, batch, gridsOf(layers, grid, convolutions), link);
  if (name == "eq9")
    return eq9(layers, batch, grid, link);
  if (name == "eq4_003")
    return eq4Of003(layers, batch, grid, link);
  if (name == "forward_1.5d")
    return forward15d(layers, batch, grid, link);
  if (name == "forward_2d")
    return forward2d(layers, batch, grid, link);
  const auto& names = publishedCosts();
  if (std::find(names.begin(), names.end(), name) == names.end())
    throw Error(TENON_ERR_ARG,
                fmt::format("there is no published cost '{}'; known are: {}", name, joined(names)));
  if (grid.rows > 1 && grid.columns > 1)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has one kind of parallelism, but the grid is {} x {}; "
                            "one extent must be 1",
                            name, grid.rows, grid.columns));
  const Index processes = grid.rows * grid.columns;
  return name == "eq3"   ? eq3(layers, batch, processes, link)
         : name == "eq4" ? eq4(layers, processes, link)
                         : eq7(layers, batch, processes, link);
}

} // namespace tenon
