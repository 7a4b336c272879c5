// SPDX-License-Identifier: BSD-2-Clause
// Finds layer types by name, such as "conv", in the table that the preprocessor makes from
// types.inc, and among the pointwise functions (types/pointwise.cpp). Every type is declared once
// while the library is loaded, because a declaration registers the options of its type, which must
// be known before a command line is parsed.
#include "declaration/core/types.hpp"

#include <algorithm>

namespace tenon {

namespace {

struct NamedType {
  const char* name;
  std::unique_ptr<Declaration> (*declare)();
};
#define TENON_LAYER_TYPE(name, Name) {#name, declare##Name},
#define TENON_TYPE_ON_TENSORS(name, Name) TENON_LAYER_TYPE(name, Name)
constexpr NamedType kTypes[] = {
#include "declaration/core/types.inc"
};
#undef TENON_TYPE_ON_TENSORS
#undef TENON_LAYER_TYPE

const bool kRegistered = [] {
  for (const std::string& name : declarationNames())
    makeDeclaration(name);
  return true;
}();

} // namespace

std::vector<std::string> declarationNames() {
  std::vector<std::string> names = pointwiseNames();
  for (const NamedType& entry : kTypes)
    names.emplace_back(entry.name);
  std::ranges::sort(names);
  return names;
}

std::unique_ptr<Declaration> makeDeclaration(const std::string& type) {
  for (const NamedType& entry : kTypes)
    if (type == entry.name)
      return entry.declare();
  return declarePointwise(type);
}

} // namespace tenon
