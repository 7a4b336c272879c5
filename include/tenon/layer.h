/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLayer: a differentiable map between distributed tensors, with named parameters. The
 *         types of layers stand in tenon/layer_create.h and tenon/layer_network.h.
 *
 *  Life: Create, Set..., TenonLayerSetFromOptions(), TenonLayerSetUp() with the layout of the
 *  input, then Apply, ApplyTangent, ApplyAdjoint, and Destroy. SetUp may be called for several
 *  layouts; the set-ups share the parameters, and the input's layout chooses among them.
 *
 *  Distribution. A layer has signatures: for each axis of the mesh a letter that says how input,
 *  parameters and output lie along it so that the local kernel alone gives the right answer. For
 *  the affine layer y[n,o] = sum over i of x[n,i] W[o,i] + b[o]:
 *
 *    letter | x     | W     | b     | y     | also known as
 *    n      | S0    | B     | B     | S0    | data parallel
 *    o      | B     | S0    | S0    | S1    | model parallel
 *    i      | S1    | S1    | R     | P     | model parallel, the output is a sum to come
 *    B      | B     | B     | B     | B     | replicated
 *    R      | R     | R     | R     | R     | on the root
 *    P      | P     | B     | R     | P     | of a sum to come
 *
 *  Convolutions have the same letters, and d, h, w for a split of space (with halo exchange); with
 *  groups of channels g (x S1, W S0, b S0, y S1) in place of o and i;
 *  pooling n, c, d/h/w, B, R and, for averages, P; flatten n, c, B, R, P; functions of each
 *  element S0, S1, ..., B, R, and P where they are linear; sums and concatenations S0, S1, ..., B,
 *  R, P; cross-entropy n, c, B, R; mean squared error S0, S1, ..., B, R. Any letters may be mixed
 *  on several axes. Without a choice by TenonLayerSetSignature() or -tenon_[prefix_]signature a
 *  layer takes the first row of its table that fits the input as it lies, and the first row of all
 *  where none does; along a mesh axis of one process, where nothing can move, the row whose output
 *  keeps the input's property. The output's layout follows (TenonLayerCreateOutput()); whatever
 *  must be moved is moved inside Apply, and its adjoint inside ApplyAdjoint (Hewett and Grady
 *  2020, Section 4; Gholami et al. 2018).
 *
 *  Cotangents. The cotangent of a tensor lies in the dual layout (TenonLayoutGetDual()), in which B
 *  and P are exchanged: TenonLayerCreateCotangent() makes it. Parameter gradients accumulate until
 *  TenonLayerZeroGradients() or a step of an optimizer.
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, and TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class. Creates and SetUp fail alike on all ranks, and return
 *  TENON_ERR_COLLECTIVE if ranks pass different arguments. Setters are not collective, but must be
 *  called alike on all ranks; after SetUp they return TENON_ERR_STATE. A setter that failed on any
 *  rank makes SetUp fail on all, unless it is called again with success.
 *
 *  Options: -tenon_[prefix_]signature, storage, backend, stack_depth, initializer, seed; slope and factor
 *  of functions of each element; boundary and boundary_constant of convolutions and poolings.
 */
#ifndef TENON_LAYER_H
#define TENON_LAYER_H

#include <tenon/error.h>
#include <tenon/layout.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @name Settings, before SetUp */
/**@{*/

/** @brief Steps of the window of a convolution or pooling. Not collective.
 *  @param[in] stride  [spatial] at least 1
 *  @return TENON_ERR_ARG for a stride below 1; TENON_ERR_TYPE if the layer has no window */
TENON_EXTERN TenonErrorCode TenonLayerSetStride(TenonLayer layer,
                                                const TenonInt stride[]) TENON_NOEXCEPT;

/** @brief Distance of the window's cells. As TenonLayerSetStride(). */
TENON_EXTERN TenonErrorCode TenonLayerSetDilation(TenonLayer layer,
                                                  const TenonInt dilation[]) TENON_NOEXCEPT;

/** @brief Cells of padding before and after the domain: how far the windows may leave it.
 *         Not collective.
 *
 *  @param[in] layer  convolution or pooling
 *  @param[in] low    [spatial] negative: cells of the domain that the windows leave out
 *  @param[in] high   [spatial] likewise; NULL: as low
 *  @return TENON_ERR_TYPE if the layer has no window
 */
