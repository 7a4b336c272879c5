// SPDX-License-Identifier: BSD-2-Clause
#include "tools/plan_signatures.hpp"

#include "tools/handles.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <limits>
#include <stdexcept>

namespace tenon::tools {

const std::vector<ProgramOption> kSignatureOptions{
    {"layer", TENON_OPTION_STRING, "", "type of layers: conv, affine, matmul, ..."},
    {"ndim", TENON_OPTION_INT, "0",
     "dimensions of the first input; 0: the fewest that the type takes"},
    {"inputs", TENON_OPTION_STRING, "",
     "only the rows of these properties of the inputs: S1,S0; empty: all"},
};

namespace {

// "k: S1,S0 -> P": whether the inputs are the properties asked for.
bool isOf(const std::string& line, const std::string& inputs) {
  const std::string text = line.substr(line.find(": ") + 2);
  return inputs.empty() || text.substr(0, text.find(' ')) == inputs;
}

} // namespace

int planSignatures() {
  const std::string type = textOption("layer"), inputs = textOption("inputs");
  if (type.empty())
    throw std::runtime_error("-layer is missing; pass a type such as matmul");
  const TenonInt dimensions = intOption("ndim");
  if (dimensions < 0 || dimensions > std::numeric_limits<int>::max())
    throw std::runtime_error(
        fmt::format("-ndim is {}; pass the number of dimensions of the input, or 0", dimensions));
  const std::string table = textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonLayerGetTypeSignatures(type.c_str(), static_cast<int>(dimensions), text, length,
                                       needed);
  });
  int rows = 0;
  for (const std::string& line : wordsOf(table, '\n'))
    if (isOf(line, inputs)) {
      std::printf("%s\n", line.c_str());
      ++rows;
    }
  if (rows == 0)
    throw std::runtime_error(
        fmt::format("layers of type {} have no row for inputs {}; they are converted to those of "
                    "one:\n{}",
                    type, inputs, table));
  return 0;
}

} // namespace tenon::tools
