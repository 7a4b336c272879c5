/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPlan of a network of layers: set up on the processes of a communicator, and run. See
 *         tenon/plan.h for words, cost models and the search.
 *
 *      TenonPlanCreate(network, batch, &plan);           // a TenonLayer that is not set up
 *      TenonPlanSetInput(plan, lx);                      // where the solver has its field
 *      TenonPlanSetUp(plan);                             // searches, and sets the network up
 *      TenonPlanGetLayer(plan, &layer);                  // CreateOutput, optimizers, parameters
 *      TenonLayerApply(layer, x, y);
 *      TenonLayerApplyAdjoint(layer, dy, dx);
 *
 *  The network stays the program's own: its layers keep their names, options and parameters, and
 *  their initial values are those that they have without a plan. TenonPlanSetUp() sets the
 *  signature of each planned layer to its word. Layers without parameters and with one input
 *  follow what they read. A signature that the program has set is kept: the plan fixes that word.
 *
 *  Setting gradient_bucket (tenon/object.h; option -tenon_[prefix_]gradient_bucket): the bytes of
 *  gradients on a process that are reduced together. Gradients of several parameters then travel as
 *  one, and begin to while the backward pass goes on: in the adjoint of the last evaluation that is
 *  pending. Programs that call the adjoint several times before each step of the optimizer, or that
 *  need no gradients of parameters, set 0: each parameter by itself, when its reduced gradient is
 *  needed. -1, the default, stands for enough bytes that latency is a twentieth of the predicted
 *  time of their reduction.
 *
 *  The calls return TENON_ERR_NULL if a required handle or pointer is NULL, TENON_ERR_HANDLE if a
 *  handle is not valid or is of another class, and TENON_ERR_TYPE if the plan was created by
 *  TenonPlanCreateNamed() and has no layers to run.
 */
#ifndef TENON_PLAN_RUN_H
#define TENON_PLAN_RUN_H

#include <tenon/layout.h>
#include <tenon/plan.h>

/** @brief Creates a plan for a network of layers. Local; call on all ranks.
 *
 *  The number of processes is that of the communicator of the network, and the cost model is own.
 *  The plan holds a reference to the network.
 *
 *  @param[in]  network  sequential, graph or single layer, not set up. Containers may be nested,
 *                       but must not recompute; each layer must be of the library and be used once.
 *  @param[in]  batch    global batch size; must be >= 1
 *  @param[out] plan     new plan; destroy it with TenonPlanDestroy()
 *  @return TENON_ERR_STATE  the network is set up
 *  @return TENON_ERR_ARG    batch is below 1
 */
TENON_EXTERN TenonErrorCode TenonPlanCreate(TenonLayer network, TenonInt batch,
                                            TenonPlan* plan) TENON_NOEXCEPT;

/** @brief Sets the layout of the input, which the plan does not choose then. Local; call on all
 *         ranks.
 *
 *  The search takes it as given, whatever its process grid and blocks are. It adds the cost of
 *  redistribution from there, and each layer may also run on this grid, with these blocks, as after
 *  the setting input_grid. Without this call the setting input_shape is needed, and the input has
 *  the layout in which the first layer uses it: see TenonPlanGetInputLayout().
 *
 *  @param[in] plan    plan, not set up
 *  @param[in] layout  layout of the input, with the whole batch in dimension 0
 *  @return TENON_ERR_STATE  the plan is set up
 *  @return TENON_ERR_SHAPE  dimension 0 is not the batch
 *  @return TENON_ERR_ARG    the layout has another communicator than the network */
TENON_EXTERN TenonErrorCode TenonPlanSetInput(TenonPlan plan, TenonLayout layout) TENON_NOEXCEPT;

/** @brief Sets the layout of the output, which the plan does not choose then. Local; call on all
 *         ranks.
 *
 *  As TenonPlanSetInput() for the input. Where the last layer has another layout, the output is
 *  redistributed.
 *
 *  @param[in] plan    plan, not set up
 *  @param[in] layout  layout of the output, with the whole batch in dimension 0
 *  @return TENON_ERR_STATE  the plan is set up
 *  @return TENON_ERR_SHAPE  dimension 0 is not the batch
 *  @return TENON_ERR_ARG    the layout has another communicator than the network */
TENON_EXTERN TenonErrorCode TenonPlanSetOutput(TenonPlan plan, TenonLayout layout) TENON_NOEXCEPT;

/** @brief Sets the network up as planned. Collective on the network.
 *
 *  Searches if TenonPlanSearch() was not called; one rank searches for all. If it fails, the
 *  network is as it was. A second call has no effect.
 *
 *  @param[in] plan  plan
 *  @return TENON_ERR_STATE       the network is set up, the input has no shape, or the plan is for
 *                                more processes than the communicator has
 *  @return TENON_ERR_OPTION      a fixed word or a signature is not possible
 *  @return TENON_ERR_COLLECTIVE  the ranks have different networks or settings
 *  @note   Errors of TenonPlanSearch() and TenonLayerSetUp() are returned on all ranks.
 */
