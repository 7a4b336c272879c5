/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLayer: a differentiable map between distributed tensors, with named parameters.
 *         The calls in tenon/layer_types.h create layers, and those in tenon/layer_network.h create
 *         networks and layers from files. Settings are set by name (tenon/object.h), or by the
 *         calls here and in tenon/layer_types.h.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  Life cycle: create the layer, call its setters and TenonObjectSetFromOptions(), then
 *  TenonLayerSetUp() with the layout of the input. After that call TenonLayerApply(),
 *  TenonLayerApplyTangent() and TenonLayerApplyAdjoint() as often as needed, and finally
 *  TenonLayerDestroy(). A layer can be set up for several input layouts: the configurations share
 *  the parameters, and the layout of the input selects the configuration.
 *
 *  Signatures. Along each axis of the process grid a layer has an index label. The label gives the
 *  properties (see tenon/layout.h) of input, parameters and output for which the local kernel alone
 *  computes the right result. Labels are the indices of the kernel, as in einsum. For the affine
 *  layer y[n,o] = sum over i of x[n,i] W[o,i] + b[o]:
 *
 *  | label | x   | W   | b   | y   | also known as                                                |
 *  | ----- | --- | --- | --- | --- | ------------------------------------------------------------ |
 *  | n     | S0  | B   | B   | S0  | data parallel                                                |
 *  | o     | B   | S0  | S0  | S1  | model parallel, over the outputs                             |
 *  | i     | S1  | S1  | R   | P   | model parallel, over the inputs; the output is a partial sum |
 *  | B     | B   | B   | B   | B   | replicated                                                   |
 *  | R     | R   | R   | R   | R   | stored only on the root process                              |
 *  | P     | P   | B   | R   | P   | the input is already a partial sum                           |
 *
 *  The layer types have these labels:
 *
 *  | layer                | labels                    | note                                    |
 *  | -------------------- | ------------------------- | --------------------------------------- |
 *  | affine               | n, o, i, B, R, P          | table above                             |
 *  | convolution          | n, o, i, d, h, w, B, R, P | d, h, w split space (1-D w; 2-D h, w)   |
 *  | grouped convolution  | n, g, d, h, w, B, R, P    | g splits groups: x S1, W S0, b S0, y S1 |
 *  | pooling              | n, c, d, h, w, B, R, P    | c splits channels; P for averages only  |
 *  | flatten              | n, c, B, R, P             |                                         |
 *  | elementwise          | S0, S1, ..., B, R, P      | P for scale and identity only           |
 *  | dropout, add, concat | S0, S1, ..., B, R, P      |                                         |
 *  | cross-entropy        | n, c, d, h, w, B, R       | c splits the classes                    |
 *  | mean squared error   | S0, S1, ..., B, R         |                                         |
 *
 *  Any labels can be combined on the axes of a process grid. TenonLayerSetSignature() or the option
 *  signature selects them. By default, each axis gets the first label that accepts the input
 *  without communication, or the first label of the layer if there is none; an axis of one process,
 *  where no communication is possible, gets the first label whose output has the input's property.
 *  The layout of the output follows from the signature, see TenonLayerCreateOutput().
 *  Dimensions that keep their extent keep the split points of the input, also under a selected
 *  label. If fewer axes split such a dimension in the output than in the input, blocks are joined;
 *  if more axes split it, blocks are divided.
 *  TenonLayerApply() redistributes inputs and parameters as the signature requires, and
 *  TenonLayerApplyAdjoint() applies the adjoint communication (Hewett and Grady 2020, Section 4;
 *  Gholami et al. 2018).
 *
 *  Cotangents. A cotangent such as dy is the gradient of the loss with respect to y, dL/dy, stored
 *  in the dual layout of y (TenonLayoutGetDual()), in which B and P are exchanged.
 *  TenonLayerCreateOutputCotangent() creates it. Parameter gradients accumulate until
 *  TenonLayerZeroGradients() or TenonOptimizerStep() clears them.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Creation and TenonLayerSetUp()
 *  fail with the same error on all ranks, and return TENON_ERR_COLLECTIVE if ranks pass different
 *  arguments. Setters return TENON_ERR_STATE after TenonLayerSetUp(). If a setter fails on any
 *  rank, TenonLayerSetUp() fails on all ranks, unless the setter is called again with success.
 *
 *  Settings of all layers (tenon/object.h; each is an option -tenon_[prefix_]name too): data_type,
 *  signature, storage, space and stack_depth, which have calls here, and
 *
 *  - backend (text, "auto"): the compute backend, see the table below. A backend that does not
 *    support the layer, its data type, the processor or the space, or that is not part of this
 *    build of the library, is TENON_ERR_SUPPORT in TenonLayerSetUp(). Layers with a single
 *    implementation, such as elementwise functions and columnmlp, ignore the setting.
 *  - saved_type (text, "same"): element type of the activations that are saved for derivatives:
 *    "same" for the data type of the layer, or "bfloat16", to which the activations are rounded
 *  - recompute (bool, false): for a layer in a network, whether derivatives compute the layer's
 *    output again instead of saving it; for a container, whether only its inputs are saved, and the
 *    container is evaluated again before its adjoint
 *  - initializer (text, "glorot_uniform") and seed (int, 0), see TenonLayerInitialize()
 *  - parameter_names (text, ""): for each parameter that has another name in files of weights, this
 *    name, and its extents in the file if they differ by extents of 1:
 *    "weight=encoder.in_proj_weight[12,4];bias=encoder.in_proj_bias"
 *
 *  A container hands data type, storage, backend, initializer and stack depth down to those of its
 *  layers for which they are not set.
 *
 *  The values of backend:
 *
 *  | value     | on   | convolutions and products are computed by                                |
 *  | --------- | ---- | ------------------------------------------------------------------------ |
 *  | auto      | host | oneDNN for float32 if the library was built with it, otherwise BLAS;     |
 *  |           |      | "direct" and "fftw" where they are faster                                |
 *  | auto      | GPU  | the fastest of "cudnn" and "gemm"; "cufft" where it should be faster     |
 *  | reference | host | plain loops, for tests                                                   |
 *  | blas      | host | BLAS                                                                     |
 *  | onednn    | host | oneDNN; float32 only                                                     |
 *  | direct    | host | Tenon's direct convolution (stride 1 in the last dimension; AVX2 with    |
 *  |           |      | FMA, or NEON); other layers as with "blas"                               |
 *  | fftw      | host | FFTW in all dimensions of spectral convolutions; others as with "blas"   |
 *  | cudnn     | GPU  | cuDNN for convolutions; other layers as with "gemm"                      |
 *  | gemm      | GPU  | cuBLAS                                                                   |
 *  | cufft     | GPU  | cuFFT in all dimensions of spectral convolutions; others as with "gemm"  |
 */