TENON_EXTERN TenonErrorCode TenonLayerSetPadding(TenonLayer layer, const TenonInt low[],
                                                 const TenonInt high[]) TENON_NOEXCEPT;

/** @brief What lies in the padding of a convolution or pooling; TENON_BOUNDARY_NONE by default.
 *         Not collective.
 *
 *    none       padding of the kernel's: zero to a convolution, absent to a maximum and to
 *               TENON_POOLING_AVERAGE_EXCLUDE_PAD, zero but counted to
 *               TENON_POOLING_AVERAGE_INCLUDE_PAD
 *    zero       cells of value 0, for a maximum too
 *    periodic, reflect, replicate  copies of cells of the domain, see TenonBoundary; reflections
 *               bounce at both ends where the padding is wider than the domain
 *    values     what the caller supplies: see TenonLayerGetBoundaryLayout() and
 *               TenonLayerSetBoundaryConstant()
 *
 *  Each side of each dimension has its own mode, whether the dimension is split or not, and every
 *  process sees what one alone would see. A corner is outside in several dimensions, and each of
 *  them says where its own index goes: values before zero before copies. A dimension periodic on
 *  one side only is a ring that is opened at the other. Padding says how far the modes reach: in
 *  ceil mode the part of a last window beyond it stays absent. The adjoint adds what the copies
 *  collect to the cells that they are copies of.
 *
 *  The option -tenon_[prefix_]boundary says the same: "periodic" for all sides, "periodic,zero/none"
 *  for each dimension, or low and high side of it.
 *
 *  @param[in] layer  convolution or pooling
 *  @param[in] low    [spatial] mode before the domain
 *  @param[in] high   [spatial] mode behind it; NULL: as low
 *  @return TENON_ERR_ARG for a value that is no mode; TENON_ERR_TYPE if the layer has no window
 */
TENON_EXTERN TenonErrorCode TenonLayerSetBoundary(TenonLayer layer, const TenonBoundary low[],
                                                  const TenonBoundary high[]) TENON_NOEXCEPT;

/** @brief What lies beyond sides of the boundary mode values: one number for all of them, which is
 *         not differentiated. The layer then has one input. Not collective.
 *
 *  For one that is differentiated leave this call out, and pass a tensor of shape [1] as second
 *  input. Option -tenon_[prefix_]boundary_constant.
 *
 *  @param[in] layer  convolution or pooling
 *  @param[in] value  finite
 *  @return TENON_ERR_ARG if it is not; TENON_ERR_TYPE if the layer has no window
 */
TENON_EXTERN TenonErrorCode TenonLayerSetBoundaryConstant(TenonLayer layer,
                                                          double value) TENON_NOEXCEPT;

/** @brief Groups of a convolution's channels, each convolved for itself; one by default.
 *         Not collective.
 *
 *  The weight is then [outChannels, inChannels / groups, kernel...], and a mesh axis may split the
 *  channels between groups (letter g) instead of by o or i.
 *
 *  @param[in] layer   convolution
 *  @param[in] groups  divides both numbers of channels
 *  @return TENON_ERR_TYPE if the layer is no convolution, TENON_ERR_ARG if it does not divide them
 */
TENON_EXTERN TenonErrorCode TenonLayerSetGroups(TenonLayer layer, TenonInt groups) TENON_NOEXCEPT;

/** Whether a convolution computes while its halo travels. */
typedef enum TenonOverlap {
  TENON_OVERLAP_AUTO = 0, /**< where that is predicted to take less time */
  TENON_OVERLAP_ON = 1,
  TENON_OVERLAP_OFF = 2,
  TENON_OVERLAP_MAX_ = 0x7fff
} TenonOverlap;

/** @brief Whether a convolution computes what needs no halo while the halo travels, in Apply,
 *         ApplyTangent and ApplyAdjoint. TENON_OVERLAP_AUTO by default. Not collective.
 *
 *  The outputs near a part's sides are then computed apart, in strips, each one call of the kernel
 *  more; the rest reads the input where it lies, without the copy that a halo costs otherwise. So the
 *  input is kept for the adjoint as it is: it must not change before, as without a halo.
 *
 *  TENON_OVERLAP_ON is refused at SetUp (TENON_ERR_SUPPORT) where the input is converted by more than a
 *  halo exchange, and with the boundary mode values. Option: overlap.
 *
 *  @return TENON_ERR_TYPE if the layer is no convolution */
