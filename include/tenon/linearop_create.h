/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The operators: conversions and the named primitives, sums and products, casts, and the
 *         user's own.
 *
 *  All are created ready for use: there is no SetUp. They hold what they need of the objects that
 *  they are created from, which may be destroyed. Each `op` is to be given back with
 *  TenonLinearOpDestroy(); `type`, the element type of domain and range, may be TENON_INT64, if
 *  nothing else is said: integers are then moved and added.
 *
 *  All calls are collective: on the communicator of the layouts or operators that they get. They
 *  fail alike on all ranks (for bad handles see <tenon/error.h>), with TENON_ERR_NULL or
 *  TENON_ERR_HANDLE for a bad handle or address,
 *  TENON_ERR_STATE for a layout that is not set up, TENON_ERR_DATATYPE for a value that is no data
 *  type, and TENON_ERR_COLLECTIVE if ranks pass different arguments.
 */
#ifndef TENON_LINEAROP_CREATE_H
#define TENON_LINEAROP_CREATE_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @name Conversions */
/**@{*/

/** @brief The conversion of tensors from one layout to another.
 *
 *  Broadcast, sum-reduce, scatter, gather, all-gather, reduce-scatter, all-to-all, slice, zero-pad
 *  and halo exchange are its cases, by the properties, cuts and margins of the two layouts. Its
 *  adjoint is the conversion from the dual of `to` to the dual of `from`.
 *
 *  The data take the route that is predicted to be the fastest: one exchange of messages, or several
 *  steps through other layouts, each an exchange or a collective along one axis of the mesh
 *  (-tenon_conversion_route auto, exchange, chain or collective; -tenon_machine_latency and others
 *  are the rates that count). TenonLinearOpView() shows it. All routes keep the tensor's value, and
 *  copies of a sum are equal bit by bit on each; on arrays that hold no valid tensor, as copies
 *  that differ, routes differ, and the adjoint is that of the route. Ranks that ask for different
 *  routes or rates fail with TENON_ERR_COLLECTIVE.
 *
 *  Where nothing changes but P to B on some axes, -tenon_reduction may give a program that sums, on
 *  the levels -tenon_machine_levels; see tenon/reduction.h.
 *
 *  @param[in]  from  layout of the domain
 *  @param[in]  to    layout of the range, of the same shape, on the same communicator
 *  @param[in]  type  element type of both; the adjoint is of the same type
 *  @return TENON_ERR_SHAPE if the shapes differ, TENON_ERR_ARG if the communicators do
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateConversion(TenonLayout from, TenonLayout to,
                                                          TenonDataType type,
                                                          TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The conversion that fills margins: a halo exchange.
 *
 *  Cells of a margin within the domain come from the ranks that own them, however far away; cells
 *  outside follow the boundary mode, and are zero beyond sides of TENON_BOUNDARY_VALUES
 *  (TenonLinearOpCreateBoundaryValues()). The adjoint adds what the margins hold to the owners' cells.
 *
 *  @param[in] from  a layout, usually without margins
 *  @param[in] to    the same layout with margins
 *  @return also TENON_ERR_LAYOUT if `to` differs from `from` in more than margins, or has none, or
 *          if one of them holds addends in its margins
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateHalo(TenonLayout from, TenonLayout to,
                                                    TenonDataType type,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief What the caller supplies outside the domain, beside a halo exchange: y <- M v, where M keeps
 *         the cells of a layout beyond sides of TENON_BOUNDARY_VALUES, corners included, and clears
 *         the others.
 *
 *  A halo exchange E leaves zero in these cells, so E x + M v is TenonLinearOpApply() of E, and then
 *  TenonLinearOpApplyAdd() of M with factors 1 and 1. Nothing is sent. M is self-adjoint: the
 *  values' cotangent is what lies in these cells of the cotangent of y.
 *
 *  @param[in] layout  of domain and range, with a margin, of values or of addends
 *  @return also TENON_ERR_LAYOUT if no side of it has the mode values
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateBoundaryValues(TenonLayout layout,
                                                              TenonDataType type,
                                                              TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The same with one number in all of these cells.
 *
 *  The domain (TenonLinearOpGetDomain()) has shape [1] on the layout's mesh: B along axes that split
 *  the layout, else the layout's property. The adjoint gives each rank the sum over its cells, in
 *  the domain's dual.
 *
 *  @param[in] layout  of the range, with a margin of values
 *  @return also TENON_ERR_LAYOUT if no side of it has the mode values, or a margin holds addends
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateBoundaryConstant(TenonLayout layout,
                                                                TenonDataType type,
                                                                TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The conversion between two layouts, on the same mesh or on two, that keeps the tensor's
 *         value.
 *
 *  @return also TENON_ERR_LAYOUT if one of the layouts holds addends or has margins
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateRepartition(TenonLayout from, TenonLayout to,
                                                           TenonDataType type,
                                                           TenonLinearOp* op) TENON_NOEXCEPT;

/**@}*/

