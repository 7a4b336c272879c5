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

/** @brief Sets the number of processes. Default: 1. Not collective.
 *  @param[in] plan       plan
 *  @param[in] processes  number of processes; must be >= 1 and <= 2^24
 *  @return TENON_ERR_ARG  processes is out of range */
TENON_EXTERN TenonErrorCode TenonPlanSetProcesses(TenonPlan plan,
                                                  TenonInt processes) TENON_NOEXCEPT;

/** @brief Sets the cost model. Default: "t1". Not collective.
 *  @param[in] plan   plan
 *  @param[in] model  name of the model; see the table above
 *  @return TENON_ERR_ARG  there is no such model */
TENON_EXTERN TenonErrorCode TenonPlanSetModel(TenonPlan plan, const char* model) TENON_NOEXCEPT;

/** @brief Sets the rates of the link of each process. Not collective.
 *  @param[in] plan       plan
 *  @param[in] latency    latency in seconds; must be >= 0. Default: 2e-6
 *  @param[in] bandwidth  bandwidth in bytes per second; must be > 0. Default: 6e9
 *  @return TENON_ERR_ARG  a rate is out of range */
TENON_EXTERN TenonErrorCode TenonPlanSetLink(TenonPlan plan, double latency,
                                             double bandwidth) TENON_NOEXCEPT;

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

/** @brief Sets the shape of the input of a network of layers. Not collective.
 *
 *  Tables contain the shape of the input; another is an error.
 *
 *  @param[in] plan   plan
 *  @param[in] ndim   number of dimensions of a sample
 *  @param[in] shape  [ndim] shape of a sample, without the batch: channels, then space; must be
 *                    >= 1
 *  @return TENON_ERR_ARG    an extent is below 1
 *  @return TENON_ERR_SHAPE  the network is a table, whose input has another shape */
TENON_EXTERN TenonErrorCode TenonPlanSetInputShape(TenonPlan plan, int ndim,
                                                   const TenonInt shape[]) TENON_NOEXCEPT;

/** @brief Sets the speed of each process, for model own. Not collective.
 *  @param[in] plan   plan
 *  @param[in] flops  floating-point operations per second; must be > 0. Default: 5e10, and 1e13 for
 *                    networks on the device
 *  @return TENON_ERR_ARG  flops is out of range */
TENON_EXTERN TenonErrorCode TenonPlanSetFlopRate(TenonPlan plan, double flops) TENON_NOEXCEPT;

/** @brief Sets the rate at which each process reads and writes its memory, for model own. Not
 *         collective.
 *
 *  A kernel takes the time of its operations or that of its bytes, whichever is longer.
 *
 *  @param[in] plan       plan
 *  @param[in] bandwidth  bytes per second; must be > 0. Default: 1e10, and 1e12 for networks on the
 *                        device
 *  @return TENON_ERR_ARG  bandwidth is out of range */
TENON_EXTERN TenonErrorCode TenonPlanSetMemoryRate(TenonPlan plan, double bandwidth) TENON_NOEXCEPT;

/** @brief Sets the data type of the network, for model own. Not collective.
 *
 *  A network of layers passed to TenonPlanCreate() has its own. Model t1 counts 4 bytes for each
 *  element.
 *
 *  @param[in] plan  plan of TenonPlanCreateNamed()
 *  @param[in] type  TENON_FLOAT32, the default, or TENON_FLOAT64
 *  @return TENON_ERR_DATATYPE  type is another one
 *  @return TENON_ERR_SUPPORT   the plan is of a network that has a data type */
TENON_EXTERN TenonErrorCode TenonPlanSetDataType(TenonPlan plan, TenonDataType type) TENON_NOEXCEPT;

/** @brief Allows the label i, which splits the input channels. Not collective.
 *
 *  Default: TENON_FALSE under model t1, TENON_TRUE under model own.
 *
 *  @param[in] plan     plan
 *  @param[in] allowed  TENON_TRUE: i is allowed */
TENON_EXTERN TenonErrorCode TenonPlanSetInputChannels(TenonPlan plan,
                                                      TenonBool allowed) TENON_NOEXCEPT;

/** @brief Limits the memory of each process. Not collective.
 *  @param[in] plan   plan
 *  @param[in] bytes  maximum number of bytes of a process; 0 for no limit, the default
 *  @return TENON_ERR_ARG  bytes is negative */
TENON_EXTERN TenonErrorCode TenonPlanSetMemoryLimit(TenonPlan plan, TenonInt bytes) TENON_NOEXCEPT;

/** @brief Fixes the word of a layer. Not collective.
 *  @param[in] plan   plan
 *  @param[in] layer  name of the layer
 *  @param[in] word   word, such as "n6,o3"; TenonPlanSearch() checks it */
TENON_EXTERN TenonErrorCode TenonPlanFix(TenonPlan plan, const char* layer,
                                         const char* word) TENON_NOEXCEPT;