TENON_EXTERN TenonErrorCode TenonLayerSetOverlap(TenonLayer layer,
                                                 TenonOverlap overlap) TENON_NOEXCEPT;

/** @brief Whether a last window may reach beyond the padding; it may not by default. Not collective.
 *
 *  The number of outputs is then rounded up instead of down, but a window that would begin beyond
 *  the domain (and the padding before it) is left out. TENON_POOLING_AVERAGE_INCLUDE_PAD divides by
 *  the cells of the window that lie in the domain and its padding.
 *
 *  @return TENON_ERR_TYPE if the layer is no pooling
 */
TENON_EXTERN TenonErrorCode TenonLayerSetCeilMode(TenonLayer layer, TenonBool ceil) TENON_NOEXCEPT;

/** @brief Whether a convolution or affine layer has a bias; it has by default. Not collective.
 *  @return TENON_ERR_TYPE for other layers */
TENON_EXTERN TenonErrorCode TenonLayerSetBias(TenonLayer layer, TenonBool bias) TENON_NOEXCEPT;

/** @brief The rate of a dropout layer: at least 0, below 1; 0.5 by default. Not collective.
 *  @return TENON_ERR_TYPE for other layers, TENON_ERR_ARG for another rate */
TENON_EXTERN TenonErrorCode TenonLayerSetRate(TenonLayer layer, double rate) TENON_NOEXCEPT;

/** @brief The slope of "leakyrelu" where its argument is not positive; 0.01 by default.
 *         Not collective.
 *  @return TENON_ERR_TYPE for other layers, TENON_ERR_ARG if it is not finite */
TENON_EXTERN TenonErrorCode TenonLayerSetSlope(TenonLayer layer, double slope) TENON_NOEXCEPT;

/** @brief What "scale" multiplies by; 1 by default. As TenonLayerSetSlope(). */
TENON_EXTERN TenonErrorCode TenonLayerSetFactor(TenonLayer layer, double factor) TENON_NOEXCEPT;

/** @brief Element type of input, parameters and output: float32 (default) or float64.
 *         Not collective.
 *  @return TENON_ERR_DATATYPE for another */
TENON_EXTERN TenonErrorCode TenonLayerSetDataType(TenonLayer layer,
                                                  TenonDataType type) TENON_NOEXCEPT;

/** @brief How many calls of Apply may wait for their adjoints; 1 by default. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayerSetStackDepth(TenonLayer layer, int depth) TENON_NOEXCEPT;

/** @brief Forces the signature: one letter for each axis of the mesh, "o,i". Not collective.
 *
 *  A letter that the layer does not have is TENON_ERR_OPTION at SetUp, naming those it has. "" lets
 *  the layer choose. */
TENON_EXTERN TenonErrorCode TenonLayerSetSignature(TenonLayer layer,
                                                   const char* letters) TENON_NOEXCEPT;

/** @brief Where parameters are stored and stepped. Not collective.
 *
 *  @param[in] layer    layer
 *  @param[in] storage  "use": as the signature uses them (default); "root": on coordinate 0 of
 *                      every axis; or properties such as "S0,B"
 *  @return TENON_ERR_LAYOUT for another text
 */
TENON_EXTERN TenonErrorCode TenonLayerSetStorage(TenonLayer layer,
                                                 const char* storage) TENON_NOEXCEPT;

/** @brief Who computes: "auto" (oneDNN in float32, BLAS in float64), "reference", "blas" or
 *         "onednn". Not collective.
 *  @return TENON_ERR_TYPE for another name; at SetUp TENON_ERR_SUPPORT if it lacks the data type */
TENON_EXTERN TenonErrorCode TenonLayerSetBackend(TenonLayer layer,
                                                 const char* backend) TENON_NOEXCEPT;

/** @brief Reads the layer's options, and those of the layers in a container. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayerSetFromOptions(TenonLayer layer) TENON_NOEXCEPT;
/**@}*/

/** @name Set-up and parameters */
/**@{*/

