/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonOptimizer: updates the parameters of a layer along their gradients.
 *
 *  Each rank updates its local blocks of the parameters in their storage layout; the state of the
 *  optimizer has the same layout. Types: "sgd" (momentum, Nesterov) and "adam" (Kingma and Ba
 *  2015).
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class.
 *
 *  Options: -tenon_[prefix_]learning_rate and weight_decay; momentum and nesterov for sgd; beta1,
 *  beta2 and epsilon for adam.
 */
#ifndef TENON_OPTIMIZER_H
#define TENON_OPTIMIZER_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Creates an optimizer for all parameters of a layer. Collective on the layer.
 *
 *  Errors are the same on all ranks.
 *
 *  @param[in]  layer      layer that is set up; held by reference
 *  @param[in]  type       type name: "sgd" or "adam"
 *  @param[out] optimizer  new optimizer; destroy it with TenonOptimizerDestroy()
 *  @return TENON_ERR_STATE       the layer is not set up
 *  @return TENON_ERR_TYPE        there is no such type
 *  @return TENON_ERR_COLLECTIVE  ranks pass different types
 */
TENON_EXTERN TenonErrorCode TenonOptimizerCreate(TenonLayer layer, const char* type,
                                                 TenonOptimizer* optimizer) TENON_NOEXCEPT;

/** @brief Sets the learning rate. Local; call on all ranks.
 *  @param[in] optimizer  optimizer
 *  @param[in] rate       learning rate; must be > 0; by default 0.01 for sgd and 0.001 for adam
 *  @return TENON_ERR_ARG  the rate is out of range */
TENON_EXTERN TenonErrorCode TenonOptimizerSetLearningRate(TenonOptimizer optimizer,
                                                          double rate) TENON_NOEXCEPT;

/** @brief Sets the weight decay. Local; call on all ranks.
 *  @param[in] optimizer  optimizer
 *  @param[in] decay      multiple of the parameters that is added to their gradients; must be >= 0;
 *                        0 by default
 *  @return TENON_ERR_ARG  the decay is negative */
TENON_EXTERN TenonErrorCode TenonOptimizerSetWeightDecay(TenonOptimizer optimizer,
                                                         double decay) TENON_NOEXCEPT;

/** @brief Sets momentum: v <- momentum v + g, w <- w - rate v. Local; call on all ranks.
 *  @param[in] optimizer  optimizer of type "sgd"
 *  @param[in] momentum   momentum; must be >= 0 and < 1; 0 by default
 *  @param[in] nesterov   TENON_TRUE for w <- w - rate (g + momentum v); TENON_FALSE by default
 *  @return TENON_ERR_ARG   the momentum is out of range
 *  @return TENON_ERR_TYPE  the optimizer is of another type */
TENON_EXTERN TenonErrorCode TenonOptimizerSGDSetMomentum(TenonOptimizer optimizer, double momentum,
                                                         TenonBool nesterov) TENON_NOEXCEPT;

/** @brief Sets the decay rates of the two running means. Local; call on all ranks.
 *  @param[in] optimizer  optimizer of type "adam"
 *  @param[in] beta1      decay rate of the mean gradient; must be >= 0 and < 1; 0.9 by default
 *  @param[in] beta2      decay rate of the mean squared gradient; must be >= 0 and < 1; 0.999 by
 *                        default
 *  @return TENON_ERR_ARG   a rate is out of range
 *  @return TENON_ERR_TYPE  the optimizer is of another type
 */
TENON_EXTERN TenonErrorCode TenonOptimizerAdamSetBetas(TenonOptimizer optimizer, double beta1,
                                                       double beta2) TENON_NOEXCEPT;

/** @brief Sets the number added to the root mean squared gradient. Local; call on all ranks.
 *  @param[in] optimizer  optimizer of type "adam"
 *  @param[in] epsilon    number added; must be > 0; 1e-8 by default
 *  @return TENON_ERR_ARG   epsilon is out of range
 *  @return TENON_ERR_TYPE  the optimizer is of another type */
TENON_EXTERN TenonErrorCode TenonOptimizerAdamSetEpsilon(TenonOptimizer optimizer,
                                                         double epsilon) TENON_NOEXCEPT;

/** @brief Reads the options of the optimizer. Local; call on all ranks.
 *  @param[in] optimizer  optimizer
 *  @return TENON_ERR_ARG  the value of an option is out of range */
TENON_EXTERN TenonErrorCode TenonOptimizerSetFromOptions(TenonOptimizer optimizer) TENON_NOEXCEPT;

/** @brief Scales the gradients so that their norm is at most the maximum. Collective on the layer.
 *
 *  If the norm exceeds the maximum, all gradients are multiplied by maximum / norm. The norm is the
 *  Euclidean norm over all parameters together, of the gradients summed over the ranks, each
 *  element counted once, so that it does not depend on the number of ranks. Frozen parameters are
 *  left out. Call it between TenonLayerApplyAdjoint() and TenonOptimizerStep().
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  maximum    largest norm; must be > 0; HUGE_VAL to measure only
 *  @param[out] norm       norm before the scaling, the same on all ranks. May be NULL, in which
 *                         case it is not returned.
 *  @return TENON_ERR_ARG  maximum is not > 0
 *  @note   If the norm is not finite, the gradients are not scaled; check it where they can
 *          overflow.
 */
TENON_EXTERN TenonErrorCode TenonOptimizerClipGradientNorm(TenonOptimizer optimizer, double maximum,
                                                           double* norm) TENON_NOEXCEPT;

/** @brief Updates all parameters and clears their gradients. Collective on the layer.
 *
 *  The gradients are first summed over the ranks as the layouts of the parameters require. Frozen
 *  parameters (TenonLayerSetFrozen()) are not updated.
 *
 *  @param[in] optimizer  optimizer
 *  @note   On more than one rank an error calls the fatal handler, see TenonSetFatalErrorHandler().
 *  @see    TenonLayerApplyAdjoint()
 */
TENON_EXTERN TenonErrorCode TenonOptimizerStep(TenonOptimizer optimizer) TENON_NOEXCEPT;

/** @brief Returns the number of updates so far. Not collective.
 *  @param[in]  optimizer  optimizer
 *  @param[out] steps      number of calls of TenonOptimizerStep() */
TENON_EXTERN TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer,
                                                   TenonInt* steps) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] optimizer  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) TENON_NOEXCEPT;

#endif