#ifndef TENON_LAYER_H
#define TENON_LAYER_H

#include <tenon/error.h>
#include <tenon/layout.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @name Settings, to be called before TenonLayerSetUp() */
/**@{*/

/** @brief Sets the element type of input, parameters and output. Local; call on all ranks.
 *  @param[in] layer  layer
 *  @param[in] type   TENON_FLOAT32, the default, or TENON_FLOAT64
 *  @return TENON_ERR_DATATYPE  the type is another */
TENON_EXTERN TenonErrorCode TenonLayerSetDataType(TenonLayer layer,
                                                  TenonDataType type) TENON_NOEXCEPT;

/** @brief Sets the memory space of input, parameters and output. Local; call on all ranks.
 *
 *  The parameters of the layer, and the tensors of TenonLayerCreateOutput() and similar calls, are
 *  created in this space. The layers of a container have the space of the container. Option:
 *  -tenon_[prefix_]space host|device.
 *
 *  The layer can be applied to tensors in the other space. The tensors that it reads are then
 *  copied before each call, the tensors that it writes are copied after it, and the host waits for
 *  these copies. TenonObjectView() lists the copies. Tensors from TenonLayerCreateOutput(), or with
 *  TenonDTensorSetSpace(), avoid them.
 *
 *  @param[in] layer  layer
 *  @param[in] space  TENON_MEMORY_HOST (the default) or TENON_MEMORY_DEVICE
 *  @return TENON_ERR_ARG  space is not a memory space
 *  @note   TenonLayerSetUp() returns TENON_ERR_SUPPORT, naming the layer and the reason, if there
 *          is no device, or if the layer has no kernels for it (doc/cuda.md lists the others).
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
 *  A label for several successive axes can be written with their number. These texts are also the
 *  parallelizations of TenonPlan:
 *
 *  | text | labels  | meaning                                                                    |
 *  | ---- | ------- | -------------------------------------------------------------------------- |
 *  | n2,o | n,n,o   | a label and a number of axes                                               |
 *  | hw4  | h,w,h,w | two labels in turn                                                         |
 *  | h3-  | h,h,h   | the axes split the dimension in reverse order: the last of them splits it  |
 *  |      |         | into the largest blocks (it is the major axis), the first one comes last   |
 *
 *  @param[in] layer   layer
 *  @param[in] labels  labels, or these short forms, separated by commas, such as "o,i" or "n2,h2-",
 *                     for all grid axes; "" restores the default choice. A label that the layer
 *                     does not have is TENON_ERR_OPTION in TenonLayerSetUp(). */
