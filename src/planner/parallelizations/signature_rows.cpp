// SPDX-License-Identifier: BSD-2-Clause
// Translates parallelizations into signatures (signature_rows.hpp). A plan names what each axis of
// the process grid splits in the same labels for all layers: n (batch), o and i (output and input
// channels), d, h, w (space). A layer type names the rows of its signature table freely, so a row
// is chosen by the dimensions of input and output that it splits: for n of a softmax of [batch,
// features] it is the row S0. If several rows split the same dimensions, the first is chosen, which
// is the one that the type prefers.
//
// The second half of the file has the texts of parallelizations: "input:h,w" is on the process grid
// of the fixed input, "n4,h2-,balanced" divides the output evenly.
#include "planner/parallelizations/signature_rows.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr int kFirstSpatial = 2; // dimension; 0 is the batch and 1 the channels
constexpr char kAfterField = ':';

// The row whose output has this property. A row whose output is a sum must also split the input's
// channels: a table can have another row that maps partial sums to partial sums.
const SignatureRow* rowThatGives(const SignatureTable& rows, Property output, bool isSum) {
  for (const SignatureRow& row : rows)
    if (row.output == output && (!isSum || row.inputs.front() == Property::shard(1)))
      return &row;
  return nullptr;
}

// The row whose input keeps this property. The output should keep it as well, but most layers
// contract split channels, so for these any output is accepted.
const SignatureRow* rowThatKeeps(const SignatureTable& rows, Property property) {
  for (const SignatureRow& row : rows)
    if (row.inputs.front() == property &&
        (row.output == property || property == Property::shard(1)))
      return &row;
  return nullptr;
}

} // namespace

bool splitsSpace(Property property) {
  return property.isShard() && property.dim >= kFirstSpatial;
}

std::size_t spatialNumber(Property property) {
  return static_cast<std::size_t>(property.dim - kFirstSpatial);
}

// Space is assigned from the last axis inward with alternating dimensions, as in FineGrid::parts().
std::string findRows(const DeclaredLayer& layer, const SignatureTable& table, int axes,
                     const Parallelization& parallelization, SignatureRows& rows) {
  for (int axis = 0; axis < axes; ++axis) {
    const bool isSpace = axis >= axes - parallelization.space;
    const bool isSum = axis >= parallelization.batch + parallelization.outputs && !isSpace;
    Property output = isSum ? Property::partial() : Property::shard(1);
    if (axis < parallelization.batch)
      output = Property::shard(0);
    else if (isSpace)
      output = Property::shard(kFirstSpatial + (axes - 1 - axis) % std::max(1, layer.splitDims));
    rows.push_back(isSpace && layer.splitDims == 0 ? nullptr : rowThatGives(table, output, isSum));
    if (!rows.back())
      return isSpace ? "it must have all of space" : "it has no such label";
  }
  return {};
}

std::string findRows(const DeclaredLayer& layer, const SignatureTable& table, const Field& field,
                     const std::string& labels, SignatureRows& rows) {
  for (std::size_t axis = 0; axis < labels.size(); ++axis) {
    const Property fieldProperty = field.property(static_cast<int>(axis));
    const char label = labels[axis];
    // All rows are equivalent on an axis of one process.
    if (field.grid()->isTrivial(static_cast<int>(axis))) {
      rows.push_back(&table.front());
      continue;
    }
    // Space cannot remain split in a layer that needs all of it.
    if (label == 'k' && splitsSpace(fieldProperty) &&
        fieldProperty.dim >= kFirstSpatial + layer.splitDims)
      return "it must have all of space";
    if (label == 'k')
      rows.push_back(rowThatKeeps(table, fieldProperty));
    else if (label == 'i')
      rows.push_back(rowThatGives(table, Property::partial(), /*isSum=*/true));
    else
      rows.push_back(rowThatGives(table, Property::shard(label == 'n' ? 0 : 1), /*isSum=*/false));
    if (!rows.back())
      return "it has no such label";
  }
  return {};
}

std::string signatureOf(const SignatureRows& rows, int space) {
  std::vector<std::string> labels;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    // A single axis of space needs no order.
    const bool isReversed = space > 1 && axis + static_cast<std::size_t>(space) >= rows.size();
    labels.push_back(rows[axis]->label + (isReversed ? "-" : ""));
  }
  return joined(labels, ",");
}

std::string fieldText(const std::string& field, const std::string& signature, const Grid& grid) {
  std::vector<std::string> labels = split(signature, ','), shown;
  for (std::size_t axis = 0; axis < labels.size(); ++axis)
    if (!grid.isTrivial(static_cast<int>(axis)))
      shown.push_back(labels[axis]);
  return field + kAfterField + (shown.empty() ? "all" : joined(shown, ","));
}

std::string withoutBalanced(const std::string& parallelization) {
  return parallelization.ends_with(kBalancedEnd)
             ? parallelization.substr(0, parallelization.size() - kBalancedEnd.size())
             : parallelization;
}

std::string fieldIn(const std::string& parallelization) {
  const std::size_t end = parallelization.find(kAfterField);
  return end == std::string::npos ? "" : parallelization.substr(0, end);
}

std::string signatureOf(const std::string& parallelization, const DeclaredLayer& layer,
                        const FineGrid& grid) {
  const auto refuse = [&](const std::string& why) {
    throw Error(TENON_ERR_OPTION, fmt::format("layer {} cannot have the parallelization '{}': {}",
                                              layer.name, parallelization, why));
  };
  const SignatureTable table = layer.declaration->rows(layer.inputs);
  const std::string spatial = spatialLabels(layer);
  for (const Parallelization& known : grid.parallelizations(/*inputChannels=*/true)) {
    if (textOf(known, spatial, channelLabel(table)) != parallelization)
      continue;
    SignatureRows rows;
    if (const std::string fault = findRows(layer, table, grid.axes(), known, rows); !fault.empty())
      refuse(fault);
    return signatureOf(rows, known.space);
  }
  refuse(fmt::format("no parallelization on a process grid of {} is written like that",
                     counted(grid.axes(), "axis", "axes")));
  return {};
}

char channelLabel(const SignatureTable& table) {
  for (const SignatureRow& row : table)
    // The row that splits the output channels has their label: g if the layer has groups.
    if (row.output == Property::shard(1))
      return row.label == "g" ? 'g' : 'o';
  return 'o';
}

std::string spatialLabels(const DeclaredLayer& layer) {
  return spatialLabels(static_cast<int>(layer.inputs.front().size()) - 2, layer.splitDims);
}

} // namespace tenon
