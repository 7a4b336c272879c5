/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief The types of layers: creation by the name of the type, calls for the most common ones,
 *         and the settings of single types. See tenon/layer.h for life cycle, signatures and common
 *         errors, and tenon/layer_network.h for layers that contain others.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  A layer of any type is made by TenonLayerCreateType(), and its settings are set by name:
 *
 *      TenonLayerCreateType(comm, "maxpooling", &pool);
 *      TenonObjectSetIntegers((TenonObject)pool, "kernel", 2, (TenonInt[]){2, 2});
 *      TenonLayerCreateType(comm, "dropout", &dropout);
 *      TenonObjectSetReal((TenonObject)dropout, "rate", 0.1);
 *
 *  doc/layer_types.md lists all types with their settings, and the option -tenon_help prints the
 *  settings with defaults and ranges. Some types in more detail:
 *
 *  Pooling ("maxpooling", "averagepooling") over windows of [batch, channel, spatial...]. By
 *  default the stride is the kernel size and the padding is 0 elements wide. Padding is ignored
 *  rather than zero, unless TenonLayerSetBoundary() gives it values. An average divides by the
 *  number of window elements inside the domain and its padding, or, if include_padding (bool, true)
 *  is false, by the number of window elements inside the domain. A window without any value is
 *  TENON_ERR_ARG in TenonLayerSetUp(). If several elements are the maximum, the first of them gets
 *  the cotangent. With ceil (bool, false) the number of outputs is rounded up instead of down, but
 *  a window that would begin beyond the domain and its low padding is omitted.
 *
 *  Means between cells and faces of a staggered grid ("collocate", "stagger"), which treat all
 *  channels in the same way: see TenonLayerCreateCollocate() and TenonLayerCreateStagger().
 *
 *  Convolutions ("conv", "transposedconv") have the settings:
 *
 *  - bias (bool, true): whether a bias is added
 *  - dilation (ints, 1): the spacing of kernel elements
 *  - groups (int, 1): number of groups into which both numbers of channels are divided. Each group
 *    is convolved separately, the weight has shape [outChannels, inChannels / groups, kernel...],
 *    and a grid axis can split the channels between groups (label g) instead of by o or i.
 *  - boundary_constant (real): the value beyond sides of mode values. It is not differentiated, and
 *    the layer has one input. For a differentiated number leave it unset, and pass a tensor of
 *    shape [1] as second input.
 *  - overlap (text, "auto", of conv): whether outputs that need no halo are computed while the halo
 *    exchange is in flight, in evaluation, tangent and adjoint: "on", "off", or "auto", if it is
 *    predicted to be faster. Outputs near the sides of a local block are then computed separately,
 *    in strips, each by one more call of the kernel. The other outputs read the input in place,
 *    without the copy that a halo otherwise needs, so the input must not be modified before
 *    TenonLayerApplyAdjoint(). "on" is TENON_ERR_SUPPORT in TenonLayerSetUp() if the input needs
 *    more than a halo exchange, or if a side has the boundary mode values, since these sides are
 *    filled after the exchange.
 *
 *  output_cuts (text, "follow", of pooling, pad and both convolutions) selects the split points of
 *  the output in a split dimension of space. With "follow" each process has the outputs whose
 *  windows have their centres in its part of the input, which needs the fewest messages. With
 *  "balanced" the numbers of outputs of the processes differ by at most 1; with "follow" they can
 *  differ more if windows have no padding or a stride. A plan chooses between the two if the
 *  setting is not set (tenon/plan.h).
 *
 *  halo (text, "auto", of conv and pooling) selects where the halo of the input comes from:
 *
 *  - "exchange": from other processes
 *  - "compute": the previous layers in the container also compute the cells around each part, and
 *    only the first of them exchanges a halo, which is wide enough for all. If these layers cannot,
 *    TenonLayerSetUp() returns TENON_ERR_SUPPORT with the reason.
 *  - "auto": by the setting halo_depth of the container (tenon/layer_network.h)
 *
 *  Fields on latitudes and longitudes: spherical harmonic transforms ("sht", "inversesht"),
 *  spherical convolutions ("sphericalconv") and products with a number for each degree
 *  ("degreeproduct") have the grids and the order of coefficients of tenon/sphere.h, and
 *  convolutions with filters of compact support ("disco", "transposeddisco") its grids.
 *  doc/sphere.md has their definitions.
 *
 *  Elementwise functions are types too:
 *
 *  | function   | value                                                                      |
 *  | ---------- | -------------------------------------------------------------------------- |
 *  | relu       | max(x, 0), with derivative 0 at 0                                          |
 *  | leakyrelu  | x if x > 0, otherwise slope x; setting slope (real, 0.01)                  |
 *  | elu        | x if x > 0, otherwise alpha (exp(x) - 1); setting alpha (real, 1)          |
 *  | celu       | x if x > 0, otherwise alpha (exp(x / alpha) - 1); alpha (real, 1) above 0  |
 *  | selu       | elu with the constants of Klambauer et al. 2017                            |
 *  | tanh       | hyperbolic tangent                                                         |
 *  | sigmoid    | 1 / (1 + exp(-x))                                                          |
 *  | softsign   | x / (1 + |x|)                                                              |
 *  | gelu       | x Phi(x), Phi the normal distribution function (Hendrycks and Gimpel 2016) |
 *  | gelutanh   | x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, an approximation of gelu  |
 *  | silu       | x / (1 + exp(-x))                                                          |
 *  | hardswish  | x min(max(x + 3, 0), 6) / 6 (Howard et al. 2019)                           |
 *  | mish       | x tanh(log(1 + exp(x))) (Misra 2019)                                       |
 *  | softplus   | log(1 + exp(x))                                                            |
 *  | exp        | exponential                                                                |
 *  | log        | natural logarithm                                                          |
 *  | sqrt       | square root                                                                |
 *  | reciprocal | 1 / x                                                                      |
 *  | power      | x to the power of exponent (real, 2)                                       |
 *  | abs        | |x|, with derivative 0 at 0                                                |
 *  | clamp      | x within low and high (real), of which one may be left unset; derivative 0 |
 *  |            | at an end                                                                  |
 *  | sine       | sin x, x in radians (Sitzmann et al. 2020)                                 |
 *  | cosine     | cos x, x in radians                                                        |
 *  | tan, asin, acos, atan, sinh, cosh, asinh, acosh, atanh | as in the C library            |
 *  | erf        | error function, 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x   |
 *  | floor, ceil, round | integer below, above, nearest (halves to the even one); their      |
 *  |            | derivative is 0 everywhere, so nothing before them is trained through them |
 *  | scale      | factor x + shift; settings factor (real, 1) and shift (real, 0)            |
 *  | identity   | x                                                                          |
 *
 *  The last two are linear and therefore also accept partial sums (index label P), unless the shift
 *  is not 0. So does "stopgradient", which returns x as well, and whose derivative is 0: gradients
 *  do not pass it, and the adjoint of a network omits what only leads to it.
 *
 *  "prelu" (channels, int) is leakyrelu with a slope for each channel, its parameter weight, which
 *  begins at 0.25 (He et al. 2015).
 *
 *  "flatten" reshapes [batch, channel, ...] to [batch, features], features in row-major order.
 *
 *  "dropout": in training mode y = m x / (1 - rate), where the mask m is 0 with probability rate
 *  (real, 0.5) and 1 otherwise; in inference mode y = x. The mask depends on the seed of
 *  TenonLayerInitialize(), the layer, the number of the evaluation and the global position of the
 *  element, not on the distribution.
 *
 *  "repartition" converts its input to the layout of TenonLayerSetOutputLayout(), which can be on
 *  another process grid and have other properties, split points and halos. Its adjoint is the
 *  adjoint of the conversion. In a network, the default signatures of the following layers depend
 *  on this layout.
 *
 *  "add" is the sum of one or more inputs; "subtract", "multiply" and "divide" are the difference,
 *  product and quotient of two inputs, element by element. All inputs have the same number of
 *  dimensions. An input with extent 1 in a dimension is broadcast along it if another input has a
 *  larger extent: a mask [batch,1,y,x], a gate [batch,channel,1,1]. If a grid axis splits such a
 *  dimension, all processes have a copy of this input (B), and its cotangent is a partial sum (P).
 *  A quotient is computed as the product with the reciprocal of the second input.
 *
 *  "concatenate" joins inputs along a dimension (setting dim), whose other extents must be equal;
 *  the dimension can be split.
 *
 *  The inputs of these layers can have different layouts. By default the output has the layout of
 *  the first input that is not broadcast, without halos; a joined dimension is split evenly.
 *  TenonLayerSetSignature() can select another layout, as can TenonLayerSetOutputLayout() for add,
 *  subtract and concatenate. All inputs are converted to the layout of the output. Use such a layer
 *  as a node of a graph, or alone with TenonLayerSetUpMany().
 *
 *  Losses are layers that compare their input with a target (TenonLayerSetTarget()). With the input
 *  x, the target t and d = x - t:
 *
 *  - "crossentropy": for each label log sum exp x - x[label], over the classes; x is [samples,
 *    classes, space...] and the labels are [samples, space...], with any dimensions of space or
 *    none.
 *  - "meansquarederror": for each element d^2.
 *  - "meanabsoluteerror": for each element |d|; the derivative is 0 where d is 0.
 *  - "huber": for each element d^2 / 2 if |d| <= delta, otherwise delta (|d| - delta / 2).
 *  - "relativel2": for each sample |d| / (|t| + epsilon), in the Euclidean norm.
 *  - "crps": for each element of t, the score of an ensemble with the members x_k, E of them
 *    (setting members): the mean of |x_k - t| - f / 2 times the sum over k and l of |x_k - x_l|,
 *    f = alpha / (E (E - 1)) + (1 - alpha) / E^2. The members of a sample follow each other in the
 *    batch: x is [samples E, ...] and t [samples, ...].
 *  - "gradientpenalty": for each element, with u = d, or u = x if with_target is false, the sum
 *    over spatial dimensions of ((u at the next grid point - u) / spacing)^2. x is [batch, channel,
 *    spatial...]. The last grid point has no next one, unless the setting periodic is true.
 *
 *  These are the terms of a loss. The loss is their mean over the global batch, or their sum
 *  (setting loss_reduction: "mean", the default, or "sum"). The input has any layout; the value is
 *  the same on all ranks that hold it.
 *
 *  The setting loss_weights gives the terms weights (TenonLayerSetTargetWeights()): "sample", with
 *  a tensor [samples], or "element", with a tensor of the target's shape. A weight of 0 masks a
 *  term. The mean is divided by the sum of the weights. In "relativel2" the weights of elements
 *  multiply the squares in both norms. In "gradientpenalty" a difference has the weight of its
 *  lower grid point.
 *
 *  Settings: loss_reduction and loss_weights; delta for huber; epsilon for relativel2; members and
 *  alpha (1: fair) for crps; spacing, periodic and with_target for gradientpenalty.
 *
 *  To differentiate a loss, fill its cotangent with the constant 1 (TenonDTensorFillConstant()).
 */
