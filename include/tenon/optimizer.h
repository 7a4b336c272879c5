/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonOptimizer: steps the parameters of a layer along their gradients.
 *
 *  Each rank steps its part of the parameters in their storage layout, where the optimizer's state
 *  lies too. Types: "sgd" (momentum, Nesterov) and "adam" (Kingma and Ba 2015).
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class. Setters are not collective, but must be called alike
 *  on all ranks.
 *
 *  Options: -tenon_[prefix_]learning_rate, weight_decay; of sgd momentum, nesterov; of adam beta1,
 *  beta2, epsilon.
 */
#ifndef TENON_OPTIMIZER_H
#define TENON_OPTIMIZER_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief An optimizer for all parameters of a layer. Collective on the layer.
 *
 *  @param[in]  layer      set up; kept by reference
 *  @param[in]  type       "sgd" or "adam"
 *  @param[out] optimizer  to be given back with TenonOptimizerDestroy()
 *  @return on all ranks TENON_ERR_STATE before the layer's SetUp, TENON_ERR_TYPE for another type
 */
TENON_EXTERN TenonErrorCode TenonOptimizerCreate(TenonLayer layer, const char* type,
                                                 TenonOptimizer* optimizer) TENON_NOEXCEPT;

/** @brief Length of a step; by default 0.01 for sgd and 0.001 for adam. Not collective.
 *  @return TENON_ERR_ARG unless above 0 */
TENON_EXTERN TenonErrorCode TenonOptimizerSetLearningRate(TenonOptimizer optimizer,
                                                          double rate) TENON_NOEXCEPT;

/** @brief Multiple of the parameters that is added to their gradients; 0 by default. Not
 *         collective.
 *  @return TENON_ERR_ARG if negative */
TENON_EXTERN TenonErrorCode TenonOptimizerSetWeightDecay(TenonOptimizer optimizer,
                                                         double decay) TENON_NOEXCEPT;

/** @brief Momentum of sgd: v <- momentum v + g, w <- w - rate v. Not collective.
 *
 *  @param[in] optimizer  of type sgd
 *  @param[in] momentum   at least 0, below 1; 0 by default
 *  @param[in] nesterov   TENON_TRUE: w <- w - rate (g + momentum v)
 *  @return TENON_ERR_TYPE for another type of optimizer
 */
TENON_EXTERN TenonErrorCode TenonOptimizerSGDSetMomentum(TenonOptimizer optimizer, double momentum,
                                                         TenonBool nesterov) TENON_NOEXCEPT;

/** @brief Decays of adam's two means; 0.9 and 0.999 by default. Not collective.
 *  @return TENON_ERR_ARG unless at least 0 and below 1; TENON_ERR_TYPE for another type */
TENON_EXTERN TenonErrorCode TenonOptimizerAdamSetBetas(TenonOptimizer optimizer, double beta1,
                                                       double beta2) TENON_NOEXCEPT;

/** @brief What adam adds to the root of the mean square; 1e-8 by default. Not collective.
 *  @return TENON_ERR_ARG unless above 0; TENON_ERR_TYPE for another type */
TENON_EXTERN TenonErrorCode TenonOptimizerAdamSetEpsilon(TenonOptimizer optimizer,
                                                         double epsilon) TENON_NOEXCEPT;

/** @brief Reads the optimizer's options. Not collective. */
TENON_EXTERN TenonErrorCode TenonOptimizerSetFromOptions(TenonOptimizer optimizer) TENON_NOEXCEPT;

/** @brief Clips the gradients of all parameters by their norm: where it is above the maximum, all
 *         gradients are scaled by maximum / norm. Call it between ApplyAdjoint and
 *         TenonOptimizerStep(). Collective on the layer.
 *
 *  The norm is the Euclidean one over all parameters together, of the gradients summed over the
 *  ranks; each element counts once, however the parameters are stored, so that it does not depend on
 *  the number of ranks. Frozen parameters are left out. A norm that is not finite scales nothing;
 *  check it where gradients may overflow.
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  maximum    must be above 0; HUGE_VAL to measure only
 *  @param[out] norm       before the clipping, the same on all ranks; may be NULL
 *  @return TENON_ERR_ARG for a maximum that is not above 0
 */
TENON_EXTERN TenonErrorCode TenonOptimizerClipGradientNorm(TenonOptimizer optimizer, double maximum,
                                                           double* norm) TENON_NOEXCEPT;

/** @brief Sums the gradients over the ranks, steps all parameters and clears the gradients. Frozen
 *         parameters (TenonLayerSetFrozen()) are left alone. Collective on the layer. */
TENON_EXTERN TenonErrorCode TenonOptimizerStep(TenonOptimizer optimizer) TENON_NOEXCEPT;

/** @brief Steps made so far. Not collective. */
TENON_EXTERN TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer,
                                                   TenonInt* steps) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) TENON_NOEXCEPT;

#endif
