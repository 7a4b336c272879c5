// SPDX-License-Identifier: BSD-2-Clause
// Operators of the user's: shells and registered types.
#include "capi/linearop/create.hpp"

#include "linop/algebra/shell.hpp"
#include "linop/algebra/type_registry.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/ext/linearop.h>

using namespace tenon;

namespace {

Shell::Map mapOf(TenonLinearOpMap map, const char* what, void* context) {
  if (!map)
    return {};
  return [map, what, context](const DTensor& x, DTensor& y) {
    callUser(what, [&] { return map(handleOf(x), handleOf(y), context); });
  };
}

Shell::Functions mapsOf(TenonLinearOpMap apply, TenonLinearOpMap applyAdjoint, void* context) {
  if (!apply)
    throw Error(TENON_ERR_NULL, "apply is NULL; pass the function that computes F x");
  Shell::Functions maps;
  maps.apply = mapOf(apply, "an operator's apply", context);
  maps.applyAdjoint = mapOf(applyAdjoint, "an operator's applyAdjoint", context);
  return maps;
}

void callOnDestroy(Shell& shell, TenonLinearOpDestroyer destroy, void* context) {
  if (destroy)
    shell.onDestroy([destroy, context] { destroy(context); });
}

void* makeContext(const TenonLinearOpFunctions& functions, const LinearOpSignature& s,
                  void* parameters) {
  if (!functions.create)
    return parameters;
  const auto domain = makeRef<LayoutObject>(s.comm, s.domain);
  const auto range = makeRef<LayoutObject>(s.comm, s.range);
  void* context = nullptr;
  callUser("an operator type's create", [&] {
    return functions.create(handleOf(*domain), handleOf(*range), s.domainType, s.rangeType,
                            parameters, &context);
  });
  return context;
}

// From here on the operator's end frees the context, also if another rank has failed.
LinearOpRef makeRegistered(const std::string& name, const TenonLinearOpFunctions& functions,
                           const LinearOpSignature& s, void* parameters) {
  checkDataType(s.domainType);
  checkDataType(s.rangeType);
  void* context = makeContext(functions, s, parameters);
  Shell::Functions maps = mapsOf(functions.apply, functions.applyAdjoint, context);
  maps.typeName = name;
  const auto shell =
      makeRef<Shell>(s.comm, s.domain, s.range, s.domainType, s.rangeType, std::move(maps));
  callOnDestroy(*shell, functions.destroy, context);
  return shell;
}

} // namespace

TenonErrorCode TenonLinearOpCreateShell(TenonLayout domain, TenonLayout range,
                                        TenonDataType domainType, TenonDataType rangeType,
                                        TenonLinearOpMap apply, TenonLinearOpMap applyAdjoint,
                                        void* context, TenonLinearOpDestroyer destroy,
                                        TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    Ref<Shell> made;
    createBetween({domain, range, "domain", "range"}, op,
                  [&](const CommPtr& comm, const Layout& a, const Layout& b) {
                    made = makeRef<Shell>(comm, a, b, domainType, rangeType,
                                          mapsOf(apply, applyAdjoint, context));
                    return made;
                  });
    callOnDestroy(*made, destroy, context);
  });
}

TenonErrorCode TenonLinearOpCreateType(TenonLayout domain, TenonLayout range,
                                       TenonDataType domainType, TenonDataType rangeType,
                                       const char* name, void* parameters,
                                       TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createBetween({domain, range, "domain", "range"}, op,
                  [&](const CommPtr& comm, const Layout& a, const Layout& b) {
                    return linearOpTypes().find(textOf(name, "name"))(
                        {comm, a, b, domainType, rangeType}, parameters);
                  });
  });
}

TenonErrorCode TenonLinearOpRegister(const char* name,
                                     const TenonLinearOpFunctions* functions) noexcept {
  return guard(__func__, [&] {
    const std::string type = textOf(name, "name");
    const TenonLinearOpFunctions table = required(functions, "functions");
    if (!table.apply)
      throw Error(
          TENON_ERR_NULL,
          fmt::format("type '{}' has no function apply; pass the function that computes F x",
                      type));
    linearOpTypes().add(type, [type, table](const LinearOpSignature& s, void* parameters) {
      return makeRegistered(type, table, s, parameters);
    });
  });
}
