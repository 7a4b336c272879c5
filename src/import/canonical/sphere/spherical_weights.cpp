// SPDX-License-Identifier: BSD-2-Clause
// The weights of spherical convolutions: members of ModelBuilder. A model multiplies coefficients
// by a complex constant in an einsum, for example
//
//   bilm,iol->bolm         by degree: a convolution          bilm,iolm->bolm    by mode
//   bgilm,giol->bgolm      in groups of channels             bilm,io->bolm      shared
//   bclm,cl->bclm          separable: each channel by itself
//
// in any order of the labels. The layer's weight is [in_channels / groups, out_channels, orders,
// degrees, 2] without what it does not depend on, orders folded. The constant is brought to this
// order as a recipe of blocks of the file's tensor, so each rank still reads its part only. Class
// ModelBuilder is in model_builder.hpp.
#include "import/canonical/model_builder.hpp"

#include "kernels/sphere/rows.hpp"

#include <algorithm>

namespace tenon {

std::optional<ModelBuilder::Harmonics> ModelBuilder::weighted(Value z, const Labels& labels,
                                                              Value weight) {
  std::optional<Harmonics> harmonics = harmonicsOf(z->inputs[0]);
  if (!harmonics || harmonics->weight || !weight->isConstant())
    return std::nullopt;
  const std::string before = harmonics->roles;
  const auto roleOf = [&](char label) {
    const std::size_t d = labels.x.find(label);
    return d == std::string::npos ? 'o' : before[d];
  };
  std::string ofWeight, after;
  for (const char label : labels.w)
    ofWeight += roleOf(label);
  for (const char label : labels.y)
    after += roleOf(label);
  // The channels of the output take the place of those of the input.
  const bool isGrouped = before.find('g') != std::string::npos;
  const char channel = isGrouped ? 'i' : 'c';
  if (std::ranges::count(after, 'o') == 1) {
    if (after.find(channel) != std::string::npos || ofWeight.find(channel) == std::string::npos)
      return std::nullopt;
    std::ranges::replace(after, 'o', channel);
  } else if (isGrouped || ofWeight.find('o') != std::string::npos) {
    return std::nullopt;
  }
  const auto sorted = [](std::string text) {
    std::ranges::sort(text);
    return text;
  };
  // Weights of an order need those of its degrees, and no weights depend on the sample.
  const bool hasOrders = ofWeight.find('m') != std::string::npos,
             hasDegrees = ofWeight.find('l') != std::string::npos,
             hasChannels = ofWeight.find(channel) != std::string::npos &&
                           (!isGrouped || ofWeight.find('g') != std::string::npos);
  const std::string allowed = "cgiolm";
  if (sorted(before) != sorted(after) || (hasOrders && !hasDegrees) || !hasChannels ||
      ofWeight.find_first_not_of(allowed) != std::string::npos)
    return std::nullopt;
  harmonics->roles = after;
  harmonics->sphere.weights = hasOrders ? "mode" : hasDegrees ? "degree" : "shared";
  harmonics->weight = sphericalWeight(weight, ofWeight, *harmonics);
  return harmonics->weight ? harmonics : std::nullopt;
}

// The weights of all groups [groups, in, out, ...] as [in, groups out, ...]: a block of the file
// for each group.
std::optional<ModelConstant> ModelBuilder::joinedGroups(const ModelConstant& weight) {
  const Shape shape(weight.shape().begin() + 1, weight.shape().end());
  std::vector<ModelConstant> groups;
  for (Index g = 0; g < weight.shape()[0]; ++g) {
    const auto block = weight.sliced(0, g, g + 1, 1);
    const auto group = block ? block->reshaped(shape) : std::nullopt;
    if (!group)
      return std::nullopt;
    groups.push_back(*group);
  }
  return groups.empty() ? std::nullopt : ModelConstant::concatenated(groups, 1);
}

// The orders in dimension 2, in the sequence in which the layer stores them.
std::optional<ModelConstant> ModelBuilder::foldedOrders(const ModelConstant& weight, Index orders) {
  std::vector<ModelConstant> places;
  for (Index place = 0; place < orders; ++place) {
    const Index m = orderAtPlace(place, orders);
    const auto block = weight.sliced(2, m, m + 1, 1);
    if (!block)
      return std::nullopt;
    places.push_back(*block);
  }
  return ModelConstant::concatenated(places, 2);
}

// The weight with the layer's dimensions. `roles` are those of its dimensions but the last, the
// parts.
ModelBuilder::Value ModelBuilder::sphericalWeight(Value weight, const std::string& roles,
                                                  Harmonics& harmonics) {
  const bool isGrouped = roles.find('g') != std::string::npos,
             isSeparable = roles.find('o') == std::string::npos,
             hasOrders = roles.find('m') != std::string::npos;
  const std::string wanted = std::string(isGrouped     ? "gio"
                                         : isSeparable ? "c"
                                                       : "co") +
                             (hasOrders ? "m" : "") +
                             (roles.find('l') != std::string::npos ? "l" : "");
  if (wanted.size() != roles.size())
    return nullptr;
  std::vector<int> order;
  for (const char role : wanted)
    order.push_back(static_cast<int>(roles.find(role)));
  order.push_back(static_cast<int>(roles.size()));
  if (std::ranges::find(order, -1) != order.end())
    return nullptr;
  std::optional<ModelConstant> made = weight->asConstant().transposed(order);
  if (isSeparable || isGrouped)
    harmonics.groups = made->shape()[0];
  if (isSeparable) {
    Shape shape = made->shape();
    shape.insert(shape.begin(), 1);
    made = made->reshaped(shape);
  }
  if (isGrouped)
    made = joinedGroups(*made);
  if (!made)
    return nullptr;
  harmonics.outputs = made->shape()[1];
  if (hasOrders)
    made = foldedOrders(*made, harmonics.sphere.orders);
  return made ? constant(*made) : nullptr;
}

} // namespace tenon
