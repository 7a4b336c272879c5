/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Creation of operators: conversions and communication primitives, sums and products,
 *         casts, and user-defined operators.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  Operators are ready for use when they are created. They hold what they need of the layouts and
 *  operators that they are created from, which can be destroyed. In all calls, op is the new
 *  operator, to be destroyed with TenonLinearOpDestroy(), and type is the element type of domain
 *  and range. Unless stated otherwise it can be TENON_INT64: integers are then communicated and
 *  added.
 *
 *  All calls are collective on the communicator of their layouts or operators. All errors are the
 *  same on all ranks (for handles that are not valid see tenon/error.h): TENON_ERR_NULL or
 *  TENON_ERR_HANDLE if a handle or pointer is not valid, TENON_ERR_STATE if a layout is not set up,
 *  TENON_ERR_DATATYPE if a value is not a data type, TENON_ERR_ARG if layouts or operators have
 *  different communicators, and TENON_ERR_COLLECTIVE if ranks pass different arguments.
 */
#ifndef TENON_LINEAROP_CREATE_H
#define TENON_LINEAROP_CREATE_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @name Conversions */
/**@{*/

/** @brief Creates the conversion between two layouts. Collective on the layouts.
 *
 *  All communication in Tenon is a conversion: broadcast, sum-reduce, scatter, gather, all-gather,
 *  reduce-scatter, all-to-all, slice, zero-pad and halo exchange differ only in the properties,
 *  split points and halos of the two layouts; so does a transfer to another process, between
 *  layouts on process grids of one process. The adjoint is the conversion from the dual of `to` to
 *  the dual of `from`.
 *
 *  The conversion uses the communication path that is predicted to be the fastest: one exchange of
 *  messages, or several steps through intermediate layouts, each an exchange or a collective along
 *  one axis of the process grid. TenonObjectView() prints the path. All paths keep the value of a
 *  valid tensor, and the copies of a sum are bitwise identical on each of them. On memory that is
 *  not a valid tensor, such as copies that differ, paths can give different results; the adjoint is
 *  always that of the path in use.
 *
 *  Options: -tenon_conversion_route (auto, exchange, chain or collective); -tenon_machine_latency
 *  and the other -tenon_machine_ rates for the prediction. Where all that changes is P to B, S or R
 *  on some axes whose ranks are on several nodes, or S or R to B, a reduction program sums or
 *  gathers level by level (see tenon/ext/reduction.h): -tenon_reduction, -tenon_reduction_order
 *  and -tenon_machine_levels. -tenon_reduction nccl sums tensors on devices by NCCL, in its order.
 *  Different routes or rates on different ranks are TENON_ERR_COLLECTIVE.
 *
 *  @param[in]  from  layout of the domain
 *  @param[in]  to    layout of the range, of the same shape and on the same communicator
 *  @param[in]  type  element type
 *  @param[out] op    new operator
 *  @return TENON_ERR_SHAPE  the shapes of the layouts differ
 *  @see    TenonLinearOpGetTraffic()
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateConversion(TenonLayout from, TenonLayout to,
                                                          TenonDataType type,
                                                          TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates a halo exchange, the conversion that fills halos. Collective on the layouts.
 *
 *  Halo elements inside the domain come from the ranks that own them, however far away. Elements
 *  outside follow the boundary mode; beyond sides of TENON_BOUNDARY_VALUES they become zero, see
 *  TenonLinearOpCreateBoundaryValues(). The adjoint adds the halo elements to the elements of their
 *  owners.
 *
 *  @param[in]  from  layout of the domain, usually without halos
 *  @param[in]  to    layout of the range: the same with halos
 *  @param[in]  type  element type
 *  @param[out] op    new operator
 *  @return TENON_ERR_LAYOUT  `to` has no halo, the layouts differ in more than halos, or a halo
 *                            holds partial sums
 *  @return TENON_ERR_SHAPE   the shapes of the layouts differ
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateHalo(TenonLayout from, TenonLayout to,
                                                    TenonDataType type,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates the map to user-supplied boundary values: y <- M v. Collective on the layout.
 *
 *  Without constant, M is a mask: it keeps the elements beyond sides of TENON_BOUNDARY_VALUES,
 *  corners included, and sets all others to zero. It does not communicate and is self-adjoint: the
 *  cotangent of the values is that part of the cotangent of y.
 *
 *  With constant, all these elements get one number. The domain, see TenonLinearOpGetDomain(), has
 *  shape [1] on the same process grid, with property B on axes that split the layout, and the
 *  property of the layout on the others. The adjoint gives each rank the sum over its boundary
 *  elements, in the dual of the domain.
 *
 *  A halo exchange E leaves zeros in these elements, so E x + M v is TenonLinearOpApply() of E,
 *  followed by TenonLinearOpApplyAdd() of M with factors 1 and 1.
 *
 *  @param[in]  layout    layout of the range, and of the domain without constant, with a halo of
 *                        values, or without constant also of partial sums
 *  @param[in]  type      element type
 *  @param[in]  constant  TENON_FALSE for a value for each element, TENON_TRUE for one number
 *  @param[out] op        new operator
 *  @return TENON_ERR_LAYOUT  no side of the layout has the boundary mode values, or the halo holds
 *                            partial sums, with constant
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateBoundaryValues(TenonLayout layout,
                                                              TenonDataType type,
                                                              TenonBool constant,
                                                              TenonLinearOp* op) TENON_NOEXCEPT;

/**@}*/

