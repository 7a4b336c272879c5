/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Settings of a layer, each with a call of its own. See tenon/layer.h for the life cycle
 *         and common errors, and tenon/layer_settings.h for all settings by name. */
#ifndef TENON_LAYER_SETTERS_H
#define TENON_LAYER_SETTERS_H

#include <tenon/error.h>
#include <tenon/layout.h>
#include <tenon/types.h>

/** @name Settings, to be called before TenonLayerSetUp() */
/**@{*/

/** @brief Sets the stride of a convolution or pooling. Local; call on all ranks.
 *  @param[in] layer   convolution or pooling layer
 *  @param[in] stride  [spatial] stride in each spatial dimension; must be >= 1
 *  @return TENON_ERR_ARG   a stride is below 1
 *  @return TENON_ERR_TYPE  the layer is neither a convolution nor a pooling */
TENON_EXTERN TenonErrorCode TenonLayerSetStride(TenonLayer layer,
                                                const TenonInt stride[]) TENON_NOEXCEPT;

/** @brief Sets the dilation, the spacing of kernel elements. Local; call on all ranks.
 *  @param[in] layer     convolution or pooling layer
 *  @param[in] dilation  [spatial] spacing in each spatial dimension; must be >= 1
 *  @return TENON_ERR_ARG   a dilation is below 1
 *  @return TENON_ERR_TYPE  the layer is neither a convolution nor a pooling */
TENON_EXTERN TenonErrorCode TenonLayerSetDilation(TenonLayer layer,
                                                  const TenonInt dilation[]) TENON_NOEXCEPT;

/** @brief Sets the padding of a convolution or pooling. Local; call on all ranks.
 *  @param[in] layer  convolution or pooling layer
 *  @param[in] low    [spatial] elements of padding before the domain; if negative, the number of
 *                    elements of the domain that are skipped
 *  @param[in] high   [spatial] elements of padding after the domain, likewise. May be NULL, in
 *                    which case low is used.
 *  @return TENON_ERR_TYPE  the layer is neither a convolution nor a pooling
 *  @see    TenonLayerSetBoundary()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                                 const TenonInt high[]) TENON_NOEXCEPT;

/** @brief Sets the boundary modes, which give the padding its values. Local; call on all ranks.
 *
 *  The default is TENON_BOUNDARY_NONE on all sides. Modes:
 *
 *  - none: padding of the kernel: zero for a convolution; ignored by TENON_POOLING_MAX and
 *    TENON_POOLING_AVERAGE_EXCLUDE_PAD; zero, but counted, for TENON_POOLING_AVERAGE_INCLUDE_PAD
 *  - zero: 0, for maximum pooling too
 *  - periodic, reflect, replicate: copies of elements of the domain, see TenonBoundary; reflection
 *    continues at both ends if the padding is wider than the domain
 *  - values: user-supplied, see TenonLayerGetBoundaryLayout() and TenonLayerSetBoundaryConstant()
 *
 *  Each side of each dimension has its own mode, whether or not the dimension is split, and the
 *  result does not depend on the number of ranks. In a corner, which is outside the domain in
 *  several dimensions, values takes precedence over zero, and zero over copies. If only one side of
 *  a dimension is periodic, the other side keeps its own mode. In ceil mode, the part of a last
 *  window beyond the padding is ignored. The adjoint adds the cotangents of copied elements to the
 *  elements that they are copies of.
 *
 *  Option: -tenon_[prefix_]boundary, with one mode for all sides ("periodic"), or one per
 *  dimension, or one for each side of a dimension ("periodic,zero/none").
 *
 *  @param[in] layer  convolution or pooling layer
 *  @param[in] low    [spatial] boundary mode before the domain
 *  @param[in] high   [spatial] boundary mode after the domain. May be NULL, in which case low is
 *                    used.
 *  @return TENON_ERR_ARG   a value is not a boundary mode
 *  @return TENON_ERR_TYPE  the layer is neither a convolution nor a pooling
 */
TENON_EXTERN TenonErrorCode TenonLayerSetBoundary(TenonLayer layer, const TenonBoundary low[],
                                                  const TenonBoundary high[]) TENON_NOEXCEPT;

/** @brief Sets one constant as value beyond sides of mode values. Local; call on all ranks.
 *
 *  The constant is not differentiated, and the layer has one input. For a differentiated number do
 *  not make this call; pass a tensor of shape [1] as second input. Option:
 *  -tenon_[prefix_]boundary_constant.
 *
 *  @param[in] layer  convolution or pooling layer
 *  @param[in] value  boundary value; must be finite
 *  @return TENON_ERR_ARG   value is not finite
 *  @return TENON_ERR_TYPE  the layer is neither a convolution nor a pooling
 *  @see    TenonLayerGetBoundaryLayout()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetBoundaryConstant(TenonLayer layer,
                                                          double value) TENON_NOEXCEPT;

/** @brief Sets the number of channel groups of a convolution. Local; call on all ranks.
 *
 *  Each group is convolved independently; the default is 1. The weight then has shape [outChannels,
 *  inChannels / groups, kernel...], and a grid axis can split the channels between groups (label g)
 *  instead of by o or i.
 *
 *  @param[in] layer   convolution layer
 *  @param[in] groups  number of groups; must divide both numbers of channels
 *  @return TENON_ERR_ARG   groups does not divide the numbers of channels
 *  @return TENON_ERR_TYPE  the layer is not a convolution
 */