TENON_EXTERN TenonErrorCode TenonLayerSetSignature(TenonLayer layer,
                                                   const char* labels) TENON_NOEXCEPT;

/** @brief Sets the layout in which parameters are stored and updated. Local; call on all ranks.
 *  @param[in] layer    layer
 *  @param[in] storage  one of these texts: "use" (the default): the layout that the signature uses;
 *                      "sharded": several ranks that use the same elements divide these among them,
 *                      and with them the state of the optimizer; "root": on coordinate 0 of every
 *                      grid axis; or properties such as "S0,B". The property P is TENON_ERR_OPTION
 *                      in TenonLayerSetUp().
 *  @return TENON_ERR_LAYOUT  the text is none of these */
TENON_EXTERN TenonErrorCode TenonLayerSetStorage(TenonLayer layer,
                                                 const char* storage) TENON_NOEXCEPT;
/**@}*/

/** @name Configuration and parameters */
/**@{*/

/** @brief Prepares the layer for inputs in one layout. Collective on the layer.
 *
 *  Chooses the signature and creates communication, kernels, storage for saved activations, and,
 *  the first time, the parameters. Parameters get initial values as TenonLayerInitialize() draws
 *  them, from the seed of the option -tenon_[prefix_]seed of the layer that is set up (0 by
 *  default). Does nothing if the layer is already set up for this layout. All errors below are the
 *  same on all ranks.
 *
 *  @param[in] layer  layer
 *  @param[in] input  layout of the input, on the communicator of the layer
 *  @return TENON_ERR_SHAPE       the shape of the input does not match the layer
 *  @return TENON_ERR_LAYOUT      the input of a convolution or pooling has a halo that does not
 *                                contain all elements that the windows read. A halo that contains
 *                                them is used as the caller has filled it.
 *  @return TENON_ERR_OPTION      the signature or the parameter storage does not exist for this
 *                                layer
 *  @return TENON_ERR_SUPPORT     the backend lacks the data type, or overlap is not possible
 *  @return TENON_ERR_ARG         layer and layout have different communicators, or the layer has
 *                                several inputs
 *  @return TENON_ERR_COLLECTIVE  settings or layouts differ between ranks
 *  @note   If a setter failed on any rank, the call returns the error of that setter.
 *  @see    TenonLayerInitialize(), TenonLayerSetUpMany()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetUp(TenonLayer layer, TenonLayout input) TENON_NOEXCEPT;

/** @brief Returns the layout of an output, for the last set-up input. Not collective.
 *  @param[in]  layer   layer that is set up
 *  @param[in]  index   number of the output, counted from 0; below TenonLayerGetOutputCount()
 *  @param[out] output  new handle; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_ARG    there is no such output
 *  @return TENON_ERR_STATE  the layer is not set up */
