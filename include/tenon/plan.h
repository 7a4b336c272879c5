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
 *  P processes form a grid whose axes are the prime factors of P in ascending order; with a
 *  machine, those of each level, the outermost level first: no axis crosses the border of a level
 *  (2 nodes of 6 processes are 2 x 2 x 3). A plan gives each layer a parallelization, which has one
 *  index label for each axis: n splits the batch, o the output channels, i the input channels, and
 *  d, h and w split space. The first axes split the batch and the last ones space. In the short
 *  form of TenonLayerSetSignature(), "n6,o3" means that six axes split the batch and three axes the
 *  output channels. A run with "-" is read from its last axis: in "n2,h7-" seven axes split h, the
 *  last of them as the major axis; in "dhw6-" the last axis splits d, the one before it h, the next
 *  one w, and so on in turn.
 *
 *  The cost of a plan is the sum of the predicted times of all operations that Tenon would execute:
 *  kernels, by their floating-point operations and the bytes that they read and write; sums of
 *  gradients; and conversions between layers, halos included, with their adjoints. The search is
 *  exact. The command `tenon plan network` plans networks by their names without running them, also
 *  with the cost models of papers.
 *
 *  The plan does not change names, settings and parameters of the network's layers; the initial
 *  values of parameters are the same as without a plan. The parallelizations are stored beside the
 *  settings: TenonObjectView() shows them, and a plan file contains them. Layers without parameters
 *  and with one input have the layout of their input. If the program has set the signature of a
 *  layer, the plan uses this parallelization.
 *
 *  The request for a plan consists of settings (tenon/object.h; each is an option
 *  -tenon_[prefix_]name too), which may change before TenonPlanSetUp(). TenonPlanSearch() returns
 *  an error if settings contradict each other. Any setter discards the plan that was found before.
 *
 *  | setting         | kind | default  | meaning                                                  |
 *  | --------------- | ---- | -------- | -------------------------------------------------------- |
 *  | processes       | int  | all      | number of processes of the plan; a plan for more than    |
 *  |                 |      |          | the communicator has cannot be set up                    |
 *  | link_latency    | real | 2e-6     | latency of the link of each process, in seconds          |
 *  | link_bandwidth  | real | 6e9      | bandwidth of the link of each process, in bytes per      |
 *  |                 |      |          | second                                                   |
 *  | input_shape     | ints | none     | shape of a sample of the input, without the batch:       |
 *  |                 |      |          | channels, then space. TenonPlanSetInput() sets it        |
 *  | flop_rate       | real | by space | floating-point operations per second of a process; 5e10, |
 *  |                 |      |          | and 1e13 for networks on the device                      |
 *  | memory_rate     | real | by space | bytes per second that a process reads and writes; 1e10,  |
 *  |                 |      |          | and 1e12 for networks on the device. A kernel takes the  |
 *  |                 |      |          | time of its operations or of its bytes, whichever is     |
 *  |                 |      |          | longer                                                   |
 *  | input_channels  | bool | true     | allows the label i, which splits the input channels      |
 *  | memory_limit    | int  | 0        | largest number of bytes of each process; 0 for no limit  |
 *  | recompute       | bool | true     | whether layers may recompute activations for the adjoint |
 *  |                 |      |          | that do not fit into the memory limit                    |
 *  | halo_depth      | int  | 1        | largest number of layers that share one halo exchange if |
 *  |                 |      |          | this saves time; the first of them compute more cells    |
 *  | optimizer_state | int  | 2        | tensors that the optimizer stores for each parameter: 1  |
 *  |                 |      |          | for sgd, 2 for adam                                      |
 *  | objective       | text | training | "training", forward and backward pass and the sums of    |
 *  |                 |      |          | gradients; "inference", the forward pass, with memory    |
 *  |                 |      |          | without gradients and optimizer; "step", one step of a   |
 *  |                 |      |          | solver, which evaluates the network in every             |
 *  |                 |      |          | evaluate_every-th step, and converts the pinned layouts  |
 *  |                 |      |          | in each step                                             |
 *  | evaluate_every  | int  | 1        | number of steps for each evaluation (objective "step")   |
 *  | input_grid      | text | none     | pins the input to a process grid, see below              |
 *  | output_grid     | text | none     | pins the output to a process grid                        |
 *  | placement       | text | batch    | levels of the machine on which the axes of the grid are, |
 *  |                 |      |          | the first axis first: "batch", from the outermost level  |
 *  |                 |      |          | to the innermost; "space", from the innermost to the     |
 *  |                 |      |          | outermost; "auto", the faster of both; "all", the        |
 *  |                 |      |          | fastest of all placements, which must be at most 1000,   |
 *  |                 |      |          | since each costs a whole search. A plan that was found   |
 *  |                 |      |          | with "all" is loaded with the same setting               |
 *  | fewer_processes | bool | false    | allows plans that do not use all processes: the grid     |
 *  |                 |      |          | without its innermost axes (of 2 x 2 x 3, one of each 3, |
 *  |                 |      |          | 6 or 12 neighbouring processes is used), or one of the   |
 *  |                 |      |          | three next smaller numbers without prime factors above 5 |
 *  | overlap_share   | real | 0        | share of the communication that overlaps with            |
 *  |                 |      |          | computation, 0 to 1. If it is above 0, the 16 plans with |
 *  |                 |      |          | the least sums of costs are simulated on a timeline in   |
 *  |                 |      |          | which transfers start as early as possible and this      |
 *  |                 |      |          | share of each overlaps; the fastest of them is chosen    |
 *  | gradient_bucket | int  | -1       | bytes of gradients that are summed together, see below   |
 *
 *  Pinned ends. input_grid and output_grid fix the layouts of input and output, for example to the
 *  layout of a solver's field, instead of letting the plan choose them. "4x2:S2,S3" is a process
 *  grid of 4 x 2, whose ranks are numbered in row-major order from 0, with a property for each of
 *  its axes, of which there can be 5: dimension 0 is the batch, 1 the channels, and 2 the first
 *  dimension of space. Blocks are balanced. In training the cotangent of the input is computed in
 *  the dual of this layout. Each layer may then also have a parallelization on this grid, in which
 *  each axis splits the dimension that it splits of the input, or the batch, or channels:
 *  "input:h,w" is the distribution of the field itself; "output:h,w" is one on the grid of the
 *  output.
 *
 *  Gradients of several parameters (a bucket) are summed over the processes in one message, which
 *  is sent during the adjoint of the last pending evaluation. With gradient_bucket 0 the gradient
 *  of each parameter is summed separately, when it is needed, or those of a bucket together in the
 *  step of an optimizer whose own gradient_bucket is above 0 (tenon/optimizer.h): set it in
 *  programs that call the adjoint several times before a step of the optimizer, or that need no
 *  gradients of parameters. With -1, the default, a bucket has so many bytes that the latency is a
 *  twentieth of the predicted time of its sum: larger buckets would save little and start later.
 *
 *  Networks on a mesh (tenon/edges.h, tenon/index_map.h, tenon/links.h). TenonPlanSetInput() must
 *  set the layouts of all inputs. The batch is the number of rows of the first input; fields on
 *  edges have another number of rows. A layer with edges, index maps or links has the distribution
 *  of these lists, written as the parallelization "input:lists". Other layers have parallelizations
 *  as in any plan, on the process grid of the lists and with their split points. Exchanges along
 *  lists are priced by their messages. Layers of type linkedhalo are not accepted.
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
 *                       but must not have the setting recompute; each layer must be of a type of
 *                       the library and be used only once.
 *  @param[in]  batch    global batch size; must be >= 1
 *  @param[out] plan     new plan; destroy it with TenonPlanDestroy()
 *  @return TENON_ERR_STATE  the network is set up
 *  @return TENON_ERR_ARG    batch is below 1
 */
