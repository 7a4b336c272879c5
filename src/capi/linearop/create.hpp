// SPDX-License-Identifier: BSD-2-Clause
// Bodies of the calls that create linear operators. All are collective: the operator must have the
// same type, layouts and data types on all ranks.
#pragma once

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// The body of such a call: make() returns the new operator, a LinearOpRef. `name` is the name of
// the argument `op` for error texts.
template <class Make>
void createOp(Communicator& comm, TenonLinearOp* op, const char* name, Make make) {
  createCollectively(comm, op, name, "layouts and data types", make,
                     [](const LinearOpRef& created) { return created->agreedText(); });
}

// An operator on one layout: make(comm, layout).
template <class Make>
void createOn(TenonLayout layout, TenonLinearOp* op, Make make) {
  checkInitialized();
  const CommPtr comm = commOf("layout", layout);
  createOp(*comm, op, "op",
           [&] { return LinearOpRef(make(comm, deref(layout, "layout").layout())); });
}

// The two layouts of a creation, with the names of their arguments for error texts.
struct LayoutPair {
  TenonLayout from, to;
  const char* fromName = "from";
  const char* toName = "to";
};

// An operator between two layouts: make(comm, from, to). Throws TENON_ERR_ARG if they are on
// different communicators.
template <class Make>
void createBetween(const LayoutPair& pair, TenonLinearOp* op, Make make) {
  checkInitialized();
  const CommPtr comm = commOf(pair.fromName, pair.from, pair.to);
  createOp(*comm, op, "op", [&] {
    const LayoutObject& from = deref(pair.from, pair.fromName);
    const LayoutObject& to = deref(pair.to, pair.toName);
    if (from.comm() != to.comm())
      throw Error(TENON_ERR_ARG, fmt::format("{} and {} are on different communicators; create "
                                             "both on one that holds the ranks of both",
                                             pair.fromName, pair.toName));
    return LinearOpRef(make(comm, from.layout(), to.layout()));
  });
}

} // namespace tenon