#ifndef TENON_LAYER_TYPES_H
#define TENON_LAYER_TYPES_H

#include <tenon/error.h>
#include <tenon/layout.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief The faces of a staggered grid that a field has in a dimension of n cells. */
typedef enum TenonFaces TENON_ENUM_INT {
  TENON_FACES_NONE = 0,     /**< none: n values in cells */
  TENON_FACES_ALL = 1,      /**< n + 1: cell i is between faces i and i + 1 */
  TENON_FACES_LOWER = 2,    /**< n: face i is the lower face of cell i, as if periodic */
  TENON_FACES_UPPER = 3,    /**< n: face i is the upper face of cell i */
  TENON_FACES_MAX_ = 0x7fff /**< only fixes the size; never pass it */
} TenonFaces;

/** @name Creation */
/**@{*/

/** @brief Creates a layer by the name of its type. Collective on comm.
 *  @param[in]  comm   communicator of the input's layout
 *  @param[in]  name   a type that TenonLayerGetTypes() returns ("conv", "affine", "batchnorm",
 *                     ...), "shell", or a type registered with TenonLayerRegister()
 *                     (tenon/ext/layer.h)
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_TYPE  the name is unknown; the message suggests a similar one
 *  @note   A registered type can return any other error.
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateType(MPI_Comm comm, const char* name,
                                                 TenonLayer* layer) TENON_NOEXCEPT;

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
 *  @see    TenonLayerSetStride(), TenonLayerSetPadding()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateConv(MPI_Comm comm, int spatial, TenonInt inChannels,
                                                 TenonInt outChannels, const TenonInt kernel[],
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
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateAffine(MPI_Comm comm, TenonInt inputs, TenonInt outputs,
                                                   TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a multilayer perceptron of the channels at each point. Collective on comm.
 *
 *  The layer type columnmlp, for closures of a column or a cell of a solver: h_0 = x, h_(l+1) =
 *  f(W_l h_l + b_l), without f in the last step. The input is [batch, channel, space...] with
 *  widths[0] channels, the output has widths[count - 1] channels. The parameters are "weight0"
 *  [widths[1], widths[0]], "bias0" [widths[1]], "weight1", ... The layer reads and writes arrays of
 *  any strides in place.
 *
 *  @param[in]  comm        communicator of the input's layout
 *  @param[in]  count       number of widths; must be >= 2
 *  @param[in]  widths      [count] channels of the input, of each hidden layer and of the output;
 *                          must be >= 1
 *  @param[in]  activation  function f of the hidden layers: "relu", "tanh", "sigmoid", "gelu",
 *                          "gelutanh", "silu", "softplus", "exp", "sine" or "identity". May be
 *                          NULL, in which case it is "tanh".
 *  @param[out] layer       new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG   count or a width is out of range
 *  @return TENON_ERR_TYPE  activation is none of these
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateColumnMLP(MPI_Comm comm, int count,
                                                      const TenonInt widths[],
                                                      const char* activation,
                                                      TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a layer of means from the faces of a staggered grid to its cells. Collective on
 *         comm.
 *
 *  The layer type collocate. In each dimension in which the input [batch, channel, space...] has
 *  faces, a cell gets the mean of its two faces; in several dimensions it gets the mean of its
 *  edges or corners. All channels have the same faces. The mean is exact for linear fields and of
 *  second order for smooth fields. With TENON_FACES_LOWER and TENON_FACES_UPPER one face of the
 *  domain is not part of the input, and the boundary mode of its side defines its value: periodic,
 *  zero on a wall, values, or with "filled" the caller's ghost cell. A cell is on the rank of its
 *  lower face: TenonLayoutCreateStaggered() makes the layout of the input from the layout of the
 *  output.
 *
 *  Settings: faces (text: none, all, lower or upper for each spatial dimension, separated by
 *  commas), boundary, boundary_constant, filled.
 *
 *  @param[in]  comm     communicator of the input's layout
 *  @param[in]  spatial  number of spatial dimensions; must be 1 to 3
 *  @param[in]  faces    [spatial] faces of the input in each spatial dimension
 *  @param[out] layer    new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  a number is out of range
 *  @note   TenonLayerSetUp() returns TENON_ERR_ARG if a face is left out at a side without a mode.
 *  @see    TenonLayerSetBoundary(), TenonLayerCreateStagger()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateCollocate(MPI_Comm comm, int spatial,
                                                      const TenonFaces faces[],
                                                      TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates a layer of means from the cells of a staggered grid to its faces. Collective on
 *         comm.
 *
 *  The layer type stagger. In each dimension in which the output has faces, a face gets the mean of
 *  the cells on both sides. The boundary mode defines the cell beyond a wall: with odd the face on
 *  the wall is 0; with symmetric, and without a mode (the default), it is the value of the one cell
 *  beside it. A face is on the rank of the cell above it, and the last face on the rank of the last
 *  cell. If the input's split points are kept, TenonLayoutCreateStaggered() makes the layout of the
 *  output from the layout of the input.
 *
 *  Settings: those of TenonLayerCreateCollocate().
 *
 *  @param[in]  comm     communicator of the input's layout
 *  @param[in]  spatial  number of spatial dimensions; must be 1 to 3
 *  @param[in]  faces    [spatial] faces of the output in each spatial dimension
 *  @param[out] layer    new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  a number is out of range
 *  @see    TenonLayerSetBoundary(), TenonLayerCreateCollocate()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateStagger(MPI_Comm comm, int spatial,
                                                    const TenonFaces faces[],
                                                    TenonLayer* layer) TENON_NOEXCEPT;
/**@}*/

