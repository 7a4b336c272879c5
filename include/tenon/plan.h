/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPlan: the parallelisation of each layer of a network, chosen by predicted time and
 *         set up on the processes of a communicator.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *      TenonPlanCreate(network, batch, &plan);           // a TenonLayer that is not set up
 *      TenonPlanSetInput(plan, 0, lx);                   // where the solver has its field
 *      TenonPlanSetUp(plan);                             // searches, and sets the network up
 *      TenonPlanGetLayer(plan, &layer);                  // CreateOutput, optimizers, parameters
 *      TenonLayerApply(layer, x, y);
 *      TenonLayerApplyAdjoint(layer, dy, dx);
 *
 *  P processes form a grid whose axes are the prime factors of P. A plan gives each layer a
 *  parallelization, one index label for each axis: n splits the batch, o the output channels, i the
 *  input channels, and d, h and w split space. "n6,o3" means six axes of the batch and three of
 *  output channels. In "n2,h7-" space is split along the last seven axes, the last of which is
 *  the major one, and in "dhw6-" three dimensions take turns, from the last axis on. The batch
 *  always has the first axes and space the last.
 *
 *  The cost of a plan is the sum of what Tenon would run: kernels, by their floating-point
 *  operations and the bytes that they read and write; the sums of gradients; the conversions
 *  between layers, halos included, and their adjoints. The search is exact. The command `tenon plan
 *  network` plans networks that do not run, by their names, by the cost models of papers too.
 *
 *  The network stays the program's own: its layers keep their names, settings and parameters, and
 *  their initial values are those that they have without a plan. The parallelizations are stored
 *  beside the settings, which the plan leaves as they are: TenonObjectView() shows them, and a plan
 *  file has them. Layers without parameters and with one input follow what they read. A signature
 *  that the program has set is kept: the plan fixes that parallelization.
 *
 *  What is asked of a plan are settings (tenon/object.h; each is an option -tenon_[prefix_]name
 *  too), which may change until TenonPlanSetUp(). What does not fit together is an error of
 *  TenonPlanSearch(). A call that sets something discards the plan found before.
 *
 *  | setting         | kind | default  | meaning                                                  |
 *  | --------------- | ---- | -------- | -------------------------------------------------------- |
 *  | processes       | int  | all      | number of processes that a search is for; to be set up,  |
 *  |                 |      |          | a plan has at most those of the communicator             |
 *  | link_latency    | real | 2e-6     | rates of the link of each process: seconds, and bytes    |
 *  | link_bandwidth  | real | 6e9      | per second                                               |
 *  | input_shape     | ints | none     | shape of a sample of the input, without the batch:       |
 *  |                 |      |          | channels, then space. TenonPlanSetInput() sets it        |
 *  | flop_rate       | real | by space | floating-point operations per second of a process; 5e10, |
 *  |                 |      |          | and 1e13 for networks on the device                      |
 *  | memory_rate     | real | by space | bytes per second that a process reads and writes; 1e10,  |
 *  |                 |      |          | and 1e12 for networks on the device. A kernel takes the  |
 *  |                 |      |          | time of its operations or that of its bytes, whichever   |
 *  |                 |      |          | is longer                                                |
 *  | input_channels  | bool | true     | allows the label i, which splits the input channels      |
 *  | memory_limit    | int  | 0        | bytes of each process, at most; 0 for no limit           |
 *  | recompute       | bool | true     | whether layers may compute again for the adjoint what    |
 *  |                 |      |          | does not fit into the memory limit                       |
 *  | halo_depth      | int  | 1        | layers that may share one halo exchange, at most, where  |
 *  |                 |      |          | that saves time: the first of them compute more cells    |
 *  | optimizer_state | int  | 2        | tensors that the optimizer keeps for each parameter: 1   |
 *  |                 |      |          | for sgd, 2 for adam                                      |
 *  | objective       | text | training | "training", forward and backward pass and the sums of    |
 *  |                 |      |          | gradients; "inference", the forward pass, with memory    |
 *  |                 |      |          | without gradients and optimizer; "step", one step of a   |
 *  |                 |      |          | solver, which evaluates the network every so many steps  |
 *  |                 |      |          | and converts the pinned layouts in each                  |
 *  | evaluate_every  | int  | 1        | objective step: steps for each evaluation                |
 *  | input_grid      | text | none     | pins the input to a process grid, see below              |
 *  | output_grid     | text | none     | pins the output to a process grid                        |
 *  | placement       | text | batch    | what the outermost axes of the grid split: "batch", the  |
 *  |                 |      |          | axes follow the levels of the machine from the outermost |
 *  |                 |      |          | one; "space", from the innermost one; "auto", the faster |
 *  |                 |      |          | of both; "all", the fastest of all placements of the     |
 *  |                 |      |          | axes on the levels, of which at most 1000 are searched;  |
 *  |                 |      |          | what is found so is loaded with the same setting         |
 *  | fewer_processes | bool | false    | allows plans that leave processes idle: the first of     |
 *  |                 |      |          | each 2, 4, ... processes by the innermost axes, and the  |
 *  |                 |      |          | three largest numbers without factors above 5            |
 *  | overlap_share   | real | 0        | share of the communication that overlaps with            |
 *  |                 |      |          | computation, 0 to 1. Above 0 the 16 plans with the least |
 *  |                 |      |          | sums of costs are replayed on a timeline, in which       |
 *  |                 |      |          | transfers start as soon as they can and this share of    |
 *  |                 |      |          | each overlaps; the plan is the fastest of them           |
 *  | gradient_bucket | int  | -1       | bytes of gradients that are reduced together, see below  |
 *
 *  Pinned ends. "4x2:S2,S3" is a process grid of 4 x 2, whose ranks are numbered in row-major order
 *  from 0, with a property for each of its axes, at most 5: dimension 0 is the batch, 1 the
 *  channels, and 2 the first of space; blocks are balanced. The input then has this layout, such as
 *  that of a solver's field, instead of the one that is best for the plan, and its cotangent is
 *  wanted there in training. Each layer may also have a parallelization on this grid, in which each
 *  axis keeps what it splits of the input, or splits the batch, or channels: "input:h,w" is how
 *  the field is distributed. The output likewise: "output:h,w".
 *
 *  Gradients of several parameters are reduced in one message, which starts during the backward
 *  pass: in the adjoint of the last evaluation that is pending. Programs that call the adjoint
 *  several times before each step of the optimizer, or that need no gradients of parameters, set
 *  gradient_bucket to 0: then each parameter is reduced separately, when its gradient is needed, or
 *  those of a bucket together in the step of an optimizer whose own gradient_bucket is above 0
 *  (tenon/optimizer.h). -1, the default, chooses enough bytes on a process that latency is a
 *  twentieth of the predicted time of their reduction.
 *
 *  Lists of a mesh (tenon/edges.h, tenon/index_map.h, tenon/links.h). The layouts of all inputs are
 *  given; the batch is the number of rows of the first, and fields on edges have rows of their own.
 *  A layer that works with edges or index maps stays on the distribution of these lists, with the
 *  parallelization "input:lists"; the layers without lists have parallelizations as elsewhere, on
 *  the process grid of the lists with the cuts of these. Movements along lists are priced by their
 *  messages. Such a plan does not accept layers of type linkedhalo.
 *
 *  The calls return TENON_ERR_NULL if a required handle or pointer is NULL, and TENON_ERR_HANDLE if
 *  a handle is not valid or is of another class.
 */
