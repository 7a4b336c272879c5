/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPlan: the parallelisation of each layer of a network, chosen by predicted time.
 *
 *  P processes form a grid whose axes are the prime factors of P. A plan gives each layer a word,
 *  one index label for each axis: n splits the batch, o the output channels, i the input channels,
 *  and d, h and w split space. "n6,o3" stands for six axes of the batch and three of output
 *  channels. In "n2,h7-" space is split along the last seven axes, the last of which is the major
 *  one, and in "dhw6-" three dimensions take turns, from the last axis on. The batch always has the
 *  first axes and space the last.
 *
 *  The cost of a plan is the sum of the costs of its layers and of the communication between them,
 *  by a cost model:
 *
 *  | model | predicts                                                                            |
 *  | ----- | ----------------------------------------------------------------------------------- |
 *  | t1    | the communication of one training iteration, with one latency and one bandwidth, as |
 *  |       | in Gholami et al., *Integrated Model, Batch, and Domain Parallelism in Training     |
 *  |       | Neural Networks*, with redistribution between layers of different grids             |
 *  | own   | what Tenon would run: kernels, by their floating-point operations and the bytes     |
 *  |       | that they read and write; the sums of gradients; the conversions between layers,    |
 *  |       | halos included, and their adjoints                                                  |
 *
 *  The search is exact. All calls can be made before TenonInitialize(). They return TENON_ERR_NULL
 *  if a required handle or pointer is NULL, and TENON_ERR_HANDLE if a handle is not valid or is of
 *  another class. A call that sets something discards the plan found before.
 *
 *  What is asked of a plan are settings (tenon/object.h; each is an option -tenon_[prefix_]name
 *  too), which may change until TenonPlanSetUp(). What does not fit together is an error of
 *  TenonPlanSearch().
 *
 *  | setting         | kind | default  | meaning                                                  |
 *  | --------------- | ---- | -------- | -------------------------------------------------------- |
 *  | processes       | int  | 1        | number of processes, at most 2^24; of TenonPlanCreate(): |
 *  |                 |      |          | those of the communicator                                |
 *  | cost_model      | text | t1       | table above; of TenonPlanCreate(): own                   |
 *  | link_latency    | real | 2e-6     | rates of the link of each process: seconds, and bytes    |
 *  | link_bandwidth  | real | 6e9      | per second                                               |
 *  | input_shape     | ints | none     | shape of a sample of the input of a network of layers,   |
 *  |                 |      |          | without the batch: channels, then space; tables have it  |
 *  | flop_rate       | real | by space | own: floating-point operations per second of a process;  |
 *  |                 |      |          | 5e10, and 1e13 for networks on the device                |
 *  | memory_rate     | real | by space | own: bytes per second that a process reads and writes;   |
 *  |                 |      |          | 1e10, and 1e12 for networks on the device. A kernel      |
 *  |                 |      |          | takes the time of its operations or that of its bytes,   |
 *  |                 |      |          | whichever is longer                                      |
 *  | data_type       | text | float32  | own: data type of a network of TenonPlanCreateNamed(),   |
 *  |                 |      |          | "float32" or "float64"; layers have their own. Model t1  |
 *  |                 |      |          | counts 4 bytes for each element                          |
 *  | input_channels  | bool | by model | allows the label i, which splits the input channels;     |
 *  |                 |      |          | false under model t1, true under model own               |
 *  | memory_limit    | int  | 0        | bytes of each process, at most; 0 for no limit           |
 *  | objective       | text | training | own: "training", forward and backward pass and the sums  |
 *  |                 |      |          | of gradients; "inference", the forward pass, with memory |
 *  |                 |      |          | without gradients and optimizer; "step", one step of a   |
 *  |                 |      |          | solver, which evaluates the network every so many steps  |
 *  |                 |      |          | and converts the pinned layouts in each                  |
 *  | evaluate_every  | int  | 1        | objective step: steps for each evaluation                |
 *  | input_grid      | text | none     | own: pins the input to a process grid, see below         |
 *  | output_grid     | text | none     | own: pins the output to a process grid                   |
 *  | placement       | text | batch    | what the outermost axes of the grid split: "batch", the  |
 *  |                 |      |          | axes follow the levels of the machine from the outermost |
 *  |                 |      |          | one; "space", from the innermost one; "auto", the faster |
 *  |                 |      |          | of both                                                  |
 *  | fewer_processes | bool | false    | allows plans that leave processes idle: the first of     |
 *  |                 |      |          | each 2, 4, ... processes by the innermost axes, and the  |
 *  |                 |      |          | three largest numbers without factors above 5            |
 *  | overlap_share   | real | 0        | own: share of the communication that goes on beside      |
 *  |                 |      |          | computation, 0 to 1. Above 0 the 16 plans with the least |
 *  |                 |      |          | sums of costs are replayed on a timeline, in which       |
 *  |                 |      |          | transfers start as soon as they can and this share of    |
 *  |                 |      |          | each goes on by itself; the plan is the fastest of them  |
 *  | gradient_bucket | int  | -1       | of TenonPlanCreate(), see tenon/plan_run.h               |
 *
 *  Pinned ends. "4x2:S2,S3" is a process grid of 4 x 2, whose ranks are numbered in row-major order
 *  from 0, with a property for each of its axes, at most 5: dimension 0 is the batch, 1 the
 *  channels, and 2 the first of space; blocks are balanced. The input then has this layout, such as
 *  that of a solver's field, instead of the one that is best for the plan, and its cotangent is
 *  wanted there in training. Each layer may also have a word on this grid, in which each axis keeps
 *  what it splits of the input, or splits the batch, or channels: "input:h,w" is where the field
 *  lies. The output likewise: "output:h,w".
 */
