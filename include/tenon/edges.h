/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Edges of a mesh, or entries of a sparse matrix, and the layers that work with them.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  The nodes of a mesh are those of an index map (tenon/index_map.h), and a field on them is a
 *  tensor [nodes, channels, ...] with the property S0. Each rank lists the edges whose targets it
 *  owns, and the sources can be ghosts; or edges anywhere, which several ranks can have
 *  (TenonEdgesCreateShared()). A field on the edges is a tensor [edges, channels, ...] in the
 *  layout of TenonEdgesGetLayout(). Types of layers lead from one to the other
 *  (TenonLayerCreateType()):
 *
 *  - "gather": y[e] = [x[target of e], s[source of e], f[e]], joined along dimension 1. The setting
 *    ends selects "both" ends, or the rows of "target" or "source" alone. Inputs are x, then s
 *    where targets and sources are two sets of nodes (otherwise s is x), then f, a field on the
 *    edges, which can be left out. With one end the only input of nodes is the field on the nodes
 *    of that end: s alone with "source".
 *  - "segmentsum": a[i] is the sum, mean or maximum (setting aggregation: "sum", "mean" or "max")
 *    of w[e] m[e,:] over the edges e with target i, where w are the weights of the edges; the mean
 *    is divided by the sum of the weights. A node without edges gets 0. Of equal rows the one with
 *    the least key is the maximum, and gets the cotangent. With the setting at "source" all
 *    of this is done at the sources: sums for any distribution of the edges, means and maxima only
 *    if each edge is on the rank that owns its source, since only sums are added between ranks.
 *  - "sparsematrix": y[i] = sum of w[e] x[source of e] over the edges e with target i.
 *  - "edgeattention": y[i,h,:] = sum of a[e,h] v[e,h,:] over the edges e with target i, where
 *    a[:,h] is the softmax of s[:,h] over these edges. Inputs are the scores s [edges, heads] and
 *    the values v [edges, channels, ...], whose channels are divided among the heads. Weights of
 *    edges do not count.
 *  - "indexmap": y = E x, the operator of an index map between any two layouts, or its transpose
 *    with the setting transposed; it takes its map from TenonLayerSetIndexMap().
 *
 *  Values of nodes of other ranks come by the index maps, and only where some rank's edges end at
 *  ghosts. Adjoints are exact. All inputs and outputs are fields on owned nodes or on edges; ghosts
 *  are within the layers.
 *
 *  Message passing, m = f(x at both ends, features), y = g(x, sum of m), with two networks:
 *
 *      TenonLayerCreateType(comm, "columnmlp", &f);          // widths 2C + F, ..., M
 *      TenonLayerCreateType(comm, "columnmlp", &g);          // widths C + M, ..., C
 *      TenonLayerCreateMessagePassing(f, g, 2, "sum", &step);
 *      TenonLayerSetEdges(step, "", edges);
 *      TenonLayout inputs[2] = {plain, features};            // [nodes, C], [edges, F]
 *      TenonLayerSetUpMany(step, 2, inputs);
 *
 *  The network file mesh-gnn has an encoder, four steps with edges that are carried from step to
 *  step, and a decoder (TenonLayerCreateFromFile()); its edges have the name "mesh".
 *
 *  The type "rows" makes rows of a field on a grid, [batch, channel, y, x] -> [points, channel],
 *  and back if TenonLayerSetOutputLayout() is called with the field's layout. Each rank keeps its
 *  points, batch first, then row by row. With an index map of the points' ids in that order, and
 *  edges between them and a mesh's nodes, a network leads from a grid to a mesh and back.
 *
 *  Results. Sums are in the order of the edges' keys. If the keys do not depend on the partition,
 *  and each edge is on the rank that owns its target, the results of these layers, and of networks
 *  of them and of layers that work on each row, are the same bit by bit on any partition. Gradients
 *  are summed between ranks too, as are results if edges are on any rank: those are the same to
 *  rounding.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks.
 */