/** @name Communication along one axis of the process grid */
/**@{*/

/** @brief Creates a communication primitive by its name. Collective on the layout.
 *
 *  A primitive is a conversion that changes the property of one grid axis:
 *
 *  | name          | from | to     | adjoint       | result on each rank along the axis          |
 *  | ------------- | ---- | ------ | ------------- | ------------------------------------------- |
 *  | broadcast     | R    | B      | sumreduce     | a copy of the root's tensor                 |
 *  | sumreduce     | P    | R      | broadcast     | the sum, on the root                        |
 *  | allreduce     | P    | B      | allreduce     | the sum                                     |
 *  | scatter       | R    | S(dim) | gather        | its block of the root's tensor              |
 *  | gather        | S    | R      | scatter       | all blocks, on the root                     |
 *  | allgather     | S    | B      | reducescatter | all blocks                                  |
 *  | reducescatter | P    | S(dim) | allgather     | its block of the sum                        |
 *  | alltoall      | S    | S(dim) | alltoall      | its block in dim, not in another dimension  |
 *  | slice         | B    | S(dim) | zeropad       | its block of its own copy; no communication |
 *  | zeropad       | S    | P      | slice         | its block in zeros; no communication        |
 *
 *  The layout of the range follows from that of the domain, see TenonLinearOpGetRange(). If the
 *  axis begins to split a dimension, it becomes the minor axis of the dimension and splits each
 *  local block evenly; if it ceases to split a dimension, it must be the minor axis, and its blocks
 *  are joined. All communication is therefore along this axis (Hewett and Grady 2020, Section 3).
 *
 *  @param[in]  layout  layout of the domain, without halos
 *  @param[in]  name    name of the primitive
 *  @param[in]  axis    grid axis, counted from 0
 *  @param[in]  dim     tensor dimension that the axis is to split, counted from 0; must be -1 for a
 *                      primitive to R, B or P, which splits none
 *  @param[in]  type    element type
 *  @param[out] op      new operator
 *  @return TENON_ERR_TYPE    there is no such primitive; the message names the nearest
 *  @return TENON_ERR_LAYOUT  the axis has another property than in the table, the axis is not the
 *                            minor axis of the dimension that it ceases to split, or the layout has
 *                            halos
 *  @return TENON_ERR_ARG     there is no such axis or dimension, the axis already splits dim, or
 *                            dim is not -1 for a primitive that splits none
 *  @see    TenonLinearOpCreateConversion(), for any change of several axes
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreatePrimitive(TenonLayout layout, const char* name,
                                                         int axis, int dim, TenonDataType type,
                                                         TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates a transfer of a tensor to another process. Collective on the layout.
 *
 *  The adjoint sends the cotangent back.
 *
 *  @param[in]  layout  layout of the domain, on a process grid of one process
 *  @param[in]  rank    destination rank in the layout's communicator
 *  @param[in]  type    element type
 *  @param[out] op      new operator
 *  @return TENON_ERR_LAYOUT  the process grid has more than one process
 *  @return TENON_ERR_ARG     there is no such rank
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSendReceive(TenonLayout layout, int rank,
                                                           TenonDataType type,
                                                           TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name Casts */
