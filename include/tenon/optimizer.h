/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonOptimizer: updates the parameters of a layer along their gradients.
 *
 *  Each rank updates its local blocks of the parameters in their storage layout; the state of the
 *  optimizer has the same layout: with TenonLayerSetStorage() "sharded" both are divided among the
 *  ranks. Types: "sgd" (momentum, Nesterov), "adam" (Kingma and Ba 2015), "adamw" (Loshchilov and
 *  Hutter 2019) and "lbfgs" (Nocedal and Wright, Algorithm 7.5, with a line search for the strong
 *  Wolfe conditions).
 *
 *  To accumulate the gradients of several batches, call TenonLayerApply() and
 *  TenonLayerApplyAdjoint() for each and TenonOptimizerStep() once; a cotangent of 1/k at the loss
 *  gives the mean of k batches.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class.
 *
 *  Options: -tenon_[prefix_]learning_rate, weight_decay, schedule, schedule_period,
 *  schedule_factor, least_rate, warmup, patience, stop_patience, improvement and not_finite;
 *  momentum and nesterov for sgd; beta1, beta2 and epsilon for adam and adamw; history, iterations,
 *  gradient_tolerance and change_tolerance for lbfgs.
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
 *  @param[in]  type       type name: "sgd", "adam", "adamw" or "lbfgs"
 *  @param[out] optimizer  new optimizer; destroy it with TenonOptimizerDestroy()
 *  @return TENON_ERR_STATE       the layer is not set up
 *  @return TENON_ERR_TYPE        there is no such type
 *  @return TENON_ERR_COLLECTIVE  ranks pass different types
 */
TENON_EXTERN TenonErrorCode TenonOptimizerCreate(TenonLayer layer, const char* type,
                                                 TenonOptimizer* optimizer) TENON_NOEXCEPT;

/** @brief Sets the learning rate. Local; call on all ranks.
 *  @param[in] optimizer  optimizer
 *  @param[in] rate       learning rate; must be finite and > 0; by default 0.01 for sgd, 0.001
 *                       for adam and adamw, and 1 for lbfgs, whose very first move it scales: later
 *                       ones have the length that the pairs of differences give
 *  @return TENON_ERR_ARG  the rate is out of range */
TENON_EXTERN TenonErrorCode TenonOptimizerSetLearningRate(TenonOptimizer optimizer,
                                                          double rate) TENON_NOEXCEPT;

/** @brief Sets the weight decay. Local; call on all ranks.
 *  @param[in] optimizer  optimizer
 *  @param[in] decay      multiple of the parameters that is added to their gradients; for adamw,
 *                        that is subtracted from them, times the learning rate, at each step; must
 *                        be finite and >= 0; by default 0.01 for adamw and 0 for the others
 *  @return TENON_ERR_ARG  the decay is out of range */
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
 *  @param[in] epsilon    number added; must be finite and > 0; 1e-8 by default
 *  @return TENON_ERR_ARG   epsilon is out of range
 *  @return TENON_ERR_TYPE  the optimizer is of another type */
TENON_EXTERN TenonErrorCode TenonOptimizerAdamSetEpsilon(TenonOptimizer optimizer,
                                                         double epsilon) TENON_NOEXCEPT;

/** @brief Sets how many pairs of differences L-BFGS keeps. Local; call on all ranks.
 *  @param[in] optimizer  optimizer of type "lbfgs"
 *  @param[in] pairs      number of pairs; must be in [1,1000]; 10 by default
 *  @return TENON_ERR_ARG    the number is out of range
 *  @return TENON_ERR_STATE  steps have been made with another number
 *  @return TENON_ERR_TYPE   the optimizer is of another type */
TENON_EXTERN TenonErrorCode TenonOptimizerLBFGSSetHistory(TenonOptimizer optimizer,
                                                          TenonInt pairs) TENON_NOEXCEPT;

/** @brief Sets how many directions L-BFGS takes in one step. Local; call on all ranks.
 *  @param[in] optimizer   optimizer of type "lbfgs"
 *  @param[in] iterations  largest number of directions; must be >= 1; 20 by default
 *  @return TENON_ERR_ARG   the number is out of range
 *  @return TENON_ERR_TYPE  the optimizer is of another type */
TENON_EXTERN TenonErrorCode TenonOptimizerLBFGSSetIterations(TenonOptimizer optimizer,
                                                             TenonInt iterations) TENON_NOEXCEPT;

