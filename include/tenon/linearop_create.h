/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Creation of operators: conversions and communication primitives, sums, products and
 *         block diagonals, casts, and user-defined operators.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  An operator is ready for use when it is created. It holds what it needs of its layouts and
 *  operators, which can be destroyed. In all calls, op is the new operator, to be destroyed with
 *  TenonLinearOpDestroy(), and type is the element type of domain and range. Unless stated
 *  otherwise it can be TENON_INT64 or TENON_INT32: integers are then communicated and added.
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
 *  All communication in Tenon is a conversion. Broadcast, sum-reduce, scatter, gather, all-gather,
 *  reduce-scatter, all-to-all, slice, zero-pad and halo exchange differ only in the properties,
 *  split points and halos of the two layouts. A transfer to another process is the conversion
 *  between layouts on two process grids of one process each. The adjoint is the conversion from the
 *  dual of `to` to the dual of `from`.
 *
 *  The conversion uses the route (communication path) that is predicted to be the fastest: one
 *  exchange of messages, or several steps through intermediate layouts. Each step is an exchange,
 *  or a collective along one axis of the process grid. TenonObjectView() prints the route. All
 *  routes preserve the value of a valid tensor, and on each of them the copies of a sum are bitwise
 *  identical. If the tensor is not valid, for example because its copies differ, the results of
 *  routes can differ; the adjoint is always the adjoint of the route that is used.
 *
 *  A reduction program sums or gathers level by level of the machine, for example first within each
 *  node and then between nodes (tenon/ext/reduction.h). A conversion that only sums (P to B, S or
 *  R) or only gathers (S or R to B) runs as a reduction program if the ranks of its axes are on
 *  several nodes, or other levels, and the program is predicted to be faster.
 *
 *  | option                  | meaning                                                           |
 *  | ----------------------- | ----------------------------------------------------------------- |
 *  | -tenon_conversion_route | auto: the fastest; exchange: one exchange; chain: several         |
 *  |                         | exchanges; collective: collectives along axes where possible      |
 *  | -tenon_machine_latency  | and the other -tenon_machine_ rates: for the prediction           |
 *  | -tenon_reduction        | which reduction programs are used, if any; nccl: sums of tensors  |
 *  |                         | on devices by NCCL, in the order of NCCL                          |
 *  | -tenon_reduction_order  | flat: sums in the order of grid coordinates on any machine        |
 *  | -tenon_machine_levels   | the levels of the machine for reduction programs                  |
 *
 *  The call returns TENON_ERR_COLLECTIVE if routes or rates differ between ranks.
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
 *  Halo elements inside the domain are copied from the ranks that own them, at any distance. The
 *  boundary mode defines the elements outside the domain; beyond sides of TENON_BOUNDARY_VALUES
 *  they become zero, see TenonLinearOpCreateBoundaryValues(). The adjoint adds each halo element to
 *  the element that it is a copy of.
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
 *  If constant is TENON_FALSE, v has the layout of y, and M is a mask: it keeps the elements beyond
 *  sides of TENON_BOUNDARY_VALUES, corners included, and sets all others to zero. M does not
 *  communicate and is self-adjoint: the cotangent of the values is the cotangent of y beyond these
 *  sides.
 *
 *  If constant is TENON_TRUE, v is one number, which M writes to all these elements. The domain,
 *  see TenonLinearOpGetDomain(), has shape [1] and the process grid of the layout. Its property is
 *  B on axes that split the layout, and the property of the layout on other axes. The adjoint gives
 *  each rank the sum over its boundary elements, in the dual of the domain.
 *
 *  A halo exchange E leaves zeros in these elements, so E x + M v is TenonLinearOpApply() of E,
 *  followed by TenonLinearOpApplyAdd() of M with factors 1 and 1.
 *
 *  @param[in]  layout    layout of the range, and of the domain if constant is TENON_FALSE. Its
 *                        halo must hold copies, or, if constant is TENON_FALSE, copies or partial
 *                        sums.
 *  @param[in]  type      element type
 *  @param[in]  constant  TENON_FALSE for a value for each element, TENON_TRUE for one number
 *  @param[out] op        new operator
 *  @return TENON_ERR_LAYOUT  no side of the layout has the boundary mode values, or constant is
 *                            TENON_TRUE and the halo holds partial sums
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
 *  | alltoall      | S    | S(dim) | alltoall      | its block in dim, of a whole other dimension|
 *  | slice         | B    | S(dim) | zeropad       | its block of its own copy; no communication |
 *  | zeropad       | S    | P      | slice         | its block in zeros; no communication        |
 *
 *  The layout of the domain determines the layout of the range, see TenonLinearOpGetRange(). The
 *  grid axes that split a dimension are ordered; the last one is the minor axis, along which
 *  neighbours have adjacent blocks. An axis that begins to split a dimension becomes its minor axis
 *  and splits each local block evenly. An axis that ceases to split a dimension must be its minor
 *  axis; its blocks are joined. All communication is therefore along this axis (Hewett and Grady
 *  2020, Section 3).
 *
 *  @param[in]  layout  layout of the domain, without halos
 *  @param[in]  name    name of the primitive
 *  @param[in]  axis    grid axis, counted from 0
 *  @param[in]  dim     tensor dimension that the axis splits in the range, counted from 0; must be
 *                      -1 for a primitive to R, B or P
 *  @param[in]  type    element type
 *  @param[out] op      new operator
 *  @return TENON_ERR_TYPE    there is no such primitive; the message suggests a similar name
 *  @return TENON_ERR_LAYOUT  the axis has another property than in the table, the axis is not the
 *                            minor axis of the dimension that it ceases to split, or the layout has
 *                            halos
 *  @return TENON_ERR_ARG     there is no such axis or dimension, the axis already splits dim, or
 *                            dim is not -1 for a primitive to R, B or P
 *  @see    TenonLinearOpCreateConversion(), for any change of several axes
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreatePrimitive(TenonLayout layout, const char* name,
                                                         int axis, int dim, TenonDataType type,
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
 *  @return TENON_ERR_DATATYPE  the element types of two successive operators do not match; the
 *                              message names the first pair
 *  @return TENON_ERR_ARG       count is below 1, or the operators have different communicators
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateComposition(int count, const TenonLinearOp ops[],
                                                           TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates the adjoint as an operator. Collective on the operator.
 *
 *  TenonLinearOpApply() of the new operator is TenonLinearOpApplyAdjoint() of op, and conversely.
 *
 *  @param[in]  op       operator
 *  @param[out] adjoint  new operator; destroy it with TenonLinearOpDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAdjoint(TenonLinearOp op,
                                                       TenonLinearOp* adjoint) TENON_NOEXCEPT;

/** @brief Creates a linear combination of operators. Collective on the operators.
 *
 *  y <- factors[0] ops[0] x + ... + factors[count-1] ops[count-1] x. With factors NULL it is the
 *  sum of the operators; with count 1 it is a multiple of an operator.
 *
 *  @param[in]  count    number of operators; must be >= 1
 *  @param[in]  ops      [count] operators of the same domain and range; an operator can be listed
 *                       several times
 *  @param[in]  factors  [count] factors, the same on all ranks. May be NULL, in which case all are
 *                       1.
 *  @param[out] op       new operator
 *  @return TENON_ERR_LAYOUT    domains or ranges differ; the message names the first operator that
 *                              differs
 *  @return TENON_ERR_DATATYPE  element types differ (the message names the first operator that
 *                              differs), or operators on integers have a factor that is not an
 *                              integer
 *  @return TENON_ERR_ARG       count is below 1, or the operators have different communicators
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateSum(int count, const TenonLinearOp ops[],
                                                   const double factors[],
                                                   TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates a block diagonal: y[i] <- ops[i] x[i] in one exchange. Collective on the
 *         operators.
 *
 *  For fields of different layouts that are exchanged together, such as a surface height beside
 *  columns of temperatures, fields of several element types or widths of the halo, and fields on
 *  the nodes and on the edges of a mesh. Each rank is sent one message, or one part through shared
 *  memory, with the elements of all fields for which it has any. Results are bitwise those of the
 *  operators.
 *
 *  The operator is applied by TenonLinearOpApplyMany() to as many fields as there are operators,
 *  and so is the operator of TenonLinearOpCreateAdjoint(), by the adjoints of these.
 *  TenonLinearOpTestAdjoint() compares, and TenonLinearOpGetTraffic() counts, all fields. Other
 *  calls that apply, bind or combine operators, or return a domain, range or data type, return
 *  TENON_ERR_SUPPORT.
 *
 *  @param[in]  count  number of operators, 1 to 64
 *  @param[in]  ops    [count] operators that are one exchange (TenonObjectView() prints this): halo
 *                     exchanges, index maps (also of links and edges), other conversions, adjoints
 *                     of these, and block diagonals, whose operators take their place. An operator
 *                     can be listed several times, for several fields of its layout.
 *  @param[out] op     new operator
 *  @return TENON_ERR_SUPPORT  an operator is not one exchange, which the message names; or
 *                             operators of which the action or the adjoint sums add the
 *                             contributions of the ranks in contrary orders, since the ranks of
 *                             their process grids are
 *  @return TENON_ERR_ARG      count is out of range, or the operators have different communicators
 *  @note   The transport is that of the options at this time (-tenon_conversion_transport). The
 *          operator has message buffers besides those of ops.
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateBlockDiagonal(int count, const TenonLinearOp ops[],
                                                             TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @name User-defined operators */
/**@{*/

/** @brief User function for one of the two maps of an operator: y <- F x, or x <- F* y.
 *
 *  The function is called on every rank that applies the operator. It can call any function of
 *  Tenon and MPI, but must not apply the operator itself (TENON_ERR_STATE). The handles are valid
 *  during the call only. If the function destroys the operator, the operator exists until the call
 *  that applies it returns.
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
 *  Factors, Begin and End, sums and compositions work as for any operator. If the factors differ
 *  from alpha = 1 and beta = 0, the functions write to a temporary tensor of the operator.
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
 *
 *  | name       | operator                                                                       |
 *  | ---------- | ------------------------------------------------------------------------------ |
 *  | cast       | y <- x in another floating-point type, with domain == range; the adjoint casts |
 *  |            | back                                                                           |
 *  | identity   | y <- x, with domain == range and one element type                              |
 *  | zero       | y <- 0, between any layouts                                                    |
 *  | conversion | the operator of TenonLinearOpCreateConversion()                                |
 *
 *  For example, the cast of a field to float32 before a network:
 *
 *      TenonLinearOpCreateType(field, field, TENON_FLOAT64, TENON_FLOAT32, "cast", NULL, &op);
 *
 *  Rounding to float32 is linear only on numbers that float32 can represent; on these the adjoint
 *  identity holds exactly.
 *
 *  @param[in]  domain      layout of the domain
 *  @param[in]  range       layout of the range
 *  @param[in]  domainType  element type of the domain
 *  @param[in]  rangeType   element type of the range
 *  @param[in]  name        type name: a name of the table, or of a type registered with
 *                          TenonLinearOpRegister() (tenon/ext/linearop.h)
 *  @param[in]  parameters  parameters of a registered type. May be NULL, in which case the type
 *                          must not need any; Tenon's own types do not.
 *  @param[out] op          new operator
 *  @return TENON_ERR_TYPE      the name is unknown; the message suggests a similar one
 *  @return TENON_ERR_LAYOUT    the type cannot map between these layouts
 *  @return TENON_ERR_DATATYPE  the type cannot map between these element types, such as a cast
 *                              between an integer type and another type
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
 *  adjoint maps dL/dy to dL/dx. The layer is evaluated at x once. The operator holds this point, so
 *  x can be modified and destroyed, and the operator can be applied any number of times. x can be
 *  in either memory space; the operator's tensors must be in the space of the layer. The parameters
 *  count as constants: pending evaluations of the layer, its gradients, and the tangents of its
 *  parameters are neither used nor changed.
 *
 *  Once a parameter has been modified, for example by TenonOptimizerStep(), applying the operator
 *  returns TENON_ERR_STATE until TenonLinearOpJacobianSetPoint() has been called.
 *
 *  @param[in]  layer  layer with one input (a network, for example), set up for the layout of x
 *  @param[in]  x      point
 *  @param[out] op     new operator of type "jacobian"; it holds a reference to the layer
 *  @return TENON_ERR_STATE     the layer is not set up, or a loss has no target
 *  @return TENON_ERR_SHAPE     the shape of x does not match the layer
 *  @return TENON_ERR_LAYOUT    the layout of x does not match the layer
 *  @return TENON_ERR_DATATYPE  the data type of x does not match the layer
 *  @return TENON_ERR_SUPPORT   the layer has several inputs, or contains dropout or batch
 *                              normalisation in training mode (TenonLayerSetTraining())
 *  @see    TenonLayerApplyTangent(), TenonLayerApplyAdjoint(), TenonLinearOpTestAdjoint()
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateJacobian(TenonLayer layer, TenonDTensor x,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Moves a Jacobian to another point. Collective on the operator.
 *
 *  Evaluates the layer at x with its current parameters. After the first call no memory is
 *  allocated. For other errors see TenonLayerApply().
 *
 *  @param[in] op  operator of TenonLinearOpCreateJacobian()
 *  @param[in] x   new point, in the domain
 *  @return TENON_ERR_TYPE  the operator is not a Jacobian
 */
TENON_EXTERN TenonErrorCode TenonLinearOpJacobianSetPoint(TenonLinearOp op,
                                                          TenonDTensor x) TENON_NOEXCEPT;
/**@}*/

#endif