/** @brief Makes the layer ready for inputs in a layout. Collective on the layer.
 *
 *  Chooses the signature, makes conversions, kernels, parameters (the first time) and the stack.
 *  Parameters that are made get their first values, as TenonLayerInitialize() draws them, from the
 *  seed of the option -tenon_[prefix_]seed of the layer that is set up (0 by default).
 *  Does nothing if the layer is set up for this layout already.
 *
 *  @return on all ranks TENON_ERR_SHAPE if the shape does not fit the layer, TENON_ERR_LAYOUT if
 *          the layout has margins, TENON_ERR_OPTION for a signature that does not exist
 */
TENON_EXTERN TenonErrorCode TenonLayerSetUp(TenonLayer layer, TenonLayout input) TENON_NOEXCEPT;

/** @brief The layout of the output for the last SetUp. Not collective.
 *  @param[out] output  a new handle, to be given back with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE before SetUp */
TENON_EXTERN TenonErrorCode TenonLayerGetOutputLayout(TenonLayer layer,
                                                      TenonLayout* output) TENON_NOEXCEPT;

/** @brief A tensor for the output of the last SetUp. Collective on the layer.
 *  @return TENON_ERR_STATE before SetUp */
TENON_EXTERN TenonErrorCode TenonLayerCreateOutput(TenonLayer layer,
                                                   TenonDTensor* y) TENON_NOEXCEPT;

/** @brief A tensor for the cotangent of that output: its layout is the dual. As
 *         TenonLayerCreateOutput(). */
TENON_EXTERN TenonErrorCode TenonLayerCreateCotangent(TenonLayer layer,
                                                      TenonDTensor* dy) TENON_NOEXCEPT;

/** @brief A tensor for the cotangent of the input, the first if there are several. As
 *         TenonLayerCreateOutput(). */
TENON_EXTERN TenonErrorCode TenonLayerCreateInputCotangent(TenonLayer layer,
                                                           TenonDTensor* dx) TENON_NOEXCEPT;

/** @brief Draws first values of all parameters again, from another seed than SetUp did. Not
 *         collective, to be called on all ranks.
 *
 *  Weights are drawn by the rule -tenon_[prefix_]initializer (glorot_uniform by default; Glorot and
 *  Bengio 2010, He et al. 2015) from seed and global position, so they do not depend on the
 *  partition; biases are zero.
 *
 *  @return TENON_ERR_STATE before SetUp
 */
TENON_EXTERN TenonErrorCode TenonLayerInitialize(TenonLayer layer, TenonInt seed) TENON_NOEXCEPT;

/** @brief How many parameters there are, those of contained layers included. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterCount(TenonLayer layer,
                                                        int* count) TENON_NOEXCEPT;

/** @brief The value of a parameter in its storage layout, to be read and written. Not collective,
 *         to be called on all ranks: from now on every Apply takes the value anew.
 *
 *  @param[in]  layer      layer
 *  @param[in]  number     from 0
 *  @param[out] parameter  a new handle on the value itself, named as layer and parameter
 *                         ("C5.weight"); to be given back with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG if there is no such parameter
 */
TENON_EXTERN TenonErrorCode TenonLayerGetParameter(TenonLayer layer, int number,
                                                   TenonDTensor* parameter) TENON_NOEXCEPT;

/** @brief The gradient of a parameter in the dual of its storage layout. Collective on the layer.
 *
 *  @param[out] gradient  a new handle on the gradient itself as accumulated up to now
 *  @return TENON_ERR_ARG if there is no such parameter
 */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterGradient(TenonLayer layer, int number,
                                                           TenonDTensor* gradient) TENON_NOEXCEPT;

/** @brief The gradient of a parameter as a direction: summed over the ranks, in the storage layout of
 *         the parameter, as an optimizer steps along it. Collective on the layer.
 *
 *  So it may be added to the parameter, and TenonDTensorNorm() measures it. The gradient itself
 *  stays (TenonLayerGetParameterGradient()): the sum over the ranks is a copy. Zero for a frozen
 *  parameter.
 *
 *  @param[out] gradient  a new handle on the sum as of now; the next call for the same parameter, a
 *                        step and a clipping overwrite it. To be given back with
 *                        TenonDTensorDestroy()
 *  @return TENON_ERR_ARG if there is no such parameter
 */