TENON_EXTERN TenonErrorCode TenonLayerGetOutputLayout(TenonLayer layer, int index,
                                                      TenonLayout* output) TENON_NOEXCEPT;

/** @brief Creates a tensor for an output, for the last set-up input. Collective on the layer.
 *  @param[in]  layer  layer that is set up
 *  @param[in]  index  number of the output, counted from 0; below TenonLayerGetOutputCount()
 *  @param[out] y      new tensor; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG    there is no such output
 *  @return TENON_ERR_STATE  the layer is not set up */
TENON_EXTERN TenonErrorCode TenonLayerCreateOutput(TenonLayer layer, int index,
                                                   TenonDTensor* y) TENON_NOEXCEPT;

/** @brief Creates a tensor for dL/dy, in the dual of an output's layout. Collective on the layer.
 *  @param[in]  layer  layer that is set up
 *  @param[in]  index  number of the output, counted from 0; below TenonLayerGetOutputCount()
 *  @param[out] dy     new tensor; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG    there is no such output
 *  @return TENON_ERR_STATE  the layer is not set up */
TENON_EXTERN TenonErrorCode TenonLayerCreateOutputCotangent(TenonLayer layer, int index,
                                                            TenonDTensor* dy) TENON_NOEXCEPT;

/** @brief Creates a tensor for dL/dx, in the dual of an input's layout. Collective on the layer.
 *  @param[in]  layer  layer that is set up
 *  @param[in]  index  number of the input, counted from 0; below TenonLayerGetInputCount()
 *  @param[out] dx     new tensor; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG    there is no such input
 *  @return TENON_ERR_STATE  the layer is not set up */
TENON_EXTERN TenonErrorCode TenonLayerCreateInputCotangent(TenonLayer layer, int index,
                                                           TenonDTensor* dx) TENON_NOEXCEPT;

/** @brief Draws the initial values of all parameters again. Local; call on all ranks.
 *
 *  TenonLayerSetUp() has drawn them from the seed of the option seed. Weights follow the option
 *  -tenon_[prefix_]initializer: glorot_uniform (default) or glorot_normal (Glorot and Bengio 2010),
 *  he_uniform or he_normal (He et al. 2015). Each value depends on the seed and on its global
 *  position only, not on the distribution. Biases are zero.
 *
 *  @param[in] layer  layer that is set up
 *  @param[in] seed   random seed; the same on all ranks
 *  @return TENON_ERR_STATE  the layer is not set up
 */
TENON_EXTERN TenonErrorCode TenonLayerInitialize(TenonLayer layer, TenonInt seed) TENON_NOEXCEPT;

/** @brief Returns the number of parameter tensors, inner layers included. Not collective.
 *  @param[in]  layer  layer
 *  @param[out] count  number of parameters; 0 before TenonLayerSetUp() */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterCount(TenonLayer layer,
                                                        int* count) TENON_NOEXCEPT;

/** @brief Returns a parameter, for reading and writing. Local; call on all ranks.
 *
 *  From then on each evaluation redistributes the parameter again, since it may have been modified.
 *
 *  @param[in]  layer      layer that is set up
 *  @param[in]  index      index of the parameter, counted from 0
 *  @param[out] parameter  new handle to the parameter itself, in its storage layout and with the
 *                         name of layer and parameter ("C5.weight"); destroy it with
 *                         TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such parameter
 */
TENON_EXTERN TenonErrorCode TenonLayerGetParameter(TenonLayer layer, int index,
                                                   TenonDTensor* parameter) TENON_NOEXCEPT;