TENON_EXTERN TenonErrorCode TenonLayerSetGroups(TenonLayer layer, TenonInt groups) TENON_NOEXCEPT;

/** @brief Overlap of a convolution's computation with its halo exchange. */
typedef enum TenonOverlap TENON_ENUM_INT {
  TENON_OVERLAP_AUTO = 0, /**< on where it is predicted to be faster */
  TENON_OVERLAP_ON = 1,   /**< always; see TenonLayerSetOverlap() */
  TENON_OVERLAP_OFF = 2,  /**< never */
  TENON_OVERLAP_MAX_ = 0x7fff
} TenonOverlap;

/** @brief Sets the overlap of computation and halo exchange. Local; call on all ranks.
 *
 *  Outputs that need no halo are computed while the halo exchange is in flight, in evaluation,
 *  tangent and adjoint. The default is TENON_OVERLAP_AUTO. Outputs near the sides of a local block
 *  are computed separately, in strips, each of which costs one more call of the kernel; the others
 *  read the input in place, without the copy that a halo otherwise needs. Option:
 *  -tenon_[prefix_]overlap.
 *
 *  @param[in] layer    convolution layer
 *  @param[in] overlap  overlap mode; TENON_OVERLAP_ON fails in TenonLayerSetUp() with
 *                      TENON_ERR_SUPPORT if the input needs more than a halo exchange, or if a side
 *                      has the boundary mode values
 *  @return TENON_ERR_ARG   overlap is not an overlap mode
 *  @return TENON_ERR_TYPE  the layer is not a convolution
 *  @note   The adjoint reads the input in place: do not modify the input before
 *          TenonLayerApplyAdjoint().
 */
TENON_EXTERN TenonErrorCode TenonLayerSetOverlap(TenonLayer layer,
                                                 TenonOverlap overlap) TENON_NOEXCEPT;

/** @brief Sets whether a last window may reach beyond the padding. Local; call on all ranks.
 *
 *  In ceil mode the number of outputs is rounded up instead of down, except that a window that
 *  would begin beyond the domain and its low padding is dropped. TENON_POOLING_AVERAGE_INCLUDE_PAD
 *  divides by the number of window elements inside the domain and its padding.
 *
 *  @param[in] layer  pooling layer
 *  @param[in] ceil   TENON_TRUE for ceil mode; TENON_FALSE by default
 *  @return TENON_ERR_TYPE  the layer is not a pooling
 */
TENON_EXTERN TenonErrorCode TenonLayerSetCeilMode(TenonLayer layer, TenonBool ceil) TENON_NOEXCEPT;

/** @brief Sets whether a convolution or affine layer has a bias. Local; call on all ranks.
 *  @param[in] layer  convolution or affine layer
 *  @param[in] bias   TENON_TRUE for a bias, the default
 *  @return TENON_ERR_TYPE  the layer is neither a convolution nor affine */
TENON_EXTERN TenonErrorCode TenonLayerSetBias(TenonLayer layer, TenonBool bias) TENON_NOEXCEPT;

/** @brief Sets the rate of a dropout layer. Local; call on all ranks.
 *  @param[in] layer  dropout layer
 *  @param[in] rate   probability that an element is dropped; must be >= 0 and < 1
 *  @return TENON_ERR_ARG   the rate is out of range
 *  @return TENON_ERR_TYPE  the layer is not a dropout */
TENON_EXTERN TenonErrorCode TenonLayerSetRate(TenonLayer layer, double rate) TENON_NOEXCEPT;

/** @brief Sets the slope of a "leakyrelu" layer. Local; call on all ranks.
 *  @param[in] layer  layer of type "leakyrelu"
 *  @param[in] slope  slope for non-positive arguments; must be finite; 0.01 by default
 *  @return TENON_ERR_ARG   the slope is not finite
 *  @return TENON_ERR_TYPE  the layer is of another type */
TENON_EXTERN TenonErrorCode TenonLayerSetSlope(TenonLayer layer, double slope) TENON_NOEXCEPT;

/** @brief Sets the factor of a "scale" layer. Local; call on all ranks.
 *  @param[in] layer   layer of type "scale"
 *  @param[in] factor  multiplier of each element; must be finite; 1 by default
 *  @return TENON_ERR_ARG   the factor is not finite
 *  @return TENON_ERR_TYPE  the layer is of another type */
TENON_EXTERN TenonErrorCode TenonLayerSetFactor(TenonLayer layer, double factor) TENON_NOEXCEPT;

