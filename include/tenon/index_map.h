/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Index maps: fields on unstructured meshes, and other maps between elements by lists.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A field on the nodes of a mesh is a tensor [nodes, levels, ...] with the property S0: each rank
 *  has the nodes that it owns. An index map stores the ids of the nodes that a rank owns, and of
 *  the ghosts, copies of nodes of other ranks, that the rank has in addition. It defines two
 *  layouts, one of the owned nodes, and one of the owned nodes followed by the ghosts, which has a
 *  halo of boundary mode TENON_BOUNDARY_LINKED. It also defines an operator from the first layout
 *  to the second, which fills the ghosts. The adjoint of the operator adds the contributions of the
 *  ghosts to the nodes at their owners. Both tensors can use the solver's array, owned nodes first,
 *  in place; then only ghosts are copied.
 *
 *      TenonIndexMapCreateFromIds(comm, owned, count, ids, &nodes);
 *      TenonIndexMapGetLayouts(nodes, 2, (TenonInt[]){0, levels}, &plain, &ghosted);
 *      TenonDTensorCreate(plain, TENON_FLOAT64, &x);
 *      TenonDTensorCreate(ghosted, TENON_FLOAT64, &u);
 *      TenonDTensorPlaceArray(x, array, NULL, NULL, NULL, count * levels);
 *      const TenonInt behind[] = {count - owned, 0};
 *      TenonDTensorPlaceArray(u, array, NULL, NULL, behind, count * levels);
 *      TenonLinearOpCreateIndexMap(nodes, plain, TENON_FLOAT64, &fill);
 *      TenonLinearOpApply(fill, x, u);
 *
 *  A conversion can drop such ghosts. It cannot fill them (TENON_ERR_LAYOUT), since a layout does
 *  not say which nodes they are copies of. Norms and losses count each node once.
 *
 *  An index map is immutable. An operator holds what it needs of the map, which can be destroyed.
 *  Each rank stores only its own lists; no rank has a list of all ids. Set-up sends messages to the
 *  ranks that share nodes, and to the ranks of a directory in which ids are looked up.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks.
 */
#ifndef TENON_INDEX_MAP_H
#define TENON_INDEX_MAP_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Creates the map of a mesh's nodes from the ids that each rank lists. Collective on comm.
 *
 *  The map is from the owned nodes to the owned nodes with ghosts. Arrays have the nodes in the
 *  order of the list. A ghost can be listed several times, and can be a copy of a node that the
 *  rank itself owns, for example at a periodic boundary. A rank can own no nodes, and can list
 *  none.
 *
 *  Ids can be any numbers in any order: they are looked up in a directory in which a hash
 *  distributes them over the ranks.
 *
 *  @param[in]  comm   communicator of the ranks that have nodes
 *  @param[in]  owned  number of nodes that this rank owns, the first of the list
 *  @param[in]  count  number of nodes of this rank, ghosts included
 *  @param[in]  ids    [count] ids of this rank's nodes, any integers
 *  @param[out] map    new map; destroy it with TenonIndexMapDestroy()
 *  @return TENON_ERR_ARG     owned is negative, or more than count
 *  @return TENON_ERR_LAYOUT  two ranks own one id, a rank owns it twice, or no rank owns the id of
 *                            a ghost; the message names the id and the ranks
 */
TENON_EXTERN TenonErrorCode TenonIndexMapCreateFromIds(MPI_Comm comm, TenonInt owned,
                                                       TenonInt count, const TenonInt ids[],
                                                       TenonIndexMap* map) TENON_NOEXCEPT;

/** @brief Creates the map from the nodes of a mesh to the same in the order of their ids.
 *         Collective on nodes.
 *
 *  The domain of the new map is the domain of nodes. Its range has each node once, without ghosts,
 *  in the order of the ids and in equal parts on the ranks, which is the same tensor on any
 *  partition. The adjoint maps back to the domain. Use it to write fields to files and read them
 *  (doc/meshes.md):
 *
 *      TenonIndexMapCreateSorted(nodes, &sorted);
 *      TenonIndexMapGetLayouts(sorted, 2, (TenonInt[]){0, levels}, &plain, &by_id);
 *      TenonLinearOpCreateIndexMap(sorted, plain, TENON_FLOAT64, &sort);
 *      TenonDTensorCreate(by_id, TENON_FLOAT64, &y);
 *      TenonCheckpointAddTensor(checkpoint, y, "temperature");
 *      TenonLinearOpApply(sort, x, y);            // before the file is written
 *      TenonLinearOpApplyAdjoint(sort, y, x);     // after it is read, on any partition
 *
 *  @param[in]  nodes   map of TenonIndexMapCreateFromIds()
 *  @param[out] sorted  new map; destroy it with TenonIndexMapDestroy()
 *  @return TENON_ERR_LAYOUT  nodes is a map of another call
 */