/** @brief Returns the gradient of the loss with respect to a parameter. Collective on the layer.
 *  @param[in]  layer     layer that is set up
 *  @param[in]  index     index of the parameter, counted from 0
 *  @param[out] gradient  new handle to the gradient itself, in the dual of the storage layout, as
 *                        accumulated up to this call; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such parameter
 *  @note   Where the parameter is replicated (B) the gradient holds partial sums (P). */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterGradient(TenonLayer layer, int index,
                                                           TenonDTensor* gradient) TENON_NOEXCEPT;

/** @brief Returns the gradient of a parameter summed over the ranks. Collective on the layer.
 *
 *  The sum has the storage layout of the parameter, as an optimizer uses it: it can be added to the
 *  parameter, and TenonDTensorNorm() measures it. It is a copy; the gradient itself stays
 *  (TenonLayerGetParameterGradient()). It is zero for a frozen parameter.
 *
 *  @param[in]  layer     layer that is set up
 *  @param[in]  index     index of the parameter, counted from 0
 *  @param[out] gradient  new handle to the sum; the next call for the same parameter, an optimizer
 *                        step and clipping overwrite it; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such parameter
 *  @see    TenonOptimizerClipGradientNorm()
 */
TENON_EXTERN TenonErrorCode TenonLayerGetReducedGradient(TenonLayer layer, int index,
                                                         TenonDTensor* gradient) TENON_NOEXCEPT;

/** @brief Returns the tangent (direction) of a parameter. Local; call on all ranks.
 *  @param[in]  layer    layer that is set up
 *  @param[in]  index    index of the parameter, counted from 0
 *  @param[out] tangent  new handle to the tangent itself, in the storage layout; zero until it is
 *                       filled; destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such parameter
 *  @see    TenonLayerApplyTangent() */
TENON_EXTERN TenonErrorCode TenonLayerGetParameterTangent(TenonLayer layer, int index,
                                                          TenonDTensor* tangent) TENON_NOEXCEPT;

/** @brief Returns the number of state tensors, inner layers included. Not collective.
 *
 *  States are values that a layer carries from one evaluation to the next and that are not
 *  parameters: the running statistics of batch normalisation ("running_mean", "running_var"), and
 *  the states of user-defined (shell) layers.
 *
 *  @param[in]  layer  layer
 *  @param[out] count  number of states; 0 before TenonLayerSetUp() */
TENON_EXTERN TenonErrorCode TenonLayerGetStateCount(TenonLayer layer, int* count) TENON_NOEXCEPT;

/** @brief Returns a state, for reading and writing. Collective on the layer.
 *
 *  The tensor holds the current value. The next evaluation uses the values that are written to it.
 *  An evaluation may move the state to other memory, so call this again after each evaluation.
 *
 *  @param[in]  layer  layer that is set up
 *  @param[in]  index  index of the state, counted from 0
 *  @param[out] state  new handle to the state itself, with the name of layer and state
 *                     ("norm1.running_mean"); destroy it with TenonDTensorDestroy()
 *  @return TENON_ERR_ARG  there is no such state
 */
TENON_EXTERN TenonErrorCode TenonLayerGetState(TenonLayer layer, int index,
                                               TenonDTensor* state) TENON_NOEXCEPT;
/**@}*/

/** @name Evaluation and derivatives */
/**@{*/

