// SPDX-License-Identifier: BSD-2-Clause
// The named primitives: conversions whose range follows from the domain.
#include "capi/linearop_create.hpp"

#include "linop/make_conversion.hpp"
#include "linop/primitive.hpp"
#include "sys/guard.hpp"

#include <tenon/linearop_create.h>

using namespace tenon;

namespace {

TenonErrorCode create(const char* function, Primitive primitive, TenonLayout layout, int axis,
                      int dim, TenonDataType type, TenonLinearOp* op) {
  return guard(function, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& domain) {
      return makeConversion(comm, domain, primitiveRange(primitive, domain, axis, dim), type);
    });
  });
}

constexpr int kNoDimension = -1;

} // namespace

TenonErrorCode TenonLinearOpCreateBroadcast(TenonLayout layout, int axis, TenonDataType type,
                                            TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::Broadcast, layout, axis, kNoDimension, type, op);
}

TenonErrorCode TenonLinearOpCreateSumReduce(TenonLayout layout, int axis, TenonDataType type,
                                            TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::SumReduce, layout, axis, kNoDimension, type, op);
}

TenonErrorCode TenonLinearOpCreateAllReduce(TenonLayout layout, int axis, TenonDataType type,
                                            TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::AllReduce, layout, axis, kNoDimension, type, op);
}

TenonErrorCode TenonLinearOpCreateScatter(TenonLayout layout, int axis, int dim, TenonDataType type,
                                          TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::Scatter, layout, axis, dim, type, op);
}

TenonErrorCode TenonLinearOpCreateGather(TenonLayout layout, int axis, TenonDataType type,
                                         TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::Gather, layout, axis, kNoDimension, type, op);
}

TenonErrorCode TenonLinearOpCreateAllGather(TenonLayout layout, int axis, TenonDataType type,
                                            TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::AllGather, layout, axis, kNoDimension, type, op);
}

TenonErrorCode TenonLinearOpCreateReduceScatter(TenonLayout layout, int axis, int dim,
                                                TenonDataType type, TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::ReduceScatter, layout, axis, dim, type, op);
}

TenonErrorCode TenonLinearOpCreateAllToAll(TenonLayout layout, int axis, int dim,
                                           TenonDataType type, TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::AllToAll, layout, axis, dim, type, op);
}

TenonErrorCode TenonLinearOpCreateSlice(TenonLayout layout, int axis, int dim, TenonDataType type,
                                        TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::Slice, layout, axis, dim, type, op);
}

TenonErrorCode TenonLinearOpCreateZeroPad(TenonLayout layout, int axis, TenonDataType type,
                                          TenonLinearOp* op) noexcept {
  return create(__func__, Primitive::ZeroPad, layout, axis, kNoDimension, type, op);
}

TenonErrorCode TenonLinearOpCreateSendReceive(TenonLayout layout, int rank, TenonDataType type,
                                              TenonLinearOp* op) noexcept {
  return guard(__func__, [&] {
    createOn(layout, op, [&](const CommPtr& comm, const Layout& domain) {
      return makeConversion(comm, domain, sendReceiveRange(domain, rank, comm->size()), type);
    });
  });
}