TENON_EXTERN TenonErrorCode TenonIndexMapCreateSorted(TenonIndexMap nodes,
                                                      TenonIndexMap* sorted) TENON_NOEXCEPT;

/** @brief Creates a map between the elements of two layouts. Collective on the layouts.
 *
 *  Each rank lists entries for its own array of `to`: y[target[n]] is the sum over the entries n of
 *  weights[n] times x[source[n]], and zero without an entry. The map is thus a sparse matrix. It
 *  acts on the combined index of some dimensions, the joint ones, counted row by row. Along the
 *  other dimensions both layouts have the same extent and the same split points, and the map acts
 *  separately at each index.
 *
 *  If `to` is `from` with a halo of TENON_BOUNDARY_LINKED, owned elements are copied, and the
 *  entries are for ghosts only.
 *
 *  @param[in]  from     layout of the domain, without halos
 *  @param[in]  to       layout of the range, with as many dimensions on the same process grid
 *  @param[in]  joint    [ndim] 1 for each joint dimension, 0 for the others
 *  @param[in]  count    number of this rank's entries
 *  @param[in]  target   [count] joint indices in this rank's array, halo included, counted from 0
 *  @param[in]  source   [count] joint indices in the whole tensor, counted from 0
 *  @param[in]  weights  [count] factors. May be NULL, in which case all are 1.
 *  @param[out] map      new map; destroy it with TenonIndexMapDestroy()
 *  @return TENON_ERR_LAYOUT  the layouts have different numbers of dimensions or process grids, are
 *                            divided differently along a dimension that is not joint, or `from` has
 *                            halos
 *  @return TENON_ERR_ARG     no dimension is joint, or an index is out of range; the message names
 *                            the entry
 */
TENON_EXTERN TenonErrorCode TenonIndexMapCreateCells(
    TenonLayout from, TenonLayout to, const int joint[], TenonInt count, const TenonInt target[],
    const TenonInt source[], const double weights[], TenonIndexMap* map) TENON_NOEXCEPT;

/** @brief Returns the layouts of tensors that the map takes and gives. Collective on the map.
 *
 *  Of a map from ids, dimension 0 is that of the nodes, and any number of dimensions can follow it.
 *
 *  @param[in]  map     index map
 *  @param[in]  ndim    number of dimensions of the tensors
 *  @param[in]  shape   [ndim] global extents, the same on all ranks; 0 in the joint dimensions,
 *                      whose extents are those of the map
 *  @param[out] domain  new layout, of the owned elements; destroy it with TenonLayoutDestroy()
 *  @param[out] range   new layout, with ghosts if the map has some; destroy it with
 *                      TenonLayoutDestroy()
 *  @return TENON_ERR_SHAPE       an extent is not 0 in a joint dimension, or there are fewer
 *                                dimensions than the map has
 *  @return TENON_ERR_LAYOUT      an extent is negative
 *  @return TENON_ERR_COLLECTIVE  ranks pass different shapes
 */
TENON_EXTERN TenonErrorCode TenonIndexMapGetLayouts(TenonIndexMap map, int ndim,
                                                    const TenonInt shape[], TenonLayout* domain,
                                                    TenonLayout* range) TENON_NOEXCEPT;

/** @brief Creates the operator of a map. Collective on the map.
 *
 *  It works in place if the two tensors use one array, as above: TenonLinearOpApply() then writes
 *  ghosts only, and TenonLinearOpApplyAdjoint() adds the ghosts to the owned elements. With any
 *  transport, copies of a node are bitwise identical, and contributions are added in the order of
 *  the ranks' positions in the process grid.
 *
 *  @param[in]  map     index map
 *  @param[in]  domain  layout of the domain: the first of TenonIndexMapGetLayouts(), of any shape
 *  @param[in]  type    element type; not an integer type for a map with weights
 *  @param[out] op      new operator; destroy it with TenonLinearOpDestroy()
 *  @return TENON_ERR_LAYOUT    the domain has other split points than the domain of the map
 *  @return TENON_ERR_DATATYPE  the map has weights, and the type is an integer type
 *  @return TENON_ERR_ARG       map and domain have different communicators
 */
TENON_EXTERN TenonErrorCode TenonLinearOpCreateIndexMap(TenonIndexMap map, TenonLayout domain,
                                                        TenonDataType type,
                                                        TenonLinearOp* op) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] map  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonIndexMapDestroy(TenonIndexMap* map) TENON_NOEXCEPT;

#endif