TENON_EXTERN TenonErrorCode TenonLayerGetReducedGradient(TenonLayer layer, int number,
                                                         TenonDTensor* gradient) TENON_NOEXCEPT;

/** @brief The direction in which ApplyTangent differentiates by a parameter, in its storage layout;
 *         zero until it is filled. Not collective, to be called on all ranks. As
 *         TenonLayerGetParameter(). */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterTangent(TenonLayer layer, int number,
                                                          TenonDTensor* tangent) TENON_NOEXCEPT;
/**@}*/

/** @name Use */
/**@{*/

/** @brief Training mode (default): Apply keeps what the adjoint needs. Inference mode: it keeps
 *         nothing. Not collective, to be called on all ranks; legal at any time. */
TENON_EXTERN TenonErrorCode TenonLayerSetTraining(TenonLayer layer,
                                                  TenonBool training) TENON_NOEXCEPT;

/** @brief Freezes the parameters of the layer and of all layers in it, or releases them: a frozen
 *         parameter gathers no gradient, and optimizers leave it alone. Not collective, to be called
 *         alike on all ranks; legal at any time.
 *
 *  ApplyAdjoint then spares the work for the gradients of these parameters; cotangents of inputs are
 *  as before. Gradients that were gathered before a change are cleared. Layers added to a frozen
 *  container are frozen when it is set up.
 *
 *  @param[in] layer   layer
 *  @param[in] frozen  TENON_FALSE by default
 */
TENON_EXTERN TenonErrorCode TenonLayerSetFrozen(TenonLayer layer, TenonBool frozen) TENON_NOEXCEPT;

/** @brief What the next Apply of a loss compares its input with. Not collective.
 *
 *  @param[in] layer   cross-entropy or mean squared error
 *  @param[in] target  labels, int64 [samples], classes from 0; or values of the input's shape,
 *                     float32 or float64. In any layout on the same mesh; kept by reference and
 *                     read in Apply
 *  @return TENON_ERR_TYPE if the layer is no loss
 */
TENON_EXTERN TenonErrorCode TenonLayerSetTarget(TenonLayer layer,
                                                TenonDTensor target) TENON_NOEXCEPT;

/** @brief y <- f(x). Collective on the layer.
 *
 *  In training mode what the adjoint needs is pushed on the stack: library tensors by reference,
 *  and one that changes before its adjoint is refused then; arrays of the caller's are copied. From
 *  the second call on nothing is allocated by Tenon. On more than one rank an error is not known to
 *  the others and goes to the fatal handler (TenonSetFatalErrorHandler()).
 *
 *  @param[in]  layer  set up for the layout of x
 *  @param[in]  x      input
 *  @param[out] y      as TenonLayerCreateOutput() makes it
 *  @return TENON_ERR_STATE before SetUp, or if the stack is full; TENON_ERR_SHAPE, TENON_ERR_LAYOUT
 *          or TENON_ERR_DATATYPE if a tensor does not fit
 */
TENON_EXTERN TenonErrorCode TenonLayerApply(TenonLayer layer, TenonDTensor x,
                                            TenonDTensor y) TENON_NOEXCEPT;

/** @brief dy <- J dx: the derivative at the last Apply in the direction dx and the parameters'
 *         tangents. Collective on the layer. The stack stays. Errors as in TenonLayerApply().
 *
 *  @param[in]  layer  applied in training mode
 *  @param[in]  dx     in the layout of the input; NULL for zero
 *  @param[out] dy     in the layout of the output
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyTangent(TenonLayer layer, TenonDTensor dx,
                                                   TenonDTensor dy) TENON_NOEXCEPT;

/** @brief dx <- J* dy for the last Apply, which is popped from the stack; parameter gradients
 *         accumulate. Collective on the layer. Errors as in TenonLayerApply().
 *
 *  @param[in]  layer  applied in training mode
 *  @param[in]  dy     in the dual of the output's layout
 *  @param[out] dx     in the dual of the input's layout, overwritten; NULL if it is not wanted
 *  @return TENON_ERR_STATE if nothing is on the stack, or if a tensor kept by Apply was changed
 *          since
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyAdjoint(TenonLayer layer, TenonDTensor dy,
                                                   TenonDTensor dx) TENON_NOEXCEPT;

/** @brief Forgets what Apply has pushed. Not collective, to be called on all ranks. */
TENON_EXTERN TenonErrorCode TenonLayerClearStack(TenonLayer layer) TENON_NOEXCEPT;

