/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonOptimizer: updates the parameters of a layer along their gradients.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  Each rank updates its local blocks of the parameters in their storage layout. The state of the
 *  optimizer has the same layout: with TenonLayerSetStorage() "sharded" parameters and state are
 *  divided among the ranks. Types: "sgd" (momentum, Nesterov), "adam" (Kingma and Ba 2015), "adamw"
 *  (Loshchilov and Hutter 2019) and "lbfgs" (Nocedal and Wright, Algorithm 7.5, with a line search
 *  for the strong Wolfe conditions).
 *
 *  To accumulate the gradients of several batches, call TenonLayerApply() and
 *  TenonLayerApplyAdjoint() for each batch and TenonOptimizerStep() once. With the cotangent 1/k of
 *  the loss, the step uses the mean of the gradients of k batches.
 *
 *  A report is a loss that the program passes to TenonOptimizerReport().
 *
 *  Settings (TenonObjectSetReal() and the like, tenon/object.h; each is an option
 *  -tenon_[prefix_]name too). They may change between any two steps, if not stated otherwise.
 *
 *  | setting            | kind | default  | meaning                                               |
 *  | ------------------ | ---- | -------- | ----------------------------------------------------- |
 *  | learning_rate      | real | by type  | see TenonOptimizerSetLearningRate()                   |
 *  | weight_decay       | real | 0        | multiple of the parameters that is added to their     |
 *  |                    |      |          | gradients                                             |
 *  |                    |      | 0.01     | adamw: multiple of the parameters, times the          |
 *  |                    |      |          | learning rate, that is subtracted from them           |
 *  | momentum           | real | 0        | sgd: v <- momentum v + g, w <- w - rate v             |
 *  | nesterov           | bool | false    | sgd: w <- w - rate (g + momentum v)                   |
 *  | beta1              | real | 0.9      | adam, adamw: decay rate of the mean gradient          |
 *  | beta2              | real | 0.999    | adam, adamw: decay rate of the mean squared gradient  |
 *  | epsilon            | real | 1e-8     | adam, adamw: added to the root of this mean square    |
 *  | history            | int  | 10       | lbfgs: number of stored pairs of differences of       |
 *  |                    |      |          | parameters and gradients; set before the first step   |
 *  | iterations         | int  | 20       | lbfgs: largest number of directions in one step       |
 *  | gradient_tolerance | real | 1e-7     | lbfgs: norm of all gradients at which a step ends     |
 *  | change_tolerance   | real | 1e-9     | lbfgs: length of a move, and change of the loss,      |
 *  |                    |      |          | below which a step ends                               |
 *  | schedule           | text | constant | factor of the learning rate, see below                |
 *  | schedule_period    | int  | none     | p of "step" and "cosine", in steps                    |
 *  | schedule_factor    | real | 0.1      | f of "step" and "plateau"                             |
 *  | least_rate         | real | 0        | l of "cosine" and "plateau"                           |
 *  | warmup             | int  | 0        | steps in which the rate rises linearly: in step s,    |
 *  |                    |      |          | counted from 1, the rate is multiplied by s / warmup  |
 *  | patience           | int  | 10       | reports without improvement that "plateau" allows     |
 *  | stop_patience      | int  | 0        | reports without improvement after which training      |
 *  |                    |      |          | should stop; 0 for never                              |
 *  | improvement        | real | 1e-4     | fraction of the best loss by which a report must      |
 *  |                    |      |          | be lower                                              |
 *  | not_finite         | text | error    | what is done about a loss or gradients that are       |
 *  |                    |      |          | not finite, see below                                 |
 *  | gradient_bucket    | int  | -1       | bytes of gradients that are reduced together, see     |
 *  |                    |      |          | below; before the first step only                     |
 *
 *  Schedules. With n steps done after the warm-up, the learning rate is multiplied by
 *
 *  - "constant": 1;
 *  - "step": f^floor(n / p);
 *  - "cosine": l + (1 - l) (1 + cos(pi min(n / p, 1))) / 2;
 *  - "plateau": max(l, f^k), where k grows by 1 each time that more than `patience` reports in a
 *    row (TenonOptimizerReport()) have not improved.
 *
 *  Losses and gradients that are not finite. Before it changes anything, each step checks the loss,
 *  if it is known, and the norm of the gradients of all parameters that are not frozen. The setting
 *  not_finite selects what happens if one of them is infinite or not a number:
 *
 *  - "error": TenonOptimizerStep() and TenonOptimizerStepClosure() return TENON_ERR_NOT_FINITE on
 *    all ranks. The message names the step, and the parameter and rank of the first value that is
 *    not finite. Parameters, optimizer and step count are unchanged. To continue, clear the
 *    gradients with TenonLayerZeroGradients(); TenonOptimizerStepClosure() clears them itself.
 *  - "warning": the step is counted, but updates nothing; rank 0 prints the same text on standard
 *    error at the first of several such steps in a row.
 *
 *  "lbfgs" checks the point at which a step begins only. If the loss at a trial point of the line
 *  search is not finite, the line search shortens the move.
 *
 *  Reduction of gradients. The gradients of parameters with copies on the same ranks are summed in
 *  one reduction. gradient_bucket is the size of such a bucket in bytes on a rank; 0
 *  reduces each parameter by itself. -1, the default, reduces all gradients together that a plan
 *  (tenon/plan.h) has not put into buckets of its own; in the network of a plan without buckets,
 *  each by itself. The first step makes the buckets, and a later one those of parameters that were
 *  frozen until then. A gradient of which the caller has the handle at that time
 *  (TenonLayerGetParameterGradient()) is always reduced by itself.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class.
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
 *                       for adam and adamw, and 1 for lbfgs. For lbfgs it scales only the first
 *                       move; the stored pairs of differences determine the length of later ones.
 *  @return TENON_ERR_ARG  the rate is out of range */
