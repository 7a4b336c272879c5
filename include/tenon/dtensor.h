/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonDTensor: a distributed tensor, that is a layout, a data type and an array per rank.
 *
 *  A rank's array covers its box in the layout, margin included. It is the library's, allocated and
 *  zeroed at its first use, or the caller's, used in place without a copy. Strides count elements,
 *  not bytes, one for each tensor dimension in the tensor's order. So a Fortran array, whose first
 *  index is the fastest, has the strides of its declaration from the last to the first: for REAL
 *  u(0:nx+1, 0:ny+1, nc) and a tensor of (channel, y, x), firstOwned is &u(1,1,1), strides are
 *  {(nx+2)(ny+2), nx+2, 1} and ghosts {0, 1, 1} on both sides. Any padding is a matter of strides;
 *  they may be negative, for an array that runs backwards. Layers need contiguous memory and copy an
 *  array that is not into their own on the way in and out; operators read and write any strides in
 *  place.
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class, and, while an array is lent
 *  (TenonDTensorGetArray()), TENON_ERR_STATE for what would read or change it.
 */
#ifndef TENON_DTENSOR_H
#define TENON_DTENSOR_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief A tensor of zeros. Collective on the layout.
 *
 *  @param[in]  layout  set up
 *  @param[in]  type    element type
 *  @param[out] x       to be given back with TenonDTensorDestroy()
 *  @return on all ranks TENON_ERR_DATATYPE for a value that is no data type, TENON_ERR_STATE if the
 *          layout is not set up, TENON_ERR_COLLECTIVE if ranks pass different arguments
 */
TENON_EXTERN TenonErrorCode TenonDTensorCreate(TenonLayout layout, TenonDataType type,
                                               TenonDTensor* x) TENON_NOEXCEPT;

/** @brief Makes the tensor use the caller's array from now on. Not collective.
 *
 *  The array must live until TenonDTensorResetArray(), another Place or the last Destroy. Nothing
 *  is copied: the tensor's value becomes what is in the array.
 *
 *  @param[in] x           tensor
 *  @param[in] firstOwned  the first cell of this rank's part, behind the ghosts; may be NULL where
 *                         the rank holds nothing
 *  @param[in] strides     [ndim] elements between neighbours in each dimension, negative too, and 0
 *                         in a constant array that repeats a cell; NULL: row-major over the owned
 *                         extents plus the ghosts
 *  @param[in] ghostsLow   [ndim] cells of the array before the part; NULL: none
 *  @param[in] ghostsHigh  [ndim] cells of the array after it; NULL: none
 *  @param[in] length      number of elements that the array was allocated with; 0: not checked. The
 *                         owned cells with their ghosts must span no more than this: 1 plus, over
 *                         all dimensions, the sum of |stride| (ghostsLow + owned + ghostsHigh - 1).
 *                         A component of an interleaved array has the length of the whole array.
 *  @return TENON_ERR_SHAPE, naming the dimension, if the layout's margin is wider than the ghosts;
 *          TENON_ERR_SHAPE if the cells span more than the length, as strides in bytes do;
 *          TENON_ERR_ARG, naming two cells, if the strides give one element of the array to both
 *          (ghost cells that the layout has no margin for may coincide); TENON_ERR_ARG for negative
 *          ghosts or a negative length. The tensor then keeps the array it had.
 */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArray(TenonDTensor x, void* firstOwned,
                                                   const TenonInt strides[],
                                                   const TenonInt ghostsLow[],
                                                   const TenonInt ghostsHigh[],
                                                   TenonInt length) TENON_NOEXCEPT;

/** @brief TenonDTensorPlaceArray() for a constant array: every call that would write it fails with
 *         TENON_ERR_STATE. Not collective.
 *
 *  A stride of 0 repeats a cell; with the other strides the cells must be distinct, as there. */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArrayRead(TenonDTensor x, const void* firstOwned,
                                                       const TenonInt strides[],
                                                       const TenonInt ghostsLow[],
                                                       const TenonInt ghostsHigh[],
                                                       TenonInt length) TENON_NOEXCEPT;