/** @name Settings of single types, to be called before TenonLayerSetUp()
 *
 *  For types that have the setting and also a kernel or faces, whose length is the number of
 *  spatial dimensions: convolutions, transposed convolutions, poolings, collocate and stagger. For
 *  other types, such as "pad", use TenonObjectSetIntegers(). The calls return TENON_ERR_TYPE if the
 *  type has no such setting, and TENON_ERR_STATE if the kernel or the faces are not set. */
/**@{*/

/** @brief Returns the number of spatial dimensions, the length of lists such as a stride. Not
 *         collective.
 *  @param[in]  layer    layer
 *  @param[out] spatial  number of spatial dimensions
 *  @return TENON_ERR_TYPE   the type has neither kernel nor faces
 *  @return TENON_ERR_STATE  the kernel or the faces are not set */
TENON_EXTERN TenonErrorCode TenonLayerGetSpatialDimensions(TenonLayer layer,
                                                           int* spatial) TENON_NOEXCEPT;

/** @brief Sets the stride of windows. Local; call on all ranks.
 *  @param[in] layer   layer
 *  @param[in] stride  [spatial] stride in each spatial dimension; must be >= 1
 *  @return TENON_ERR_ARG   a stride is below 1 */
TENON_EXTERN TenonErrorCode TenonLayerSetStride(TenonLayer layer,
                                                const TenonInt stride[]) TENON_NOEXCEPT;

