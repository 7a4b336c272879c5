/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Layers that redistribute, combine and contain other layers, and the calls for layers with
 *         several inputs. See tenon/layer.h for life cycle and common errors.
 *
 *  A residual block, y = tanh(x + f(x)), as a graph:
 *
 *      const int input[1] = {-1};                                    // -1: the input of the graph
 *      int sum[2] = {-1, 0}, last[1];
 *      TenonLayerCreateGraph(comm, &graph);
 *      TenonLayerGraphAddNode(graph, f, 1, input, &sum[1]);          // f(x)
 *      TenonLayerGraphAddNode(graph, add, 2, sum, &last[0]);         // x + f(x)
 *      TenonLayerGraphAddNode(graph, tanh, 1, last, NULL);
 *
 *  Each node redistributes its inputs as its signature requires, as in a sequential layer. The
 *  cotangent of a value that several nodes read is the sum of their cotangents. A graph is a layer:
 *  it can be evaluated, differentiated, and used as a node of another graph.
 */
#ifndef TENON_LAYER_NETWORK_H
#define TENON_LAYER_NETWORK_H

#include <tenon/layer.h>

/** @name Layers in sequence */
/**@{*/

/** @brief Creates a sequential layer, to be filled by TenonLayerSequentialAdd(). Collective on
 *         comm.
 *  @param[in]  comm   communicator of the input's layout
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy() */
TENON_EXTERN TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm,
                                                       TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Appends a layer to a sequential layer. Local; call on all ranks.
 *
 *  TenonLayerSetUp() of the container sets up the layer for the output of the previous one, with
 *  the data type and stack depth of the container. The layer also takes its storage, backend and
 *  initializer from the container where they are at their defaults. The container holds a reference
 *  to the layer.
 *
 *  @param[in] container  sequential layer, not set up
 *  @param[in] layer      layer on the communicator of the container
 *  @return TENON_ERR_TYPE  the container is not a sequential layer
 *  @return TENON_ERR_ARG   the layer has another communicator, is the container or contains it, or
 *                          containers would be nested more than 30 deep
 */
TENON_EXTERN TenonErrorCode TenonLayerSequentialAdd(TenonLayer container,
                                                    TenonLayer layer) TENON_NOEXCEPT;
/**@}*/

/** @name Redistribution and combination */
/**@{*/

/** @brief Creates a layer whose output is its input in another layout. Collective on comm.
 *
 *  The output can be on another process grid, and have other properties, split points and halos.
 *  The adjoint is that of the conversion. In a network, the default signatures of the following
 *  layers depend on this layout.
 *
 *  @param[in]  comm    communicator of the input's layout
 *  @param[in]  output  layout of the output. For an input of another shape, such as a smaller last
 *                      batch, it is a pattern: dimensions of equal extent keep their split points
 *                      and halos, and the others are split evenly.
 *  @param[out] layer   new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  output has another communicator
 *  @note   TenonLayerSetUp() returns TENON_ERR_SHAPE if the input has another number of dimensions,
 *          and TENON_ERR_LAYOUT if a dimension of another extent has a halo.
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateRepartition(MPI_Comm comm, TenonLayout output,
                                                        TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates the sum of one or more inputs of equal shape. Collective on comm.
 *
 *  The inputs can have different layouts. The output has the layout of the first input, without
 *  halos, unless TenonLayerSetSignature() or TenonLayerSetOutputLayout() selects another; the other
 *  inputs are converted to it. Use the layer as a node of a graph, or by itself with
 *  TenonLayerSetUpMany().
 *
 *  @param[in]  comm   communicator of the inputs' layouts
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateAdd(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Creates the concatenation of inputs along one dimension. Collective on comm.
 *
 *  The other extents of the inputs must be equal. The dimension can be split: each input is then
 *  redistributed to its place in the output. The layout of the output is chosen as in
 *  TenonLayerCreateAdd(), with the joined dimension split evenly.
 *
 *  @param[in]  comm   communicator of the inputs' layouts
 *  @param[in]  dim    dimension of concatenation, counted from 0
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG  dim is negative
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateConcatenate(MPI_Comm comm, int dim,
                                                        TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Sets the output layout of an add or concatenate layer. Local; call on all ranks.
 *  @param[in] layer   add or concatenate layer, not set up
 *  @param[in] output  layout of the output, without halos; a pattern for inputs of another shape,
 *                     see TenonLayerCreateRepartition()
 *  @return TENON_ERR_TYPE    the layer neither adds nor concatenates
 *  @return TENON_ERR_LAYOUT  output has halos */
