/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Edges of a mesh, or entries of a sparse matrix, and the layers that work with them.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  The nodes of a mesh are the nodes of an index map (tenon/index_map.h), and a field on them is a
 *  tensor [nodes, channels, ...] with the property S0. Edges are distributed in one of two ways:
 *  each rank lists the edges whose targets it owns, with any sources, ghosts included
 *  (TenonEdgesCreate()); or each rank lists any edges, and an edge can be listed by several ranks
 *  (TenonEdgesCreateShared()). A field on the edges is a tensor [edges, channels, ...] in the
 *  layout of TenonEdgesGetLayout(). These layer types (TenonLayerCreateType()) compute fields on
 *  edges from fields on nodes, and conversely:
 *
 *  - "gather": y[e] = [x[target of e], s[source of e], f[e]], joined along dimension 1. The setting
 *    ends selects "both" ends, or only "target" or "source". The inputs are x; then s if targets
 *    and sources are two sets of nodes (otherwise s is x); then, optionally, f, a field on the
 *    edges. If ends selects one end, the field on the nodes of this end is the only input on nodes:
 *    x for "target", s for "source".
 *  - "segmentsum": a[i] is the sum, mean or maximum (setting aggregation: "sum", "mean" or "max")
 *    of w[e] m[e,:] over the edges e with target i, where w are the weights of the edges. The mean
 *    is divided by the sum of the weights. A node without edges gets 0. If several rows are the
 *    maximum, the one with the least key gets the cotangent. If the setting at is "source", edges
 *    with source i are used instead: for a sum with any distribution of the edges; for a mean or
 *    maximum only if each edge is on the rank that owns its source, since only sums are added
 *    between ranks.
 *  - "sparsematrix": y[i] = sum of w[e] x[source of e] over the edges e with target i.
 *  - "edgeattention": y[i,h,:] = sum of a[e,h] v[e,h,:] over the edges e with target i, where
 *    a[:,h] is the softmax of s[:,h] over these edges. Inputs are the scores s [edges, heads] and
 *    the values v [edges, channels, ...], whose channels are divided among the heads. The weights
 *    of the edges are not used.
 *  - "indexmap": y = E x, the operator of an index map between any two layouts, or its transpose if
 *    the setting transposed is true. TenonLayerSetIndexMap() sets the map.
 *
 *  Values of nodes of other ranks are exchanged by the index maps, and only if edges of some rank
 *  end at ghosts. Adjoints are exact. All inputs and outputs are fields on owned nodes or on edges;
 *  ghosts exist only inside the layers.
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
 *  The network file mesh-gnn (TenonLayerCreateFromFile()) has an encoder, four steps of message
 *  passing that also update the field on the edges, and a decoder; its edges have the name "mesh".
 *
 *  The type "rows" makes rows of a field on a grid, [batch, channel, y, x] -> [points, channel],
 *  and the inverse if TenonLayerSetOutputLayout() is called with the field's layout. Each rank
 *  keeps its points, in the order of the batch and then row by row. With an index map of the
 *  points' ids in this order, and edges between these points and the nodes of a mesh, a network can
 *  map fields from a grid to a mesh and back.
 *
 *  Results. Sums are in the order of the edges' keys. If the keys do not depend on the partition,
 *  and each edge is on the rank that owns its target, the results of these layers are bitwise
 *  identical on any partition, also in networks with layers that work on each row. Gradients, and
 *  results with edges of TenonEdgesCreateShared(), are sums between ranks and therefore equal up to
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
 *  @param[in]  sources  nodes at which edges begin, of TenonIndexMapCreateFromIds(); can be targets
 *  @param[in]  count    number of this rank's edges
 *  @param[in]  target   [count] positions in this rank's list of targets, counted from 0, of nodes
 *                       that it owns
 *  @param[in]  source   [count] positions in this rank's list of sources, ghosts included, counted
 *                       from 0
 *  @param[in]  keys     [count] a number for each edge that does not depend on the partition; the
 *                       edges of a node are summed in the order of these numbers. May be NULL, in
 *                       which case they are summed in the order of the list.
 *  @param[in]  weights  [count] factors of the edges in sums. May be NULL, in which case all are 1.
 *  @param[out] edges    new edges; destroy them with TenonEdgesDestroy()
 *  @return TENON_ERR_ARG     a position is not in the list, or a target is a ghost; the message
 *                            names the edge and the rank. Also if the maps have different
 *                            communicators.
 *  @return TENON_ERR_LAYOUT  a map is not one of TenonIndexMapCreateFromIds()
 */
TENON_EXTERN TenonErrorCode TenonEdgesCreate(TenonIndexMap targets, TenonIndexMap sources,
                                             TenonInt count, const TenonInt target[],
                                             const TenonInt source[], const TenonInt keys[],
                                             const double weights[],
                                             TenonEdges* edges) TENON_NOEXCEPT;

/** @brief Creates edges that one or several ranks can list. Collective on targets.
 *
 *  For codes whose domains overlap, or whose elements on several ranks share nodes. A key
 *  identifies an edge. Each rank that lists an edge has a row for it in a field on the edges. In a
 *  sum, the row of each rank is multiplied by the weight of the edge and by the share of the rank;
 *  the shares of an edge add up to 1. The contributions of a rank's edges to nodes of other ranks
 *  are added at the owners. Maxima and "edgeattention" require that each edge is on the rank that
 *  owns its target.
 *
 *  @param[in]  targets  nodes at which edges end, of TenonIndexMapCreateFromIds()
 *  @param[in]  sources  nodes at which edges begin, of TenonIndexMapCreateFromIds(); can be targets
 *  @param[in]  count    number of this rank's edges
 *  @param[in]  target   [count] positions in this rank's list of targets, ghosts included, counted
 *                       from 0
 *  @param[in]  source   [count] positions in this rank's list of sources, ghosts included, counted
 *                       from 0
 *  @param[in]  keys     [count] number of each edge, the same on all ranks that list the edge
 *  @param[in]  shares   [count] shares of this rank. May be NULL, in which case the ranks that list
 *                       an edge, which must all pass NULL, have equal shares.
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
 *  A layer of type gather, segmentsum, edgeattention or sparsematrix uses the edges with the name
 *  in its setting edges, "" by default. A network hands edges on to those of its layers that have
 *  no edges of this name. The layer holds what it needs, so the edges can be destroyed. Network
 *  files contain names of edges only.
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
 *  A layer of type indexmap uses the map with the name in its setting index_map, "" by default. A
 *  network hands the map on as in TenonLayerSetEdges().
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
 *  sum, mean or maximum of m[e] over the edges e with target i (Gilmer et al., Neural Message
 *  Passing for Quantum Chemistry, 2017, Equations 1 and 2). Its inputs are x; then s if the sources
 *  are another set of nodes (otherwise s is x); then features if f reads them. The graph has layers
 *  of the names "ends", "sum" and "joined", and the two networks. The layers use the edges of
 *  TenonLayerSetEdges(layer, "", edges).
 *
 *  @param[in]  edgeNetwork  layer f of each edge: [edges, channels of x, s and features] to
 *                           [edges, M]; the graph holds a reference
 *  @param[in]  nodeNetwork  layer g of each node: [nodes, channels of x and M] to [nodes, ...]; the
 *                           graph holds a reference
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