/** @brief Switches between training and inference mode. Local; call on all ranks.
 *
 *  In training mode, the default, TenonLayerApply() saves what the adjoint needs; in inference mode
 *  it saves nothing. Two types of layers compute something else in training: dropout drops
 *  elements, and batch normalisation uses the statistics of the batch. The call can be made at any
 *  time. For a container it also sets the mode of its layers; the mode of a single layer can be
 *  changed afterwards.
 *
 *  @param[in] layer     layer
 *  @param[in] training  TENON_TRUE for training mode, TENON_FALSE for inference mode
 *  @see    TenonLayerSetRecording(), TenonLayerGetChild()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetTraining(TenonLayer layer,
                                                  TenonBool training) TENON_NOEXCEPT;

/** @brief Sets whether evaluations save what the adjoint needs. Local; call on all ranks.
 *
 *  TenonLayerSetTraining() sets this too: training mode saves, inference mode does not. To
 *  differentiate a network in inference mode, with dropout as the identity and running statistics
 *  as constants:
 *
 *      TenonLayerSetTraining(network, TENON_FALSE);
 *      TenonLayerSetRecording(network, TENON_TRUE);
 *
 *  In training mode without recording, a batch only updates the running statistics. The call can
 *  be made at any time. In a container, only the container's own setting counts.
 *
 *  @param[in] layer      layer
 *  @param[in] recording  TENON_TRUE to save, TENON_FALSE to save nothing
 */
TENON_EXTERN TenonErrorCode TenonLayerSetRecording(TenonLayer layer,
                                                   TenonBool recording) TENON_NOEXCEPT;

/** @brief Freezes or releases all parameters, inner layers included. Local; call on all ranks.
 *
 *  A frozen parameter accumulates no gradient, and optimizers do not update it.
 *  TenonLayerApplyAdjoint() skips the computation of its gradient; input cotangents are unchanged.
 *  Gradients accumulated before a change are cleared. Layers added to a frozen container are frozen
 *  when it is set up. A layer with "frozen" in a network file, and a constant of a model, remain
 *  frozen when their container is released; pass the layer itself (TenonLayerGetChild()) to release
 *  it. The call is valid at any time.
 *
 *  @param[in] layer   layer
 *  @param[in] frozen  TENON_TRUE to freeze; TENON_FALSE is the default
 */
TENON_EXTERN TenonErrorCode TenonLayerSetFrozen(TenonLayer layer, TenonBool frozen) TENON_NOEXCEPT;

/** @brief Sets the target of a loss for the next evaluations. Local; call on all ranks.
 *  @param[in] layer   loss, see tenon/layer_types.h
 *  @param[in] target  tensor with the target, in any layout on the same process grid: for
 *                     cross-entropy, int64 or int32 labels [samples, space...] with classes
 *                     counted from 0; for the other losses, float32 or float64 values of the
 *                     input's shape. It is held by reference and read by TenonLayerApply(); it may
 *                     be in either memory space.
 *  @return TENON_ERR_TYPE  the layer is not a loss, or it is a gradientpenalty whose settings need
 *                          no target
 *  @see    TenonLayerSetTargetWeights()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetTarget(TenonLayer layer,
                                                TenonDTensor target) TENON_NOEXCEPT;

/** @brief Sets the weights of a loss for the next evaluations. Local; call on all ranks.
 *  @param[in] layer    loss whose setting loss_weights is "sample" or "element"
 *  @param[in] weights  tensor of the layer's data type, of shape [samples] or the target's shape,
 *                      in any layout on the same communicator; values must be finite and >= 0, and
 *                      not all 0. It is held by reference and read by TenonLayerApply(), which
 *                      returns TENON_ERR_ARG for other values; it may be in either memory space.
 *  @return TENON_ERR_TYPE  the layer is not a loss, or its setting loss_weights is "none"
 *  @see    TenonLayerSetTarget()
 */
TENON_EXTERN TenonErrorCode TenonLayerSetTargetWeights(TenonLayer layer,
                                                       TenonDTensor weights) TENON_NOEXCEPT;

