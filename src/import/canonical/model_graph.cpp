// SPDX-License-Identifier: BSD-2-Clause
// The error for operators that cannot be imported. It lists all of them, so a model needs to be
// changed only once.
#include "import/canonical/model_graph.hpp"

#include "sys/errors/error.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tenon {

const ModelConstant& ModelValue::asConstant() const {
  if (!constant)
    throw Error(TENON_ERR_INTERNAL,
                fmt::format("operation '{}' has a weight that is no constant", label));
  return *constant;
}

void checkRefusals(const ModelGraph& graph, const std::string& file, std::size_t operators) {
  if (graph.refusals.empty())
    return;
  std::string text = fmt::format("{}: {} of its {} operators cannot be imported:", file,
                                 graph.refusals.size(), operators);
  for (const ModelRefusal& refusal : graph.refusals) {
    std::vector<std::string> shapes;
    for (const Shape& shape : refusal.inputs)
      shapes.push_back(fmt::format("[{}]", fmt::join(shape, ",")));
    text += fmt::format("\n  {}: {}{}{}\n    {}\n    what works: {}", refusal.label, refusal.what,
                        shapes.empty() ? "" : ", with inputs " + joined(shapes, ", "),
                        refusal.parameters.empty()
                            ? ""
                            : ", of parameter '" + joined(refusal.parameters, "' and '") + "'",
                        refusal.where.empty() ? "(the file has no source line)" : refusal.where,
                        refusal.advice);
  }
  throw Error(TENON_ERR_SUPPORT, text);
}

} // namespace tenon