TENON_EXTERN TenonErrorCode TenonOptimizerSetLearningRate(TenonOptimizer optimizer,
                                                          double rate) TENON_NOEXCEPT;

/** @brief Reports a loss, of training or validation. Local; call on all ranks.
 *
 *  The schedule "plateau" and the early stop (setting stop_patience) compare it with the best loss.
 *  Checkpoints save this loss and the numbers of reports without improvement.
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  loss       loss, the same on all ranks; NaN is no improvement
 *  @param[out] stop       whether stop_patience reports in a row have not improved. May be NULL, in
 *                         which case it is not returned.
 */
TENON_EXTERN TenonErrorCode TenonOptimizerReport(TenonOptimizer optimizer, double loss,
                                                 TenonBool* stop) TENON_NOEXCEPT;

/** @brief Returns the learning rate of the next step. Not collective.
 *  @param[in]  optimizer  optimizer
 *  @param[out] rate       learning rate times the factor of the schedule
 *  @return TENON_ERR_STATE  the schedule needs a period, and none is set */
TENON_EXTERN TenonErrorCode TenonOptimizerGetLearningRate(TenonOptimizer optimizer,
                                                          double* rate) TENON_NOEXCEPT;

/** @brief Scales the gradients to a norm of at most the maximum. Collective on the layer.
 *
 *  If the norm exceeds the maximum, all gradients are multiplied by maximum / norm. The norm is the
 *  Euclidean norm over all parameters together, of the gradients summed over the ranks, each
 *  element counted once, and does not depend on the number of ranks. Frozen parameters are left
 *  out. Call it between TenonLayerApplyAdjoint() and TenonOptimizerStep().
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  maximum    largest norm; must be > 0; HUGE_VAL to measure only
 *  @param[out] norm       norm before the scaling, the same on all ranks. May be NULL, in which
 *                         case it is not returned.
 *  @return TENON_ERR_ARG  maximum is not > 0
 *  @note   If the norm is not finite, the gradients are not scaled, and the step that follows
 *          fails, see the setting not_finite.
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
 *  @see    TenonLayerApplyAdjoint()
 */
TENON_EXTERN TenonErrorCode TenonOptimizerStep(TenonOptimizer optimizer) TENON_NOEXCEPT;

/** @brief User function that evaluates the loss at the present parameters.
 *
 *  The function calls TenonLayerApply() and TenonLayerApplyAdjoint(), which accumulate the
 *  gradients of the loss; the optimizer has cleared the gradients before. All ranks call the
 *  function together. It must not call a step of the optimizer (TENON_ERR_STATE).
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
 *  The types sgd, adam and adamw call the function once. The type lbfgs requires this call instead
 *  of TenonOptimizerStep() and evaluates the function at several points along its directions. These
 *  evaluations must be comparable: the function must use the same batch, and dropout must be off.
 *  Gradients are cleared before and after the step.
 *
 *  @param[in]  optimizer  optimizer
 *  @param[in]  closure    function that evaluates the loss
 *  @param[in]  context    passed to the function. May be NULL, in which case it gets NULL.
 *  @param[out] loss       loss before the step, the same on all ranks. May be NULL, in which case
 *                         it is not returned.
 *  @return TENON_ERR_NOT_FINITE  the loss or the gradients are not finite; no parameter is changed
 *  @note   On more than one rank other errors call the fatal handler, see
 *          TenonSetFatalErrorHandler().
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
