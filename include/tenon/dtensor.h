/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonDTensor: a distributed tensor, consisting of a layout, a data type and one local
 *         array per rank.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  The local array of a rank covers the rank's box in the layout, halo included. It is either owned
 *  by Tenon, which allocates and zeroes it at first use, or a user array that the tensor uses in
 *  place, without a copy (TenonDTensorPlaceArray()). The halo elements are then stored in the ghost
 *  cells of the user array.
 *
 *  Strides count elements, not bytes, one per tensor dimension, in the order of the tensor's
 *  dimensions. A Fortran array, whose first index varies fastest, has the strides of its
 *  declaration read from the last index to the first: for REAL u(0:nx+1, 0:ny+1, nc) and a tensor
 *  of dimensions (channel, y, x), firstOwned is &u(1,1,1), the strides are {(nx+2)(ny+2), nx+2, 1},
 *  and the ghost widths are {0, 1, 1} on both sides. Strides can describe any padding, and can be
 *  negative for an array that is stored in reverse. Layers need contiguous memory and copy
 *  non-contiguous arrays in and out; operators read and write arrays of any strides in place.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Between TenonDTensorGetArray()
 *  and TenonDTensorRestoreArray(), calls that would read or modify the tensor return
 *  TENON_ERR_STATE. Errors of collective calls are the same on all ranks.
 */
#ifndef TENON_DTENSOR_H
#define TENON_DTENSOR_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Creates a tensor of zeros. Collective on the layout.
 *
 *  The array of the tensor is in memory that the ranks of a node share and can read in place
 *  (-tenon_shared_memory).
 *
 *  @note After fork(), parent and child share this memory: each of them sees what the other writes.
 *        If one of them writes to a tensor while the other still uses it, call
 *        TenonDTensorSetPrivate() for this tensor before the fork, or use the option
 *        `-tenon_shared_memory 0`, which makes all tensors private. A user array is private unless
 *        it was shared with TenonPartitionShareMemory().
 *
 *  @param[in]  layout  layout that is set up
 *  @param[in]  type    element type
 *  @param[out] x       new tensor; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_DATATYPE    type is not a data type
 *  @return TENON_ERR_STATE       the layout is not set up
 *  @return TENON_ERR_COLLECTIVE  ranks pass different arguments
 */
TENON_EXTERN TenonErrorCode TenonDTensorCreate(TenonLayout layout, TenonDataType type,
                                               TenonDTensor* x) TENON_NOEXCEPT;

/** @brief Selects the memory space of the local array. Local; call on all ranks, with one space.
 *
 *  Call it before the first use of the values and before an array is placed. The kernels of a
 *  tensor on the device run there, in order, on a stream of the library, or on the stream of
 *  TenonPartitionSetStream(). TenonDTensorGetArray() returns the values in host memory. Data for
 *  another process of the node remain in device memory if CUDA IPC is possible. Otherwise they are
 *  copied through host memory, or, with `-tenon_gpu_aware`, passed to MPI in device memory.
 *
 *  @param[in] x      tensor
 *  @param[in] space  TENON_MEMORY_HOST (the default) or TENON_MEMORY_DEVICE: the CUDA device of
 *                    this process, which -tenon_device selects
 *  @return TENON_ERR_SUPPORT  there is no device: Tenon was built without CUDA, or there is no
 *                             driver or GPU; the message says which
 *  @return TENON_ERR_STATE    the tensor has an array already
 *  @return TENON_ERR_ARG      space is not a memory space
 */
TENON_EXTERN TenonErrorCode TenonDTensorSetSpace(TenonDTensor x,
                                                 TenonMemorySpace space) TENON_NOEXCEPT;

/** @brief Returns the memory space of the local array. Not collective.
 *  @param[in]  x      tensor
 *  @param[out] space  memory space */
TENON_EXTERN TenonErrorCode TenonDTensorGetSpace(TenonDTensor x,
                                                 TenonMemorySpace* space) TENON_NOEXCEPT;

