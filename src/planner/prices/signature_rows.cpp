// SPDX-License-Identifier: BSD-2-Clause
// Finds the rows of parallelizations. A table may name its rows as it likes, so that only what a
// row does to input and output decides; where several do the same, the first is taken, which is the
// one that the type prefers.
#include "planner/prices/signature_rows.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr int kFirstSpatial = 2;
constexpr char kAfterField = ':';

// The row that gives the output this property. A row whose output is a sum must also split the
// input's channels: a table can have another one that takes contributions and gives contributions.
const SignatureRow* rowThatGives(const SignatureTable& rows, Property output, bool isSum) {
  for (const SignatureRow& row : rows)
    if (row.output == output && (!isSum || row.inputs.front() == Property::shard(1)))
      return &row;
  return nullptr;
}

// The row under which an input stays as it is. It should keep the output there too, but split
// channels are contracted by most layers, so for them any output will do.
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

// Space comes from the last axis inward, its dimensions taking turns, as FineGrid::parts() counts
// them.
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
    const Property kept = field.property(static_cast<int>(axis));
    const char label = labels[axis];
    // All rows do the same on an axis of one process.
    if (field.grid()->isTrivial(static_cast<int>(axis))) {
      rows.push_back(&table.front());
      continue;
    }
    // Space that the layer must have as a whole cannot stay split.
    if (label == 'k' && splitsSpace(kept) && kept.dim >= kFirstSpatial + layer.splitDims)
      return "it must have all of space";
    if (label == 'k')
      rows.push_back(rowThatKeeps(table, kept));
    else if (label == 'i')
      rows.push_back(rowThatGives(table, Property::partial(), true));
    else
      rows.push_back(rowThatGives(table, Property::shard(label == 'n' ? 0 : 1), false));
    if (!rows.back())
      return "it has no such label";
  }
  return {};
}

std::string signatureOf(const SignatureRows& rows, int space) {
  std::vector<std::string> labels;
  for (std::size_t axis = 0; axis < rows.size(); ++axis) {
    // A single axis of space splits in no particular order.
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
  for (const Parallelization& known : grid.parallelizations(true)) {
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
    // The table tells how the output channels are split: by groups, where there are any.
    if (row.output == Property::shard(1))
      return row.label == "g" ? 'g' : 'o';
  return 'o';
}

std::string spatialLabels(const DeclaredLayer& layer) {
  return spatialLabels(static_cast<int>(layer.inputs.front().size()) - 2, layer.splitDims);
}

} // namespace tenon
