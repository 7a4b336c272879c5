/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLinearOp: a linear map F from tensors in one layout to tensors in another. Its use;
 *         linearop_create.h has the operators themselves.
 *
 *  Its adjoint F* maps the dual of the range to the dual of the domain, so that
 *      <F x, y> = <x, F* y>
 *  with the pairing of TenonDTensorPairing(). Every movement of data between ranks is such an
 *  operator, and its adjoint is again one of the same family (Hewett and Grady, "A linear algebraic
 *  approach to model parallelism in deep learning", 2020).
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class.
 */
#ifndef TENON_LINEAROP_H
#define TENON_LINEAROP_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief y <- F x. Collective on the operator.
 *
 *  From the second call on nothing is allocated. A wrong argument, or a failure, is not made known
 *  to the other ranks, since that would cost a message in each call: on more than one rank it goes
 *  to the fatal handler (TenonSetFatalErrorHandler(); by default it ends the program).
 *
 *  @param[in]  op  operator
 *  @param[in]  x   tensor in the domain
 *  @param[out] y   tensor in the range, another than x; its old value is not read. Its memory is
 *                  another than x's, but for conversions between layouts that differ in margins
 *                  alone, such as a halo exchange: they work in place too, where x and y wrap one
 *                  ghosted array of the caller's (TenonDTensorPlaceArray() with the same first owned
 *                  cell). Owned cells then stay as they are, or get the margins' addends.
 *  @return TENON_ERR_LAYOUT, TENON_ERR_SHAPE or TENON_ERR_DATATYPE if a tensor does not fit;
 *          TENON_ERR_STATE if an array is lent, if y's is constant, or between Begin and End;
 *          TENON_ERR_ARG if x is y, or they share memory otherwise. Then y is unchanged.
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

/** @brief y <- alpha F x + beta y. Collective on the operator. Errors as in TenonLinearOpApply().
 *
 *  @param[in]     op     operator
 *  @param[in]     alpha  the same on all ranks; 0: x is not read
 *  @param[in]     x      tensor in the domain
 *  @param[in]     beta   the same on all ranks; 0: the old value of y is not read
 *  @param[in,out] y      tensor in the range. Where it has copies (B axes) they stay equal if they
 *                        were; where it has addends (P axes) each addend is multiplied by beta.
 *  @return also TENON_ERR_DATATYPE for a broken factor of integers
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdd(TenonLinearOp op, double alpha, TenonDTensor x,
                                                  double beta, TenonDTensor y) TENON_NOEXCEPT;

/** @brief x <- alpha F* y + beta x. Collective on the operator. As TenonLinearOpApplyAdd(), with y
 *         in the dual of the range and x in the dual of the domain. */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdjointAdd(TenonLinearOp op, double alpha,
                                                         TenonDTensor y, double beta,
                                                         TenonDTensor x) TENON_NOEXCEPT;

/** @name Two halves
 *
 *  Begin starts the messages and returns; End waits for them and completes y. Together they are
 *  ApplyAdd. In between the caller may compute, and use other operators; x is lent for reading and
 *  y for writing, so that no other call touches them, and another Apply, Begin or Bind of this
 *  operator, or its Destroy, is TENON_ERR_STATE. All ranks begin, apply and end the operators of one
 *  communicator in one order. Of a composition, and of a conversion in several steps, only the first
 *  works ahead, of a sum the first addend; shell operators do all at the End.
 */
/**@{*/

/** @brief Starts y <- alpha F x + beta y. Collective on the operator. Parameters and errors as in
 *         TenonLinearOpApplyAdd(). */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyBegin(TenonLinearOp op, double alpha, TenonDTensor x,
                                                    double beta, TenonDTensor y) TENON_NOEXCEPT;

/** @brief Completes what TenonLinearOpApplyBegin() has started. Collective on the operator.
 *  @return TENON_ERR_STATE if nothing is started, or the adjoint is */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyEnd(TenonLinearOp op) TENON_NOEXCEPT;

/** @brief Starts x <- alpha F* y + beta x. Collective on the operator. */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdjointBegin(TenonLinearOp op, double alpha,
                                                           TenonDTensor y, double beta,
                                                           TenonDTensor x) TENON_NOEXCEPT;