/** @name Primitives along one axis of the mesh
 *
 *  Conversions that change one property: that of the mesh axis `axis`. The range follows
 *  (TenonLinearOpGetRange()). An axis that comes to split a dimension becomes its minor axis, and
 *  divides each part in balanced pieces; an axis that ceases to split one must be its minor axis,
 *  and its pieces are joined. So data moves along this axis only (Hewett and Grady 2020, Section
 *  3).
 *
 *    primitive       from  to    adjoint             the tensor on each rank along the axis
 *    Broadcast       R     B     SumReduce           the root's, copied to all
 *    SumReduce       P     R     Broadcast           the sum of all, on the root
 *    AllReduce       P     B     AllReduce           the sum of all, on all
 *    Scatter         R     S(d)  Gather              its part of the root's
 *    Gather          S(d)  R     Scatter             all parts, on the root
 *    AllGather       S(d)  B     ReduceScatter       all parts, on all
 *    ReduceScatter   P     S(d)  AllGather           its part of the sum
 *    AllToAll        S(e)  S(d)  AllToAll            its part in d instead of that in e
 *    Slice           B     S(d)  ZeroPad             its part of the copy; nothing is sent
 *    ZeroPad         S(d)  P     Slice               its part, in zeros; nothing is sent
 *
 *  @param[in] layout  domain, without margins
 *  @param[in] axis    of its mesh, from 0
 *  @param[in] dim     dimension that the axis is to split
 *  @return TENON_ERR_LAYOUT if the axis has another property than the table says, is not the minor
 *          one of the dimension that it leaves, or the layout has margins; TENON_ERR_ARG if there
 *          is no such axis or dimension, or the axis splits `dim` already
 */
/**@{*/