/** @brief Sets the padding. Local; call on all ranks.
 *  @param[in] layer  layer
 *  @param[in] low    [spatial] elements of padding before the domain; if negative, the number of
 *                    elements of the domain that are skipped
 *  @param[in] high   [spatial] elements of padding after the domain; if negative, elements that are
 *                    skipped. May be NULL, in which case low is used.
 *  @see    TenonLayerSetBoundary()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                                 const TenonInt high[]) TENON_NOEXCEPT;

/** @brief Sets the boundary modes, which give the padding its values. Local; call on all ranks.
 *
 *  The default is TENON_BOUNDARY_NONE on all sides. Modes:
 *
 *  - none: padding without values: zero for a convolution; ignored by pooling, except that averages
 *    with include_padding count it
 *  - zero: 0, for maximum pooling too
 *  - periodic, reflect, replicate: copies of elements of the domain, see TenonBoundary; reflection
 *    continues at both ends if the padding is wider than the domain
 *  - symmetric, odd, odd_point: reflection about a wall between elements (symmetric, odd) or on the
 *    first or last element (odd_point); the odd modes change the sign at each reflection
 *  - pole, pole_point: latitudes beyond a pole of a globe, whose longitudes are another dimension,
 *    of even extent, and the only one that is periodic; see TenonLayoutSetHalo(). Channels that the
 *    setting "vectors" lists change their sign there, except components along a third dimension;
 *    pole_vector and pole_point_vector are the modes of such channels
 *  - linked, on both sides of a dimension: elements of other patches, see tenon/links.h
 *  - values: user-supplied, see TenonLayerGetBoundaryLayout() and the setting
 *    boundary_constant
 *
 *  Each side of each dimension has its own mode, whether or not the dimension is split, and the
 *  result does not depend on the number of ranks. In a corner, which is outside the domain in
 *  several dimensions, values takes precedence over zero, because the caller's values are never
 *  changed, and zero over copies, because there the copied element is 0. If only one side of a
 *  dimension is periodic, the other side keeps its own mode. In ceil mode, the part of a last
 *  window beyond the padding is ignored. The adjoint adds the cotangents of copied elements to the
 *  elements that they are copies of.
 *
 *  Option: -tenon_[prefix_]boundary, with one mode for all sides ("periodic"), or a mode for each
 *  dimension, or for each side of a dimension ("periodic,zero/none"). Channels can have different
 *  modes, see TenonLayerSetChannelBoundary().
 *
 *  With the setting "filled" (bool, false; TenonObjectSetBool()) the caller has filled the halos of
 *  the input, inside the domain and outside. Every ghost cell that a window covers is read, nothing
 *  is exchanged, no boundary mode of the layer is used, and the cotangent of the input contains the
 *  cotangents of the ghost cells. With the option -tenon_check_ghosts an error names the first
 *  ghost cell that is not a number.
 *
 *  @param[in] layer  layer
 *  @param[in] low    [spatial] boundary mode before the domain
 *  @param[in] high   [spatial] boundary mode after the domain. May be NULL, in which case low is
 *                    used.
 *  @return TENON_ERR_ARG   a value is not a boundary mode
 *  @note   TenonLayerSetUp() returns TENON_ERR_ARG if a dimension with poles has no periodic
 *          longitudes, and TENON_ERR_SHAPE if their number is odd.
 */