/** @brief Sets all parameter gradients to zero. Not collective, to be called on all ranks. */
TENON_EXTERN TenonErrorCode TenonLayerZeroGradients(TenonLayer layer) TENON_NOEXCEPT;

/** @brief Tests at a point whether ApplyAdjoint is the adjoint of ApplyTangent, in random directions of
 *         input, parameters and output. Collective on the layer.
 *
 *  The two pairings <J (dx, dp), dy> and <dx, J* dy> + sum of <dp, gradient of p> are equal up to
 *  rounding. TenonLayerTestTaylor() is the other half: a tangent and an adjoint that are wrong alike
 *  pass this test. Both are for authors of layers (TenonLayerCreateShell()) and leave parameters,
 *  gradients and tangents as they were; a loss needs its target.
 *
 *  @param[in]  layer     set up, nothing on its stack
 *  @param[in]  x         the point, in the layout of the last SetUp; NULL: random in [-1, 1), for each
 *                        input of the layer
 *  @param[in]  seed      of the numbers; the same on all ranks
 *  @param[out] tangent   <J (dx, dp), dy>; may be NULL
 *  @param[out] adjoint   <dx, J* dy> + sum of <dp, gradient of p>; may be NULL
 *  @param[out] relative  their difference over the product of the norms; may be NULL. At most 1e-12
 *                        for float64 and 1e-4 for float32 unless something is wrong.
 *  @return on all ranks TENON_ERR_STATE before SetUp or if the stack is not empty; TENON_ERR_ARG for
 *          a point of a layer with several inputs; TENON_ERR_SHAPE, TENON_ERR_LAYOUT or
 *          TENON_ERR_DATATYPE if x does not fit; TENON_ERR_COLLECTIVE if ranks pass different seeds
 */
TENON_EXTERN TenonErrorCode TenonLayerTestAdjoint(TenonLayer layer, TenonDTensor x, TenonInt seed,
                                                  double* tangent, double* adjoint,
                                                  double* relative) TENON_NOEXCEPT;

/** @brief Tests at a point whether ApplyTangent is the derivative of Apply: the remainder
 *         | f(x + h dx, p + h dp) - f(x, p) - h J (dx, dp) | must fall as h^2. Collective on the
 *         layer.
 *
 *  The step h is halved from 1/8 on while the remainder stands out from rounding; the order is that of
 *  the last halving. It is 2 (within 0.1 in float64 and 0.3 in float32) for a smooth layer with a right
 *  tangent, 1 for a wrong one, and between for one with kinks, as relu, where a step crosses one.
 *  HUGE_VAL: no remainder stood out from rounding, as for a linear layer. Dropout, which draws anew in
 *  each Apply, cannot be tested.
 *
 *  @param[in]  layer      as for TenonLayerTestAdjoint()
 *  @param[in]  x          likewise
 *  @param[in]  seed       likewise
 *  @param[out] order      observed; may be NULL
 *  @param[out] remainder  of h = 1/8, over |f| + |J (dx, dp)|; may be NULL
 *  @return as TenonLayerTestAdjoint()
 */
TENON_EXTERN TenonErrorCode TenonLayerTestTaylor(TenonLayer layer, TenonDTensor x, TenonInt seed,
                                                 double* order, double* remainder) TENON_NOEXCEPT;

/** @brief Prints the layer, on rank 0 of its communicator. Not collective.
 *
 *  For each set-up: layouts, signature, and conversions with messages and bytes of one Apply; the
 *  parameters; the caller's arrays that the last calls copied, with their bytes: strided arrays, which
 *  kernels need contiguous, and arrays kept for the adjoint; and the memory on rank 0 that is
 *  allocated now: of the parameters with their gradients, of buffers, and of the stack. */
TENON_EXTERN TenonErrorCode TenonLayerView(TenonLayer layer) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonLayerDestroy(TenonLayer* layer) TENON_NOEXCEPT;
/**@}*/

#endif