TENON_EXTERN TenonErrorCode TenonPlanCreate(TenonLayer network, TenonInt batch,
                                            TenonPlan* plan) TENON_NOEXCEPT;

/** @brief Sets the layout of an input, instead of letting the plan choose it. Local; call on all
 *         ranks.
 *
 *  The layout can have any process grid and blocks. The search adds the cost of redistributing the
 *  input from this layout. Each layer may also have a parallelization on the process grid of the
 *  first input, with its blocks, as with the setting input_grid. Without this call, the setting
 *  input_shape is required (input_shapes for several inputs), and an input has the layout in which
 *  the first layer uses it, see TenonPlanGetInputLayout().
 *
 *  @param[in] plan    plan, not set up
 *  @param[in] input   index of the input, counted from 0
 *  @param[in] layout  layout of the input, with the whole batch in dimension 0; in a network on a
 *                     mesh, with any number of rows
 *  @return TENON_ERR_STATE  the plan is set up
 *  @return TENON_ERR_SHAPE  dimension 0 is not the batch
 *  @return TENON_ERR_ARG    there is no such input, or the layout has another communicator than the
 *                           network */
TENON_EXTERN TenonErrorCode TenonPlanSetInput(TenonPlan plan, int input,
                                              TenonLayout layout) TENON_NOEXCEPT;

