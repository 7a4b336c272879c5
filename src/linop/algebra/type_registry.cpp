// SPDX-License-Identifier: BSD-2-Clause
// The operator types that a program can ask for by name, with the checks that their signatures
// need. The library's own types are added when the registry is first asked for, once and before
// anybody sees it, so that a program cannot take one of their names.
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
  // The types are added while a static object is initialised, which happens once and makes other
  // threads wait.
  static TypeRegistry<LinearOpFactory>& types = []() -> TypeRegistry<LinearOpFactory>& {
    static TypeRegistry<LinearOpFactory> registry("operator type");
    addOwnTypes(registry);
    return registry;
  }();
  return types;
}

} // namespace tenon
