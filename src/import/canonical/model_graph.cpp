// SPDX-License-Identifier: BSD-2-Clause
// The values that outputs need, and the error for operators that cannot be imported. It lists all
// of them, so a model needs to be changed only once.
#include "import/canonical/model_graph.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>
#include <tuple>

namespace tenon {

const ModelConstant& ModelValue::asConstant() const {
  if (!constant)
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("operation '{}' has a weight that is no constant", label));
  return *constant;
}

std::set<const ModelValue*> neededValues(const ModelGraph& graph) {
  std::set<const ModelValue*> needed(graph.outputs.begin(), graph.outputs.end());
  for (ModelValues open = graph.outputs; !open.empty();) {
    const ModelValue* value = open.back();
    open.pop_back();
    for (const ModelValue* input : value->inputs)
      if (needed.insert(input).second)
        open.push_back(input);
  }
  return needed;
}

void checkRefusals(const ModelGraph& graph, const std::string& file, std::size_t operators) {
  if (graph.refusals.empty())
    return;
  // One entry for each reason and place of the source; other operators there are only named.
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::string>> labels;
  std::set<std::string> refused;
  const auto keyOf = [](const ModelRefusal& r) { return std::tuple(r.what, r.where, r.advice); };
  for (const ModelRefusal& refusal : graph.refusals)
    if (refused.insert(refusal.label).second || !labels.contains(keyOf(refusal)))
      labels[keyOf(refusal)].push_back(refusal.label);
  std::string text = fmt::format("{}: {} of its {} operators cannot be imported:", file,
                                 refused.size(), operators);
  for (const ModelRefusal& refusal : graph.refusals) {
    const auto found = labels.find(keyOf(refusal));
    if (found == labels.end())
      continue; // listed before
    const std::vector<std::string> others(found->second.begin() + 1, found->second.end());
    labels.erase(found);
    std::vector<std::string> shapes;
    for (const Shape& shape : refusal.inputs)
      shapes.push_back(fmt::format("[{}]", fmt::join(shape, ",")));
    text += fmt::format("\n  {}: {}{}{}{}{}\n    what works: {}", refusal.label, refusal.what,
                        shapes.empty() ? "" : ", with inputs " + joined(shapes, ", "),
                        refusal.parameters.empty()
                            ? ""
                            : ", of parameter '" + joined(refusal.parameters, "' and '") + "'",
                        others.empty() ? "" : "\n    and so there: " + joined(others, ", "),
                        refusal.where.empty() ? "" : "\n    " + refusal.where, refusal.advice);
  }
  throw Error(TENON_ERR_SUPPORT, text);
}

} // namespace tenon
