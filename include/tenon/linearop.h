/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLinearOp: a linear map F from tensors in one layout to tensors in another. Operators
 *         are created in tenon/linearop_create.h.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  The adjoint F* maps the dual of the range to the dual of the domain, such that <F x, y> = <x, F*
 *  y> with the pairing of TenonDTensorPairing(). All communication in Tenon is such an operator,
 *  and its adjoint belongs to the same family (Hewett and Grady, "A linear algebraic approach to
 *  model parallelism in deep learning", 2020). TenonLinearOpCreateAdjoint() creates the adjoint as
 *  a separate operator, for factors, split-phase application and bound arrays.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class.
 */
#ifndef TENON_LINEAROP_H
#define TENON_LINEAROP_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Applies the operator: y <- F x. Collective on the operator.
 *
 *  After the first call no memory is allocated. y must be a different tensor from x and must not
 *  share memory with it, with one exception: a conversion between layouts that differ only in
 *  halos, such as a halo exchange, works in place if x and y use one user array with ghost cells
 *  (TenonDTensorPlaceArray() with the same first owned element). The owned elements then stay as
 *  they are, or receive the partial sums of the halo.
 *
 *  @param[in]  op  operator
 *  @param[in]  x   tensor in the domain
 *  @param[out] y   tensor in the range; overwritten
 *  @return TENON_ERR_SHAPE     the shape of x or y does not match the operator
 *  @return TENON_ERR_LAYOUT    the layout of x or y does not match the operator
 *  @return TENON_ERR_DATATYPE  the data type of x or y does not match the operator
 *  @return TENON_ERR_STATE     an array is in use, the array of y is constant, or the operator is
 *                              between Begin and End
 *  @return TENON_ERR_ARG       x and y are the same tensor, or share memory and the exception above
 *                              does not apply
 *  @note   After an error in the arguments y is unchanged. To save a message per call, errors are
 *          not exchanged between ranks: on more than one rank they call the fatal handler, which by
 *          default ends the program, see TenonSetFatalErrorHandler().
 *  @see    TenonLinearOpApplyAdd(), TenonLinearOpApplyAdjoint(), TenonLinearOpBind()
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApply(TenonLinearOp op, TenonDTensor x,
                                               TenonDTensor y) TENON_NOEXCEPT;

/** @brief Applies the adjoint: x <- F* y. Collective on the operator.
 *
 *  See TenonLinearOpApply() for the errors.
 *
 *  @param[in]  op  operator
 *  @param[in]  y   tensor in the dual of the range
 *  @param[out] x   tensor in the dual of the domain, different from y; overwritten
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdjoint(TenonLinearOp op, TenonDTensor y,
                                                      TenonDTensor x) TENON_NOEXCEPT;

/** @brief Applies with factors: y <- alpha F x + beta y. Collective on the operator.
 *
 *  For other errors see TenonLinearOpApply().
 *
 *  @param[in]     op     operator
 *  @param[in]     alpha  factor of F x, the same on all ranks; if it is 0, x is not read
 *  @param[in]     x      tensor in the domain
 *  @param[in]     beta   factor of y, the same on all ranks; if it is 0, the old value of y is not
 *                        read
 *  @param[in,out] y      tensor in the range. Copies (B axes) that are equal remain equal; each
 *                        partial sum (P axes) is multiplied by beta.
 *  @return TENON_ERR_DATATYPE  alpha or beta is not an integer, for integer tensors
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyAdd(TenonLinearOp op, double alpha, TenonDTensor x,
                                                  double beta, TenonDTensor y) TENON_NOEXCEPT;

/** @name Several fields
 *
 *  Fields with the same layout, such as temperature, salinity and velocities on one mesh, can share
 *  an exchange. Each rank is then sent one message, or one part through shared memory, with the
 *  elements of all fields, if the operator is a halo exchange, an index map, another conversion by
 *  one exchange (TenonObjectView() prints this), or an adjoint, multiple or sum of these. Other
 *  operators are applied to one field after the other. Results are bitwise those of one call for
 *  each field. For the adjoint, apply the operator of TenonLinearOpCreateAdjoint().
 *
 *  Fields of different layouts or element types share an exchange in the same way if the operator
 *  is a block diagonal, with an operator for each field: TenonLinearOpCreateBlockDiagonal().
 *
 *  The first call with a number of fields allocates message buffers for it, which the operator
 *  holds besides the others; a block diagonal has its buffers from the beginning.
 */
/**@{*/

/** @brief Applies the operator to several fields: y[i] <- F x[i], or F[i] x[i] with the operators
 *         of a block diagonal. Collective on the operator.
 *
 *  See TenonLinearOpApply() for the errors, which name the field.
 *
 *  @param[in] op     operator
 *  @param[in] count  number of fields; must be 1 to 64, which is the largest number of tensors of
 *                    any call, and the same on all ranks; of a block diagonal the number of its
 *                    operators
 *  @param[in] x      [count] tensors in the domain; a tensor can occur several times
 *  @param[in] y      [count] tensors in the range; overwritten. They must not share memory with
 *                    each other, or with an x of another field. Each field can be in place, as in
 *                    TenonLinearOpApply().
 *  @return TENON_ERR_ARG         count is out of range, or of a block diagonal is not the number of
 *                                its operators, or tensors share memory in another way
 *  @return TENON_ERR_SUPPORT     not all tensors are in the same memory space
 *  @return TENON_ERR_COLLECTIVE  ranks pass different counts, each for the first time
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyMany(TenonLinearOp op, int count,
                                                   const TenonDTensor x[],
                                                   const TenonDTensor y[]) TENON_NOEXCEPT;
/**@}*/

/** @name Split-phase application
 *
 *  Begin starts the messages and returns; End waits for them and completes the result. Together
 *  they are TenonLinearOpApplyAdd(). In between, the program can compute and use other operators.
 *  The input is then locked for reading and the output for writing, and any other application,
 *  Begin, binding or destruction of this operator returns TENON_ERR_STATE.
 *
 *  All ranks must begin, apply and end the operators of a communicator in the same order. The same
 *  is true for operators on several communicators that are in flight at the same time, since a rank
 *  that waits for one operator does not advance the others. Between Begin and End, only the first
 *  step of a composition or of a conversion in several steps is in flight, and only the first
 *  operator of a sum; shell operators do all their work in End.
 */
/**@{*/

/** @brief Starts y <- alpha F x + beta y. Collective on the operator.
 *
 *  See TenonLinearOpApplyAdd() for the errors.
 *
 *  @param[in]     op     operator
 *  @param[in]     alpha  factor of F x, the same on all ranks; if it is 0, x is not read
 *  @param[in]     x      tensor in the domain
 *  @param[in]     beta   factor of y, the same on all ranks; if it is 0, the old value of y is not
 *                        read
 *  @param[in,out] y      tensor in the range; must not be used before End
 */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyBegin(TenonLinearOp op, double alpha, TenonDTensor x,
                                                    double beta, TenonDTensor y) TENON_NOEXCEPT;

/** @brief Completes TenonLinearOpApplyBegin(). Collective on the operator.
 *  @param[in] op  operator
 *  @return TENON_ERR_STATE  nothing was started */
TENON_EXTERN TenonErrorCode TenonLinearOpApplyEnd(TenonLinearOp op) TENON_NOEXCEPT;

/**@}*/

/** @name Bound arrays
 *
 *  Whether or not arrays are bound, conversions and index maps send a message from the array of x
 *  itself where its elements are contiguous there. With alpha = 1 and beta = 0 they receive it into
 *  the array of y itself where its elements are contiguous there and are not summed. These elements
 *  of y can change at any time between Begin and End.
 *
 *  An operator that is applied many times to the same two arrays, for example in a time step, can
 *  be bound to them. It then uses persistent MPI requests, which saves the MPI library some work
 *  for each message. The binding takes effect for these arrays with alpha = 1 and beta = 0; other
 *  applications, and tensors that have been given another array since, use requests of their own,
 *  with the same results.
 *
 *  The operator holds references to the tensors until it is bound again, its bindings are removed,
 *  or it is destroyed. A composition, sum, multiple or adjoint binds the operators that it consists
 *  of; an operator and its adjoint have a binding each.
 */
/**@{*/

/** @brief Binds x and y for y <- F x, or removes the bindings. Not collective.
 *
 *  Some ranks can bind while others do not. If the call fails, the previous binding remains. The
 *  errors are the same as in TenonLinearOpApply(), but are returned on any number of ranks.
 *
 *  @param[in] op  operator
 *  @param[in] x   tensor in the domain. May be NULL, in which case y must be NULL, and the bindings
 *                 of the operator and of its adjoint are removed, if any.
 *  @param[in] y   tensor in the range. May be NULL, in which case x must be NULL.
 *  @return TENON_ERR_NULL   one of x and y is NULL
 *  @return TENON_ERR_STATE  the operator is between Begin and End
 */
TENON_EXTERN TenonErrorCode TenonLinearOpBind(TenonLinearOp op, TenonDTensor x,
                                              TenonDTensor y) TENON_NOEXCEPT;
/**@}*/

/** @brief Returns the layout of the domain. Not collective.
 *  @param[in]  op      operator
 *  @param[out] layout  new handle; destroy it with TenonLayoutDestroy() */
TENON_EXTERN TenonErrorCode TenonLinearOpGetDomain(TenonLinearOp op,
                                                   TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Returns the layout of the range. Not collective.
 *  @param[in]  op      operator
 *  @param[out] layout  new handle; destroy it with TenonLayoutDestroy() */
TENON_EXTERN TenonErrorCode TenonLinearOpGetRange(TenonLinearOp op,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Returns the element types. Not collective.
 *  @param[in]  op      operator
 *  @param[out] domain  element type of the domain. May be NULL, in which case it is not returned.
 *  @param[out] range   element type of the range, which differs for casts. May be NULL, in which
 *                      case it is not returned. */
TENON_EXTERN TenonErrorCode TenonLinearOpGetDataTypes(TenonLinearOp op, TenonDataType* domain,
                                                      TenonDataType* range) TENON_NOEXCEPT;

/** @brief Returns what this rank sends in one application of a conversion, index map or block
 *         diagonal. Not collective.
 *  @param[in]  op        operator of one of these types
 *  @param[out] messages  number of messages, plus the number of collective MPI calls to which this
 *                        rank contributes data, over all steps
 *  @param[out] bytes     payload of all messages and calls in bytes
 *  @return TENON_ERR_SUPPORT  the operator has another type */
TENON_EXTERN TenonErrorCode TenonLinearOpGetTraffic(TenonLinearOp op, TenonInt* messages,
                                                    TenonInt* bytes) TENON_NOEXCEPT;

/** @brief Tests the adjoint identity on random memory. Collective on the operator.
 *
 *  Fills x and y with independent numbers in every element of every local array, copies,
 *  contributions and halos too, and compares <F x, y> with <x, F* y>. A relative difference above
 *  1e-13 in float64, or 1e-5 in float32 (casts included), indicates an error in the operator.
 *
 *  @param[in]  op        operator
 *  @param[in]  seed      random seed; the same on all ranks
 *  @param[in]  integers  TENON_TRUE for small integers, for which the two pairings of a conversion
 *                        are exactly equal; TENON_FALSE for uniform numbers in [-1, 1)
 *  @param[out] forward   <F x, y>. May be NULL, in which case it is not returned.
 *  @param[out] adjoint   <x, F* y>. May be NULL, in which case it is not returned.
 *  @param[out] relative  difference divided by max(|F x| |y|, |x| |F* y|). May be NULL, in which
 *                        case it is not returned.
 *  @return TENON_ERR_DATATYPE    the operator acts on integers
 *  @return TENON_ERR_COLLECTIVE  ranks pass different arguments
 */
TENON_EXTERN TenonErrorCode TenonLinearOpTestAdjoint(TenonLinearOp op, TenonInt seed,
                                                     TenonBool integers, double* forward,
                                                     double* adjoint,
                                                     double* relative) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] op  address of the handle, which may hold NULL
 *  @return TENON_ERR_STATE  the operator is between Begin and End */
TENON_EXTERN TenonErrorCode TenonLinearOpDestroy(TenonLinearOp* op) TENON_NOEXCEPT;

#endif