/** @brief Evaluates the layer: y <- f(x). Collective on the layer.
 *
 *  In training mode, also saves what TenonLayerApplyAdjoint() needs. Tensors that own their memory
 *  are saved by reference and must not be modified before that call; user arrays are copied. At
 *  most TenonLayerSetStackDepth() evaluations can be pending. After the first call Tenon allocates
 *  no memory, except for the copy of a user array the first time that it is saved.
 *
 *  A layer does not work in place: the arrays of x and y share no memory. Boxes of one array that
 *  do not overlap, and components of an interleaved array, are separate arrays in this sense.
 *
 *  @param[in]  layer  layer that has been set up for the layout of x
 *  @param[in]  x      input tensor
 *  @param[out] y      output tensor from TenonLayerCreateOutput(); overwritten
 *  @return TENON_ERR_STATE     the layer is not set up, a loss has no target, or too many
 *                              evaluations are pending
 *  @return TENON_ERR_SHAPE     the shape of x or y does not match the layer
 *  @return TENON_ERR_LAYOUT    the layout of x or y does not match the layer
 *  @return TENON_ERR_DATATYPE  the data type of x or y does not match the layer
 *  @return TENON_ERR_ARG       x and y are the same tensor, or their arrays overlap
 *  @note   On more than one rank an error is not known to the other ranks and calls the fatal
 *          handler, see TenonSetFatalErrorHandler().
 *  @see    TenonLayerApplyAdjoint(), TenonLayerSetTraining(), TenonLayerApplyMany()
 */
TENON_EXTERN TenonErrorCode TenonLayerApply(TenonLayer layer, TenonDTensor x,
                                            TenonDTensor y) TENON_NOEXCEPT;

/** @brief Evaluates the tangent (JVP) at the last evaluation: dy <- J dx. Collective on the layer.
 *
 *  The direction is dx together with the tangents of the parameters. The evaluation stays pending,
 *  so the adjoint can still be applied.
 *
 *  @param[in]  layer  layer that has been applied in training mode
 *  @param[in]  dx     tangent of the input, in its layout. May be NULL, in which case it is zero.
 *  @param[out] dy     tangent of the output, in its layout; overwritten
 *  @return TENON_ERR_STATE    no evaluation is pending, or a saved tensor or a parameter was
 *                             modified since the evaluation
 *  @return TENON_ERR_SUPPORT  a user-defined layer has no tangent function
 *  @return TENON_ERR_ARG      dx and dy are the same tensor, or their arrays overlap
 *  @note   See TenonLayerApply() for the errors of tensors that do not match and for the fatal
 *          handler.
 *  @see    TenonLayerGetParameterTangent()
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyTangent(TenonLayer layer, TenonDTensor dx,
                                                   TenonDTensor dy) TENON_NOEXCEPT;

/** @brief Evaluates the adjoint (VJP) of the last evaluation: dx <- J* dy. Collective on the layer.
 *
 *  Adds the gradients with respect to the parameters to those already accumulated, and removes the
 *  evaluation from the pending ones. Adjoints are therefore applied in reverse order of the
 *  evaluations.
 *
 *  @param[in]  layer  layer that has been applied in training mode
 *  @param[in]  dy     cotangent dL/dy, in the dual of the output's layout
 *  @param[out] dx     cotangent dL/dx, in the dual of the input's layout; overwritten. May be NULL,
 *                     in which case it is not computed.
 *  @return TENON_ERR_STATE    no evaluation is pending, or a saved tensor or a parameter was
 *                             modified since the evaluation
 *  @return TENON_ERR_SUPPORT  a user-defined layer has no adjoint function
 *  @return TENON_ERR_ARG      dy and dx are the same tensor, or their arrays overlap
 *  @note   See TenonLayerApply() for the errors of tensors that do not match and for the fatal
 *          handler.
 *  @see    TenonLayerCreateOutputCotangent(), TenonLayerCreateInputCotangent(),
 *          TenonOptimizerStep()
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyAdjoint(TenonLayer layer, TenonDTensor dy,
                                                   TenonDTensor dx) TENON_NOEXCEPT;

/** @brief Discards all pending evaluations. Local; call on all ranks.
 *  @param[in] layer  layer */
TENON_EXTERN TenonErrorCode TenonLayerClearStack(TenonLayer layer) TENON_NOEXCEPT;

/** @brief Sets all parameter gradients to zero. Local; call on all ranks.
 *  @param[in] layer  layer */