/** @brief Says that the caller keeps the tensor in one array for each index of a dimension, as solvers
 *         keep species or components. Not collective.
 *
 *  Kernels want one strided block. So this wraps nothing: the tensor works on an array of the
 *  library's, and values pass between it and the caller's arrays by TenonDTensorGatherArrays() and
 *  TenonDTensorScatterArrays() alone, each of which copies this rank's box once. Arrays that lie at
 *  even distances in one block need no copies: give their distance as the stride of the dimension
 *  to TenonDTensorPlaceArray(). TenonDTensorView() says which of the two holds.
 *
 *  The tensor keeps its value until the first gather. A layer copies what it must keep for its
 *  adjoint, so that gathering the next step's values between Apply and its adjoint is right.
 *
 *  @param[in] x           tensor
 *  @param[in] dim         dimension that counts the arrays
 *  @param[in] count       the indices of `dim` that this rank holds
 *  @param[in] firstOwned  [count] the first owned cell of each, in order; they live as long as for
 *                         TenonDTensorPlaceArray()
 *  @param[in] strides     [ndim] as there, the same for all arrays; NULL: row-major over the owned
 *                         extents of the other dimensions plus the ghosts
 *  @param[in] ghostsLow   [ndim] as there
 *  @param[in] ghostsHigh  [ndim] as there; strides and ghosts of `dim` are not looked at
 *  @param[in] length      number of elements of each array, as there; 0: not checked
 *  @return TENON_ERR_ARG if there is no such dimension, ghosts or length are negative, two cells are
 *          one element, or an array is given twice; TENON_ERR_SHAPE for another count, ghosts
 *          narrower than the layout's margin, a margin in `dim`, or cells that span more than the
 *          length; TENON_ERR_NULL for an array that is NULL. The tensor then keeps the array it had.
 */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArrays(
    TenonDTensor x, int dim, int count, void* const firstOwned[], const TenonInt strides[],
    const TenonInt ghostsLow[], const TenonInt ghostsHigh[], TenonInt length) TENON_NOEXCEPT;

/** @brief TenonDTensorPlaceArrays() for constant arrays: they can be gathered, but neither scattered
 *         nor the tensor written otherwise. Not collective. */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArraysRead(
    TenonDTensor x, int dim, int count, const void* const firstOwned[], const TenonInt strides[],
    const TenonInt ghostsLow[], const TenonInt ghostsHigh[], TenonInt length) TENON_NOEXCEPT;

/** @brief Copies the caller's arrays into the tensor: this rank's box, margin included.
 *         Not collective.
 *  @return TENON_ERR_STATE without TenonDTensorPlaceArrays() */