#ifndef TENON_EDGES_H
#define TENON_EDGES_H

#include <tenon/error.h>
#include <tenon/types.h>

/** @brief Creates the edges that each rank lists. Collective on targets.
 *
 *  Edges are directed; there can be loops and several edges between two nodes. Each edge is listed
 *  once, on the rank that owns its target. A rank can list none.
 *
 *  As a sparse matrix, targets are rows, sources are columns and weights are the entries.
 *
 *  @param[in]  targets  nodes at which edges end, of TenonIndexMapCreateFromIds()
 *  @param[in]  sources  nodes at which they begin, likewise; can be targets
 *  @param[in]  count    number of this rank's edges
 *  @param[in]  target   [count] positions in this rank's list of targets, counted from 0, of nodes
 *                       that it owns
 *  @param[in]  source   [count] positions in this rank's list of sources, ghosts included, counted
 *                       from 0
 *  @param[in]  keys     [count] numbers in whose order the edges of a node are summed: each edge's
 *                       own, the same on any partition. May be NULL, in which case the order is
 *                       that of the list.
 *  @param[in]  weights  [count] factors of the edges in sums. May be NULL, in which case all are 1.
 *  @param[out] edges    new edges; destroy them with TenonEdgesDestroy()
 *  @return TENON_ERR_ARG     a position is not in the list, or a target is a ghost; the message
 *                            names the edge and the rank. Or the maps have different communicators.
 *  @return TENON_ERR_LAYOUT  a map is not one of TenonIndexMapCreateFromIds()
 */
TENON_EXTERN TenonErrorCode TenonEdgesCreate(TenonIndexMap targets, TenonIndexMap sources,
                                             TenonInt count, const TenonInt target[],
                                             const TenonInt source[], const TenonInt keys[],
                                             const double weights[],
                                             TenonEdges* edges) TENON_NOEXCEPT;

/** @brief Creates edges that lie anywhere, of which several ranks can have one. Collective on
 *         targets.
 *
 *  So are the edges of codes whose domains overlap, or that share nodes between elements. An edge
 *  is known by its key. Where several ranks list it, each has its own row of a field on the edges,
 *  and sums take a share of each: shares are factors of the weights, and those of an edge add up to
 *  1. What a rank's edges give to nodes of other ranks is added there. Maxima and "edgeattention"
 *  need edges that lie with their targets.
 *
 *  @param[in]  targets  nodes at which edges end, of TenonIndexMapCreateFromIds()
 *  @param[in]  sources  nodes at which they begin, likewise; can be targets
 *  @param[in]  count    number of this rank's edges
 *  @param[in]  target   [count] positions in this rank's list of targets, ghosts included, counted
 *                       from 0
 *  @param[in]  source   [count] positions in this rank's list of sources, ghosts included, counted
 *                       from 0
 *  @param[in]  keys     [count] each edge's own number, the same on all ranks that have it
 *  @param[in]  shares   [count] parts of the edges that this rank's sums take. May be NULL, in
 *                       which case the ranks that have an edge, all of which then pass NULL,
 *                       take equal parts.
 *  @param[in]  weights  [count] factors of the edges in sums. May be NULL, in which case all are 1.
 *  @param[out] edges    new edges; destroy them with TenonEdgesDestroy()
 *  @return TENON_ERR_ARG     a position is not in the list, a rank lists a key twice, or the shares
 *                            of an edge do not add up to 1; the message names the edge and the
 *                            ranks
 *  @return TENON_ERR_LAYOUT  a map is not one of TenonIndexMapCreateFromIds()
 */
TENON_EXTERN TenonErrorCode TenonEdgesCreateShared(TenonIndexMap targets, TenonIndexMap sources,
                                                   TenonInt count, const TenonInt target[],
                                                   const TenonInt source[], const TenonInt keys[],
                                                   const double shares[], const double weights[],
                                                   TenonEdges* edges) TENON_NOEXCEPT;