/** @brief From one process to all along an axis: R -> B. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateBroadcast(TenonLayout layout, int axis,
                                                         TenonDataType type,
                                                         TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The sum over an axis, on its first process: P -> R. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSumReduce(TenonLayout layout, int axis,
                                                         TenonDataType type,
                                                         TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The sum over an axis, on all its processes: P -> B. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAllReduce(TenonLayout layout, int axis,
                                                         TenonDataType type,
                                                         TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Parts of the first process' tensor to each along an axis: R -> S(dim). */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateScatter(TenonLayout layout, int axis, int dim,
                                                       TenonDataType type,
                                                       TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The parts along an axis, joined on its first process: S -> R. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateGather(TenonLayout layout, int axis,
                                                      TenonDataType type,
                                                      TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The parts along an axis, joined on all its processes: S -> B. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAllGather(TenonLayout layout, int axis,
                                                         TenonDataType type,
                                                         TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Each process' part of the sum over an axis: P -> S(dim). */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateReduceScatter(TenonLayout layout, int axis, int dim,
                                                             TenonDataType type,
                                                             TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Along an axis, parts of one dimension for parts of another: S -> S(dim). */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAllToAll(TenonLayout layout, int axis, int dim,
                                                        TenonDataType type,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Each process' part of its own copy: B -> S(dim). */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSlice(TenonLayout layout, int axis, int dim,
                                                     TenonDataType type,
                                                     TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Each process' part, in a tensor of zeros: S -> P. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateZeroPad(TenonLayout layout, int axis,
                                                       TenonDataType type,
                                                       TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The same tensor on another process. The adjoint sends it back.
 *
 *  @param[in] layout  on a mesh of one process
 *  @param[in] rank    of the process that gets the tensor, in the layouts' communicator
 *  @return TENON_ERR_LAYOUT for a mesh of several, TENON_ERR_ARG if there is no such rank
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSendReceive(TenonLayout layout, int rank,
                                                           TenonDataType type,
                                                           TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name Memory operators
 *
 *  What movement of data is made of (Hewett and Grady 2020, Section 2): each rank's local array,
 *  margins included, is the memory, and low[d] to high[d] - 1 counts its cells in dimension d from
 *  0. Ranks may pass different boxes; an empty one leaves the rank's memory as it is. Whether
 *  copies of a tensor stay equal is the caller's care.
 *
 *  @param[in] layout  of domain and range
 *  @param[in] low     [dimensions] first cells of the box
 *  @param[in] high    [dimensions] behind its last cells
 *  @param[in] to      [dimensions] first cells of the box of the same extents that is written; the
 *                     two must not overlap
 *  @return TENON_ERR_ARG for a box that is not inside the memory, or two that overlap
 */
/**@{*/

/** @brief The domain's arrays in larger ones, the new cells zero; the adjoint deallocates them.
 *
 *  @param[in] from  layout of the domain
 *  @param[in] to    layout of the range, of as many dimensions; shape and distribution are free
 *  @param[in] at    [dimensions] the cell of the range's array at which the domain's begins
 *  @return also TENON_ERR_SHAPE for another number of dimensions
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAllocate(TenonLayout from, TenonLayout to,
                                                        const TenonInt at[], TenonDataType type,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief A box becomes zero. Self-adjoint. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateClear(TenonLayout layout, const TenonInt low[],
                                                     const TenonInt high[], TenonDataType type,
                                                     TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief A box is added to another; the adjoint adds that one to the first. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAdd(TenonLayout layout, const TenonInt low[],
                                                   const TenonInt high[], const TenonInt to[],
                                                   TenonDataType type,
                                                   TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief A box replaces another; the adjoint adds that one to the first, then clears it. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateCopy(TenonLayout layout, const TenonInt low[],
                                                    const TenonInt high[], const TenonInt to[],
                                                    TenonDataType type,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief A box replaces another and becomes zero; the adjoint moves it back. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateMove(TenonLayout layout, const TenonInt low[],
                                                    const TenonInt high[], const TenonInt to[],
                                                    TenonDataType type,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name Operators without movement */
/**@{*/

/** @brief y <- x. Self-adjoint up to duality. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateIdentity(TenonLayout layout, TenonDataType type,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief y <- x in another floating type; the adjoint casts back.
 *
 *  Rounding to float32 is linear only on numbers that float32 holds; on those the adjoint identity
 *  is exact.
 *
 *  @param[in] layout  of domain and range
 *  @param[in] from    element type of the domain
 *  @param[in] to      element type of the range
 *  @return TENON_ERR_DATATYPE if one of two different types is TENON_INT64
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateCast(TenonLayout layout, TenonDataType from,
                                                    TenonDataType to,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief y <- 0. The layouts' shapes may differ.
 *  @return TENON_ERR_ARG if their communicators do */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateZero(TenonLayout from, TenonLayout to,
                                                    TenonDataType type,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name Operators made of operators */
/**@{*/

/** @brief The operator that applies others one after the other: ops[count-1] ... ops[1] ops[0].
 *
 *  @param[in]  count  at least 1
 *  @param[in]  ops    [count] the range of each must be the domain of the next
 *  @param[out] op     its adjoint applies the adjoints in reverse order
 *  @return TENON_ERR_LAYOUT or TENON_ERR_DATATYPE, naming the first pair that does not
 *          fit; TENON_ERR_ARG if they live on different communicators or count is below 1
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateComposition(int count, const TenonLinearOp ops[],
                                                           TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief The adjoint as an operator of its own: Apply and ApplyAdjoint exchanged. */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAdjoint(TenonLinearOp op,
                                                       TenonLinearOp* adjoint) TENON_NOEXCEPT;

/** @brief y <- ops[0] x + ... + ops[count-1] x.
 *
 *  @param[in] count  at least 1
 *  @param[in] ops    [count] all of one domain and one range; an operator may stand there twice
 *  @return TENON_ERR_LAYOUT or TENON_ERR_DATATYPE, naming the first that does not fit;
 *          TENON_ERR_ARG if they live on different communicators or count is below 1
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSum(int count, const TenonLinearOp ops[],
                                                   TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief y <- factor F x.
 *
 *  @param[in] factor  the same on all ranks
 *  @param[in] op      F
 *  @return TENON_ERR_DATATYPE for a broken factor and an operator on integers
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateScale(double factor, TenonLinearOp op,
                                                     TenonLinearOp* scaled) TENON_NOEXCEPT;
/**@}*/

/** @name The user's own operators */
/**@{*/

/** @brief One of the two maps of a user's operator: y <- F x, or x <- F* y.
 *
 *  @param[in]  input    tensor in the domain, or in the dual of the range; not to be changed
 *  @param[out] output   tensor in the range, or in the dual of the domain; to be overwritten
 *  @param[in]  context  what was given to TenonLinearOpCreateShell(), or made by a registered type
 *  @return TENON_SUCCESS, or what the Apply shall return
 *
 *  Every rank that applies the operator makes the call. It may use any call of Tenon and MPI. The
 *  handles are valid during the call.
 */
typedef TenonErrorCode (*TenonLinearOpMap)(TenonDTensor input, TenonDTensor output, void* context);

/** @brief What is called once with the context, when an operator's last reference is gone. */
typedef void (*TenonLinearOpDestroyer)(void* context);

/** @brief An operator whose maps are functions of the user's. Of type "shell".
 *
 *  Factors, Begin and End, sums and compositions work as with any operator; whether the two maps
 *  are adjoint, TenonLinearOpTestAdjoint() tells. With other factors than alpha = 1 and beta = 0 the
 *  maps write into a tensor of the operator's.
 *
 *  @param[in] domain        layout of the domain
 *  @param[in] range         layout of the range; shape and distribution are free
 *  @param[in] domainType    element type of the domain
 *  @param[in] rangeType     element type of the range
 *  @param[in] apply         y <- F x
 *  @param[in] applyAdjoint  x <- F* y; NULL: ApplyAdjoint is TENON_ERR_SUPPORT
 *  @param[in] destroy       may be NULL; not called if this call fails
 *  @param[in] context       handed to the functions; Tenon does not look at it
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateShell(
    TenonLayout domain, TenonLayout range, TenonDataType domainType, TenonDataType rangeType,
    TenonLinearOpMap apply, TenonLinearOpMap applyAdjoint, TenonLinearOpDestroyer destroy,
    void* context, TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief An operator of a type that has a name: "conversion", "identity", "cast", "zero", or one
 *         registered with TenonLinearOpRegister() (tenon/ext/linearop.h).
 *
 *  @param[in] name        of the type
 *  @param[in] domain      layout of the domain
 *  @param[in] range       layout of the range
 *  @param[in] domainType  element type of the domain
 *  @param[in] rangeType   element type of the range
 *  @param[in] parameters  what a registered type wants to know; NULL for the library's own
 *  @return TENON_ERR_TYPE for an unknown name, naming the nearest; TENON_ERR_LAYOUT or
 *          TENON_ERR_DATATYPE if the type cannot map these; what the registered type returns
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateType(const char* name, TenonLayout domain,
                                                    TenonLayout range, TenonDataType domainType,
                                                    TenonDataType rangeType, void* parameters,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

#endif