/** @brief Makes the tensor use a user array in place. Not collective.
 *
 *  Nothing is copied: the value of the tensor becomes the content of the array. The array must stay
 *  valid until TenonDTensorResetArray(), the next TenonDTensorPlaceArray(), or the destruction of
 *  the tensor. If the call fails, the tensor keeps its previous array.
 *
 *  Kernels on a device use the array while the program continues. There are two cases:
 *
 *  - On a stream of the library: what the program writes to the array must be complete before the
 *    call that reads it. The calls that end the use of the array wait for the kernels. Before that,
 *    the program can read the values by TenonDTensorGetDeviceArray().
 *  - On a stream that the program has set (TenonPartitionSetStream()): no call waits. Work that the
 *    program queues on this stream is executed in order with the kernels.
 *
 *  @param[in] x           tensor
 *  @param[in] firstOwned  address of the first element of this rank's local block, after the ghost
 *                         cells. May be NULL, in which case the rank must hold no elements.
 *  @param[in] strides     [ndim] distance in elements between neighbours in each dimension; can be
 *                         negative. May be NULL, in which case the array is row-major over the
 *                         owned elements and the ghost cells.
 *  @param[in] ghostsLow   [ndim] number of ghost cells before the local block; must be >= 0. May be
 *                         NULL, in which case there are none.
 *  @param[in] ghostsHigh  [ndim] number of ghost cells after the local block; must be >= 0. May be
 *                         NULL, in which case there are none.
 *  @param[in] length      number of elements that the array was allocated with. 0: not checked. The
 *                         owned elements and ghost cells must span at most this number: 1 plus,
 *                         over all dimensions, the sum of |stride| (ghostsLow + owned + ghostsHigh
 *                         - 1). A component of an interleaved array has the length of the whole
 *                         array.
 *  @return TENON_ERR_SHAPE  the halo of the layout is wider than the ghost cells; the message names
 *                           the dimension
 *  @return TENON_ERR_SHAPE  the array spans more elements than length, for example because strides
 *                           were passed in bytes
 *  @return TENON_ERR_ARG    the array is not memory of the tensor's space (TenonDTensorSetSpace()),
 *                           or is memory of another device than Tenon's (-tenon_device), or of
 *                           another CUDA context
 *  @return TENON_ERR_ARG    a ghost width or the length is negative
 *  @return TENON_ERR_ARG    two elements of the tensor are the same element of the array; the
 *                           message names both. Ghost cells outside the layout's halo can coincide.
 *  @return TENON_ERR_NULL   firstOwned is NULL, but this rank holds elements
 *  @see    TenonDTensorPlaceArrayRead(), TenonDTensorPlaceArrays(), TenonPartitionShareMemory()
 */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArray(TenonDTensor x, void* firstOwned,
                                                   const TenonInt strides[],
                                                   const TenonInt ghostsLow[],
                                                   const TenonInt ghostsHigh[],
                                                   TenonInt length) TENON_NOEXCEPT;

/** @brief Makes the tensor use a constant user array in place. Not collective.
 *
 *  Calls that would modify the tensor return TENON_ERR_STATE. A stride of 0 repeats an element
 *  along a dimension; with other strides the elements must be distinct. See
 *  TenonDTensorPlaceArray() for the lifetime of the array and the other errors.
 *
 *  @param[in] x           tensor
 *  @param[in] firstOwned  address of the first element of the local block. May be NULL, in which
 *                         case the rank must hold no elements.
 *  @param[in] strides     [ndim] distance in elements between neighbours in each dimension. May be
 *                         NULL, in which case the array is row-major over the owned elements and
 *                         the ghost cells.
 *  @param[in] ghostsLow, ghostsHigh  [ndim] numbers of ghost cells before and after the local
 *                         block; must be >= 0. May be NULL, in which case there are none.
 *  @param[in] length      number of elements of the array; 0: not checked
 */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArrayRead(TenonDTensor x, const void* firstOwned,
                                                       const TenonInt strides[],
                                                       const TenonInt ghostsLow[],
                                                       const TenonInt ghostsHigh[],
                                                       TenonInt length) TENON_NOEXCEPT;

