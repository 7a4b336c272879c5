/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The whole C interface of Tenon. Each class is documented in its own header.
 *
 *  Each call states whether it communicates:
 *
 *  - "Collective on X.": all ranks of the communicator of X must make the call, in the same order
 *    and with the same arguments.
 *  - "Local; call on all ranks.": the call does not communicate, but all ranks must make it with
 *    the same arguments before the next collective call.
 *  - "Not collective.": any rank can make the call, independently of the others.
 *
 *  In parameter descriptions [n] is the length of an array, in elements; ndim is the number of
 *  tensor dimensions, and spatial the number of spatial dimensions. Pointers must not be NULL
 *  unless the description says that they may be.
 *
 *  Arguments have one order: the object, inputs, outputs. A factor precedes the tensor or operator
 *  that it multiplies (for y <- alpha x + beta y: alpha, x, beta, y), a count its list, a text
 *  buffer its length, and a function its context.
 *
 *  Texts are returned in a buffer of the program, char text[length], terminated by NUL. The last
 *  argument, needed, receives the size of the text, its NUL included, whether or not it fits: with
 *  NULL for the buffer, nothing else is returned. A text that does not fit is TENON_ERR_ARG, and
 *  the buffer is unchanged; only the texts of the last error are truncated instead.
 *
 *  Calls that take the tensors of a layer with one input and one output have a counterpart for
 *  layers of several: TenonLayerSetUpMany(), TenonLayerApplyMany(), TenonLayerApplyTangentMany(),
 *  TenonLayerApplyAdjointMany(), and those that end with At. There are no other pairs.
 */
#ifndef TENON_H
#define TENON_H

#include <tenon/checkpoint.h>
#include <tenon/dataset.h>
#include <tenon/dtensor.h>
#include <tenon/edges.h>
#include <tenon/error.h>
#include <tenon/field_series.h>
#include <tenon/index_map.h>
#include <tenon/init.h>
#include <tenon/layer.h>
#include <tenon/layer_network.h>
#include <tenon/layer_types.h>
#include <tenon/layout.h>
#include <tenon/linearop.h>
#include <tenon/linearop_create.h>
#include <tenon/links.h>
#include <tenon/log.h>
#include <tenon/machine.h>
#include <tenon/object.h>
#include <tenon/optimizer.h>
#include <tenon/options.h>
#include <tenon/output.h>
#include <tenon/partition.h>
#include <tenon/plan.h>
#include <tenon/sphere.h>
#include <tenon/types.h>
#include <tenon/version.h>

#endif