#ifndef TENON_PLAN_H
#define TENON_PLAN_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Creates a plan for a network. Not collective.
 *
 *  The network is a table, for every cost model, or a network file of layers as in
 *  TenonLayerCreateFromFile(), for model own.
 *
 *  @param[in]  nameOrPath  path, which contains a slash or ends with .json; or the name of a table
 *                          in share/tenon/networks/tables (alexnet, resnet50, unet3d_256, vgg16),
 *                          or of a network file in share/tenon/networks, such as lenet5
 *  @param[in]  batch       global batch size; must be >= 1
 *  @param[out] plan        new plan; destroy it with TenonPlanDestroy()
 *  @return TENON_ERR_FILE    there is no such file
 *  @return TENON_ERR_FORMAT  the file is neither; the message names file, byte and key
 *  @return TENON_ERR_ARG     batch is below 1
 */
TENON_EXTERN TenonErrorCode TenonPlanCreateNamed(const char* nameOrPath, TenonInt batch,
                                                 TenonPlan* plan) TENON_NOEXCEPT;

/** @brief Sets the machine that the processes run on. Not collective.
 *
 *  The axes of the grid follow its levels, and model own takes latencies and bandwidths from its
 *  links, and the rates of kernels where the machine has them (TenonMachineMeasure()). A measured
 *  machine has rates of arrays in one memory space, which must be that of the network, otherwise
 *  TenonPlanSearch() and TenonPlanSetUp() return TENON_ERR_ARG.
 *
 *  @param[in] plan     plan
 *  @param[in] machine  machine with a device for each process; TenonPlanSearch() checks that */
TENON_EXTERN TenonErrorCode TenonPlanSetMachine(TenonPlan plan,
                                                TenonMachine machine) TENON_NOEXCEPT;

/** @brief Fixes the word of a layer. Not collective.
 *  @param[in] plan   plan
 *  @param[in] layer  name of the layer
 *  @param[in] word   word, such as "n6,o3"; TenonPlanSearch() checks it */
TENON_EXTERN TenonErrorCode TenonPlanFix(TenonPlan plan, const char* layer,
                                         const char* word) TENON_NOEXCEPT;

/** @brief Finds the plan that takes the least time. Not collective; does not need MPI.
 *
 *  Under a memory limit the plan is exact too, unless the search stops early; the number "gap" of
 *  TenonPlanGetNumber() then is how far it can be from the optimum.
 *
 *  @param[in] plan  plan
 *  @return TENON_ERR_SHAPE    the machine has another number of devices, a layer cannot be divided
 *                             among that many processes, or no plan is within the memory limit; the
 *                             message names machine or layers
 *  @return TENON_ERR_OPTION   a fixed word is not possible
 *  @return TENON_ERR_ARG      a word is fixed for a layer that does not exist
 *  @return TENON_ERR_SUPPORT  the network has too many connections for an exact search, or the cost
 *                             model cannot price it
 *  @return TENON_ERR_STATE    the shape of the input of a network of layers was not set
 *
 *  A pinned grid that does not fit the network or the number of processes is TENON_ERR_SHAPE or
 *  TENON_ERR_LAYOUT; one of too many axes, and a pinned layout or another objective than training
 *  under model t1, are TENON_ERR_SUPPORT.
 */
