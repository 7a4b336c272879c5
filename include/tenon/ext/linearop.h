/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief User-defined operators: types registered under a name; and the memory operators of which
 *         communication consists.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A plugin calls TenonLinearOpRegister() once; programs then create operators of its type with
 *  TenonLinearOpCreateType(), like those of Tenon's own types. Each operator has a context, which
 *  the function create of the type makes and the function destroy frees. Example, with the user
 *  functions halve and halveAdjoint, of the type TenonLinearOpMap of tenon/linearop_create.h:
 *
 *      TenonLinearOpFunctions functions = {NULL, halve, halveAdjoint, NULL};
 *      TenonLinearOpRegister("halve", &functions);
 *      TenonLinearOpCreateType(x, y, TENON_FLOAT64, TENON_FLOAT64, "halve", NULL, &op);
 *
 *  where x and y are the layouts of domain and range. tenon.h does not include this header.
 */
#ifndef TENON_EXT_LINEAROP_H
#define TENON_EXT_LINEAROP_H

#include <tenon/linearop.h>
#include <tenon/linearop_create.h>

/** @name Memory operators
 *
 *  The elementary operations of which communication consists (Hewett and Grady 2020, Section 2).
 *  They act on the local array of each rank, halo included; low[d] <= i < high[d] are local indices
 *  in dimension d, counted from 0. Ranks can pass different boxes; an empty box leaves the memory
 *  of the rank unchanged. These operators do not keep the copies of a tensor equal.
 *
 *  Both calls return TENON_ERR_ARG if a box, even an empty one, is not inside the local array, or
 *  if two boxes overlap; if the local array is empty, any empty box is accepted. They return
 *  TENON_ERR_SHAPE if the elements or the ends of a box cannot be counted in 64 bits.
 */
/**@{*/

/** @brief Creates an embedding into a larger array; new elements are 0. Collective on the layouts.
 *
 *  The adjoint deallocates the new elements.
 *
 *  @param[in]  from  layout of the domain
 *  @param[in]  to    layout of the range, with the same number of dimensions; shape and
 *                    distribution are free
 *  @param[in]  at    [ndim] local index in the array of the range of the first element of the
 *                    domain
 *  @param[in]  type  element type
 *  @param[out] op    new operator
 *  @return TENON_ERR_SHAPE  the numbers of dimensions differ
 *  @return TENON_ERR_ARG    the array of the domain does not fit into the array of the range
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateAllocate(TenonLayout from, TenonLayout to,
                                                        const TenonInt at[], TenonDataType type,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Creates an operator on boxes of the local array. Collective on the layout.
 *
 *  | name  | y                                        | adjoint                                   |
 *  | ----- | ---------------------------------------- | ----------------------------------------- |
 *  | clear | the box is set to 0                      | the same                                  |
 *  | add   | the box is added to the second box       | the second box is added to the box        |
 *  | copy  | the box is copied to the second box      | the second box is added to the box, then  |
 *  |       |                                          | set to 0                                  |
 *  | move  | as copy, then the box is set to 0        | moves the second box to the box           |
 *
 *  @param[in]  layout  layout of domain and range
 *  @param[in]  name    name in the table
 *  @param[in]  low     [ndim] first local index of the box
 *  @param[in]  high    [ndim] one past its last local index; must be >= low
 *  @param[in]  to      [ndim] first local index of the second box, of the same extents. May be
 *                      NULL, in which case name must be "clear", which has no second box.
 *  @param[in]  type    element type
 *  @param[out] op      new operator
 *  @return TENON_ERR_TYPE  there is no such operator
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateMemory(TenonLayout layout, const char* name,
                                                      const TenonInt low[], const TenonInt high[],
                                                      const TenonInt to[], TenonDataType type,
                                                      TenonLinearOp* op) TENON_NOEXCEPT;
/**@}*/

/** @brief User function that makes the context of an operator.
 *
 *  Every rank of the communicator calls the function. If it returns an error on any rank, the
 *  creation of the operator fails with this error on all ranks, and destroy is called on the ranks
 *  on which this function succeeded.
 *
 *  @param[in]  domain      layout of the domain, valid during the call (TenonObjectRetain() keeps
 *                          it)
 *  @param[in]  range       layout of the range, valid during the call
 *  @param[in]  domainType  element type of the domain
 *  @param[in]  rangeType   element type of the range
 *  @param[in]  parameters  parameters of TenonLinearOpCreateType(). May be NULL, in which case none
 *                          were given.
 *  @param[out] context     context of the operator; NULL before the call
 *  @return TENON_SUCCESS, or an error if the type cannot map between these layouts or element types
 *          or the parameters are not valid
 */
typedef TenonErrorCode (*TenonLinearOpCreator)(TenonLayout domain, TenonLayout range,
                                               TenonDataType domainType, TenonDataType rangeType,
                                               void* parameters, void** context);

/** @brief User functions of an operator type. */
typedef struct TenonLinearOpFunctions {
  TenonLinearOpCreator create;    /**< may be NULL: the parameters are then the context */
  TenonLinearOpMap apply;         /**< y <- F x; required */
  TenonLinearOpMap applyAdjoint;  /**< x <- F* y; may be NULL: it is then TENON_ERR_SUPPORT */
  TenonLinearOpDestroyer destroy; /**< may be NULL: nothing is then called */
} TenonLinearOpFunctions;

/** @brief Registers an operator type. Local; call on all ranks.
 *
 *  The type stays registered until the program ends, and the code of its functions must stay
 *  loaded.
 *
 *  @param[in] name       type name; copied
 *  @param[in] functions  table of functions; copied
 *  @return TENON_ERR_ARG   the name is empty or already registered
 *  @return TENON_ERR_NULL  name, functions or functions->apply is NULL
 */
TENON_EXTERN TenonErrorCode
TenonLinearOpRegister(const char* name, const TenonLinearOpFunctions* functions) TENON_NOEXCEPT;

#endif