/** @brief Associates one user array with each index of a dimension. Not collective.
 *
 *  For fields that are stored as separate arrays, such as species or velocity components. The
 *  tensor works on an array owned by Tenon. TenonDTensorGatherArrays() and
 *  TenonDTensorScatterArrays() copy between this array and the user arrays when they are called.
 *  TenonObjectView() lists these copies, and the log has them as DTensorGather and DTensorScatter.
 *  The tensor keeps its value until the first gather. If the call fails, the tensor keeps its
 *  previous array.
 *
 *  Either all arrays have the same strides and ghost cells (one form), or each array has its own.
 *  For example, on a staggered grid u may have one more row of faces than p, and another number of
 *  ghost cells. All cells of an array that are not elements of its index in the tensor are ghost
 *  cells. Each array is checked as in TenonDTensorPlaceArray().
 *
 *  Arrays at equal spacing in one block need no copies: pass their spacing as the stride of the
 *  dimension to TenonDTensorPlaceArray().
 *
 *  @param[in] x           tensor
 *  @param[in] dim         dimension that the arrays enumerate, such as 1 for channels
 *  @param[in] count       number of arrays; must be the number of indices of dim that this rank
 *                         holds
 *  @param[in] firstOwned  [count] address of the first owned element of each array, in order of the
 *                         index; an address is required where this rank holds elements. The arrays
 *                         must stay valid as in TenonDTensorPlaceArray().
 *  @param[in] forms       number of forms in the lists that follow: 1, of all arrays, or count, of
 *                         one array after the other
 *  @param[in] strides     [forms * ndim] distance in elements between neighbours; the entries of
 *                         dim are ignored. May be NULL, in which case each array is row-major over
 *                         the owned elements and the ghost cells of the other dimensions.
 *  @param[in] ghostsLow   [forms * ndim] numbers of ghost cells before the local block; must be
 *                         >= 0. May be NULL, in which case there are none.
 *  @param[in] ghostsHigh  [forms * ndim] numbers of ghost cells after the local block; must be
 *                         >= 0. May be NULL, in which case there are none.
 *  @param[in] lengths     [forms] number of elements of an array, see TenonDTensorPlaceArray(); 0:
 *                         not checked. May be NULL, in which case none is checked.
 *  @return TENON_ERR_ARG    there is no such dimension, forms is neither 1 nor count, a ghost width
 *                           or a length is negative, two elements coincide, or an array is given
 *                           twice
 *  @return TENON_ERR_SHAPE  count is wrong, the ghost cells are narrower than the halo, dim has a
 *                           halo, or an array spans more elements than its length
 *  @return TENON_ERR_NULL   an array is NULL, but this rank holds elements of it
 *  @note   A layer or operator that reads the tensor returns TENON_ERR_STATE if the tensor has no
 *          values yet, that is, if it was neither gathered nor written since its creation. A tensor
 *          that is only written, and then scattered, need not be gathered.
 *  @note   Layers copy the input that they save for the adjoint, so new values can be gathered
 *          between TenonLayerApply() and its adjoint.
 */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArrays(TenonDTensor x, int dim, int count,
                                                    void* const firstOwned[], int forms,
                                                    const TenonInt strides[],
                                                    const TenonInt ghostsLow[],
                                                    const TenonInt ghostsHigh[],
                                                    const TenonInt lengths[]) TENON_NOEXCEPT;

