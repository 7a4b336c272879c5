// SPDX-License-Identifier: BSD-2-Clause
// Model T1, which predicts the communication of a training step from sizes only: one function for
// each of the assumptions that t1_model.hpp numbers. A layer's parts are r (model, its output
// channels), s (domain, space) and b (batch); alpha is the latency in seconds, beta the seconds per
// byte. Numbers of parts are real numbers without rounding: uneven splits cost as if they were
// even, as in the papers, although no process could run them.
#include "studies/t1_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

constexpr double kWordBytes = 4; // assumption 1
// The weight, its gradient and one state of the optimizer: assumption 14.
constexpr double kBytesOfAWeight = 12;

// The most neighbours of a block along a dimension with this number of blocks.
double neighbourBlocks(Index parts) {
  return parts == 1 ? 0 : parts == 2 ? 1 : 2;
}

} // namespace

T1Model::T1Model(NetworkTable network, Index batch, FineGrid grid, const T1Link& link,
                 bool inputChannels)
    : CostModel(std::move(grid), inputChannels), network_(std::move(network)),
      batch_(static_cast<double>(batch)), link_(link) {
  for (const TableLayer& layer : network_.layers)
    names_.push_back(layer.name);
  for (const TableEdge& edge : network_.edges)
    moves_.push_back({edge.from, edge.to});
  for (const Parallelization& parallelization : parallelizations())
    parts_.push_back(this->grid().parts(parallelization, network_.splitDims));
}

std::string T1Model::spatial(int layer) const {
  const TableLayer& row = network_.layers[layer];
  return row.splitSpace ? spatialLabels(static_cast<int>(row.input.size()), network_.splitDims)
                        : "";
}

// Assumption 5; for the label i the input channels must also have at least that many elements.
std::string T1Model::fault(int layer, int parallelization) const {
  const TableLayer& row = network_.layers[layer];
  const Parts& parts = parts_[parallelization];
  if (static_cast<double>(parts.batch) > batch_)
    return fmt::format("a batch of {} has no {} parts", batch_, parts.batch);
  if (parts.inputs > 1 && row.kind == TableLayer::Kind::Add)
    return "an add has no input channels of its own";
  if (parts.channels > row.outChannels)
    return fmt::format("{} output channels have no {} parts", row.outChannels, parts.channels);
  if (parts.inputs > 1 && parts.inputs > row.inChannels)
    return fmt::format("{} input channels have no {} parts", row.inChannels, parts.inputs);
  if (parts.space > 1 && !row.splitSpace)
    return "it must have all of space";
  const std::size_t dims = std::min(row.input.size(), parts.spatial.size());
  for (std::size_t j = 0; j < dims; ++j) {
    const auto split = static_cast<double>(parts.spatial[j]);
    const auto least = static_cast<double>(std::max<Index>(1, row.halo()));
    if (static_cast<double>(row.input[j]) / split < least ||
        static_cast<double>(row.output[j]) / split < 1)
      return fmt::format("{} of {} rows have no {} parts with halos of {}", row.output[j],
                         row.input[j], parts.spatial[j], row.halo());
  }
  return {};
}

// Assumption 7. Processes that differ only in batch and space have the same part of the weights.
double T1Model::gradientSeconds(const TableLayer& layer, const Parts& parts) const {
  const double r = static_cast<double>(parts.channels);
  const double p = static_cast<double>(grid().processes()) / r;
  if (layer.weights == 0)
    return 0;
  return 2 * (link_.alpha * std::log2(p) +
              link_.beta * (p - 1) / p * kWordBytes * static_cast<double>(layer.weights) / r);
}