/**@{*/

/** @brief Creates a cast to another floating-point type: y <- x. Collective on the layout.
 *
 *  The adjoint casts back.
 *
 *  @param[in]  layout  layout of domain and range
 *  @param[in]  from    element type of the domain
 *  @param[in]  to      element type of the range
 *  @param[out] op      new operator
 *  @return TENON_ERR_DATATYPE  one of two different types is TENON_INT64
 *  @note   Rounding to float32 is linear only on numbers that float32 can represent; on these the
 *          adjoint identity holds exactly.
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateCast(TenonLayout layout, TenonDataType from,
                                                    TenonDataType to,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;

/**@}*/

/** @name Combinations of operators */
/**@{*/

/** @brief Creates a product: ops[count-1] ... ops[1] ops[0]. Collective on the operators.
 *
 *  The operators are applied one after the other, ops[0] first; the adjoint applies their adjoints
 *  in reverse order.
 *
 *  @param[in]  count  number of operators; must be >= 1
 *  @param[in]  ops    [count] operators; the range of each must be the domain of the next
 *  @param[out] op     new operator
 *  @return TENON_ERR_LAYOUT    two successive operators do not match; the message names the first
 *                              pair
 *  @return TENON_ERR_DATATYPE  their element types do not match, likewise
 *  @return TENON_ERR_ARG       count is below 1, or the operators have different communicators
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateComposition(int count, const TenonLinearOp ops[],
                                                           TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates the adjoint as an operator. Collective on the operator.
 *
 *  It exchanges TenonLinearOpApply() and TenonLinearOpApplyAdjoint().
 *
 *  @param[in]  op       operator
 *  @param[out] adjoint  new operator; destroy it with TenonLinearOpDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAdjoint(TenonLinearOp op,
                                                       TenonLinearOp* adjoint) TENON_NOEXCEPT;

/** @brief Creates a linear combination of operators. Collective on the operators.
 *
 *  y <- factors[0] ops[0] x + ... + factors[count-1] ops[count-1] x: a sum without factors, and the
 *  multiple of an operator if there is one.
 *
 *  @param[in]  count    number of operators; must be >= 1
 *  @param[in]  ops      [count] operators of the same domain and range; one can occur several times
 *  @param[in]  factors  [count] factors, the same on all ranks. May be NULL, in which case all are
 *                       1.
 *  @param[out] op       new operator
 *  @return TENON_ERR_LAYOUT    domains or ranges differ; the message names the first operator that
 *                              differs
 *  @return TENON_ERR_DATATYPE  element types differ, likewise, or a factor is not an integer, for
 *                              operators on integers
 *  @return TENON_ERR_ARG       count is below 1, or the operators have different communicators
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSum(int count, const TenonLinearOp ops[],
                                                   const double factors[],
                                                   TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name User-defined operators */
/**@{*/

/** @brief User function for one of the two maps of an operator: y <- F x, or x <- F* y.
 *
 *  Every rank that applies the operator calls the function. It can call any function of Tenon and
 *  MPI, but not apply the operator itself (TENON_ERR_STATE). The handles are valid during the call
 *  only. If the function destroys the operator, it lives until the call that applies it returns.
 *
 *  @param[in]  input    tensor in the domain, or in the dual of the range; must not be modified
 *  @param[out] output   tensor in the range, or in the dual of the domain; to be overwritten
 *  @param[in]  context  context of TenonLinearOpCreateShell() or of a registered type. May be NULL,
 *                       in which case none was given.
 *  @return TENON_SUCCESS, or an error that the application of the operator then returns
 */
typedef TenonErrorCode (*TenonLinearOpMap)(TenonDTensor input, TenonDTensor output, void* context);

/** @brief User function called once with the context when the operator is destroyed.
 *  @param[in] context  context of the operator. May be NULL, in which case none was given. */
typedef void (*TenonLinearOpDestroyer)(void* context);