/** @brief Sets what the plan is for. Not collective.
 *
 *  | objective | what is predicted                                                               |
 *  | --------- | ------------------------------------------------------------------------------- |
 *  | training  | forward and backward pass and the sums of gradients; the default                |
 *  | inference | the forward pass; memory without gradients and optimizer                        |
 *  | step      | one step of a solver, which evaluates the network every so many steps, and      |
 *  |           | converts the pinned layouts in each                                             |
 *
 *  The last two need model own.
 *
 *  @param[in] plan       plan
 *  @param[in] objective  name in the table above
 *  @param[in] every      solver steps for each evaluation of the network, for objective step; must
 *                        be >= 1, and 1 for the others
 *  @return TENON_ERR_ARG  there is no such objective, or every is out of range */
TENON_EXTERN TenonErrorCode TenonPlanSetObjective(TenonPlan plan, const char* objective,
                                                  TenonInt every) TENON_NOEXCEPT;

/** @brief Pins the input of the network to a process grid. Not collective.
 *
 *  The input then has this layout, such as that of a solver's field, instead of the one that is
 *  best for the plan, and its cotangent is wanted there in training. Each layer may also have a
 *  word on this grid, in which each axis keeps what it splits of the input, or splits the batch, or
 *  channels: "input:h,w" is where the field lies. Needs model own.
 *
 *  @param[in] plan        plan
 *  @param[in] naxes       number of axes of the grid; at most 5
 *  @param[in] grid        [naxes] processes along each axis. The processes are numbered in
 *                         row-major order from 0.
 *  @param[in] properties  property of each axis, such as "S2,S3": dimension 0 is the batch, 1 the
 *                         channels, and 2 the first of space. Blocks are balanced.
 *  @return TENON_ERR_ARG     an extent is below 1
 *  @return TENON_ERR_LAYOUT  a property is none */
TENON_EXTERN TenonErrorCode TenonPlanSetInputGrid(TenonPlan plan, int naxes, const int grid[],
                                                  const char* properties) TENON_NOEXCEPT;

/** @brief Pins the output of the network to a process grid. Not collective.
 *
 *  As TenonPlanSetInputGrid() for the input. Words on a grid of its own are "output:h,w".
 *
 *  @param[in] plan        plan
 *  @param[in] naxes       number of axes of the grid; at most 5
 *  @param[in] grid        [naxes] processes along each axis. The processes are numbered in
 *                         row-major order from 0.
 *  @param[in] properties  property of each axis, such as "S2,S3"
 *  @return TENON_ERR_ARG     an extent is below 1
 *  @return TENON_ERR_LAYOUT  a property is none */
TENON_EXTERN TenonErrorCode TenonPlanSetOutputGrid(TenonPlan plan, int naxes, const int grid[],
                                                   const char* properties) TENON_NOEXCEPT;

/** @brief Sets what the outermost axes of the grid split. Not collective.
 *  @param[in] plan       plan
 *  @param[in] placement  "batch", the default: the axes follow the levels of the machine from the
 *                        outermost; "space": from the innermost; "auto": the faster of both
 *  @return TENON_ERR_ARG  there is no such placement */
TENON_EXTERN TenonErrorCode TenonPlanSetPlacement(TenonPlan plan,
                                                  const char* placement) TENON_NOEXCEPT;

/** @brief Allows plans that leave processes idle. Default: TENON_FALSE. Not collective.
 *
 *  Also searched are the first of each 2, 4, ... processes, by the innermost axes of the grid, and
 *  the three largest numbers of processes without factors above 5.
 *
 *  @param[in] plan     plan
 *  @param[in] allowed  TENON_TRUE: processes may be idle */
TENON_EXTERN TenonErrorCode TenonPlanSetFewerProcesses(TenonPlan plan,
                                                       TenonBool allowed) TENON_NOEXCEPT;

/** @brief Sets how much of the communication goes on beside computation. Not collective.
 *
 *  With a share above 0 the 16 plans with the least sums of costs are replayed on a timeline, in
 *  which transfers start as soon as they can and this share of each goes on by itself. The plan is
 *  then the fastest of them, and TenonPlanGetSeconds() has its time under "overlapped". Needs model
 *  own.
 *
 *  @param[in] plan   plan
 *  @param[in] share  from 0, the default, to 1
 *  @return TENON_ERR_ARG  share is out of range */
TENON_EXTERN TenonErrorCode TenonPlanSetOverlap(TenonPlan plan, double share) TENON_NOEXCEPT;