// Assumption 8. A face has all dimensions of a block except the one it is normal to, split or not.
double T1Model::haloSeconds(const TableLayer& layer, const Parts& parts, double channels) const {
  if (layer.halo() == 0)
    return 0;
  double seconds = 0;
  for (std::size_t j = 0; j < parts.spatial.size(); ++j) {
    double face = 1;
    for (std::size_t i = 0; i < layer.input.size(); ++i)
      if (i != j)
        face *= static_cast<double>(layer.input[i]) /
                (i < parts.spatial.size() ? static_cast<double>(parts.spatial[i]) : 1);
    seconds += neighbourBlocks(parts.spatial[j]) *
               (link_.alpha + link_.beta * kWordBytes * (batch_ / double(parts.batch)) * channels *
                                  double(layer.halo()) * face);
  }
  return layer.readsInput ? seconds : 2 * seconds;
}

// Seconds in which groups of `among` processes gather the output of a layer, of which each process
// has a part, or reduce it, of which each has partial sums. `others` is the number of such groups,
// the product of all other splits. Example: with 2 parts of the output channels, 4 of the input
// channels and s b = 8, the contributions of the input channels are reduced with among = 4 and
// others = 16.
double T1Model::gatherSeconds(const TableLayer& layer, Index among, Index others) const {
  const double r = static_cast<double>(among);
  return link_.alpha * std::log2(r) + link_.beta * kWordBytes * batch_ * layer.outputElements() /
                                          static_cast<double>(others) * (1 - 1 / r);
}

double T1Model::layerSeconds(int layer, int parallelization, Precision /*precision*/) const {
  const TableLayer& row = network_.layers[layer];
  const Parts& parts = parts_[parallelization];
  // r = o i of the header's extension: parts.channels is r, parts.inputs is i, and outputs is o.
  const Index outputs = parts.channels / parts.inputs;
  const Index spaceAndBatch = parts.space * parts.batch;
  const double channels = static_cast<double>(row.inChannels) / double(parts.inputs);
  double seconds = gradientSeconds(row, parts) + haloSeconds(row, parts, channels);
  if (parts.inputs > 1) // a reduce-scatter of the output, and its adjoint, which costs the same
    seconds += 2 * gatherSeconds(row, parts.inputs, outputs * spaceAndBatch);
  if (!network_.isRead(layer)) // assumption 11
    seconds += gatherSeconds(row, parts.channels, spaceAndBatch);
  return seconds;
}

// Assumption 14. With the label i the input channels are split as well, and each process has
// partial sums of all output channels of its part.
double T1Model::layerBytes(int layer, int parallelization) const {
  const TableLayer& row = network_.layers[layer];
  const Parts& parts = parts_[parallelization];
  const double spaceAndBatch = double(parts.space * parts.batch);
  const double inputs = double(parts.inputs);
  return kBytesOfAWeight * static_cast<double>(row.weights) / double(parts.channels) +
         kWordBytes * batch_ *
             (row.inputElements() / (spaceAndBatch * inputs) +
              row.outputElements() / (spaceAndBatch * double(parts.channels) / inputs));
}

// Assumption 9, where the writer is split by q and the reader by t: `target` is Q, the number of
// parts that the reader needs, and `common` is the number of parts of which both consist. The cost
// is 0 if the writer's parallelization already gives each process all that the reader needs.
double T1Model::moveSeconds(int move, int from, int to, Precision /*precision*/) const {
  const TableEdge& edge = network_.edges[move];
  const Parts &writer = parts_[from], &reader = parts_[to];
  const Index channels = channelsRead(edge.to, reader);
  double target = double(channels * reader.batch);
  double common =
      double(std::max(writer.channels, channels) * std::max(writer.batch, reader.batch));
  for (std::size_t j = 0; j < reader.spatial.size(); ++j) {
    target *= double(reader.spatial[j]);
    common *= double(std::max(writer.spatial[j], reader.spatial[j]));
  }
  if (common == target)
    return 0;
  const double g = common / target;
  return 2 * (link_.alpha * std::log2(g) + link_.beta * kWordBytes * batch_ *
                                               static_cast<double>(edge.elements) / target *
                                               (1 - 1 / g));
}

} // namespace tenon
