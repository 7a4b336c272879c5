/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Layers that move, join and contain others, and the calls of layers with several inputs.
 *
 *  A graph, as a residual block has it, y = tanh(x + f(x)):
 *
 *    TenonLayerCreateGraph(comm, &graph);
 *    TenonLayerGraphAddNode(graph, f, 1, (int[]){-1}, &node);          -1: the graph's input
 *    TenonLayerGraphAddNode(graph, add, 2, (int[]){-1, node}, &node);
 *    TenonLayerGraphAddNode(graph, tanh, 1, (int[]){node}, NULL);
 *
 *  Whatever must be moved between its nodes is moved by the layer that reads it, as in a sequential
 *  layer; a value that several nodes read gets the sum of their cotangents. A graph is a layer: it
 *  has Apply, ApplyTangent and ApplyAdjoint, a stack, and may be a node of another graph.
 *
 *  Errors and the life of a layer: see tenon/layer.h.
 */
#ifndef TENON_LAYER_NETWORK_H
#define TENON_LAYER_NETWORK_H

#include <tenon/layer.h>

/** @name One after the other */
/**@{*/

/** @brief Layers one after the other, to be added with TenonLayerSequentialAdd(). Collective on
 *         comm. */
TENON_EXTERN TenonErrorCode TenonLayerCreateSequential(MPI_Comm comm,
                                                       TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Adds a layer at the end. Not collective.
 *
 *  The container sets the layer up for the output of the one before, with the container's data type
 *  and stack depth, and keeps a reference on it.
 *
 *  @return TENON_ERR_TYPE if the container is no sequential layer, TENON_ERR_ARG if the layer lives
 *          on another communicator
 */
TENON_EXTERN TenonErrorCode TenonLayerSequentialAdd(TenonLayer container,
                                                    TenonLayer layer) TENON_NOEXCEPT;
/**@}*/

/** @name Moving and joining */
/**@{*/

/** @brief y is x in another layout: on the same mesh or another of the communicator's ranks, in
 *         other properties, cuts and margins. Collective on comm.
 *
 *  The adjoint is the conversion's. Behind it in a network layers see the layout given here, so it
 *  ends what the choice of a signature can reach.
 *
 *  @param[in]  comm    communicator of the input's layout
 *  @param[in]  output  how the output lies. For an input of another shape (a last, smaller batch) it
 *                      is a pattern: cuts and margins are kept in each dimension of equal extent,
 *                      and a dimension of another extent is cut in balance
 *  @param[out] layer   to be given back with TenonLayerDestroy()
 *  @return on all ranks TENON_ERR_ARG if output lives on another communicator; at SetUp
 *          TENON_ERR_SHAPE if it has another number of dimensions, TENON_ERR_LAYOUT if a dimension
 *          of another extent has a margin
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateRepartition(MPI_Comm comm, TenonLayout output,
                                                        TenonLayer* layer) TENON_NOEXCEPT;

/** @brief The sum of its inputs, one or more of equal shape. Collective on comm.
 *
 *  The inputs may lie differently. The output lies as the first input does, without margins, unless
 *  TenonLayerSetSignature() or TenonLayerSetOutputLayout() says otherwise; the others are converted
 *  to it. It is a node of a graph, or is used by itself with TenonLayerSetUpMany(). */
TENON_EXTERN TenonErrorCode TenonLayerCreateAdd(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Its inputs one after the other along a dimension; the other extents are equal. Collective
 *         on comm.
 *
 *  The dimension may be split: each input is then moved to where its place in the output lies. The
 *  output's layout is chosen as for TenonLayerCreateAdd(), and the joined dimension is cut in
 *  balance.
 *
 *  @param[in]  comm   communicator of the inputs' layouts
 *  @param[in]  dim    from 0
 *  @param[out] layer  to be given back with TenonLayerDestroy()
 *  @return on all ranks TENON_ERR_ARG for a negative dimension; at SetUp TENON_ERR_SHAPE if the
 *          inputs do not fit
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateConcatenate(MPI_Comm comm, int dim,
                                                        TenonLayer* layer) TENON_NOEXCEPT;

/** @brief How the output of a layer that joins others lies: a pattern for any batch, as in
 *         TenonLayerCreateRepartition(), without margins. Not collective.
 *  @return TENON_ERR_TYPE unless the layer adds or concatenates; TENON_ERR_LAYOUT for margins */
TENON_EXTERN TenonErrorCode TenonLayerSetOutputLayout(TenonLayer layer,
                                                      TenonLayout output) TENON_NOEXCEPT;

/**@}*/

/** @name Graphs */
/**@{*/

/** @brief Layers joined as the nodes of a graph, to be added with TenonLayerGraphAddNode(): skip
 *         connections, several inputs, shared layers. Collective on comm. */
TENON_EXTERN TenonErrorCode TenonLayerCreateGraph(MPI_Comm comm, TenonLayer* layer) TENON_NOEXCEPT;

/** @brief How many inputs a graph has; 1 by default. Before its first node. Not collective.
 *  @return TENON_ERR_TYPE if the layer is no graph, TENON_ERR_ARG for a number below 1 */
TENON_EXTERN TenonErrorCode TenonLayerGraphSetInputs(TenonLayer graph, int count) TENON_NOEXCEPT;

/** @brief Adds a node that reads nodes added before or inputs of the graph. Not collective.
 *
 *  The graph's output is that of the last node; every other node and each input must be read. At
 *  SetUp the graph sets each layer up for what it reads, with the graph's data type and stack depth,
 *  and keeps a reference on it. A layer may be added several times: its nodes share the parameters,
 *  and gradients of all of them accumulate.
 *
 *  @param[in]  graph   graph
 *  @param[in]  layer   on the graph's communicator
 *  @param[in]  count   number of the layer's inputs, at least 1
 *  @param[in]  inputs  [count] i >= 0 for the output of node i; -1 for the graph's first input, -2
 *                      for its second, ...
 *  @param[out] node    number of the new node, from 0; NULL if it is not wanted
 *  @return TENON_ERR_TYPE if graph is no graph, TENON_ERR_ARG if there is no such node or input
 */
TENON_EXTERN TenonErrorCode TenonLayerGraphAddNode(TenonLayer graph, TenonLayer layer, int count,
                                                   const int inputs[], int* node) TENON_NOEXCEPT;

/**@}*/

/** @name Layers with several inputs */
/**@{*/

/** @brief Where the caller's values at the boundary of a convolution's or pooling's input lie.
 *         Not collective, before SetUp or after.
 *
 *  A layer with sides of TENON_BOUNDARY_VALUES, and no TenonLayerSetBoundaryConstant(), has two
 *  inputs: x, and the values that lie beyond these sides. The second is
 *
 *    - a tensor in the layout that this call gives: that of x, as its signature uses it, with the
 *      margin that each process' windows read. Of such a tensor the cells beyond sides of mode
 *      values are read, corners included, and no others; each process fills those in its own box
 *      (TenonLayoutGetBox(), or a solver's ghost cells by TenonDTensorPlaceArray()). Where the
 *      layout has P the values are addends, as x is there;
 *    - or one number: a tensor of shape [1], in any layout without margins.
 *
 *  Its cotangent lies in the dual (TenonLayerCreateInputCotangentAt() with input 1): what each
 *  process' cells collect, and zero elsewhere; or the sum of them.
 *
 *    TenonLayerSetBoundary(conv, (TenonBoundary[]){TENON_BOUNDARY_VALUES}, NULL);
 *    TenonLayerGetBoundaryLayout(conv, lx, &lv);
 *    TenonLayerSetUpMany(conv, 2, (TenonLayout[]){lx, lv});
 *    TenonLayerApplyMany(conv, 2, (TenonDTensor[]){x, v}, y);
 *
 *  @param[in]  layer     convolution or pooling
 *  @param[in]  input     layout of x
 *  @param[out] boundary  a new handle, to be given back with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE if the layer has no such input, TENON_ERR_TYPE if it has no window; what
 *          SetUp returns for this layout of x
 */
TENON_EXTERN TenonErrorCode TenonLayerGetBoundaryLayout(TenonLayer layer, TenonLayout input,
                                                        TenonLayout* boundary) TENON_NOEXCEPT;

/** @brief TenonLayerSetUp() for a layer with several inputs. Collective on the layer.
 *
 *  @param[in] layer   layer
 *  @param[in] count   number of inputs
 *  @param[in] inputs  [count] the layout of each
 *  @return as TenonLayerSetUp(); on all ranks TENON_ERR_ARG if the layer has another number of inputs
 */
TENON_EXTERN TenonErrorCode TenonLayerSetUpMany(TenonLayer layer, int count,
                                                const TenonLayout inputs[]) TENON_NOEXCEPT;

/** @brief A tensor for the cotangent of one of several inputs, counted from 0. As
 *         TenonLayerCreateOutput().
 *  @return also TENON_ERR_ARG if there is no such input */
TENON_EXTERN TenonErrorCode TenonLayerCreateInputCotangentAt(TenonLayer layer, int input,
                                                             TenonDTensor* dx) TENON_NOEXCEPT;

/** @brief TenonLayerApply() of a layer with several inputs. Collective on the layer.
 *  @param[in] x  [count] inputs, at most 64; the same one may be given twice
 *  @return as TenonLayerApply(); TENON_ERR_ARG for another number of inputs than that of SetUp */
TENON_EXTERN TenonErrorCode TenonLayerApplyMany(TenonLayer layer, int count, const TenonDTensor x[],
                                                TenonDTensor y) TENON_NOEXCEPT;

/** @brief TenonLayerApplyTangent() of a layer with several inputs; dx[i] may be NULL for zero.
 *         Collective on the layer. */
TENON_EXTERN TenonErrorCode TenonLayerApplyTangentMany(TenonLayer layer, int count,
                                                       const TenonDTensor dx[],
                                                       TenonDTensor dy) TENON_NOEXCEPT;

/** @brief TenonLayerApplyAdjoint() of a layer with several inputs; dx[i] may be NULL if it is not
 *         wanted. Collective on the layer.
 *  @return also TENON_ERR_ARG if two of dx are one tensor */
TENON_EXTERN TenonErrorCode TenonLayerApplyAdjointMany(TenonLayer layer, TenonDTensor dy, int count,
                                                       const TenonDTensor dx[]) TENON_NOEXCEPT;
/**@}*/

#endif