TENON_EXTERN TenonErrorCode TenonLayerSetOutputLayout(TenonLayer layer,
                                                      TenonLayout output) TENON_NOEXCEPT;

/**@}*/

/** @name Graphs */
/**@{*/

/** @brief Creates a graph, to be filled by TenonLayerGraphAddNode(). Collective on comm.
 *
 *  A graph allows skip connections, several inputs and shared layers.
 *
 *  @param[in]  comm   communicator of the inputs' layouts
 *  @param[out] layer  new layer; destroy it with TenonLayerDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Sets the number of inputs of a graph. Local; call on all ranks.
 *  @param[in] graph  graph without nodes
 *  @param[in] count  number of inputs; must be >= 1; 1 by default
 *  @return TENON_ERR_TYPE   graph is not a graph
 *  @return TENON_ERR_ARG    count is below 1
 *  @return TENON_ERR_STATE  the graph has nodes */
TENON_EXTERN TenonErrorCode TenonLayerGraphSetInputs(TenonLayer graph, int count) TENON_NOEXCEPT;

/** @brief Adds a node that evaluates a layer. Local; call on all ranks.
 *
 *  The node reads outputs of earlier nodes or inputs of the graph. The output of the last node is
 *  that of the graph; all other nodes and all inputs must be read. TenonLayerSetUp() of the graph
 *  sets up each layer for its inputs, with the data type and stack depth of the graph. The graph
 *  holds a reference to the layer. A layer can be added several times: its nodes share the
 *  parameters, and their gradients accumulate.
 *
 *  @param[in]  graph   graph, not set up
 *  @param[in]  layer   layer on the communicator of the graph
 *  @param[in]  count   number of inputs of the layer; must be >= 1
 *  @param[in]  inputs  [count] sources of the inputs: i >= 0 for the output of node i, -1 for the
 *                      first input of the graph, -2 for its second, and so on
 *  @param[out] node    index of the new node, counted from 0. May be NULL, in which case it is not
 *                      returned.
 *  @return TENON_ERR_TYPE  graph is not a graph
 *  @return TENON_ERR_ARG   there is no such node or input, count is below 1, the layer has another
 *                          communicator, is the graph or contains it, or containers would be nested
 *                          more than 30 deep
 */
TENON_EXTERN TenonErrorCode TenonLayerGraphAddNode(TenonLayer graph, TenonLayer layer, int count,
                                                   const int inputs[], int* node) TENON_NOEXCEPT;

/**@}*/

/** @name Layers with several inputs */
/**@{*/

/** @brief Returns the layout of a layer's user-supplied boundary values. Not collective.
 *
 *  A convolution or pooling with sides of TENON_BOUNDARY_VALUES, and without
 *  TenonLayerSetBoundaryConstant(), has two inputs: x, and the values beyond these sides. The
 *  second input is one of the following:
 *
 *  - A tensor in the layout returned by this call: that of x as its signature uses it, with the
 *    halo that the windows of each process read. Only the elements beyond sides of mode values are
 *    read, corners included. Each process fills those in its own box (TenonLayoutGetBox()), or its
 *    solver's ghost cells are used by TenonDTensorPlaceArray(). Where the layout has property P the
 *    values are partial sums, like x.
 *  - One number: a tensor of shape [1], in any layout without halos.
 *
 *  Its cotangent has the dual layout (TenonLayerCreateInputCotangentAt() with input 1) and holds
 *  the derivatives with respect to the values and zeros elsewhere, or, for one number, their sum.
 *
 *      const TenonBoundary mode[1] = {TENON_BOUNDARY_VALUES};
 *      TenonLayerSetBoundary(conv, mode, NULL);
 *      TenonLayerGetBoundaryLayout(conv, lx, &lv);        // create v in layout lv and fill it
 *      TenonLayout layouts[2] = {lx, lv};
 *      TenonLayerSetUpMany(conv, 2, layouts);
 *      TenonDTensor inputs[2] = {x, v};
 *      TenonLayerApplyMany(conv, 2, inputs, y);
 *
 *  @param[in]  layer     convolution or pooling layer; can be set up or not
 *  @param[in]  input     layout of x
 *  @param[out] boundary  new handle; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE  the layer has no such input
 *  @return TENON_ERR_TYPE   the layer is neither a convolution nor a pooling
 *  @return TENON_ERR_ARG    layer and input have different communicators
 *  @note   If x does not match the layer, the call returns the error that TenonLayerSetUp() would
 *          return.
 */