#ifndef TENON_PLAN_H
#define TENON_PLAN_H

#include <tenon/error.h>
#include <tenon/layout.h>
#include <tenon/types.h>

/** @brief Creates a plan for a network of layers. Local; call on all ranks.
 *
 *  The plan holds a reference to the network.
 *
 *  @param[in]  network  sequential, graph or single layer, not set up. Containers may be nested,
 *                       but must not recompute as a whole; each layer must be of the library and
 *                       be used once.
 *  @param[in]  batch    global batch size; must be >= 1
 *  @param[out] plan     new plan; destroy it with TenonPlanDestroy()
 *  @return TENON_ERR_STATE  the network is set up
 *  @return TENON_ERR_ARG    batch is below 1
 */
TENON_EXTERN TenonErrorCode TenonPlanCreate(TenonLayer network, TenonInt batch,
                                            TenonPlan* plan) TENON_NOEXCEPT;

/** @brief Sets the layout of an input, which the plan does not choose then. Local; call on all
 *         ranks.
 *
 *  The search takes it as given, whatever its process grid and blocks are. It adds the cost of
 *  redistribution from there, and each layer may also run on the grid of the first input, with its
 *  blocks, as after the setting input_grid. Without this call the setting input_shape is needed, or
 *  input_shapes for several inputs, and an input has the layout in which the first layer uses it:
 *  see TenonPlanGetInputLayout().
 *
 *  @param[in] plan    plan, not set up
 *  @param[in] input   index of the input, counted from 0
 *  @param[in] layout  layout of the input, with the whole batch in dimension 0; in a network with
 *                     lists of a mesh with any number of rows
 *  @return TENON_ERR_STATE  the plan is set up
 *  @return TENON_ERR_SHAPE  dimension 0 is not the batch
 *  @return TENON_ERR_ARG    there is no such input, or the layout has another communicator than the
 *                           network */
