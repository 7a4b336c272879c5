// SPDX-License-Identifier: BSD-2-Clause
// The creation of operators from layouts and from operators. All ranks must mean an operator of the
// same type between the same layouts and data types.
#pragma once

#include "capi/collective.hpp"
#include "comm/layout_object.hpp"
#include "linop/linear_op.hpp"

namespace tenon {

// make() gives a LinearOpRef.
template <class Make>
void createOp(Communicator& comm, TenonLinearOp* op, const char* name, Make make) {
  createTogether(comm, op, name, "layouts and data types", make,
                 [](const LinearOpRef& made) { return made->agreedText(); });
}

// make(comm, layout).
template <class Make>
void createOn(TenonLayout layout, TenonLinearOp* op, Make make) {
  checkInitialized();
  const CommPtr comm = commOf("layout", layout);
  createOp(*comm, op, "op",
           [&] { return LinearOpRef(make(comm, deref(layout, "layout").layout())); });
}

// Two layouts among the arguments of a create call, with the names that they have there.
struct LayoutPair {
  TenonLayout from, to;
  const char* fromName = "from";
  const char* toName = "to";
};

// make(comm, from, to). Fails with TENON_ERR_ARG for layouts on different communicators.
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