TENON_EXTERN TenonErrorCode TenonLayerGetBoundaryLayout(TenonLayer layer, TenonLayout input,
                                                        TenonLayout* boundary) TENON_NOEXCEPT;

/** @brief Prepares a layer with several inputs. Collective on the layer.
 *
 *  See TenonLayerSetUp().
 *
 *  @param[in] layer   layer
 *  @param[in] count   number of inputs
 *  @param[in] inputs  [count] layout of each input
 *  @return TENON_ERR_ARG  the layer has another number of inputs
 */
TENON_EXTERN TenonErrorCode TenonLayerSetUpMany(TenonLayer layer, int count,
                                                const TenonLayout inputs[]) TENON_NOEXCEPT;

/** @brief Creates a tensor for the cotangent of one of several inputs. Collective on the layer.
 *  @param[in]  layer  layer that is set up
 *  @param[in]  input  index of the input, counted from 0
 *  @param[out] dx     new tensor, in the dual of the input's layout; destroy it with
 *                     TenonDTensorDestroy()
 *  @return TENON_ERR_ARG    there is no such input
 *  @return TENON_ERR_STATE  the layer is not set up
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateInputCotangentAt(TenonLayer layer, int input,
                                                             TenonDTensor* dx) TENON_NOEXCEPT;

/** @brief Evaluates a layer with several inputs. Collective on the layer.
 *
 *  See TenonLayerApply().
 *
 *  @param[in]  layer  layer that is set up for the layouts of the inputs
 *  @param[in]  count  number of inputs; must be <= 64
 *  @param[in]  x      [count] input tensors; a tensor can occur several times
 *  @param[out] y      output tensor from TenonLayerCreateOutput(); overwritten
 *  @return TENON_ERR_ARG  count is out of range, or the layer was set up for another number of
 *                         inputs
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyMany(TenonLayer layer, int count, const TenonDTensor x[],
                                                TenonDTensor y) TENON_NOEXCEPT;

/** @brief Evaluates the tangent of a layer with several inputs. Collective on the layer.
 *
 *  See TenonLayerApplyTangent().
 *
 *  @param[in]  layer  layer that has been applied in training mode
 *  @param[in]  count  number of inputs
 *  @param[in]  dx     [count] tangents of the inputs. Elements can be NULL, in which case they are
 *                     zero.
 *  @param[out] dy     tangent of the output; overwritten
 *  @return TENON_ERR_ARG  the layer was applied to another number of inputs
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyTangentMany(TenonLayer layer, int count,
                                                       const TenonDTensor dx[],
                                                       TenonDTensor dy) TENON_NOEXCEPT;

/** @brief Evaluates the adjoint of a layer with several inputs. Collective on the layer.
 *
 *  See TenonLayerApplyAdjoint().
 *
 *  @param[in] layer  layer that has been applied in training mode
 *  @param[in] dy     cotangent dL/dy of the output
 *  @param[in] count  number of inputs
 *  @param[in] dx     [count] tensors for the cotangents of the inputs; overwritten. Elements can be
 *                    NULL, in which case they are not computed.
 *  @return TENON_ERR_ARG  the layer was applied to another number of inputs, or two of dx are the
 *                         same tensor or their arrays overlap
 */
TENON_EXTERN TenonErrorCode TenonLayerApplyAdjointMany(TenonLayer layer, TenonDTensor dy, int count,
                                                       const TenonDTensor dx[]) TENON_NOEXCEPT;
/**@}*/

#endif
