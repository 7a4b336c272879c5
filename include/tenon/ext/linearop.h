/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief For authors of own operators: types registered under a name.
 *
 *  A plugin calls TenonLinearOpRegister() once, and programs make operators of its type with
 *  TenonLinearOpCreateType(), as of the library's own types. Every operator has a context, which
 *  the type's create makes and its destroy frees. Not included by tenon.h.
 */
#ifndef TENON_EXT_LINEAROP_H
#define TENON_EXT_LINEAROP_H

#include <tenon/linearop.h>
#include <tenon/linearop_create.h>

/** @brief Makes an operator's context.
 *
 *  @param[in]  domain, range          layouts, valid during the call (TenonObjectRetain() keeps
 *                                     them)
 *  @param[in]  domainType, rangeType  element types
 *  @param[in]  parameters             from TenonLinearOpCreateType()
 *  @param[out] context                NULL before the call
 *  @return TENON_SUCCESS; or an error, if this type cannot map these or the parameters are wrong:
 *          then the create of the operator fails with it on all ranks, and destroy is called only
 *          where this function has succeeded
 *
 *  Every rank of the communicator makes the call.
 */
typedef TenonErrorCode (*TenonLinearOpCreator)(TenonLayout domain, TenonLayout range,
                                               TenonDataType domainType, TenonDataType rangeType,
                                               void* parameters, void** context);

/** @brief The functions of a type. */
typedef struct TenonLinearOpFunctions {
  TenonLinearOpCreator create;    /**< may be NULL: then `parameters` is the context */
  TenonLinearOpMap apply;         /**< y <- F x */
  TenonLinearOpMap applyAdjoint;  /**< x <- F* y; NULL: ApplyAdjoint is TENON_ERR_SUPPORT */
  TenonLinearOpDestroyer destroy; /**< may be NULL */
} TenonLinearOpFunctions;

/** @brief Registers a type of operators. Not collective, but all ranks must do it alike. It stays
 *         until the program ends, and so must the code of its functions.
 *
 *  @param[in] name       copied
 *  @param[in] functions  copied
 *  @return TENON_ERR_ARG if the name is empty or taken; TENON_ERR_NULL without apply
 */
TENON_EXTERN TenonErrorCode
TenonLinearOpRegister(const char* name, const TenonLinearOpFunctions* functions) TENON_NOEXCEPT;

#endif