/** @brief Sets the layout of the output, instead of letting the plan choose it. Local; call on all
 *         ranks.
 *
 *  If the last layer has another layout, its output is redistributed. See TenonPlanSetInput().
 *
 *  @param[in] plan    plan, not set up
 *  @param[in] layout  layout of the output, with the whole batch in dimension 0
 *  @return TENON_ERR_STATE  the plan is set up
 *  @return TENON_ERR_SHAPE  dimension 0 is not the batch
 *  @return TENON_ERR_ARG    the layout has another communicator than the network */
TENON_EXTERN TenonErrorCode TenonPlanSetOutput(TenonPlan plan, TenonLayout layout) TENON_NOEXCEPT;

/** @brief Sets the machine that the processes run on. Local; call on all ranks.
 *
 *  The axes of the grid are placed on the levels of the machine. Latencies and bandwidths are those
 *  of its links. If the machine has rates of kernels (TenonMachineMeasure()), they are used as
 *  well. The rates of a measured machine are for arrays in one memory space; if the network is in
 *  the other one, TenonPlanSearch() and TenonPlanSetUp() return TENON_ERR_ARG.
 *
 *  @param[in] plan     plan, not set up
 *  @param[in] machine  machine with a device for each process, which TenonPlanSearch() checks
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
 *  With a memory limit the plan is optimal among those that do not recompute, unless the search
 *  stops early; layers that recompute are chosen afterwards. The number "gap" of
 *  TenonPlanGetNumber() is an upper bound of the relative distance from the optimum.
 *
 *  @param[in] plan  plan
 *  @return TENON_ERR_SHAPE    the machine has another number of devices, or a layer cannot be
 *                             divided among that many processes; the message names machine or layer
 *  @return TENON_ERR_MEMORY_LIMIT  no plan is within the memory limit; the message says how much is
 *                             missing, which layers need most, and which settings need less
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
 *  If TenonPlanSearch() was not called, one rank searches and sends the plan to the others. If the
 *  call fails, the network is unchanged. A second call has no effect.
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
 *  The file is JSON. It contains the network without weights, its data type and the shape of its
 *  input, the layouts that were set, the number of processes, the grid, and for each layer its
 *  parallelization, its signature, and the layouts in which it uses its inputs. An existing file of
 *  this name is replaced when the new file is complete.
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
 *  Rates and limits may differ. Setters discard the plan, so call them before. The plan is not
 *  priced, but each layer must support its parallelization in the file.
 *
 *  @param[in] plan  plan, not set up
 *  @param[in] path  path of the file
 *  @return TENON_ERR_FILE    the file cannot be read
 *  @return TENON_ERR_FORMAT  the file is damaged, of another version or not a plan, or is for
 *                            another network, or a parallelization, signature or layout does not
 *                            fit its layer; the message names the file and the key and byte, or the
 *                            layer
 *  @return TENON_ERR_SHAPE   the file is for another shape of the input
 *  @return TENON_ERR_STATE   the file is for another number of processes or for other levels; or
 *                            the plan is set up, or the shape of its input is not set
 *  @return TENON_ERR_LAYOUT  the file is for another layout of input or output */
TENON_EXTERN TenonErrorCode TenonPlanLoad(TenonPlan plan, const char* path) TENON_NOEXCEPT;

