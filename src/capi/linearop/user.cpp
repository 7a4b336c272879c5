// SPDX-License-Identifier: BSD-2-Clause
// User-defined operators: shells, which consist of the user's functions for F and F* and a pointer
// (context) that both get, and operator types that a program registers by name. The context is
// freed by its owner:
//   shell             the caller, until the creation has succeeded on all ranks; then the operator
//   registered type   the operator, as soon as the type's create function has returned the context.
//                     So the context is also freed if the creation then fails on another rank.
//
// The calls are declared in tenon/linearop_create.h.
#include "capi/linearop/create.hpp"

#include "dtensor/dtensor.hpp"
#include "linop/algebra/shell.hpp"
#include "linop/algebra/type_registry.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/ext/linearop.h>

using namespace tenon;

namespace {

// Wraps a user function as a function on tensors; `what` is its name in error texts. A function
// that is NULL stays empty.
Shell::Map mapOf(TenonLinearOpMap map, const char* what, void* context) {
  if (!map)
    return {};
  return [map, what, context](const DTensor& x, DTensor& y) {
    callUser(what,
             [&] { return map(handleOf<TenonDTensor>(x), handleOf<TenonDTensor>(y), context); });
  };
}

// Wraps the two functions of an operator; applyAdjoint may be NULL.
Shell::Functions mapsOf(TenonLinearOpMap apply, TenonLinearOpMap applyAdjoint, void* context) {
  if (!apply)
    throw Error(TENON_ERR_NULL, "apply is NULL; pass the function that computes F x");
  Shell::Functions maps;
  maps.apply = mapOf(apply, "an operator's apply", context);
  maps.applyAdjoint = mapOf(applyAdjoint, "an operator's applyAdjoint", context);
  return maps;
}

// Makes the end of the operator free the context, by the user's function, if there is one.
void callOnDestroy(Shell& shell, TenonLinearOpDestroyer destroy, void* context) {
  if (destroy)
    shell.onDestroy([destroy, context] { callDestroyer(destroy, context); });
}

// Returns the context of a new operator of a registered type: the one that its create function
// returns, or the caller's parameters if the type has no such function.
void* makeContext(const TenonLinearOpFunctions& functions, const LinearOpSignature& s,
                  void* parameters) {
  if (!functions.create)
    return parameters;
  const auto domain = makeRef<LayoutObject>(s.comm, s.domain);
  const auto range = makeRef<LayoutObject>(s.comm, s.range);
  void* context = nullptr;
  callUser("an operator type's create", [&] {
    return functions.create(handleOf<TenonLayout>(*domain), handleOf<TenonLayout>(*range),
                            s.domainType, s.rangeType, parameters, &context);
  });
  return context;
}

// Makes an operator of a registered type on this rank. The caller agrees with the other ranks.
LinearOpRef makeRegistered(const std::string& name, const TenonLinearOpFunctions& functions,
                           const LinearOpSignature& s, void* parameters) {
  checkDataType(s.domainType);
  checkDataType(s.rangeType);
  void* context = makeContext(functions, s, parameters);
  try {
    Shell::Functions maps = mapsOf(functions.apply, functions.applyAdjoint, context);
    maps.typeName = name;
    const auto shell =
        makeRef<Shell>(s.comm, s.domain, s.range, s.domainType, s.rangeType, std::move(maps));
    // The operator owns the context from now on, so it is freed also if the creation fails later.
    callOnDestroy(*shell, functions.destroy, context);
    return shell;
  } catch (...) {
    if (functions.destroy)
      callDestroyer(functions.destroy, context);
    throw;
  }
}

} // namespace

TenonErrorCode TenonLinearOpCreateShell(TenonLayout domain, TenonLayout range,
                                        TenonDataType domainType, TenonDataType rangeType,
                                        TenonLinearOpMap apply, TenonLinearOpMap applyAdjoint,
                                        void* context, TenonLinearOpDestroyer destroy,
                                        TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    Ref<Shell> shell;
    createBetween({domain, range, "domain", "range"}, op,
                  [&](const CommPtr& comm, const Layout& a, const Layout& b) {
                    shell = makeRef<Shell>(comm, a, b, domainType, rangeType,
                                           mapsOf(apply, applyAdjoint, context));
                    return shell;
                  });
    // Only after the agreement: if the creation fails, the context still belongs to the caller.
    callOnDestroy(*shell, destroy, context);
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