TENON_EXTERN TenonErrorCode TenonPlanSetInput(TenonPlan plan, int input,
                                              TenonLayout layout) TENON_NOEXCEPT;

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

/** @brief Sets the machine that the processes run on. Local; call on all ranks.
 *
 *  The axes of the grid follow its levels. Latencies and bandwidths are those of its links, and the
 *  rates of kernels its own where the machine has them (TenonMachineMeasure()). A measured machine
 *  has rates of arrays in one memory space, which must be that of the network, otherwise
 *  TenonPlanSearch() and TenonPlanSetUp() return TENON_ERR_ARG.
 *
 *  @param[in] plan     plan, not set up
 *  @param[in] machine  machine with a device for each process; TenonPlanSearch() checks that
 *  @return TENON_ERR_STATE  the plan is set up */
TENON_EXTERN TenonErrorCode TenonPlanSetMachine(TenonPlan plan,
                                                TenonMachine machine) TENON_NOEXCEPT;

/** @brief Fixes the parallelization of a layer. Local; call on all ranks.
 *  @param[in] plan   plan, not set up
 *  @param[in] layer  name of the layer; within containers the path of names, "block/conv1"
 *  @param[in] labels  parallelization, such as "n6,o3"; TenonPlanSearch() checks it
 *  @return TENON_ERR_STATE  the plan is set up */
TENON_EXTERN TenonErrorCode TenonPlanFix(TenonPlan plan, const char* layer,
                                         const char* labels) TENON_NOEXCEPT;

/** @brief Finds the plan that takes the least time. Not collective.
 *
 *  TenonPlanSetUp() searches too, on one rank. This call is for programs that need the plan before
 *  set-up: each rank that calls it searches.
 *
 *  Under a memory limit the plan is exact among those that keep what the adjoint reads, unless the
 *  search stops early; which layers recompute is chosen afterwards. The number "gap" of
 *  TenonPlanGetNumber() then is how far it can be from the optimum.
 *
 *  @param[in] plan  plan
 *  @return TENON_ERR_SHAPE    the machine has another number of devices, or a layer cannot be
 *                             divided among that many processes; the message names machine or layer
 *  @return TENON_ERR_MEMORY_LIMIT  no plan is within the memory limit; the message says how much is
 *                             missing, which layers need most, and what takes less
 *  @return TENON_ERR_OPTION   a fixed parallelization is not possible
 *  @return TENON_ERR_ARG      a parallelization is fixed for a layer that does not exist
 *  @return TENON_ERR_SUPPORT  the network has too many connections for an exact search
 *  @return TENON_ERR_STATE    the shape of the input was not set
 *
 *  A pinned grid that does not fit the network or the number of processes is TENON_ERR_SHAPE or
 *  TENON_ERR_LAYOUT; one of too many axes is TENON_ERR_SUPPORT.
 */
