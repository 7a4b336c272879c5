/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Layer types with one input. See tenon/layer.h for their life cycle, signatures and common
 *         errors. */
#ifndef TENON_LAYER_CREATE_H
#define TENON_LAYER_CREATE_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Result of a pooling layer for each window. */
typedef enum TenonPoolingMode TENON_ENUM_INT {
  TENON_POOLING_MAX = 0,                 /**< maximum; the first of equal elements */
  TENON_POOLING_AVERAGE_INCLUDE_PAD = 1, /**< sum divided by the kernel volume */
  TENON_POOLING_AVERAGE_EXCLUDE_PAD = 2, /**< mean of the elements inside the domain */
  TENON_POOLING_MODE_MAX_ = 0x7fff
} TenonPoolingMode;

/** @name Layer types */
/**@{*/

/** @brief Creates a convolution (as cross-correlation). Collective on comm.
 *
 *      y[n,o,s] = b[o] + sum over i, t of W[o,i,t] x[n,i,S],   S = s stride - padding + t dilation
 *
 *  The input is [batch, inChannels, spatial...], the output [batch, outChannels, spatial...]. The
 *  parameters are "weight" [outChannels, inChannels, kernel...] and "bias" [outChannels]. By
 *  default stride and dilation are 1 and the padding is 0 elements wide. Padding is zero unless
 *  TenonLayerSetBoundary() selects another mode.
 *
 *  @param[in]  comm         communicator of the input's layout
 *  @param[in]  spatial      number of spatial dimensions; must be 1 to 3
 *  @param[in]  inChannels   number of input channels; must be >= 1
 *  @param[in]  outChannels  number of output channels; must be >= 1
 *  @param[in]  kernel       [spatial] kernel size in each spatial dimension; must be >= 1
 *  @param[out] layer        new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  a number is out of range
 *  @see    TenonLayerSetStride(), TenonLayerSetPadding(), TenonLayerSetGroups(),
 *          TenonLayerSetBias()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateConv(MPI_Comm comm, int spatial, TenonInt inChannels,
                                                 TenonInt outChannels, const TenonInt kernel[],
                                                 TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a pooling over windows of [batch, channel, spatial...]. Collective on comm.
 *
 *  By default the stride is the kernel size and the padding is 0 elements wide. Padding is ignored,
 *  not zero, unless TenonLayerSetBoundary() gives it values. A window without any value is
 *  TENON_ERR_ARG in TenonLayerSetUp().
 *
 *  @param[in]  comm     communicator of the input's layout
 *  @param[in]  mode     result for each window
 *  @param[in]  spatial  number of spatial dimensions; must be 1 to 3
 *  @param[in]  kernel   [spatial] window size in each spatial dimension; must be >= 1
 *  @param[out] layer    new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  a number is out of range, or mode is not a pooling mode
 *  @see    TenonLayerSetStride(), TenonLayerSetPadding(), TenonLayerSetCeilMode()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreatePooling(MPI_Comm comm, TenonPoolingMode mode,
                                                    int spatial, const TenonInt kernel[],
                                                    TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates an affine (fully connected) layer: y = x W^T + b. Collective on comm.
 *
 *  The input is [batch, inputs], the output [batch, outputs]. The parameters are "weight" [outputs,
 *  inputs] and "bias" [outputs].
 *
 *  @param[in]  comm     communicator of the input's layout
 *  @param[in]  inputs   number of input features; must be >= 1
 *  @param[in]  outputs  number of output features; must be >= 1
 *  @param[out] layer    new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  a number is out of range
 *  @see    TenonLayerSetBias()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateAffine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
                                                   TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates an elementwise function. Collective on comm.
 *
 *  | function  | value                                                                       |
 *  | --------- | --------------------------------------------------------------------------- |
 *  | relu      | max(x, 0), with derivative 0 at 0                                           |
 *  | leakyrelu | x if x > 0, otherwise slope x; see TenonLayerSetSlope()                     |
 *  | tanh      | hyperbolic tangent                                                          |
 *  | sigmoid   | 1 / (1 + exp(-x))                                                           |
 *  | gelu      | x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016)  |
 *  | gelutanh  | x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, an approximation of gelu   |
 *  | silu      | x / (1 + exp(-x))                                                           |
 *  | softplus  | log(1 + exp(x))                                                             |
 *  | exp       | exponential                                                                 |
 *  | sine      | sin x, x in radians (Sitzmann et al. 2020)                                  |
 *  | scale     | factor x; see TenonLayerSetFactor()                                         |
 *  | identity  | x                                                                           |
 *
 *  The last two are linear and therefore also accept partial sums (index label P).
 *
 *  @param[in]  comm      communicator of the input's layout
 *  @param[in]  function  name of a function in the table
 *  @param[out] layer     new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_TYPE  the name is not in the table
 */
TENON_EXTERN TenonErrorCode TenonLayerCreatePointwise(MPI_Comm comm, const char* function,
                                                      TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a reshape of [batch, channel, ...] to [batch, features]. Collective on comm.
 *
 *  Features are in row-major order.
 *
 *  @param[in]  comm   communicator of the input's layout
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateFlatten(MPI_Comm comm,
                                                    TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates the mean cross-entropy of log-softmax(x) with labels. Collective on comm.
 *
 *  The input holds logits [samples, classes], of which either or both dimensions can be split. The
 *  output is the loss, of shape [1] and the same on all ranks that hold logits.
 *
 *  @param[in]  comm   communicator of the input's layout
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 *  @note   To differentiate the loss, fill its cotangent with the constant 1.
 *  @see    TenonLayerSetTarget(), TenonDTensorFillConstant()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateCrossEntropy(MPI_Comm comm,
                                                         TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates the mean squared error 1/N sum (x - t)^2. Collective on comm.
 *
 *  The sum is over all N elements of x, and t is the target. The input has any shape and can be
 *  split in any dimension. The output is the loss, of shape [1] and the same on all ranks that hold
 *  the input.
 *
 *  @param[in]  comm   communicator of the input's layout
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 *  @note   To differentiate the loss, fill its cotangent with the constant 1.
 *  @see    TenonLayerSetTarget(), TenonDTensorFillConstant()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateMeanSquaredError(MPI_Comm comm,
                                                             TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a dropout layer. Collective on comm.
 *
 *  In training mode y = m x / (1 - rate), where the mask m is 0 with probability rate and 1
 *  otherwise; in inference mode y = x. The mask depends on the seed of TenonLayerInitialize(), the
 *  layer, the number of the evaluation and the global position of the element, not on the
 *  distribution.
 *
 *  @param[in]  comm   communicator of the input's layout
 *  @param[in]  rate   probability that an element is dropped; must be >= 0 and < 1
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  the rate is out of range
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateDropout(MPI_Comm comm, double rate,
                                                    TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a layer by the name of its type. Collective on comm.
 *  @param[in]  comm   communicator of the input's layout
 *  @param[in]  name   type name: "add", "crossentropy", "dropout" (of rate 0.5), "flatten",
 *                     "graph", "meansquarederror", "sequential", "shell", an elementwise function,
 *                     or a type registered with TenonLayerRegister() (tenon/ext/layer.h)
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_TYPE  the name is unknown; the message names the nearest
 *  @note   A registered type can return any other error.
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateType(MPI_Comm comm, const char* name,
                                                 TenonLayer* layer) TENON_NOEXCEPT;

/**@}*/

#endif
