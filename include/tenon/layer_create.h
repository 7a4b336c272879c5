/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The types of layers that have one input. Their life, distribution and errors: see
 *         tenon/layer.h.
 */
#ifndef TENON_LAYER_CREATE_H
#define TENON_LAYER_CREATE_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** What a pooling layer takes of each window. */
typedef enum TenonPoolingMode TENON_ENUM_INT {
  TENON_POOLING_MAX = 0,                 /**< the largest input; the first of equal ones */
  TENON_POOLING_AVERAGE_INCLUDE_PAD = 1, /**< the sum over the kernel's volume */
  TENON_POOLING_AVERAGE_EXCLUDE_PAD = 2, /**< the mean of the inputs inside the domain */
  TENON_POOLING_MODE_MAX_ = 0x7fff
} TenonPoolingMode;

/** @name Types of layers */
/**@{*/

/** @brief A convolution (correlation): y[n,o,s] = b[o] + sum over i, t of W[o,i,t] x[n,i,S], with
 *         S = s stride - padding + t dilation. Collective on comm.
 *
 *  Input [batch, inChannels, spatial...], output [batch, outChannels, spatial...], parameters
 *  "weight" [outChannels, inChannels, kernel...] and "bias" [outChannels]. Padding is zeros, unless
 *  TenonLayerSetBoundary() says otherwise.
 *
 *  @param[in]  comm         communicator of the input's layout
 *  @param[in]  spatial      number of spatial dimensions, 1 to 3
 *  @param[in]  inChannels   at least 1
 *  @param[in]  outChannels  at least 1
 *  @param[in]  kernel       [spatial] cells of the window; stride and dilation are 1, padding 0
 *  @param[out] layer        to be given back with TenonLayerDestroy()
 *  @return on all ranks TENON_ERR_ARG for a number out of range
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateConv(MPI_Comm comm, int spatial, TenonInt inChannels,
                                                 TenonInt outChannels, const TenonInt kernel[],
                                                 TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Pooling over windows of [batch, channel, spatial...]. Collective on comm.
 *
 *  Padding is absent, not zero, unless TenonLayerSetBoundary() fills it; a window that reads nothing
 *  but absent cells is refused at SetUp. See also TenonLayerSetCeilMode().
 *
 *  @param[in]  comm     communicator of the input's layout
 *  @param[in]  mode     what to take of each window
 *  @param[in]  spatial  number of spatial dimensions, 1 to 3
 *  @param[in]  kernel   [spatial] cells of the window; the stride is the kernel, padding 0
 *  @param[out] layer    to be given back with TenonLayerDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreatePooling(MPI_Comm comm, TenonPoolingMode mode,
                                                    int spatial, const TenonInt kernel[],
                                                    TenonLayer* layer) TENON_NOEXCEPT;

/** @brief The affine layer y = x W^T + b. Collective on comm.
 *
 *  Input [batch, inputs], output [batch, outputs], parameters "weight" [outputs, inputs] and "bias"
 *  [outputs]. */
TENON_EXTERN TenonErrorCode TenonLayerCreateAffine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
                                                   TenonLayer* layer) TENON_NOEXCEPT;

/** @brief A function of each element. Collective on comm.
 *
 *    relu       max(x, 0), with derivative 0 at 0
 *    leakyrelu  x where it is positive, else slope x (TenonLayerSetSlope(), 0.01 by default)
 *    tanh       the hyperbolic tangent
 *    sigmoid    1 / (1 + exp(-x))
 *    gelu       x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016)
 *    gelutanh   its approximation x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2
 *    silu       x / (1 + exp(-x))
 *    softplus   log(1 + exp(x))
 *    scale      factor x (TenonLayerSetFactor(), 1 by default)
 *    identity   x
 *
 *  The last two are linear, so that they also take a sum to come (letter P).
 *
 *  @param[in] comm      communicator of the input's layout
 *  @param[in] function  a name of the table
 *  @param[out] layer    to be given back with TenonLayerDestroy()
 *  @return on all ranks TENON_ERR_TYPE for another name
 */
TENON_EXTERN TenonErrorCode TenonLayerCreatePointwise(MPI_Comm comm, const char* function,
                                                      TenonLayer* layer) TENON_NOEXCEPT;

/** @brief [batch, channel, spatial...] becomes [batch, features], row-major. Collective on comm. */
TENON_EXTERN TenonErrorCode TenonLayerCreateFlatten(MPI_Comm comm,
                                                    TenonLayer* layer) TENON_NOEXCEPT;

/** @brief The mean cross-entropy of log-softmax(x) with the labels of TenonLayerSetTarget().
 *         Collective on comm.
 *
 *  Input: logits [samples, classes], either split or both. Output: the loss [1], the same on all
 *  ranks that hold logits. To differentiate it fill its cotangent with the constant 1. */
TENON_EXTERN TenonErrorCode TenonLayerCreateCrossEntropy(MPI_Comm comm,
                                                         TenonLayer* layer) TENON_NOEXCEPT;

/** @brief The mean squared error 1/N sum (x - t)^2 over all N elements of x, with the target t of
 *         TenonLayerSetTarget(). Collective on comm.
 *
 *  Input of any shape, split in any way. Output: the loss [1], the same on all ranks that hold the
 *  input. To differentiate it fill its cotangent with the constant 1. */
TENON_EXTERN TenonErrorCode TenonLayerCreateMeanSquaredError(MPI_Comm comm,
                                                             TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Dropout: while training y = m x / (1 - rate), where the mask m is 0 with probability rate
 *         and else 1; in inference y = x. Collective on comm.
 *
 *  The mask depends on seed (TenonLayerInitialize()), layer, number of the Apply and global
 *  position, not on the partition.
 *
 *  @param[in]  comm   communicator of the input's layout
 *  @param[in]  rate   at least 0, below 1
 *  @param[out] layer  to be given back with TenonLayerDestroy()
 *  @return on all ranks TENON_ERR_ARG for another rate
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateDropout(MPI_Comm comm, double rate,
                                                    TenonLayer* layer) TENON_NOEXCEPT;

/** @brief A layer by the name of its type: those of the library that need no numbers ("add",
 *         "crossentropy", "dropout", "flatten", "graph", "meansquarederror", "sequential", and the
 *         functions of each element), and types registered with TenonLayerRegister()
 *         (tenon/ext/layer.h). Collective on comm.
 *
 *  @return on all ranks TENON_ERR_TYPE for an unknown name, naming the nearest
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateType(MPI_Comm comm, const char* name,
                                                 TenonLayer* layer) TENON_NOEXCEPT;

/**@}*/

#endif