TENON_EXTERN TenonErrorCode TenonPlanSearch(TenonPlan plan) TENON_NOEXCEPT;

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
 *  |             | the search under a memory limit stopped early                                 |
 *  | searches    | how often was searched: model own prices most communication at one process,   |
 *  |             | which is a lower bound; the prices of the plan found are then verified at all |
 *  |             | processes, and the search is repeated until none is too low                   |
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
 *  | runner_up     | predicted time of the best plan with the word of TenonPlanGetRunnerUp(), or |
 *  |               | a lower bound under a memory limit; 0 if there is no other word             |
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

/** @brief Returns the number of planned layers. Not collective.
 *  @param[in]  plan   plan
 *  @param[out] count  number of layers
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called */
TENON_EXTERN TenonErrorCode TenonPlanGetLayerCount(TenonPlan plan, TenonInt* count) TENON_NOEXCEPT;

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

/** @brief Returns the word of a layer. Not collective.
 *  @param[in]  plan    plan
 *  @param[in]  layer   name of the layer
 *  @param[out] word    [length] word, such as "n6,o3". May be NULL, in which case only needed is
 *                      returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the word needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer, or the word does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonPlanGetWord(TenonPlan plan, const char* layer, char word[],
                                             TenonInt length, TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the best other word of a layer. Not collective.
 *  @param[in]  plan    plan
 *  @param[in]  layer   name of the layer
 *  @param[out] word    [length] word; "" if the layer has no other. May be NULL, in which case only
 *                      needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the word needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer, or the word does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonPlanGetRunnerUp(TenonPlan plan, const char* layer, char word[],
                                                 TenonInt length, TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the cost of one training iteration by a published equation. Not collective.
 *
 *  The equations count communication on a grid of Pr x Pc processes, Pr for model or domain, Pc for
 *  batch parallelism, with the rates link_latency and
 *  link_bandwidth:
 *
 *  | equation | cost                                                                              |
 *  | -------- | --------------------------------------------------------------------------------- |
 *  | eq3      | model parallelism only; this and the next four: Gholami et al., arXiv 1712.04432  |
 *  | eq4      | batch parallelism only                                                            |
 *  | eq7      | domain parallelism only                                                           |
 *  | eq8      | model and batch parallelism; convolutions can have a grid of their own            |
 *  | eq9      | domain (convolutions), model (affine layers) and batch parallelism                |
 *  | eq4_003  | model and batch parallelism, Eq. 4 of the first version of the paper              |
 *
 *  @param[in]  plan         plan, from which network, batch size and rates are taken
 *  @param[in]  equation     name in the table above
 *  @param[in]  rows         Pr; must be >= 1, and rows or columns must be 1 for eq3, eq4 and eq7
 *  @param[in]  columns      Pc; must be >= 1
 *  @param[in]  convRows     Pr of convolutions in eq8; ignored by the others
 *  @param[in]  convColumns  Pc of convolutions in eq8; ignored by the others
 *  @param[out] seconds      time in seconds
 *  @return TENON_ERR_ARG  there is no such equation, or a grid is out of range */
TENON_EXTERN TenonErrorCode TenonPlanGetPublishedSeconds(TenonPlan plan, const char* equation,
                                                         TenonInt rows, TenonInt columns,
                                                         TenonInt convRows, TenonInt convColumns,
                                                         double* seconds) TENON_NOEXCEPT;

/** @brief Counts what a conversion between two properties sends as one exchange. Not collective.
 *
 *  The tensor lies on one grid axis; all processes together are counted.
 *
 *  @param[in]  from       property, such as "S0", "S1", "B", "P" or "R"
 *  @param[in]  to         property
 *  @param[in]  processes  number of processes on the axis; must be >= 1 and <= 65536
 *  @param[in]  ndim       number of dimensions
 *  @param[in]  shape      [ndim] global shape
 *  @param[out] messages   number of messages. May be NULL, in which case it is not returned.
 *  @param[out] elements   number of elements sent. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG     processes is out of range
 *  @return TENON_ERR_LAYOUT  a property is none, or does not fit the shape
 *  @return TENON_ERR_SHAPE   the elements sent are more than a 64-bit integer counts */
TENON_EXTERN TenonErrorCode TenonPlanCountConversion(const char* from, const char* to,
                                                     TenonInt processes, int ndim,
                                                     const TenonInt shape[], TenonInt* messages,
                                                     TenonInt* elements) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] plan  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonPlanDestroy(TenonPlan* plan) TENON_NOEXCEPT;

#endif