/** @brief Sets the element type of input, parameters and output. Local; call on all ranks.
 *  @param[in] layer  layer
 *  @param[in] type   TENON_FLOAT32, the default, or TENON_FLOAT64
 *  @return TENON_ERR_DATATYPE  the type is another */
TENON_EXTERN TenonErrorCode TenonLayerSetDataType(TenonLayer layer,
                                                  TenonDataType type) TENON_NOEXCEPT;

/** @brief Sets the memory space of input, parameters and output. Local; call on all ranks.
 *
 *  The layer creates its parameters in this space, and so do TenonLayerCreateOutput() and the like.
 *  The layers of a container take over its space. Option: -tenon_[prefix_]space host|device.
 *
 *  The layer can be applied to tensors of the other space. What it reads is then copied before each
 *  call, and what it writes after it, and the host waits for both; TenonObjectView() lists these
 *  copies. Tensors from TenonLayerCreateOutput(), or with TenonDTensorSetSpace(), avoid them.
 *
 *  @param[in] layer  layer
 *  @param[in] space  TENON_MEMORY_HOST (the default) or TENON_MEMORY_DEVICE
 *  @return TENON_ERR_ARG  space is not a memory space
 *  @note   TenonLayerSetUp() returns TENON_ERR_SUPPORT, naming the layer and the reason, if there
 *          is no device, or if the layer has no kernels for it: the manual lists what runs there.
 */
TENON_EXTERN TenonErrorCode TenonLayerSetSpace(TenonLayer layer,
                                               TenonMemorySpace space) TENON_NOEXCEPT;

/** @brief Sets how many evaluations can await their adjoint. Local; call on all ranks.
 *  @param[in] layer  layer
 *  @param[in] depth  largest number of pending evaluations; must be >= 1; 1 by default
 *  @return TENON_ERR_ARG  the depth is below 1
 *  @see    TenonLayerApply(), TenonLayerClearStack() */
TENON_EXTERN TenonErrorCode TenonLayerSetStackDepth(TenonLayer layer, int depth) TENON_NOEXCEPT;

/** @brief Sets the signature, overriding the default choice. Local; call on all ranks.
 *
 *  A run is a label with a number of axes: "n2,o" is "n,n,o". In "hw4" two labels take turns. A run
 *  that ends in '-' is read from its last axis to its first, and its last axis is the major one:
 *  "h3-" splits the rows first along the last of the three axes. These are the words of TenonPlan.
 *
 *  @param[in] layer   layer
 *  @param[in] labels  index labels or runs separated by commas, such as "o,i" or "n2,h2-", for all
 *                     grid axes; "" restores the default choice. A label that the layer does not
 *                     have is TENON_ERR_OPTION in TenonLayerSetUp(). */
TENON_EXTERN TenonErrorCode TenonLayerSetSignature(TenonLayer layer,
                                                   const char* labels) TENON_NOEXCEPT;

/** @brief Sets the layout in which parameters are stored and updated. Local; call on all ranks.
 *  @param[in] layer    layer
 *  @param[in] storage  "use" for the layout that the signature uses, the default; "sharded" to
 *                      divide what several ranks use among them, and with it the state of the
 *                      optimizer; "root" to store on coordinate 0 of every grid axis; or properties
 *                      such as "S0,B", of which P is TENON_ERR_OPTION in TenonLayerSetUp()
 *  @return TENON_ERR_LAYOUT  the text is none of these */
TENON_EXTERN TenonErrorCode TenonLayerSetStorage(TenonLayer layer,
                                                 const char* storage) TENON_NOEXCEPT;

/** @brief Selects the compute backend. Local; call on all ranks.
 *  @param[in] layer    layer
 *  @param[in] backend  "auto" (oneDNN for float32 where the library was built with it, otherwise
 *                      BLAS, and "direct" for convolutions and "fftw" for spectral convolutions
 *                      where it is faster),
 *                      "reference", "blas", "onednn", "direct" (Tenon's direct convolution: stride
 *                      1 in the last dimension, AVX2 with FMA or NEON) or "fftw" (fast Fourier
 *                      transforms in all dimensions of spectral convolutions); with the last two,
 *                      other layers use BLAS. On the device "auto" and "cudnn" are cuDNN for
 *                      convolutions and cuBLAS for products, "gemm" is cuBLAS for both, and "cufft"
 *                      is cuFFT in all dimensions of spectral convolutions ("auto" in some) and
 *                      otherwise as "gemm". A backend that does not support the data type, the
 *                      layer, the processor or the space, or that the library was built without,
 *                      is TENON_ERR_SUPPORT in TenonLayerSetUp(). Layers with a single
 *                      implementation, such as functions of each element and columnmlp, ignore
 *                      it.
 *  @return TENON_ERR_TYPE  the name is not a backend */
TENON_EXTERN TenonErrorCode TenonLayerSetBackend(TenonLayer layer,
                                                 const char* backend) TENON_NOEXCEPT;

/**@}*/

#endif
