/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonPlanner: plans of networks that are known by name or file, for any number of
 *         processes and by the cost models of papers too. Nothing of them runs, and no call needs
 *         MPI. The command `tenon plan network` is made of these calls; a program plans its own
 *         network by tenon/plan.h, where words are explained. tenon.h does not include this header.
 *
 *      TenonPlannerCreate("alexnet", 2048, &planner);
 *      TenonInt processes = 512;
 *      TenonObjectSetIntegers((TenonObject)planner, "processes", 1, &processes);
 *      TenonPlannerSearch(planner);
 *      TenonPlannerGetNumber(planner, NULL, "seconds", &seconds);
 *
 *  The settings are those of tenon/plan.h, but gradient_bucket, and these:
 *
 *  | setting        | kind | default  | meaning                                                   |
 *  | -------------- | ---- | -------- | --------------------------------------------------------- |
 *  | processes      | int  | 1        | number of processes, at most 2^24                         |
 *  | cost_model     | text | t1       | table below                                               |
 *  | data_type      | text | float32  | (model own) data type of the network, "float32" or        |
 *  |                |      |          | "float64". Model t1 counts 4 bytes for each element       |
 *  | input_shape    | ints | none     | shape of a sample, for a network of layers; tables have   |
 *  |                |      |          | one, and another is TENON_ERR_SHAPE                       |
 *  | input_channels | bool | by model | allows the label i: false under model t1, true under own  |
 *
 *  | model | predicts                                                                            |
 *  | ----- | ----------------------------------------------------------------------------------- |
 *  | t1    | the communication of one training iteration, with one latency and one bandwidth, as |
 *  |       | in Gholami et al., *Integrated Model, Batch, and Domain Parallelism in Training     |
 *  |       | Neural Networks*, with redistribution between layers of different grids. Training   |
 *  |       | without pinned ends and without overlap, of tables alone                            |
 *  | own   | what Tenon would run, as TenonPlan does                                             |
 *
 *  The calls return TENON_ERR_NULL if a required handle or pointer is NULL, and TENON_ERR_HANDLE if
 *  a handle is not valid or is of another class. None is collective.
 */
#ifndef TENON_EXT_PLANNER_H
#define TENON_EXT_PLANNER_H

#include <tenon/error.h>
#include <tenon/types.h>

typedef struct TenonPlanner_s* TenonPlanner; /**< plan of a network that is known by name */

/** @brief Creates a plan of a network by its name. Not collective.
 *
 *  The network is a table, for every cost model, or a network file of layers as in
 *  TenonLayerCreateFromFile(), for model own.
 *
 *  @param[in]  nameOrPath  path, which contains a slash or ends with .json; or the name of a table
 *                          in share/tenon/networks/tables (alexnet, resnet50, unet3d_256, vgg16),
 *                          or of a network file in share/tenon/networks, such as lenet5
 *  @param[in]  batch       global batch size; must be >= 1
 *  @param[out] planner     new planner; destroy it with TenonPlannerDestroy()
 *  @return TENON_ERR_FILE    there is no such file
 *  @return TENON_ERR_FORMAT  the file is neither; the message names file, byte and key
 *  @return TENON_ERR_ARG     batch is below 1
 */
TENON_EXTERN TenonErrorCode TenonPlannerCreate(const char* nameOrPath, TenonInt batch,
                                               TenonPlanner* planner) TENON_NOEXCEPT;

/** @brief Sets the machine that the processes would run on. Not collective.
 *
 *  As TenonPlanSetMachine(), for model own.
 *
 *  @param[in] planner  planner
 *  @param[in] machine  machine with a device for each process; TenonPlannerSearch() checks that */
TENON_EXTERN TenonErrorCode TenonPlannerSetMachine(TenonPlanner planner,
                                                   TenonMachine machine) TENON_NOEXCEPT;

/** @brief Fixes the word of a layer. Not collective.
 *  @param[in] planner  planner
 *  @param[in] layer    name of the layer
 *  @param[in] word     word, such as "n6,o3"; TenonPlannerSearch() checks it */
TENON_EXTERN TenonErrorCode TenonPlannerFix(TenonPlanner planner, const char* layer,
                                            const char* word) TENON_NOEXCEPT;

/** @brief Finds the plan that takes the least time. Not collective.
 *  @param[in] planner  planner
 *  @return TENON_ERR_SUPPORT  the cost model cannot price the network, or what is asked of its plan
 *  @note   Further errors are those of TenonPlanSearch().
 */
TENON_EXTERN TenonErrorCode TenonPlannerSearch(TenonPlanner planner) TENON_NOEXCEPT;

/** @brief Returns a number of the plan, or of one of its layers. Not collective.
 *  @param[in]  planner  planner
 *  @param[in]  layer    name of a layer. May be NULL, in which case the number is one of the plan.
 *  @param[in]  name     name in the tables of TenonPlanGetNumber()
 *  @param[out] value    value
 *  @return TENON_ERR_STATE  TenonPlannerSearch() was not called, or there is no such plan
 *  @return TENON_ERR_ARG    there is no such number or layer
 */
TENON_EXTERN TenonErrorCode TenonPlannerGetNumber(TenonPlanner planner, const char* layer,
                                                  const char* name, double* value) TENON_NOEXCEPT;

/** @brief Returns a text of a planned layer. Not collective.
 *
 *  The texts are name, the name of the layer; word; and runner_up, its best other word, which is ""
 *  if it has no other.
 *
 *  @param[in]  planner  planner
 *  @param[in]  index    index of the layer, counted from 0
 *  @param[in]  name     "name", "word" or "runner_up"
 *  @param[out] text     [length] text. May be NULL, in which case only needed is returned.
 *  @param[in]  length   size of the buffer in characters
 *  @param[out] needed   size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  TenonPlannerSearch() was not called
 *  @return TENON_ERR_ARG    there is no such layer or text, or it does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonPlannerGetText(TenonPlanner planner, TenonInt index,
                                                const char* name, char text[], TenonInt length,
                                                TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the cost of one training iteration by a published equation. Not collective.
 *
 *  The equations count communication on a grid of Pr x Pc processes, Pr for model or domain, Pc for
 *  batch parallelism, with the rates link_latency and link_bandwidth:
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
 *  @param[in]  planner      planner, from which network, batch size and rates are taken
 *  @param[in]  equation     name in the table above
 *  @param[in]  rows         Pr; must be >= 1, and rows or columns must be 1 for eq3, eq4 and eq7
 *  @param[in]  columns      Pc; must be >= 1
 *  @param[in]  convRows     Pr of convolutions in eq8; ignored by the others
 *  @param[in]  convColumns  Pc of convolutions in eq8; ignored by the others
 *  @param[out] seconds      time in seconds
 *  @return TENON_ERR_ARG      there is no such equation, or a grid is out of range
 *  @return TENON_ERR_SUPPORT  the network is no table */
TENON_EXTERN TenonErrorCode TenonPlannerGetPublishedSeconds(TenonPlanner planner,
                                                            const char* equation, TenonInt rows,
                                                            TenonInt columns, TenonInt convRows,
                                                            TenonInt convColumns,
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
TENON_EXTERN TenonErrorCode TenonPlannerCountConversion(const char* from, const char* to,
                                                        TenonInt processes, int ndim,
                                                        const TenonInt shape[], TenonInt* messages,
                                                        TenonInt* elements) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] planner  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonPlannerDestroy(TenonPlanner* planner) TENON_NOEXCEPT;

#endif