/** @brief Returns a number of the plan, or of one of its layers. Not collective.
 *
 *  | of the plan | value                                                                         |
 *  | ----------- | ----------------------------------------------------------------------------- |
 *  | seconds     | predicted time of one training iteration (or of the objective) in seconds     |
 *  | overlapped  | predicted time with the overlap of the setting overlap_share                  |
 *  | uniform     | predicted time of the best plan with the same grid for all layers             |
 *  | batch       | predicted time of the plan in which all processes split the batch             |
 *  | model       | predicted time of the plan in which all processes split the output channels   |
 *  | domain      | predicted time of the plan in which all processes split space, or, in layers  |
 *  |             | that cannot split space, output channels                                      |
 *  | bytes       | predicted memory of each process                                              |
 *  | gap         | relative difference of the plan's time from a proven lower bound; 0 unless    |
 *  |             | the search with a memory limit stopped early, or another choice of layers     |
 *  |             | that recompute might be faster                                                |
 *  | recompute   | seconds of recomputation for the adjoint, which are part of "seconds"         |
 *  | shared      | seconds saved by layers that share a halo exchange (setting halo_depth)       |
 *  | layers      | number of planned layers                                                      |
 *  | searches    | number of searches. Most communication is priced for one process, which gives |
 *  |             | a lower bound; the prices of the plan are then verified for all processes,    |
 *  |             | and the search is repeated until no price is too low                          |
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
 *  |               | lower bound of it if there is a memory limit; 0 if the layer has no other   |
 *  |               | parallelization                                                             |
 *
 *  @param[in]  plan   plan
 *  @param[in]  layer  name of a layer. May be NULL, in which case the number is one of the plan.
 *  @param[in]  name   name in the tables above
 *  @param[out] value  value
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called, or there is no plan of the kind
 *                           of this number, for example "batch" with more processes than samples
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

/** @brief Returns the parallelization of a layer, or the second-best one. Not collective.
 *  @param[in]  plan    plan
 *  @param[in]  layer   name of the layer
 *  @param[in]  name    "labels", such as "n6,o3"; or "runner_up", the second-best parallelization,
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
 *  The phases of each layer are the kernels and the communication of Apply and of the adjoint, and
 *  the sum of the gradients by the optimizer. The measured time is the median of the last 32
 *  evaluations while the log was on (-tenon_log_view, or TenonLogEnable()), on the slowest process.
 *  The report names the three phases with the largest differences, and the rates that would explain
 *  them.
 *
 *  @param[in] plan  plan that is set up
 *  @return TENON_ERR_STATE  the plan is not set up, or nothing was measured */
TENON_EXTERN TenonErrorCode TenonPlanReport(TenonPlan plan) TENON_NOEXCEPT;

/** @brief Returns the rates that explain the times of TenonPlanReport() best. Collective on the
 *         network.
 *
 *  Latency and bandwidth are fitted to the communication of all layers, and the speed of a process
 *  to their floating-point operations, by least squares of the relative errors. If nothing was
 *  measured for a rate, the rate of the plan is returned. To see whether other parallelizations
 *  would be faster, search another plan for the same network with these rates:
 *  TenonPlanSetRatesFrom(), which also transfers rates that are not returned here.
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

/** @brief Takes the rates that explain the measured times of another plan best. Collective on the
 *         network of that plan.
 *
 *  These are the rates of TenonPlanCalibrate(), and for each kind of kernels the ratio of measured
 *  to predicted times. They replace the rates of the machine and the settings link_latency,
 *  link_bandwidth, flop_rate and memory_rate, until one of these is set.
 *
 *  @param[in] plan      plan, not set up
 *  @param[in] measured  plan that is set up, with measured steps
 *  @return TENON_ERR_STATE  measured is not set up, or nothing was measured, or plan is set up */
TENON_EXTERN TenonErrorCode TenonPlanSetRatesFrom(TenonPlan plan,
                                                  TenonPlan measured) TENON_NOEXCEPT;

/** @brief Returns the layer that is run: the network, and redistribution if needed. Not
 *         collective.
 *
 *  To draw initial values that do not depend on redistribution, call TenonLayerInitialize() of the
 *  network itself, as TenonPlanSetUp() does.
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