TENON_EXTERN TenonErrorCode TenonLayerZeroGradients(TenonLayer layer) TENON_NOEXCEPT;

/** @brief Tests whether the adjoint is the transpose of the tangent. Collective on the layer.
 *
 *  Draws random directions dx, dp and dy of input, parameters and output, and computes the pairings
 *  <J (dx, dp), dy> and <dx, J* dy> + sum of <dp, gradient of p>, which are equal up to rounding.
 *  An error that the tangent and the adjoint have in common is not found by this test, but by
 *  TenonLayerTestTaylor(). Both calls are for authors of layers (tenon/ext/layer.h) and do not
 *  change parameters, gradients and tangents. A loss needs its target. All errors are the same on
 *  all ranks.
 *
 *  @param[in]  layer     layer that is set up, with no evaluation pending
 *  @param[in]  x         point, in the layout of the last TenonLayerSetUp(). May be NULL, in which
 *                        case each input of the layer is random, uniform in [-1, 1).
 *  @param[in]  seed      random seed; the same on all ranks
 *  @param[out] tangent   <J (dx, dp), dy>. May be NULL, in which case it is not returned.
 *  @param[out] adjoint   <dx, J* dy> + sum of <dp, gradient of p>. May be NULL, in which case it is
 *                        not returned.
 *  @param[out] relative  difference divided by the product of the norms; above 1e-12 in float64, or
 *                        1e-4 in float32, it indicates an error in the layer. May be NULL, in which
 *                        case it is not returned.
 *  @return TENON_ERR_STATE       the layer is not set up, or an evaluation is pending
 *  @return TENON_ERR_ARG         x is passed to a layer with several inputs
 *  @return TENON_ERR_SHAPE       the shape of x does not match the layer
 *  @return TENON_ERR_LAYOUT      the layout of x does not match the layer
 *  @return TENON_ERR_DATATYPE    the data type of x does not match the layer
 *  @return TENON_ERR_COLLECTIVE  ranks pass different seeds
 */
TENON_EXTERN TenonErrorCode TenonLayerTestAdjoint(TenonLayer layer, TenonDTensor x, TenonInt seed,
                                                  double* tangent, double* adjoint,
                                                  double* relative) TENON_NOEXCEPT;

/** @brief Tests whether the tangent is the derivative, at a point. Collective on the layer.
 *
 *  The remainder | f(x + h dx, p + h dp) - f(x, p) - h J (dx, dp) | must fall as h^2. The step h is
 *  halved, beginning with 1/8, while the remainder exceeds rounding. The order is computed from the
 *  last halving. It is 2 (within 0.1 in float64 and 0.3 in float32) for a smooth layer with a
 *  correct tangent, 1 for an incorrect one, and between them for a layer with kinks, such as relu,
 *  if a step crosses one. Dropout, whose mask changes with each evaluation, cannot be tested.
 *
 *  See TenonLayerTestAdjoint() for the errors. A layer that saves activations in bfloat16
 *  (saved_type) is TENON_ERR_SUPPORT, since its derivatives are computed at rounded values.
 *
 *  @param[in]  layer      layer that is set up, with no evaluation pending
 *  @param[in]  x          point, in the layout of the last TenonLayerSetUp(). May be NULL, in which
 *                         case each input of the layer is random, uniform in [-1, 1).
 *  @param[in]  seed       random seed; the same on all ranks
 *  @param[out] order      observed order; HUGE_VAL if no remainder exceeds rounding, as for a
 *                         linear layer. May be NULL, in which case it is not returned.
 *  @param[out] remainder  remainder for h = 1/8, divided by |f| + |J (dx, dp)|. May be NULL, in
 *                         which case it is not returned.
 */
TENON_EXTERN TenonErrorCode TenonLayerTestTaylor(TenonLayer layer, TenonDTensor x, TenonInt seed,
                                                 double* order, double* remainder) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] layer  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonLayerDestroy(TenonLayer* layer) TENON_NOEXCEPT;
/**@}*/

#endif