TENON_EXTERN TenonErrorCode TenonPlanSearch(TenonPlan plan) TENON_NOEXCEPT;

/** @brief Sets the network up as planned. Collective on the network.
 *
 *  Searches if TenonPlanSearch() was not called: one rank searches and sends the plan to the
 *  others. If it fails, the network is as it was. A second call has no effect.
 *
 *  @param[in] plan  plan
 *  @return TENON_ERR_STATE       the network is set up, the input has no shape, or the plan is for
 *                                more processes than the communicator has
 *  @return TENON_ERR_OPTION      a fixed parallelization or a signature is not possible
 *  @return TENON_ERR_COLLECTIVE  the ranks have different networks or settings
 *  @note   Errors of TenonPlanSearch() and TenonLayerSetUp() are returned on all ranks.
 */
TENON_EXTERN TenonErrorCode TenonPlanSetUp(TenonPlan plan) TENON_NOEXCEPT;

/** @brief Writes the plan to a file. Collective on the network.
 *
 *  The file is JSON: the network without weights, its data type and the shape of its input, the
 *  layouts that are given, the number of processes and the grid, and the plan: of each layer its
 *  parallelization, the signature that it means, and the layouts in which the layer uses its
 *  inputs. It replaces a file of that name when it is complete.
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
 *  Rates and limits may differ. Calls that set something discard the plan: make them before.
 *  Nothing is priced; each layer must be able to be as the file says.
 *
 *  @param[in] plan  plan, not set up
 *  @param[in] path  path of the file
 *  @return TENON_ERR_FILE    the file cannot be read
 *  @return TENON_ERR_FORMAT  the file is damaged, of another version or no plan, or is for another
 *                            network, or a parallelization, signature or layout does not fit its
 *                            layer; the message names the file and the key and byte, or the layer
 *  @return TENON_ERR_SHAPE   it is for another shape of the input
 *  @return TENON_ERR_STATE   it is for another number of processes or for other levels; or the plan
 *                            is set up, or has no shape of the input yet
 *  @return TENON_ERR_LAYOUT  it is for another layout of input or output */
TENON_EXTERN TenonErrorCode TenonPlanLoad(TenonPlan plan, const char* path) TENON_NOEXCEPT;