/** @brief Sets where a step of L-BFGS ends. Local; call on all ranks.
 *  @param[in] optimizer  optimizer of type "lbfgs"
 *  @param[in] gradient   Euclidean norm of all gradients; must be finite and >= 0; 1e-7 by default
 *  @param[in] change     length of a move, and change of the loss, below which a step ends; must be
 *                        finite and >= 0; 1e-9 by default
 *  @return TENON_ERR_ARG   a tolerance is out of range
 *  @return TENON_ERR_TYPE  the optimizer is of another type */
TENON_EXTERN TenonErrorCode TenonOptimizerLBFGSSetTolerances(TenonOptimizer optimizer,
                                                             double gradient,
                                                             double change) TENON_NOEXCEPT;

/** @brief Sets how the learning rate changes from step to step. Local; call on all ranks.
 *
 *  With n steps done after the warm-up, the learning rate is multiplied by
 *
 *  - "constant": 1, the default;
 *  - "step": factor^floor(n / period);
 *  - "cosine": least + (1 - least) (1 + cos(pi min(n / period, 1))) / 2;
 *  - "plateau": max(least, factor^k), where k grows by 1 each time that more than `patience`
 *    reports in a row (TenonOptimizerReport()) have not improved.
 *
 *  @param[in] optimizer  optimizer
 *  @param[in] schedule   name of the schedule
 *  @param[in] period     number of steps; must be >= 1 for "step" and "cosine", others ignore it
 *  @param[in] factor     factor of a reduction; must be in (0,1]
 *  @param[in] least      fraction of the learning rate at which "cosine" and "plateau" end; must be
 *                        in [0,1]
 *  @return TENON_ERR_ARG  there is no such schedule, or a number is out of range
 *  @see    TenonOptimizerSetWarmup(), TenonOptimizerSetPatience()
 */
TENON_EXTERN TenonErrorCode TenonOptimizerSetSchedule(TenonOptimizer optimizer,
                                                      const char* schedule, TenonInt period,
                                                      double factor, double least) TENON_NOEXCEPT;

/** @brief Lets the learning rate rise linearly in the first steps. Local; call on all ranks.
 *  @param[in] optimizer  optimizer
 *  @param[in] steps      number of steps; step s of them, from 1, has s / steps of the rate; must
 *                        be >= 0; 0 by default
 *  @return TENON_ERR_ARG  the number is negative */
TENON_EXTERN TenonErrorCode TenonOptimizerSetWarmup(TenonOptimizer optimizer,
                                                    TenonInt steps) TENON_NOEXCEPT;

/** @brief Sets what is made of reported losses. Local; call on all ranks.
 *  @param[in] optimizer    optimizer
 *  @param[in] reduce       reports without improvement that the schedule "plateau" allows; must be
 *                          >= 0; 10 by default
 *  @param[in] stop         reports without improvement after which training should stop; must be
 *                          >= 0; 0, the default, for never
 *  @param[in] improvement  fraction of the best loss by which a report must be lower; must be in
 *                          [0,1); 1e-4 by default
 *  @return TENON_ERR_ARG  a number is out of range */
TENON_EXTERN TenonErrorCode TenonOptimizerSetPatience(TenonOptimizer optimizer, TenonInt reduce,
                                                      TenonInt stop,
                                                      double improvement) TENON_NOEXCEPT;

/** @brief Reports a loss, of training or validation. Local; call on all ranks.
 *
 *  The schedule "plateau" and the early stop look at it; checkpoints save what they remember.
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  loss       loss, the same on all ranks; NaN is no improvement
 *  @param[out] stop       whether the patience before a stop is used up. May be NULL, in which case
 *                         it is not returned.
 *  @see    TenonOptimizerSetPatience()
 */
TENON_EXTERN TenonErrorCode TenonOptimizerReport(TenonOptimizer optimizer, double loss,
                                                 TenonBool* stop) TENON_NOEXCEPT;

/** @brief Returns the learning rate of the next step. Not collective.
 *  @param[in]  optimizer  optimizer
 *  @param[out] rate       learning rate times the factor of the schedule */
TENON_EXTERN TenonErrorCode TenonOptimizerGetLearningRate(TenonOptimizer optimizer,
                                                          double* rate) TENON_NOEXCEPT;