/** @brief Completes what TenonLinearOpApplyAdjointBegin() has started. Collective on the operator.
 *  @return TENON_ERR_STATE if nothing is started, or the forward operator is */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdjointEnd(TenonLinearOp op) TENON_NOEXCEPT;
/**@}*/

/** @name Bound arrays
 *
 *  An operator that is applied many times to the same two arrays, as in the time step of a solver,
 *  may be bound to them: conversions then use persistent requests, and send from and receive into
 *  the arrays themselves where the cells lie one after the other. It works for x and y with
 *  alpha = 1 and beta = 0; any other use goes its usual way, with equal results, and so does a
 *  tensor that has been given another array since. The operator holds references on the tensors
 *  until it is bound anew, unbound or destroyed. One pair per direction; a composition, sum,
 *  multiple or adjoint binds the operators that it is made of.
 */
/**@{*/

/** @brief Prepares y <- F x. Not collective: one rank may bind, another not.
 *
 *  @param[in] op  operator
 *  @param[in] x   tensor in the domain
 *  @param[in] y   tensor in the range
 *  @return as TenonLinearOpApply(); then the operator is bound as before
 */
TENON_EXTERN TenonErrorCode TenonLinearOpBind(TenonLinearOp op, TenonDTensor x,
                                              TenonDTensor y) TENON_NOEXCEPT;

/** @brief Prepares x <- F* y, beside a binding of the forward operator. As TenonLinearOpBind(). */
TENON_EXTERN TenonErrorCode TenonLinearOpBindAdjoint(TenonLinearOp op, TenonDTensor y,
                                                     TenonDTensor x) TENON_NOEXCEPT;

/** @brief Gives both bindings up. Not collective; does nothing if there are none.
 *  @return TENON_ERR_STATE between Begin and End */
TENON_EXTERN TenonErrorCode TenonLinearOpUnbind(TenonLinearOp op) TENON_NOEXCEPT;
/**@}*/

/** @brief The operator's type: "conversion", "sum", "shell", ... or that of a registered type.
 *         Not collective.
 *
 *  @param[out] type      ends with 0
 *  @param[in]  capacity  size of the buffer in characters
 *  @return also TENON_ERR_ARG if the name does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonLinearOpGetType(TenonLinearOp op, char* type,
                                                 int capacity) TENON_NOEXCEPT;

/** @brief The layout of the domain. Not collective.
 *  @param[out] layout  a new handle, to be given back with TenonLayoutDestroy() */
TENON_EXTERN TenonErrorCode TenonLinearOpGetDomain(TenonLinearOp op,
                                                   TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The layout of the range. Not collective. As TenonLinearOpGetDomain(). */
TENON_EXTERN TenonErrorCode TenonLinearOpGetRange(TenonLinearOp op,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The element type of the domain. Not collective. */
TENON_EXTERN TenonErrorCode TenonLinearOpGetDataType(TenonLinearOp op,
                                                     TenonDataType* type) TENON_NOEXCEPT;

/** @brief The element type of the range; another than the domain's for casts. Not collective. */
TENON_EXTERN TenonErrorCode TenonLinearOpGetRangeDataType(TenonLinearOp op,
                                                          TenonDataType* type) TENON_NOEXCEPT;

/** @brief What this rank sends to others in one Apply of a conversion, in all steps of its route.
 *         Not collective.
 *
 *  @param[out] messages  number of messages, and of collective calls to which this rank gives data
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
 *                        1e-13 for float64 and 1e-5 for float32 (casts included) unless
 *                        something is wrong.
 *  @return on all ranks TENON_ERR_DATATYPE for an operator on integers
 */
TENON_EXTERN TenonErrorCode TenonLinearOpTestAdjoint(TenonLinearOp op, TenonInt seed,
                                                     TenonBool integers, double* forward,
                                                     double* adjoint,
                                                     double* relative) TENON_NOEXCEPT;

/** @brief Prints type, domain, range and traffic, on rank 0 of its communicator. Not collective. */
TENON_EXTERN TenonErrorCode TenonLinearOpView(TenonLinearOp op) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL.
 *  @return TENON_ERR_STATE between Begin and End */
TENON_EXTERN TenonErrorCode TenonLinearOpDestroy(TenonLinearOp* op) TENON_NOEXCEPT;

#endif
