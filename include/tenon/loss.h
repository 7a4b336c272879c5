/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Losses: layers that compare their input with a target.
 *
 *  A loss is a layer of one of these types, created with TenonLayerCreate() and
 *  TenonLayerSetType(). With the input x, the target t and d = x - t:
 *
 *  - "crossentropy": of each sample log sum exp x - x[label]; x is [samples, classes].
 *  - "meansquarederror": of each element d^2.
 *  - "meanabsoluteerror": of each element |d|; the derivative is 0 where d is 0.
 *  - "huber": of each element d^2 / 2 where |d| <= delta, beyond it delta (|d| - delta / 2).
 *  - "relativel2": of each sample |d| / (|t| + epsilon), in the Euclidean norm.
 *  - "gradientpenalty": of each element the sum over spatial dimensions of the squared first
 *    difference of d to the next grid point, divided by the spacing; of x itself if with_target is
 *    false. x is [batch, channel, spatial...]. Past the last grid point there is no difference,
 *    unless the setting periodic is true.
 *
 *  The setting loss_reduction says what the loss is of these terms: "mean" over the global batch,
 *  which is the default, or "sum". The input has any layout; the value is the same on all ranks
 *  that hold it.
 *
 *  With the setting loss_weights the terms are weighted: by "sample", with a tensor [samples], or
 *  by "element", with one of the input's shape. A weight of 0 masks a term. The mean is then
 *  divided by the sum of the weights. Weights of elements in "relativel2" weigh the squares inside
 *  both norms; "crossentropy" has weights of samples only; a difference of "gradientpenalty" has
 *  the weight of its lower grid point.
 *
 *  Settings, which are also options: loss_reduction and loss_weights; delta for huber; epsilon for
 *  relativel2; spacing, periodic and with_target for gradientpenalty.
 */
#ifndef TENON_LOSS_H
#define TENON_LOSS_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Sets the weights of a loss for the next evaluations. Local; call on all ranks.
 *  @param[in] layer    loss whose setting loss_weights is "sample" or "element"
 *  @param[in] weights  tensor of the layer's data type, of shape [samples] or of the input's shape,
 *                      in any layout on the same communicator; values must be finite and >= 0, and
 *                      not all 0. It is held by reference and read by TenonLayerApply(), which
 *                      returns TENON_ERR_ARG for other values; it may be in either memory space.
 *  @return TENON_ERR_TYPE  the layer is not a loss, or its setting loss_weights is "none"
 *  @see    TenonLayerSetTarget()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetTargetWeights(TenonLayer layer,
                                                       TenonDTensor weights) TENON_NOEXCEPT;

#endif