/** @brief Associates constant user arrays with the indices of a dimension. Not collective.
 *
 *  The arrays can be gathered, but neither scattered nor modified otherwise. See
 *  TenonDTensorPlaceArrays() for the errors.
 *
 *  @param[in] x           tensor
 *  @param[in] dim         dimension that the arrays enumerate
 *  @param[in] count       number of arrays; must be the number of indices of dim that this rank
 *                         holds
 *  @param[in] firstOwned  [count] address of the first owned element of each array
 *  @param[in] forms       number of forms in the lists that follow: 1, of all arrays, or count, of
 *                         one array after the other
 *  @param[in] strides     [forms * ndim] distance in elements between neighbours. May be NULL, in
 *                         which case each array is row-major over the owned elements and the ghost
 *                         cells of the other dimensions.
 *  @param[in] ghostsLow, ghostsHigh  [forms * ndim] numbers of ghost cells before and after the
 *                         local block; must be >= 0. May be NULL, in which case there are none.
 *  @param[in] lengths     [forms] number of elements of an array; 0: not checked. May be NULL, in
 *                         which case none is checked.
 */
TENON_EXTERN TenonErrorCode TenonDTensorPlaceArraysRead(TenonDTensor x, int dim, int count,
                                                        const void* const firstOwned[], int forms,
                                                        const TenonInt strides[],
                                                        const TenonInt ghostsLow[],
                                                        const TenonInt ghostsHigh[],
                                                        const TenonInt lengths[]) TENON_NOEXCEPT;

/** @brief Copies the user arrays into the tensor, halo included. Not collective.
 *
 *  On a device the call waits for the copies, except on a stream that the program has set; see
 *  TenonDTensorPlaceArray().
 *
 *  @param[in] x  tensor
 *  @return TENON_ERR_STATE  no arrays were set with TenonDTensorPlaceArrays() */
