// SPDX-License-Identifier: BSD-2-Clause
// Registry of the operator types that a program can create by name, and the checks of their
// signatures. The library's types are added once, before the registry is first returned, so a
// program cannot register a type under one of their names.
#include "linop/algebra/type_registry.hpp"

#include "linop/algebra/memory_op.hpp"
#include "linop/exchange/make_conversion.hpp"

namespace tenon {

namespace {

void checkOneType(const LinearOpSignature& s, const char* name) {
  if (s.domainType != s.rangeType)
    throw Error(TENON_ERR_DATATYPE,
                fmt::format("{} keeps the data type, but its domain is {} and its range {}", name,
                            dataTypeName(s.domainType), dataTypeName(s.rangeType)));
}

void checkOneLayout(const LinearOpSignature& s, const char* name) {
  if (!(s.domain == s.range))
    throw Error(TENON_ERR_LAYOUT,
                fmt::format("{} keeps the layout, but its domain is {} and its range {}", name,
                            s.domain.describe(), s.range.describe()));
}

void addOwnTypes(TypeRegistry<LinearOpFactory>& types) {
  types.add("conversion", [](const LinearOpSignature& s, void*) -> LinearOpRef {
    checkOneType(s, "a conversion");
    return makeConversion(s.comm, s.domain, s.range, s.domainType);
  });
  types.add("cast", [](const LinearOpSignature& s, void*) -> LinearOpRef {
    checkOneLayout(s, "a cast");
    return makeRef<Cast>(s.comm, s.domain, s.domainType, s.rangeType);
  });
  types.add("identity", [](const LinearOpSignature& s, void*) -> LinearOpRef {
    checkOneLayout(s, "the identity");
    checkOneType(s, "the identity");
    return makeRef<Cast>(s.comm, s.domain, s.domainType, s.rangeType);
  });
  types.add("zero", [](const LinearOpSignature& s, void*) -> LinearOpRef {
    checkOneType(s, "the zero operator");
    return makeRef<Zero>(s.comm, s.domain, s.range, s.domainType);
  });
}

} // namespace

TypeRegistry<LinearOpFactory>& linearOpTypes() {
  // Initialisation of a static object runs once and makes other threads wait.
  static TypeRegistry<LinearOpFactory>& types = []() -> TypeRegistry<LinearOpFactory>& {
    static TypeRegistry<LinearOpFactory> registry("operator type");
    addOwnTypes(registry);
    return registry;
  }();
  return types;
}

} // namespace tenon