/** @brief Returns a number of the plan, or of one of its layers. Not collective.
 *
 *  | of the plan | value                                                                         |
 *  | ----------- | ----------------------------------------------------------------------------- |
 *  | seconds     | predicted time of one training iteration (or of the objective) in seconds     |
 *  | overlapped  | the same, with the overlap of the setting overlap_share                       |
 *  | uniform     | that of the best plan with the same grid for all layers                       |
 *  | batch       | that of the plan in which all processes split the batch                       |
 *  | model       | that of the plan in which all processes split the output channels             |
 *  | domain      | that of the plan in which all processes split space, or output channels where |
 *  |             | space must be whole                                                           |
 *  | bytes       | predicted memory of each process                                              |
 *  | gap         | relative difference of the plan's time from a proven lower bound; 0 unless    |
 *  |             | the search under a memory limit stopped early, or recomputation might help    |
 *  |             | more than was found                                                           |
 *  | recompute   | of the seconds those of layers that compute again for the adjoint             |
 *  | shared      | seconds saved by layers that share a halo exchange (setting halo_depth)       |
 *  | layers      | number of planned layers                                                      |
 *  | searches    | number of searches: most communication is priced at one process, which is a   |
 *  |             | lower bound; the prices of the plan found are then verified at all processes, |
 *  |             | and the search is repeated until none is too low                              |
 *  | processes   | number of processes that the plan uses                                        |
 *  | reversed    | 1 if the axes of its grid follow the levels of the machine from the innermost |
 *  |             | (setting placement), else 0                                                   |
 *
 *  | of a layer    | value                                                                       |
 *  | ------------- | --------------------------------------------------------------------------- |
 *  | bytes         | predicted memory of each process                                            |
 *  | channel_parts | number of parts of the channels                                             |
 *  | space_parts   | number of parts of space                                                    |
 *  | batch_parts   | number of parts of the batch                                                |
 *  | runner_up     | predicted time of the best plan with the best other parallelization, or a   |
 *  |               | lower bound under a memory limit; 0 if there is no other parallelization    |
 *
 *  @param[in]  plan   plan
 *  @param[in]  layer  name of a layer. May be NULL, in which case the number is one of the plan.
 *  @param[in]  name   name in the tables above
 *  @param[out] value  value
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called, or there is no such plan: for
 *                           example, more processes than samples in the batch
 *  @return TENON_ERR_ARG    there is no such number or layer
 */
TENON_EXTERN TenonErrorCode TenonPlanGetNumber(TenonPlan plan, const char* layer, const char* name,
                                               double* value) TENON_NOEXCEPT;

/** @brief Returns the name of a planned layer. Not collective.
 *  @param[in]  plan    plan
 *  @param[in]  index   index of the layer, counted from 0
 *  @param[out] name    [length] name. May be NULL, in which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the name needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer, or the name does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonPlanGetLayerName(TenonPlan plan, TenonInt index, char name[],
                                                  TenonInt length, TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the parallelization of a layer, or the best other one. Not collective.
 *  @param[in]  plan    plan
 *  @param[in]  layer   name of the layer
 *  @param[in]  name    "labels", such as "n6,o3"; or "runner_up", the best other parallelization,
 *                      "" if there is none
 *  @param[out] text    [length] parallelization. May be NULL, in which case only needed is
 *                      returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the parallelization needs. May be NULL, in which case it is not
 *                      returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer or name, or the parallelization does not fit
 *                           into the buffer
 */
TENON_EXTERN TenonErrorCode TenonPlanGetText(TenonPlan plan, const char* layer, const char* name,
                                             char text[], TenonInt length,
                                             TenonInt* needed) TENON_NOEXCEPT;

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
 *  same network then tells whether other parallelizations would be faster. Rates of which nothing
 *  was measured are those of the plan.
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

/** @brief Returns what is run: the network, followed by redistribution where needed. Not
 *         collective.
 *
 *  Initial values that do not depend on redistribution are those of TenonLayerInitialize() of the
 *  network itself, which TenonPlanSetUp() gives.
 *
 *  @param[in]  plan   plan that is set up
 *  @param[out] layer  new handle; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_STATE  the plan is not set up */
TENON_EXTERN TenonErrorCode TenonPlanGetLayer(TenonPlan plan, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Returns the layout of an input. Not collective.
 *
 *  A network with several inputs is evaluated by TenonLayerApplyMany() with the layer of
 *  TenonPlanGetLayer().
 *
 *  @param[in]  plan    plan that is set up
 *  @param[in]  input   index of the input, counted from 0
 *  @param[out] layout  new handle; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE  the plan is not set up
 *  @return TENON_ERR_ARG    there is no such input */
TENON_EXTERN TenonErrorCode TenonPlanGetInputLayout(TenonPlan plan, int input,
                                                    TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] plan  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonPlanDestroy(TenonPlan* plan) TENON_NOEXCEPT;

#endif