TENON_EXTERN TenonErrorCode TenonDTensorGatherArrays(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Copies the tensor into the user arrays, halo included. Not collective.
 *
 *  Only elements of this rank's box are written. On a device the call waits for the copies, except
 *  on a stream that the program has set; see TenonDTensorPlaceArray().
 *
 *  @param[in] x  tensor
 *  @return TENON_ERR_STATE  no arrays were set with TenonDTensorPlaceArrays(), or they are constant
 */
TENON_EXTERN TenonErrorCode TenonDTensorScatterArrays(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Makes the tensor use the array owned by Tenon again. Not collective.
 *
 *  Its value is the value in the array owned by Tenon; nothing is copied from the user array.
 *
 *  @param[in] x  tensor */
TENON_EXTERN TenonErrorCode TenonDTensorResetArray(TenonDTensor x) TENON_NOEXCEPT;

/** @brief Selects private or shared memory for the array owned by Tenon. Not collective.
 *
 *  The values remain, the address changes. A child process made by fork() gets a copy of a private
 *  array as it is at that moment. The other ranks of the node cannot read a private array in place:
 *  data that they receive from it is packed, with bitwise identical results. A tensor that wraps a
 *  user array remembers the choice for TenonDTensorResetArray().
 *
 *  @param[in] x          tensor
 *  @param[in] isPrivate  TENON_TRUE: private; TENON_FALSE (the default): shared with the ranks of
 *                        the node if there is room
 */
TENON_EXTERN TenonErrorCode TenonDTensorSetPrivate(TenonDTensor x,
                                                   TenonBool isPrivate) TENON_NOEXCEPT;

/** @brief Returns the local array for reading and writing. Not collective.
 *
 *  If the tensor is on the device, the values are copied to host memory, and
 *  TenonDTensorRestoreArray() copies them back. No other call can use the tensor before
 *  TenonDTensorRestoreArray().
 *
 *  @param[in]  x      tensor
 *  @param[in]  type   element type that the caller expects
 *  @param[out] array  address of the first element of this rank's box, halo included; NULL if the
 *                     rank holds no elements
 *  @return TENON_ERR_DATATYPE  the tensor has another element type
 *  @return TENON_ERR_STATE     the array is in use already, or is constant
 *  @see    TenonDTensorGetStrides(), TenonDTensorGetBox()
 */
TENON_EXTERN TenonErrorCode TenonDTensorGetArray(TenonDTensor x, TenonDataType type,
                                                 void** array) TENON_NOEXCEPT;

/** @brief Ends the access begun by TenonDTensorGetArray(). Not collective.
 *  @param[in]     x      tensor
 *  @param[in,out] array  address from TenonDTensorGetArray(); set to NULL
 *  @return TENON_ERR_STATE  the array was not obtained with TenonDTensorGetArray()
 *  @return TENON_ERR_ARG    the address is another one */
TENON_EXTERN TenonErrorCode TenonDTensorRestoreArray(TenonDTensor x, void** array) TENON_NOEXCEPT;

/** @brief Returns the local array for reading. Not collective.
 *
 *  Several read accesses can be open at the same time; each ends with
 *  TenonDTensorRestoreArrayRead().
 *
 *  @param[in]  x      tensor
 *  @param[in]  type   element type that the caller expects
 *  @param[out] array  address of the first element of this rank's box, halo included; NULL if the
 *                     rank holds no elements
 *  @return TENON_ERR_DATATYPE  the tensor has another element type
 *  @return TENON_ERR_STATE     the array is in use for writing
 */
TENON_EXTERN TenonErrorCode TenonDTensorGetArrayRead(TenonDTensor x, TenonDataType type,
                                                     const void** array) TENON_NOEXCEPT;

/** @brief Ends an access begun by TenonDTensorGetArrayRead(). Not collective.
 *  @param[in]     x      tensor
 *  @param[in,out] array  address from TenonDTensorGetArrayRead(); set to NULL
 *  @return TENON_ERR_STATE  the array was not obtained with TenonDTensorGetArrayRead()
 *  @return TENON_ERR_ARG    the address is another one */
TENON_EXTERN TenonErrorCode TenonDTensorRestoreArrayRead(TenonDTensor x,
                                                         const void** array) TENON_NOEXCEPT;

/** @brief Returns the local array on the device for reading and writing. Not collective.
 *
 *  The host waits until the values are in the array. The user's work on the array must be complete
 *  when TenonDTensorRestoreArray() ends the access; no other call can use the tensor before.
 *
 *  @param[in]  x      tensor in the space TENON_MEMORY_DEVICE
 *  @param[in]  type   element type that the caller expects
 *  @param[out] array  device address of the first element of this rank's box, halo included; NULL
 *                     if the rank holds no elements
 *  @return TENON_ERR_DATATYPE  the tensor has another element type
 *  @return TENON_ERR_STATE     the tensor is on the host, the array is in use already, or is
 *                              constant
 */
TENON_EXTERN TenonErrorCode TenonDTensorGetDeviceArray(TenonDTensor x, TenonDataType type,
                                                       void** array) TENON_NOEXCEPT;

/** @brief Returns the local array on the device for reading. Not collective.
 *
 *  See TenonDTensorGetDeviceArray(). TenonDTensorRestoreArrayRead() ends the access.
 *
 *  @param[in]  x      tensor in the space TENON_MEMORY_DEVICE
 *  @param[in]  type   element type that the caller expects
 *  @param[out] array  device address of the first element of this rank's box, halo included; NULL
 *                     if the rank holds no elements
 *  @return TENON_ERR_DATATYPE  the tensor has another element type
 *  @return TENON_ERR_STATE     the tensor is on the host, or the array is in use for writing
 */
TENON_EXTERN TenonErrorCode TenonDTensorGetDeviceArrayRead(TenonDTensor x, TenonDataType type,
                                                           const void** array) TENON_NOEXCEPT;

/** @brief Returns the strides of the local array. Not collective.
 *  @param[in]  x        tensor
 *  @param[out] strides  [ndim] distance in elements between neighbours in each dimension */
TENON_EXTERN TenonErrorCode TenonDTensorGetStrides(TenonDTensor x,
                                                   TenonInt strides[]) TENON_NOEXCEPT;

/** @brief Returns the layout of the tensor. Not collective.
 *  @param[in]  x       tensor
 *  @param[out] layout  new handle; destroy it with TenonLayoutDestroy() */
TENON_EXTERN TenonErrorCode TenonDTensorGetLayout(TenonDTensor x,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Returns the element type of the tensor. Not collective.
 *  @param[in]  x     tensor
 *  @param[out] type  element type */
TENON_EXTERN TenonErrorCode TenonDTensorGetDataType(TenonDTensor x,
                                                    TenonDataType* type) TENON_NOEXCEPT;

/** @brief Returns the box of this rank, halo included. Not collective.
 *  @param[in]  x     tensor
 *  @param[out] low   [ndim] first index in each dimension
 *  @param[out] high  [ndim] one past the last index; low and high are 0 if the rank holds no
 *                    elements */
TENON_EXTERN TenonErrorCode TenonDTensorGetBox(TenonDTensor x, TenonInt low[],
                                               TenonInt high[]) TENON_NOEXCEPT;

/** @brief Returns the number of elements in this rank's box. Not collective.
 *  @param[in]  x         tensor
 *  @param[out] elements  number of elements, halo included */
TENON_EXTERN TenonErrorCode TenonDTensorGetLocalSize(TenonDTensor x,
                                                     TenonInt* elements) TENON_NOEXCEPT;

/** @name Arithmetic
 *
 *  These calls work on the local arrays, halos included. x and y must be different tensors of the
 *  same layout. Their data types can differ if y can hold the numbers of x: y is float32 or
 *  float64, and x has any type; or y is TENON_INT64, and x is TENON_INT32. (So a mask of integers
 *  becomes the input of a layer. float32 holds integers up to 2^24 exactly, float64 up to 2^53.)
 *  Their user arrays may be the same array with the same strides, but must not overlap otherwise.
 *  They return TENON_ERR_SHAPE, TENON_ERR_LAYOUT or TENON_ERR_DATATYPE if x and y do not match,
 *  TENON_ERR_ARG if they are the same tensor, overlap or have different communicators, and
 *  TENON_ERR_STATE if the tensor to be modified is constant or its array is in use.
 */
/**@{*/

/** @brief Copies a tensor: y <- x. Local; call on all ranks.
 *  @param[in]  x  tensor
 *  @param[out] y  tensor of the same layout; overwritten */
TENON_EXTERN TenonErrorCode TenonDTensorCopy(TenonDTensor x, TenonDTensor y) TENON_NOEXCEPT;

/** @brief Computes y <- alpha x + beta y. Local; call on all ranks.
 *  @param[in]     alpha  factor of x; the same on all ranks
 *  @param[in]     x      tensor
 *  @param[in]     beta   factor of y; if it is 0, the old value of y is not read
 *  @param[in,out] y      tensor of the same layout
 *  @return TENON_ERR_DATATYPE  y has integers, and alpha or beta is not one that its type can
 *                              hold */
TENON_EXTERN TenonErrorCode TenonDTensorAXPBY(double alpha, TenonDTensor x, double beta,
                                              TenonDTensor y) TENON_NOEXCEPT;

/** @brief Scales a tensor: x <- factor x. Local; call on all ranks.
 *  @param[in]     factor  factor; if it is 0, the old value of x is not read
 *  @param[in,out] x       tensor
 *  @return TENON_ERR_DATATYPE  x has integers, and factor is not one that its type can hold */
TENON_EXTERN TenonErrorCode TenonDTensorScale(double factor, TenonDTensor x) TENON_NOEXCEPT;
/**@}*/

/** @brief Sets every element to one value. Local; call on all ranks.
 *
 *  The result is a valid tensor in any layout: copies and halo elements are equal. Along an axis
 *  with property P, one rank has the value and the others have zero. The same is true for the other
 *  fill calls.
 *
 *  @param[out] x      tensor
 *  @param[in]  value  value of every element; rounded for an integer tensor
 *  @return TENON_ERR_STATE  the tensor is constant or its array is in use
 *  @return TENON_ERR_ARG    the rounded value does not fit into the integer type, as in the other
 *                           fill calls
 */
TENON_EXTERN TenonErrorCode TenonDTensorFillConstant(TenonDTensor x, double value) TENON_NOEXCEPT;

/** @brief Fills with random numbers, uniform in [low, high). Local; call on all ranks.
 *
 *  Each number is a function of seed, stream and the global index of the element only
 *  (Philox4x32-10: Salmon, Moraes, Dror and Shaw, SC 2011), so it does not depend on layout or
 *  number of ranks.
 *
 *  @param[out] x       tensor
 *  @param[in]  seed    random seed; any number, the same on all ranks
 *  @param[in]  stream  stream number, which distinguishes tensors filled with the same seed
 *  @param[in]  low     lower bound
 *  @param[in]  high    upper bound
 *  @return TENON_ERR_STATE  the tensor is constant or its array is in use
 */
TENON_EXTERN TenonErrorCode TenonDTensorFillUniform(TenonDTensor x, TenonInt seed, TenonInt stream,
                                                    double low, double high) TENON_NOEXCEPT;

/** @brief Fills with normally distributed random numbers. Local; call on all ranks.
 *  @param[out] x          tensor
 *  @param[in]  seed, stream  random seed and stream number, see TenonDTensorFillUniform()
 *  @param[in]  mean       mean
 *  @param[in]  deviation  standard deviation; must be >= 0
 *  @return TENON_ERR_ARG    the deviation is negative
 *  @return TENON_ERR_STATE  the tensor is constant or its array is in use
 */
TENON_EXTERN TenonErrorCode TenonDTensorFillNormal(TenonDTensor x, TenonInt seed, TenonInt stream,
                                                   double mean, double deviation) TENON_NOEXCEPT;

/** @brief Computes the Euclidean norm. Collective on the tensor.
 *
 *  Each element counts once, however many copies there are. As in all sums of Tenon, local sums are
 *  computed pairwise in double precision and added in rank order, so the result is bitwise
 *  identical on all ranks.
 *
 *  @param[in]  x     tensor
 *  @param[out] norm  norm, the same on all ranks
 *  @return TENON_ERR_SUPPORT   the layout holds partial sums; reduce the tensor first, for example
 *                              with TenonLinearOpCreatePrimitive() "allreduce"
 *  @return TENON_ERR_DATATYPE  the tensor has integer elements
 */
TENON_EXTERN TenonErrorCode TenonDTensorNorm(TenonDTensor x, double* norm) TENON_NOEXCEPT;

/** @brief Computes the pairing of a tensor with one in the dual layout. Collective on x and y.
 *
 *  The pairing is the sum over all ranks of the dot products of the local arrays.
 *
 *  @param[in]  x        tensor
 *  @param[in]  y        tensor in the dual of the layout of x (TenonLayoutGetDual()), of the same
 *                       data type
 *  @param[out] pairing  pairing, the same on all ranks
 *  @return TENON_ERR_SHAPE     the shapes of x and y differ
 *  @return TENON_ERR_LAYOUT    the layout of y is not the dual of the layout of x
 *  @return TENON_ERR_DATATYPE  the data types differ, or are integers
 */
TENON_EXTERN TenonErrorCode TenonDTensorPairing(TenonDTensor x, TenonDTensor y,
                                                double* pairing) TENON_NOEXCEPT;

/** @brief Computes the largest absolute value of any local element. Collective on the tensor.
 *  @param[in]  x      tensor
 *  @param[out] value  largest absolute value, the same on all ranks; NaN if there is one on any
 *                     rank
 *  @return TENON_ERR_DATATYPE  the tensor has integer elements (the same error on all ranks) */
TENON_EXTERN TenonErrorCode TenonDTensorMaxAbs(TenonDTensor x, double* value) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *
 *  A user array is left as it is.
 *
 *  @param[in,out] x  address of the handle, which may hold NULL
 */
TENON_EXTERN TenonErrorCode TenonDTensorDestroy(TenonDTensor* x) TENON_NOEXCEPT;

#endif
