/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Plans of networks that are not run: networks by name and tables of layers; and the counts
 *         and published costs with which plans are compared.
 *
 *  The settings of these plans, the search and what is asked of it are those of tenon/plan.h.
 *  tenon.h does not include this header.
 */
#ifndef TENON_EXT_PLAN_H
#define TENON_EXT_PLAN_H

#include <tenon/plan.h>

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

#endif
