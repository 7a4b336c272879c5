/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLinearOp: a linear map F from tensors in one layout to tensors in another.
 *
 *  Its adjoint F* maps the dual of the range to the dual of the domain, so that
 *      <F x, y> = <x, F* y>
 *  with the pairing of TenonDTensorPairing(). Every movement of data between ranks is such an
 *  operator, and its adjoint is again one of the same family (Hewett and Grady, "A linear algebraic
 *  approach to model parallelism in deep learning", 2020).
 *
 *  All operators here are created ready for use: there is no SetUp. They hold what they need of the
 *  objects that they are created from, which may be destroyed.
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class. Creates fail alike on all ranks, and return
 *  TENON_ERR_COLLECTIVE if ranks pass different arguments.
 */
#ifndef TENON_LINEAROP_H
#define TENON_LINEAROP_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief The conversion of tensors from one layout to another. Collective on the layouts.
 *
 *  Broadcast, sum-reduce, scatter, gather, all-gather, reduce-scatter, all-to-all, slice, zero-pad
 *  and halo exchange are its cases, by the properties, cuts and margins of the two layouts. Its
 *  adjoint is the conversion from the dual of `to` to the dual of `from`.
 *
 *  @param[in]  from  layout of the domain
 *  @param[in]  to    layout of the range, of the same shape, on the same communicator
 *  @param[in]  type  element type of both; the adjoint is of the same type
 *  @param[out] op    to be given back with TenonLinearOpDestroy()
 *  @return on all ranks TENON_ERR_SHAPE if the shapes differ, TENON_ERR_ARG if the communicators
 *          do, TENON_ERR_STATE for a layout that is not set up, TENON_ERR_DATATYPE for a value that
 *          is no data type
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateConversion(TenonLayout from, TenonLayout to,
                                                          TenonDataType type,
                                                          TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The conversion that fills margins: a halo exchange. Collective on the layouts.
 *
 *  Cells of a margin within the domain come from the ranks that own them, however far away; cells
 *  outside follow the boundary mode. The adjoint adds what the margins hold to the owners' cells.
 *
 *  @param[in] from  a layout, usually without margins
 *  @param[in] to    the same layout with margins
 *  @return also TENON_ERR_LAYOUT if `to` differs from `from` in more than margins, or has none, or
 *          if one of them holds addends in its margins
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateHalo(TenonLayout from, TenonLayout to,
                                                    TenonDataType type,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The conversion between two layouts on the same mesh or on two, that keeps the tensor's
 *         value. Collective on the layouts.
 *
 *  @return also TENON_ERR_LAYOUT if one of the layouts holds addends or has margins
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateRepartition(TenonLayout from, TenonLayout to,
                                                           TenonDataType type,
                                                           TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The operator that applies others one after the other: ops[count-1] ... ops[1] ops[0].
 *         Collective on the operators.
 *
 *  @param[in]  count  at least 1
 *  @param[in]  ops    [count] the range of each must be the domain of the next
 *  @param[out] op     its adjoint applies the adjoints in reverse order
 *  @return on all ranks TENON_ERR_LAYOUT or TENON_ERR_DATATYPE, naming the first pair that does not
 *          fit; TENON_ERR_ARG if they live on different communicators or count is below 1
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateComposition(int count, const TenonLinearOp ops[],
                                                           TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The adjoint as an operator of its own: Apply and ApplyAdjoint exchanged.
 *         Collective on the operator. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAdjoint(TenonLinearOp op,
                                                       TenonLinearOp* adjoint) TENON_NOEXCEPT;

/** @brief y <- F x. Collective on the operator.
 *
 *  From the second call on nothing is allocated. A wrong argument, or a failure, is not made known
 *  to the other ranks, since that would cost a message in each call: on more than one rank it goes
 *  to the fatal handler (TenonSetFatalErrorHandler(); by default it ends the program).
 *
 *  @param[in]  op  operator
 *  @param[in]  x   tensor in the domain
 *  @param[out] y   tensor in the range, another than x, of other memory; its old value is not read
 *  @return TENON_ERR_LAYOUT, TENON_ERR_SHAPE or TENON_ERR_DATATYPE if a tensor does not fit;
 *          TENON_ERR_STATE if an array is lent, or y's is constant; TENON_ERR_ARG if x is y. Then y
 *          is unchanged.
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApply(TenonLinearOp op, TenonDTensor x,
                                               TenonDTensor y) TENON_NOEXCEPT;

/** @brief x <- F* y. Collective on the operator. Errors as in TenonLinearOpApply().
 *
 *  @param[in]  op  operator
 *  @param[in]  y   tensor in the dual of the range
 *  @param[out] x   tensor in the dual of the domain, another than y
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdjoint(TenonLinearOp op, TenonDTensor y,
                                                      TenonDTensor x) TENON_NOEXCEPT;

/** @brief The layout of the domain. Not collective.
 *  @param[out] layout  a new handle, to be given back with TenonLayoutDestroy() */
TENON_EXTERN TenonErrorCode TenonLinearOpGetDomain(TenonLinearOp op,
                                                   TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The layout of the range. Not collective. As TenonLinearOpGetDomain(). */
TENON_EXTERN TenonErrorCode TenonLinearOpGetRange(TenonLinearOp op,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The element type. Not collective. */
TENON_EXTERN TenonErrorCode TenonLinearOpGetDataType(TenonLinearOp op,
                                                     TenonDataType* type) TENON_NOEXCEPT;

/** @brief What this rank sends to others in one Apply of a conversion. Not collective.
 *
 *  @param[out] messages  number of messages
 *  @param[out] bytes     payload of all of them
 *  @return TENON_ERR_SUPPORT if the operator is no conversion
 */
TENON_EXTERN TenonErrorCode TenonLinearOpGetTraffic(TenonLinearOp op, TenonInt* messages,
                                                    TenonInt* bytes) TENON_NOEXCEPT;

/** @brief Tests the adjoint identity on raw memory, independent numbers in every cell of every
 *         rank. Collective on the operator.
 *
 *  @param[in]  op        operator
 *  @param[in]  seed      of the numbers; the same on all ranks
 *  @param[in]  integers  TENON_TRUE: small integers, on which a conversion's two pairings are equal
 *                        exactly; TENON_FALSE: uniform in [-1, 1)
 *  @param[out] forward   <F x, y>; may be NULL
 *  @param[out] adjoint   <x, F* y>; may be NULL
 *  @param[out] relative  their difference over max(|F x| |y|, |x| |F* y|); may be NULL. At most
 *                        1e-13 for float64 and 1e-5 for float32 unless something is wrong.
 *  @return on all ranks TENON_ERR_DATATYPE for an operator on integers
 */
TENON_EXTERN TenonErrorCode TenonLinearOpTestAdjoint(TenonLinearOp op, TenonInt seed,
                                                     TenonBool integers, double* forward,
                                                     double* adjoint,
                                                     double* relative) TENON_NOEXCEPT;

/** @brief Prints type, domain, range and traffic, on rank 0 of its communicator. Not collective. */
TENON_EXTERN TenonErrorCode TenonLinearOpView(TenonLinearOp op) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonLinearOpDestroy(TenonLinearOp* op) TENON_NOEXCEPT;

#endif
