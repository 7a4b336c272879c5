// SPDX-License-Identifier: BSD-2-Clause
// Finds layers and parameters by a path of names: in a network with a container "encoder" that has
// a layer "conv1", "encoder/conv1/weight" is the weight of that layer. A layer also has its number
// in the container, its only name if it has been given none: "encoder/0/weight". If a name of the
// path does not exist, the error lists the names at that level.
#include "layer/networks/path.hpp"

#include "sys/errors/guard.hpp"
#include "sys/options/option_text.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

[[noreturn]] void throwMissing(const Layer& layer, const char* what, std::string_view name,
                               const std::vector<std::string>& existingNames) {
  throw Error(TENON_ERR_ARG, fmt::format("{} has no {} '{}'; it has {}", layer.title(), what, name,
                                         existingNames.empty() ? "none" : joined(existingNames)));
}

} // namespace

std::string nameInPath(const Layer& container, const Layer& child) {
  if (!child.name().empty())
    return child.name();
  // The number is the position among the contained layers, not among the nodes: it does not depend
  // on which node refers to the layer.
  const std::vector<Layer*>& children = container.children();
  return std::to_string(std::find(children.begin(), children.end(), &child) - children.begin());
}

std::string placeIn(const std::string& containerTitle, const Layer& container, const Layer& child) {
  return fmt::format("layer {} ({}) of {}", nameInPath(container, child), child.type(),
                     containerTitle);
}

// An error of a layer without a name says "the layer", which is ambiguous in a network. This
// function is called in a catch clause around a call of the child. It rethrows the error unchanged
// if its text already identifies the layer, or if it is an error that the error handling has
// recorded before.
void rethrowWithPlace(const std::string& place, const Layer& child, const Error& error) {
  const std::string& text = error.text();
  const bool isRecorded = dynamic_cast<const RecordedError*>(&error) != nullptr;
  if (isRecorded || !child.name().empty() || text.find(child.title()) == std::string::npos)
    throw;
  Error errorWithPlace(error.code(),
                       text.starts_with(child.title()) ? place + text.substr(child.title().size())
                                                       : fmt::format("{}: {}", place, text),
                       error.where());
  throw error.isAgreed() ? errorWithPlace.agreed(error.speaks()) : errorWithPlace;
}

Layer& childAt(Layer& container, std::string_view path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view name = path.substr(0, end);
  std::vector<std::string> existingNames;
  for (const Layer* child : container.children())
    existingNames.push_back(nameInPath(container, *child));
  const auto count = static_cast<Index>(existingNames.size());
  // A layer whose name is a number comes before the one that has this number.
  Index number = std::ranges::find(existingNames, name) - existingNames.begin();
  if (number == count)
    number = parseInt(name).value_or(-1);
  if (number < 0 || number >= count)
    throwMissing(container, "layer", name, existingNames);
  Layer& child = *container.children()[number];
  return end == path.size() ? child : childAt(child, path.substr(end + 1));
}

Parameter& parameterAt(Layer& layer, std::string_view path) {
  const std::size_t last = path.rfind('/');
  if (last != path.npos)
    return parameterAt(childAt(layer, path.substr(0, last)), path.substr(last + 1));
  std::vector<std::string> existingNames;
  for (const Ref<Parameter>& p : layer.ownParameters()) {
    if (p->name() == path)
      return *p;
    existingNames.push_back(p->name());
  }
  throwMissing(layer, "parameter", path, existingNames);
}

} // namespace tenon