/** @brief Finds the plan that takes the least time. Not collective; does not need MPI.
 *
 *  Under a memory limit the plan is exact too, unless the search stops early; TenonPlanGetGap()
 *  then returns how far it can be from the optimum.
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

/** @brief Returns the predicted time of the plan, or of one it is compared with. Not collective.
 *
 *  | which   | plan                                                                              |
 *  | ------- | --------------------------------------------------------------------------------- |
 *  | plan    | the plan found                                                                    |
 *  | uniform | the best of those with the same grid for all layers                               |
 *  | batch   | all processes split the batch                                                     |
 *  | model   | all processes split the output channels                                           |
 *  | domain  | all processes split space, or output channels where space must be whole           |
 *
 *  And "overlapped": the plan found, with the overlap of TenonPlanSetOverlap().
 *
 *  @param[in]  plan     plan
 *  @param[in]  which    name in the table above
 *  @param[out] seconds  predicted time of one training iteration in seconds
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called, or there is no such plan: for
 *                           example, more processes than samples in the batch
 *  @return TENON_ERR_ARG    which is not in the table
 */
TENON_EXTERN TenonErrorCode TenonPlanGetSeconds(TenonPlan plan, const char* which,
                                                double* seconds) TENON_NOEXCEPT;

/** @brief Returns the grid of the plan. Not collective.
 *  @param[in]  plan       plan
 *  @param[out] processes  number of processes that the plan uses. May be NULL, in which case it is
 *                         not returned.
 *  @param[out] reversed   TENON_TRUE if its axes follow the levels of the machine from the
 *                         innermost; see TenonPlanSetPlacement(). May be NULL, in which case it is
 *                         not returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called */
TENON_EXTERN TenonErrorCode TenonPlanGetGrid(TenonPlan plan, TenonInt* processes,
                                             TenonBool* reversed) TENON_NOEXCEPT;

/** @brief Returns the predicted memory of the plan. Not collective.
 *  @param[in]  plan   plan
 *  @param[out] bytes  bytes of each process
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called */
TENON_EXTERN TenonErrorCode TenonPlanGetBytes(TenonPlan plan, double* bytes) TENON_NOEXCEPT;

/** @brief Returns how far the plan can be from the optimum. Not collective.
 *  @param[in]  plan  plan
 *  @param[out] gap   relative difference of the plan's time from a proven lower bound; 0 unless
 *                    the search under a memory limit stopped early
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called */
TENON_EXTERN TenonErrorCode TenonPlanGetGap(TenonPlan plan, double* gap) TENON_NOEXCEPT;

/** @brief Returns the number of searches that the plan took. Not collective.
 *
 *  Model own prices most communication at one process, which is a lower bound. The prices of the
 *  plan found are then verified at all processes, and the search is repeated with the corrected
 *  ones until none is too low.
 *
 *  @param[in]  plan   plan
 *  @param[out] count  number of searches, >= 1
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called */
TENON_EXTERN TenonErrorCode TenonPlanGetSearches(TenonPlan plan, TenonInt* count) TENON_NOEXCEPT;

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

/** @brief Returns the numbers of parts of a layer. Not collective.
 *  @param[in]  plan    plan
 *  @param[in]  layer   name of the layer
 *  @param[out] model   number of parts of the channels. May be NULL, in which case it is not
 *                      returned.
 *  @param[out] domain  number of parts of space. May be NULL, in which case it is not returned.
 *  @param[out] batch   number of parts of the batch. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer */
TENON_EXTERN TenonErrorCode TenonPlanGetChoice(TenonPlan plan, const char* layer, TenonInt* model,
                                               TenonInt* domain, TenonInt* batch) TENON_NOEXCEPT;

/** @brief Returns the predicted memory of a layer. Not collective.
 *  @param[in]  plan   plan
 *  @param[in]  layer  name of the layer
 *  @param[out] bytes  bytes of each process
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer */
TENON_EXTERN TenonErrorCode TenonPlanGetLayerBytes(TenonPlan plan, const char* layer,
                                                   double* bytes) TENON_NOEXCEPT;

/** @brief Returns the best other word of a layer, and the best plan with it. Not collective.
 *  @param[in]  plan     plan
 *  @param[in]  layer    name of the layer
 *  @param[out] word     [length] word; "" if the layer has no other. May be NULL, in which case
 *                       only needed and seconds are returned.
 *  @param[in]  length   size of the buffer in characters
 *  @param[out] needed   size that the word needs. May be NULL, in which case it is not returned.
 *  @param[out] seconds  predicted time of the best plan in which the layer has this word, or a
 *                       lower bound under a memory limit; 0 if there is no other word. May be NULL,
 *                       in which case it is not returned.
 *  @return TENON_ERR_STATE  TenonPlanSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer, or the word does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonPlanGetRunnerUp(TenonPlan plan, const char* layer, char word[],
                                                 TenonInt length, TenonInt* needed,
                                                 double* seconds) TENON_NOEXCEPT;

/** @brief Returns the cost of one training iteration by a published equation. Not collective.
 *
 *  The equations count communication on a grid of Pr x Pc processes, Pr for model or domain, Pc for
 *  batch parallelism, with the rates of TenonPlanSetLink():
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