TENON_EXTERN TenonErrorCode TenonPlanSetUp(TenonPlan plan) TENON_NOEXCEPT;

/** @brief Writes the plan to a file. Collective on the network.
 *
 *  The file is JSON: the network without weights, its data type and the shape of its input, the
 *  layouts that are given, the number of processes and the grid, and the plan. It replaces a file
 *  of that name when it is complete.
 *
 *  @param[in] plan  plan that was searched, loaded or set up
 *  @param[in] path  path of the file
 *  @return TENON_ERR_STATE  there is no plan yet
 *  @return TENON_ERR_FILE   the file cannot be written */
TENON_EXTERN TenonErrorCode TenonPlanSave(TenonPlan plan, const char* path) TENON_NOEXCEPT;

/** @brief Takes the plan from a file in place of a search. Collective on the network.
 *
 *  The plan must have been made for the same network, data type, shape of the input, number of
 *  processes, levels of the machine, and layouts of TenonPlanSetInput() and TenonPlanSetOutput().
 *  Rates and limits may differ. Calls that set something
 *  discard the plan: make them before.
 *
 *  @param[in] plan  plan, not set up
 *  @param[in] path  path of the file
 *  @return TENON_ERR_FILE    the file cannot be read
 *  @return TENON_ERR_FORMAT  the file is damaged or no plan, or is for another network; the message
 *                            names the file and the key and byte, or the layer
 *  @return TENON_ERR_SHAPE   it is for another shape of the input
 *  @return TENON_ERR_STATE   it is for another number of processes or for other levels; or the plan
 *                            is set up, or has no shape of the input yet
 *  @return TENON_ERR_LAYOUT  it is for another layout of input or output */
TENON_EXTERN TenonErrorCode TenonPlanLoad(TenonPlan plan, const char* path) TENON_NOEXCEPT;

/** @brief Prints predicted beside measured times, messages and bytes. Collective on the network.
 *
 *  Of each layer and phase: kernels and communication of Apply and of the adjoint, and the
 *  reduction of the gradients by the optimizer. Measured are the last 32 evaluations made while the
 *  log was on (-tenon_log_view, or TenonLogEnable()): their median, on the slowest process. The
 *  three phases furthest from their prediction are named, with the rate that would explain them.
 *
 *  @param[in] plan  plan that is set up
 *  @return TENON_ERR_STATE  the plan is not set up, or nothing was measured */
TENON_EXTERN TenonErrorCode TenonPlanReport(TenonPlan plan) TENON_NOEXCEPT;

/** @brief Returns the rates that explain best what TenonPlanReport() shows. Collective on the
 *         network.
 *
 *  Latency and bandwidth are fitted to the communication of all layers, and the speed of a process
 *  to their floating-point operations, by least squares of the relative errors. With
 *  TenonPlanSetRatesFrom(), which takes more rates than are returned here, another plan for the
 *  same network then tells whether other words would be faster. Rates of which nothing was measured
 *  are those of the plan.
 *
 *  @param[in]  plan       plan that is set up
 *  @param[out] latency    latency in seconds. May be NULL, in which case it is not returned.
 *  @param[out] bandwidth  bandwidth of a process in bytes per second. May be NULL, in which case
 *                         it is not returned.
 *  @param[out] flops      floating-point operations per second of a process. May be NULL, in which
 *                         case it is not returned.
 *  @return TENON_ERR_STATE  the plan is not set up, or nothing was measured */
TENON_EXTERN TenonErrorCode TenonPlanCalibrate(TenonPlan plan, double* latency, double* bandwidth,
                                               double* flops) TENON_NOEXCEPT;

/** @brief Takes the rates that best explain what was measured of another plan. Collective on the
 *         network of that plan.
 *
 *  Those of TenonPlanCalibrate(), and for each kind of kernels the factor by which they took
 *  longer than predicted. They replace the rates of the machine and those of the settings
 *  link_latency, link_bandwidth, flop_rate and memory_rate, until one of these is set.
 *
 *  @param[in] plan      plan, not set up
 *  @param[in] measured  plan that is set up, and of which steps were measured
 *  @return TENON_ERR_STATE  measured is not set up, or nothing was measured, or plan is set up */
TENON_EXTERN TenonErrorCode TenonPlanSetRatesFrom(TenonPlan plan,
                                                  TenonPlan measured) TENON_NOEXCEPT;

/** @brief Returns what is run: the network, with redistribution behind it where needed. Not
 *         collective.
 *
 *  Initial values that do not depend on redistribution are those of TenonLayerInitialize() of the
 *  network itself, which TenonPlanSetUp() gives.
 *
 *  @param[in]  plan   plan that is set up
 *  @param[out] layer  new handle; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_STATE  the plan is not set up */
TENON_EXTERN TenonErrorCode TenonPlanGetLayer(TenonPlan plan, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Returns the layout of the input. Not collective.
 *  @param[in]  plan    plan that is set up
 *  @param[out] layout  new handle; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE  the plan is not set up */
TENON_EXTERN TenonErrorCode TenonPlanGetInputLayout(TenonPlan plan,
                                                    TenonLayout* layout) TENON_NOEXCEPT;

#endif