TENON_EXTERN TenonErrorCode TenonLayerSetBoundary(TenonLayer layer, const TenonBoundary low[],
                                                  const TenonBoundary high[]) TENON_NOEXCEPT;

/** @brief Sets the boundary modes of one channel. Local; call on all ranks.
 *
 *  The channels of a field can need different modes at one wall: u and v are odd there, a pressure
 *  is symmetric. Channels are those of the input, or, for a transposed convolution, of the output.
 *  Other channels have the modes of TenonLayerSetBoundary(), which removes the modes of single
 *  channels. The extension beyond the domain, and its adjoint, are then block-diagonal over
 *  channels. If at one side some channels have a mode and others have none, the others get zeros in
 *  convolutions, transposed convolutions and "pad"; poolings do not accept this.
 *
 *  Option: -tenon_[prefix_]boundary, with lists for all channels in turn, separated by semicolons
 *  ("odd,periodic;odd,periodic;symmetric,periodic"), or with one list for all channels and lists
 *  for single channels, "c=" or "begin:end=" ("symmetric,periodic;0:2=odd,periodic"); of several
 *  lists for a channel the last one counts.
 *
 *  @param[in] layer    layer
 *  @param[in] channel  channel, counted from 0
 *  @param[in] low      [spatial] boundary mode before the domain
 *  @param[in] high     [spatial] boundary mode after the domain. May be NULL, in which case low is
 *                      used.
 *  @return TENON_ERR_ARG   channel is negative, or a value is not a boundary mode
 *  @note   TenonLayerSetUp() returns TENON_ERR_SHAPE if there is no such channel.
 */
