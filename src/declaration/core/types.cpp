// SPDX-License-Identifier: BSD-2-Clause
// Finds the library's types of layers by name, in the table that types.inc makes. Every type is
// declared once while the library is loaded: a declaration registers its options, and these must be
// known before a command line is read.
#include "declaration/core/types.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct Known {
  const char* name;
  std::unique_ptr<Declaration> (*declare)();
};
#define TENON_LAYER_TYPE(name, Name) {#name, declare##Name},
#define TENON_TYPE_WITHOUT_KERNELS(name, Name) TENON_LAYER_TYPE(name, Name)
constexpr Known kKnown[] = {
#include "declaration/core/types.inc"
};
#undef TENON_TYPE_WITHOUT_KERNELS
#undef TENON_LAYER_TYPE

const bool kRegistered = [] {
  for (const std::string& name : declarationNames())
    makeDeclaration(name);
  return true;
}();

} // namespace

std::vector<std::string> declarationNames() {
  std::vector<std::string> names = pointwiseNames();
  for (const Known& known : kKnown)
    names.emplace_back(known.name);
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<Declaration> makeDeclaration(const std::string& type) {
  for (const Known& known : kKnown)
    if (type == known.name)
      return known.declare();
  return declarePointwise(type);
}

} // namespace tenon