TENON_EXTERN TenonErrorCode TenonDTensorGatherArrays(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Copies the tensor into the caller's arrays: this rank's box, margin included, and no other
 *         cell. Not collective.
 *  @return TENON_ERR_STATE without TenonDTensorPlaceArrays() or if the arrays are constant */
TENON_EXTERN TenonErrorCode TenonDTensorScatterArrays(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Back to the library's own array, with the value it had. Not collective. */
TENON_EXTERN TenonErrorCode TenonDTensorResetArray(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Lends the array for reading and writing, until TenonDTensorRestoreArray().
 *         Not collective.
 *
 *  @param[in]  x      tensor
 *  @param[in]  type   what the caller takes the elements for
 *  @param[out] array  first cell of this rank's box, margin included; NULL where the rank holds
 *                     nothing. Strides: TenonDTensorGetStrides().
 *  @return TENON_ERR_DATATYPE if the tensor's elements are of another type, TENON_ERR_STATE if the
 *          array is lent already or constant
 */
TENON_EXTERN TenonErrorCode TenonDTensorGetArray(TenonDTensor x, TenonDataType type,
                                                 void** array) TENON_NOEXCEPT;

/** @brief Ends the loan of TenonDTensorGetArray(). Not collective.
 *
 *  @param[in]     x      tensor
 *  @param[in,out] array  as it was lent; set to NULL
 *  @return TENON_ERR_STATE if the array is not lent for writing, TENON_ERR_ARG if it is another one
 */
TENON_EXTERN TenonErrorCode TenonDTensorRestoreArray(TenonDTensor x, void** array) TENON_NOEXCEPT;

/** @brief Lends the array for reading, until TenonDTensorRestoreArrayRead(). Not collective.
 *         Loans for reading may overlap. Parameters and errors as in TenonDTensorGetArray(). */
TENON_EXTERN TenonErrorCode TenonDTensorGetArrayRead(TenonDTensor x, TenonDataType type,
                                                     const void** array) TENON_NOEXCEPT;

/** @brief Ends a loan of TenonDTensorGetArrayRead(). Not collective.
 *  @return TENON_ERR_STATE if the array is not lent for reading, TENON_ERR_ARG if it is another */
TENON_EXTERN TenonErrorCode TenonDTensorRestoreArrayRead(TenonDTensor x,
                                                         const void** array) TENON_NOEXCEPT;

/** @brief Elements between neighbours of the array in each dimension. Not collective.
 *  @param[out] strides  [ndim] */
TENON_EXTERN TenonErrorCode TenonDTensorGetStrides(TenonDTensor x,
                                                   TenonInt strides[]) TENON_NOEXCEPT;

/** @brief The tensor's layout. Not collective.
 *  @param[out] layout  a new handle, to be given back with TenonLayoutDestroy() */
TENON_EXTERN TenonErrorCode TenonDTensorGetLayout(TenonDTensor x,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The element type. Not collective. */
TENON_EXTERN TenonErrorCode TenonDTensorGetDataType(TenonDTensor x,
                                                    TenonDataType* type) TENON_NOEXCEPT;

/** @brief This rank's box, margin included. Not collective.
 *
 *  @param[out] low   [ndim] first cell
 *  @param[out] high  [ndim] one past the last; where the rank holds nothing, low and high are 0
 */
TENON_EXTERN TenonErrorCode TenonDTensorGetBox(TenonDTensor x, TenonInt low[],
                                               TenonInt high[]) TENON_NOEXCEPT;

/** @brief The number of cells of this rank's box. Not collective. */
TENON_EXTERN TenonErrorCode TenonDTensorGetLocalSize(TenonDTensor x,
                                                     TenonInt* cells) TENON_NOEXCEPT;

/** @name Arithmetic
 *
 *  On the local arrays, margins included. Not collective, to be called on all ranks. x and y are two
 *  tensors of equal layouts; one may be float32 and the other float64. Errors: TENON_ERR_SHAPE,
 *  TENON_ERR_LAYOUT or TENON_ERR_DATATYPE if they do not fit, TENON_ERR_ARG if they are the same or
 *  live on different communicators, TENON_ERR_STATE if y is constant or lent.
 */
/**@{*/

/** @brief y <- x. */
TENON_EXTERN TenonErrorCode TenonDTensorCopy(TenonDTensor x, TenonDTensor y) TENON_NOEXCEPT;

/** @brief y <- alpha x + beta y. With beta = 0 the old value of y is not read.
 *  @return also TENON_ERR_DATATYPE for a broken factor of integers */
TENON_EXTERN TenonErrorCode TenonDTensorAXPBY(double alpha, TenonDTensor x, double beta,
                                              TenonDTensor y) TENON_NOEXCEPT;

/** @brief x <- factor x. With factor = 0 the old value of x is not read.
 *  @return TENON_ERR_DATATYPE for a broken factor of integers */
TENON_EXTERN TenonErrorCode TenonDTensorScale(TenonDTensor x, double factor) TENON_NOEXCEPT;
/**@}*/

/** @brief Gives every element one value. Not collective, to be called on all ranks.
 *
 *  As in all fills the tensor is valid afterwards, whatever its layout: copies and margins agree,
 *  and where the layout holds addends one carries the value and the others are zero. For integer
 *  tensors the value is rounded.
 */
TENON_EXTERN TenonErrorCode TenonDTensorFillConstant(TenonDTensor x, double value) TENON_NOEXCEPT;

/** @brief Random numbers, uniform in [low, high). Not collective, to be called on all ranks.
 *
 *  The number of an element is a function of seed, stream and the element's global index alone
 *  (Philox4x32-10: Salmon, Moraes, Dror and Shaw, SC 2011), so it does not depend on layout or
 *  number of ranks.
 *
 *  @param[in] x       tensor
 *  @param[in] seed    any number; the same on all ranks
 *  @param[in] stream  tells tensors with the same seed apart
 *  @param[in] low     least value
 *  @param[in] high    upper bound
 */
TENON_EXTERN TenonErrorCode TenonDTensorFillUniform(TenonDTensor x, TenonInt seed, TenonInt stream,
                                                    double low, double high) TENON_NOEXCEPT;

/** @brief Random numbers, normal with the given mean and standard deviation.
 *         As TenonDTensorFillUniform().
 *  @return also TENON_ERR_ARG for a negative deviation */
TENON_EXTERN TenonErrorCode TenonDTensorFillNormal(TenonDTensor x, TenonInt seed, TenonInt stream,
                                                   double mean, double deviation) TENON_NOEXCEPT;

/** @brief Independent numbers in every cell of every rank, copies, addends and margins included:
 *         no valid tensor, but raw memory for tests of operators. Not collective.
 *
 *  @param[in] x         tensor
 *  @param[in] seed      any number
 *  @param[in] integers  TENON_TRUE: integers from -8 to 7; TENON_FALSE: uniform in [-1, 1)
 */
TENON_EXTERN TenonErrorCode TenonDTensorFillTest(TenonDTensor x, TenonInt seed,
                                                 TenonBool integers) TENON_NOEXCEPT;

/** @brief The Euclidean norm of the tensor's value; a copy counts once. Collective on the tensor.
 *
 *  Like all sums of the library: local sums run pairwise in double, the ranks' sums are added in
 *  rank order, so that every rank gets the same bits.
 *
 *  @param[out] norm  the same on all ranks
 *  @return on all ranks TENON_ERR_SUPPORT if the layout holds addends (convert the tensor first),
 *          TENON_ERR_DATATYPE for integers
 */
TENON_EXTERN TenonErrorCode TenonDTensorNorm(TenonDTensor x, double* norm) TENON_NOEXCEPT;

/** @brief The pairing of a tensor with one in the dual layout: the sum over all ranks of local dot
 *         products. Collective on the tensors.
 *
 *  @param[in]  x        tensor
 *  @param[in]  y        tensor in the dual of x's layout, of the same data type
 *  @param[out] pairing  the same on all ranks
 *  @return on all ranks TENON_ERR_LAYOUT, TENON_ERR_SHAPE or TENON_ERR_DATATYPE if y does not fit x
 */
TENON_EXTERN TenonErrorCode TenonDTensorPairing(TenonDTensor x, TenonDTensor y,
                                                double* pairing) TENON_NOEXCEPT;

/** @brief The largest absolute value of any cell on any rank; not a number if there is one such.
 *         Collective on the tensor.
 *
 *  @param[out] value  the same on all ranks
 *  @return on all ranks TENON_ERR_DATATYPE for integers
 */
TENON_EXTERN TenonErrorCode TenonDTensorMaxAbs(TenonDTensor x, double* value) TENON_NOEXCEPT;

/** @brief Prints name, layout, data type and memory, on rank 0 of its communicator.
 *         Not collective. */
TENON_EXTERN TenonErrorCode TenonDTensorView(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL.
 *         A caller's array is left alone. */
TENON_EXTERN TenonErrorCode TenonDTensorDestroy(TenonDTensor* x) TENON_NOEXCEPT;

#endif
