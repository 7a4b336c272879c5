/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief User-defined operators: types registered under a name.
 *
 *  A plugin calls TenonLinearOpRegister() once; programs then create operators of its type with
 *  TenonLinearOpCreateType(), like those of Tenon's own types. Each operator has a context, which
 *  the function create of the type makes and the function destroy frees. tenon.h does not include
 *  this header.
 */
#ifndef TENON_EXT_LINEAROP_H
#define TENON_EXT_LINEAROP_H

#include <tenon/linearop.h>
#include <tenon/linearop_create.h>

/** @brief User function that makes the context of an operator.
 *
 *  Every rank of the communicator calls the function. If it returns an error on any rank, the
 *  creation of the operator fails with that error on all ranks, and destroy is called only where
 *  this function succeeded.
 *
 *  @param[in]  domain      layout of the domain, valid during the call (TenonObjectRetain() keeps
 *                          it)
 *  @param[in]  range       layout of the range, likewise
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
