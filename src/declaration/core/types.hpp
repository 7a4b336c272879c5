// SPDX-License-Identifier: BSD-2-Clause
// The library's layer types by name. Each is declared in one file and listed in one line of
// types.inc.
#pragma once

#include "declaration/core/declaration.hpp"

namespace tenon {

#define TENON_LAYER_TYPE(name, Name) std::unique_ptr<Declaration> declare##Name();
#define TENON_TYPE_ON_TENSORS(name, Name) TENON_LAYER_TYPE(name, Name)
#include "declaration/core/types.inc"
#undef TENON_TYPE_ON_TENSORS
#undef TENON_LAYER_TYPE
// Makes the declaration of a pointwise function, or returns null if there is none with this name.
std::unique_ptr<Declaration> declarePointwise(const std::string& name);
std::vector<std::string> pointwiseNames();

// The names of all types, including the pointwise functions, in alphabetical order.
std::vector<std::string> declarationNames();
// Makes the declaration of a type, or returns null if the library has no such type.
std::unique_ptr<Declaration> makeDeclaration(const std::string& type);

} // namespace tenon