/** @brief Creates an operator of type "shell" from user functions. Collective on the layouts.
 *
 *  Factors, Begin and End, sums and compositions work as for any operator. With factors other than
 *  alpha = 1 and beta = 0 the functions write to a tensor of the operator.
 *  TenonLinearOpTestAdjoint() checks that the two maps are adjoint.
 *
 *  @param[in]  domain        layout of the domain
 *  @param[in]  range         layout of the range, on the same communicator; shape and distribution
 *                            are free
 *  @param[in]  domainType    element type of the domain
 *  @param[in]  rangeType     element type of the range
 *  @param[in]  apply         function for y <- F x
 *  @param[in]  applyAdjoint  function for x <- F* y. May be NULL, in which case the operator has no
 *                            adjoint, and applying it returns TENON_ERR_SUPPORT.
 *  @param[in]  context       context, passed to the functions and not accessed by Tenon. May be
 *                            NULL, in which case NULL is passed.
 *  @param[in]  destroy       function that frees the context; not called if this call fails. May be
 *                            NULL, in which case nothing is called.
 *  @param[out] op            new operator
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateShell(
    TenonLayout domain, TenonLayout range, TenonDataType domainType, TenonDataType rangeType,
    TenonLinearOpMap apply, TenonLinearOpMap applyAdjoint, void* context,
    TenonLinearOpDestroyer destroy, TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates an operator by the name of its type. Collective on the layouts.
 *  @param[in]  domain      layout of the domain
 *  @param[in]  range       layout of the range
 *  @param[in]  domainType  element type of the domain
 *  @param[in]  rangeType   element type of the range
 *  @param[in]  name        type name: "conversion", "identity" (y <- x, between equal layouts),
 *                          "cast", "zero" (y <- 0, between any layouts), or a type registered with
 *                          TenonLinearOpRegister() (tenon/ext/linearop.h)
 *  @param[in]  parameters  parameters of a registered type. May be NULL, in which case the type
 *                          must not need any; Tenon's own types do not.
 *  @param[out] op          new operator
 *  @return TENON_ERR_TYPE      the name is unknown; the message names the nearest
 *  @return TENON_ERR_LAYOUT    the type cannot map between these layouts
 *  @return TENON_ERR_DATATYPE  the type cannot map between these element types
 *  @note   A registered type can return any other error.
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateType(TenonLayout domain, TenonLayout range,
                                                    TenonDataType domainType,
                                                    TenonDataType rangeType, const char* name,
                                                    void* parameters,
                                                    TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name Jacobians of layers */
/**@{*/

/** @brief Creates the Jacobian of a layer at a point. Collective on the layer.
 *
 *  The operator maps a tangent of the input to the tangent of the output, dy <- J dx, and its
 *  adjoint maps dL/dy to dL/dx. The layer is evaluated at x once; the operator then holds the point
 *  by itself, so x can be modified and destroyed, and can be applied any number of times. x can be
 *  in either space; the operator's tensors must be in the space of the layer. Pending evaluations
 *  of the layer, its gradients, and the tangents of its parameters are neither used nor changed:
 *  the parameters count as constants.
 *
 *  Once a parameter has been modified, for example by TenonOptimizerStep(), applying the operator
 *  returns TENON_ERR_STATE until TenonLinearOpJacobianSetPoint() has been called.
 *
 *  @param[in]  layer  layer with one input (a network, for example), set up for the layout of x
 *  @param[in]  x      point
 *  @param[out] op     new operator of type "jacobian"; it holds a reference to the layer
 *  @return TENON_ERR_STATE     the layer is not set up, or a loss has no target
 *  @return TENON_ERR_SHAPE     the shape of x does not match the layer (likewise ERR_LAYOUT,
 *                              ERR_DATATYPE)
 *  @return TENON_ERR_SUPPORT   the layer has several inputs, or contains dropout or batch
 *                              normalisation in training mode (TenonLayerSetTraining())
 *  @see    TenonLayerApplyTangent(), TenonLayerApplyAdjoint(), TenonLinearOpTestAdjoint()
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateJacobian(TenonLayer layer, TenonDTensor x,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Moves a Jacobian to another point. Collective on the operator.
 *
 *  Evaluates the layer at x with its present parameters. After the first call no memory is
 *  allocated. Errors are those of TenonLayerApply().
 *
 *  @param[in] op  operator of TenonLinearOpCreateJacobian()
 *  @param[in] x   new point, in the domain
 *  @return TENON_ERR_TYPE  the operator is not a Jacobian
 */
TENON_EXTERN TenonErrorCode TenonLinearOpJacobianSetPoint(TenonLinearOp op,
                                                          TenonDTensor x) TENON_NOEXCEPT;
/**@}*/

#endif