/** @brief Returns the layout of a field on the edges. Collective on the edges.
 *
 *  Each rank has its edges in the order in which it listed them.
 *
 *  @param[in]  edges   edges
 *  @param[in]  ndim    number of dimensions of the field, >= 1
 *  @param[in]  shape   [ndim] global extents, the same on all ranks; 0 for the first, which is the
 *                      number of edges
 *  @param[out] layout  new layout; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_SHAPE       the first extent is not 0, or there are no dimensions
 *  @return TENON_ERR_LAYOUT      an extent is negative
 *  @return TENON_ERR_COLLECTIVE  ranks pass different shapes
 */
TENON_EXTERN TenonErrorCode TenonEdgesGetLayout(TenonEdges edges, int ndim, const TenonInt shape[],
                                                TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Hands edges to a layer. Local; call on all ranks.
 *
 *  A layer of type gather, segmentsum, edgeattention or sparsematrix takes the edges whose name its
 *  setting edges says, "" by default. A network hands them on to the layers in it that have none of
 *  that name. The layer keeps what it needs of the edges. Network files have names alone.
 *
 *  @param[in] layer  layer of one of these types, or network, not set up
 *  @param[in] name   name, which can be ""
 *  @param[in] edges  edges on the communicator of the layer
 *  @return TENON_ERR_TYPE  the layer is of another type
 *  @return TENON_ERR_ARG   the edges have another communicator
 */
TENON_EXTERN TenonErrorCode TenonLayerSetEdges(TenonLayer layer, const char* name,
                                               TenonEdges edges) TENON_NOEXCEPT;

/** @brief Hands an index map to a layer. Local; call on all ranks.
 *
 *  A layer of type indexmap takes the map whose name its setting index_map says, "" by default. A
 *  network hands it on as with TenonLayerSetEdges().
 *
 *  @param[in] layer  layer of type indexmap, or network, not set up
 *  @param[in] name   name, which can be ""
 *  @param[in] map    map on the communicator of the layer
 *  @return TENON_ERR_TYPE  the layer is of another type
 *  @return TENON_ERR_ARG   the map has another communicator
 */
TENON_EXTERN TenonErrorCode TenonLayerSetIndexMap(TenonLayer layer, const char* name,
                                                  TenonIndexMap map) TENON_NOEXCEPT;

/** @brief Creates a step of message passing, a graph of layers. Collective on edgeNetwork.
 *
 *  m[e] = f(x[target of e], s[source of e], features[e]), y[i] = g(x[i], a[i]), where a[i] is the
 *  sum, mean or maximum of m[e] over the edges e with target i. Its inputs are x, then s where
 *  sources are another set of nodes (otherwise s is x), then features if f reads some. Its layers
 *  are called "ends", "sum" and "joined", and the networks as they are; they take the edges of
 *  TenonLayerSetEdges(layer, "", edges). Gilmer et al., Neural Message Passing for Quantum
 *  Chemistry (2017), Equations 1 and 2.
 *
 *  @param[in]  edgeNetwork  layer f of each edge: [edges, channels of x, s and features] to
 *                           [edges, M]; the graph holds a reference
 *  @param[in]  nodeNetwork  layer g of each node: [nodes, channels of x and M], likewise
 *  @param[in]  inputs       number of inputs, 1 to 3
 *  @param[in]  aggregation  "sum", "mean" or "max"
 *  @param[out] layer        new layer; destroy it with TenonLayerDestroy()
 *  @return TENON_ERR_ARG   inputs is out of range, or the networks have different communicators
 *  @return TENON_ERR_TYPE  aggregation is none of these
 */
TENON_EXTERN TenonErrorCode TenonLayerCreateMessagePassing(TenonLayer edgeNetwork,
                                                           TenonLayer nodeNetwork, int inputs,
                                                           const char* aggregation,
                                                           TenonLayer* layer) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] edges  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonEdgesDestroy(TenonEdges* edges) TENON_NOEXCEPT;

#endif