TENON_EXTERN TenonErrorCode TenonLayerSetChannelBoundary(TenonLayer layer, TenonInt channel,
                                                         const TenonBoundary low[],
                                                         const TenonBoundary high[]) TENON_NOEXCEPT;

/** @brief Sets the layout of the output of a repartition, add or concatenate layer. Local; call on
 *         all ranks.
 *  @param[in] layer   layer of one of these types, not set up
 *  @param[in] output  layout of the output, on the communicator of the layer; without halos, except
 *                     for a repartition. If the output has another shape, for example for a smaller
 *                     last batch, dimensions of equal extent have the split points and halos of
 *                     this layout, and the others are split evenly.
 *  @return TENON_ERR_TYPE    the layer is of another type
 *  @return TENON_ERR_ARG     output has another communicator
 *  @return TENON_ERR_LAYOUT  output has halos
 *  @note   TenonLayerSetUp() returns TENON_ERR_SHAPE if the input has another number of dimensions,
 *          and TENON_ERR_LAYOUT if a dimension of another extent has a halo. */
TENON_EXTERN TenonErrorCode TenonLayerSetOutputLayout(TenonLayer layer,
                                                      TenonLayout output) TENON_NOEXCEPT;
/**@}*/

/** @name Types and their signatures */
/**@{*/

/** @brief Returns the names of all types of the library except "shell". Not collective.
 *  @param[out] types   [length] names in alphabetical order, separated by commas. May be NULL, in
 *                      which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the names need. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the names do not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonLayerGetTypes(char types[], TenonInt length,
                                               TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the index labels of a layer, of which a signature has one for each grid axis. Not
 *  collective.
 *  @param[in]  layer   layer whose required settings are set
 *  @param[in]  ndim    number of dimensions of the first input
 *  @param[in]  shape   [ndim] shape of the first input
 *  @param[out] labels  [length] labels, separated by commas, such as "n,o,i,B,R,P". May be NULL, in
 *                      which case only needed is returned.
 *  @param[in]  length  size of the buffer in characters
 *  @param[out] needed  size that the labels need. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_STATE  a required setting is not set
 *  @return TENON_ERR_TYPE   the layer is a container; its layers have labels
 *  @return TENON_ERR_ARG    the labels do not fit into the buffer
 *  @see    TenonLayerSetSignature() */
TENON_EXTERN TenonErrorCode TenonLayerGetLabels(TenonLayer layer, int ndim, const TenonInt shape[],
                                                char labels[], TenonInt length,
                                                TenonInt* needed) TENON_NOEXCEPT;
/**@}*/

#endif