/** @brief Sets what is done about a loss or gradients that are not finite. Local; call on all
 *  ranks.
 *
 *  Each step looks at the loss, if it is known, and at the norm of the gradients of all parameters
 *  that are not frozen, before it changes anything.
 *
 *  - "error", the default: TenonOptimizerStep() and its like return TENON_ERR_NOT_FINITE on all
 *    ranks. The error names the step, and the parameter and rank where the first value that is not
 *    finite lies. Parameters, optimizer and step count are as before the step. To go on, clear the
 *    gradients with TenonLayerZeroGradients(); TenonOptimizerStepClosure() does so itself.
 *  - "warning": the step is counted, but updates nothing; rank 0 prints the same text on standard
 *    error at the first of such steps in a row. A trainer leaves their losses out of means.
 *
 *  @param[in] optimizer  optimizer
 *  @param[in] action     "error" or "warning"
 *  @return TENON_ERR_ARG  the action is neither
 *  @note   "lbfgs" looks at the point where a step begins; its line search leaves other points
 *          whose loss is not finite by itself. */
TENON_EXTERN TenonErrorCode TenonOptimizerSetNotFinite(TenonOptimizer optimizer,
                                                       const char* action) TENON_NOEXCEPT;

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
 *  @note   If the norm is not finite, the gradients are not scaled, and the step that follows
 *          fails, see TenonOptimizerSetNotFinite().
 */
TENON_EXTERN TenonErrorCode TenonOptimizerClipGradientNorm(TenonOptimizer optimizer, double maximum,
                                                           double* norm) TENON_NOEXCEPT;

/** @brief Updates all parameters and clears their gradients. Collective on the layer.
 *
 *  The gradients are first summed over the ranks as the layouts of the parameters require. Frozen
 *  parameters (TenonLayerSetFrozen()) are not updated.
 *
 *  @param[in] optimizer  optimizer of another type than "lbfgs"
 *  @return TENON_ERR_TYPE        the optimizer needs TenonOptimizerStepClosure()
 *  @return TENON_ERR_NOT_FINITE  the gradients are not finite; nothing is changed
 *  @note   On more than one rank other errors call the fatal handler, see
 *          TenonSetFatalErrorHandler().
 *  @see    TenonLayerApplyAdjoint(), TenonOptimizerSetNotFinite()
 */
TENON_EXTERN TenonErrorCode TenonOptimizerStep(TenonOptimizer optimizer) TENON_NOEXCEPT;

/** @brief User function that evaluates the loss at the present parameters.
 *
 *  Calls TenonLayerApply() and TenonLayerApplyAdjoint(), so that the gradients of the loss
 *  accumulate; the optimizer has cleared them. All ranks call it together. It must not take a step
 *  itself (TENON_ERR_STATE).
 *
 *  @param[in]  optimizer  optimizer
 *  @param[out] loss       loss; the value of rank 0 of the layer's communicator counts
 *  @param[in]  context    context of TenonOptimizerStepClosure(). May be NULL, in which case none
 *                         was passed.
 *  @return TENON_SUCCESS, or an error that TenonOptimizerStepClosure() then returns
 */
typedef TenonErrorCode (*TenonOptimizerClosure)(TenonOptimizer optimizer, double* loss,
                                                void* context);

/** @brief Evaluates the loss and updates all parameters. Collective on the layer.
 *
 *  The types sgd, adam and adamw call the function once. lbfgs, which needs this call, evaluates it
 *  along its directions; for a reproducible loss every call must use the same batch, and dropout
 *  must be off. Gradients are cleared before and afterwards.
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  closure    function that evaluates the loss
 *  @param[in]  context    passed to the function. May be NULL, in which case it gets NULL.
 *  @param[out] loss       loss before the step, the same on all ranks. May be NULL, in which case
 *                         it is not returned.
 *  @return TENON_ERR_NOT_FINITE  the loss or the gradients are not finite; no parameter is changed
 *  @note   On more than one rank other errors call the fatal handler, see
 *          TenonSetFatalErrorHandler().
 *  @see    TenonOptimizerSetNotFinite()
 */
TENON_EXTERN TenonErrorCode TenonOptimizerStepClosure(TenonOptimizer optimizer,
                                                      TenonOptimizerClosure closure, void* context,
                                                      double* loss) TENON_NOEXCEPT;

/** @brief Returns the number of updates so far. Not collective.
 *  @param[in]  optimizer  optimizer
 *  @param[out] steps      number of calls of TenonOptimizerStep() */
TENON_EXTERN TenonErrorCode TenonOptimizerGetSteps(TenonOptimizer optimizer,
                                                   TenonInt* steps) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] optimizer  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonOptimizerDestroy(TenonOptimizer* optimizer) TENON_NOEXCEPT;

#endif
