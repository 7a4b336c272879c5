/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLayout: the distribution of a tensor on a process grid.
 *
 *  This header is stable (doc/1.0.md).
 *
 *  Along each axis of the process grid the tensor has one property:
 *
 *  | property    | meaning along the axis                                                        |
 *  | ----------- | ----------------------------------------------------------------------------- |
 *  | S0, S1, ... | sharded: each process holds its local block of tensor dimension 0, 1, ...     |
 *  | B           | broadcast: the tensor is replicated                                           |
 *  | P           | partial: each process holds a full-size partial sum; the value is their sum   |
 *  | R           | root: the tensor is stored only on coordinate 0 of the axis, the root process |
 *
 *  Along an axis of one process the four properties are equivalent: on a grid of 1x1x2x3 processes,
 *  a layout from boxes, "S0,S1,S2,S3", equals "S0,B,S2,S3".
 *
 *  Properties are written in the order of the axes, separated by commas: "S0,B". The axes that
 *  split a dimension divide it at split points (cuts), which are balanced by default. The axes are
 *  ordered: the first one is the major axis, and the last one is the minor axis, along which
 *  neighbours have adjacent blocks. A dimension can have a halo: the boxes of the processes then
 *  differ from their local blocks, and can overlap, leave gaps or extend beyond the domain. A
 *  boundary mode defines the elements outside the domain.
 *
 *  Dimensions are counted from 0 and stored row-major: the last is contiguous in memory. A box is a
 *  half-open range of global indices in each dimension, low <= i < high, with indices counted from
 *  0.
 *
 *  Life cycle: TenonLayoutCreate(), setters, TenonLayoutSetUp(); or one of the calls that create a
 *  complete layout. A layout that is set up never changes. If a setter fails on any rank, the
 *  layout is unchanged, and the next TenonLayoutSetUp() fails on all ranks unless the setter is
 *  called again with success.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Setters return TENON_ERR_STATE
 *  after TenonLayoutSetUp(), and most getters return it before TenonLayoutSetUp(). Errors of
 *  collective calls are the same on all ranks.
 */
#ifndef TENON_LAYOUT_H
#define TENON_LAYOUT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Boundary modes: the linear extension of a dimension of n elements beyond its ends. */
typedef enum TenonBoundary TENON_ENUM_INT {
  TENON_BOUNDARY_NONE = 0,      /**< the halo is clipped to the domain */
  TENON_BOUNDARY_ZERO = 1,      /**< elements outside are zero */
  TENON_BOUNDARY_PERIODIC = 2,  /**< ... n-2 n-1 | 0 1 ... n-1 | 0 1 ... */
  TENON_BOUNDARY_REFLECT = 3,   /**< ... 2 1     | 0 1 ... n-1 | n-2 n-3 ... */
  TENON_BOUNDARY_REPLICATE = 4, /**< ... 0 0     | 0 1 ... n-1 | n-1 n-1 ... */
  TENON_BOUNDARY_VALUES = 5,    /**< user-supplied; a conversion writes zeros */
  TENON_BOUNDARY_SYMMETRIC = 6, /**< ... 1 0     | 0 1 ... n-1 | n-1 n-2 ...: even about a wall
                                     between elements */
  TENON_BOUNDARY_ODD = 7,       /**< ... -1 -0   | 0 1 ... n-1 | -(n-1) -(n-2) ...: odd about a wall
                                     between elements, such as the velocity along a wall in cells */
  TENON_BOUNDARY_ODD_POINT = 8, /**< ... -2 -1   | 0 1 ... n-1 | -(n-2) -(n-3) ...: odd about a wall
                                     on the first or last element, such as the velocity through a
                                     wall on faces; the element on the wall is not changed */
  TENON_BOUNDARY_LINKED = 9,    /**< beyond a local block are copies that an index map or links
                                     fill, see tenon/index_map.h and tenon/links.h; the mode of both
                                     sides or of none */
  TENON_BOUNDARY_POLE = 10,     /**< latitudes beyond a pole between two rows, for n rows and N
                                     longitudes: f[-1-k, x] = f[k, x + N/2], see
                                     TenonLayoutSetHalo() */
  TENON_BOUNDARY_POLE_POINT = 11,        /**< the same where the first (last) row is the pole:
                                              f[-k, x] = f[k, x + N/2] */
  TENON_BOUNDARY_POLE_VECTOR = 12,       /**< POLE for a component of a vector along latitudes or
                                              longitudes: f[-1-k, x] = -f[k, x + N/2] */
  TENON_BOUNDARY_POLE_POINT_VECTOR = 13, /**< POLE_POINT for such a component:
                                              f[-k, x] = -f[k, x + N/2] */
  TENON_BOUNDARY_MAX_ = 0x7fff
} TenonBoundary;

/** @brief Creates a layout in one call. Collective on the partition.
 *  @param[in]  partition   process grid
 *  @param[in]  ndim        number of tensor dimensions; must be 1 to 8
 *  @param[in]  shape       [ndim] global extents; must be >= 0
 *  @param[in]  properties  properties, one per grid axis: "S0,B"
 *  @param[out] layout      new layout, set up; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_LAYOUT      shape and properties are out of range or do not match the process
 *                                grid
 *  @return TENON_ERR_SHAPE       the shape has more than INT64_MAX / 8 elements; also in all other
 *                                calls that make a layout
 *  @return TENON_ERR_COLLECTIVE  ranks pass different arguments
 *  @see    TenonLayoutCreate(), TenonLayoutCreateFromBoxes()
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateSharded(TenonPartition partition, int ndim,
                                                     const TenonInt shape[], const char* properties,
                                                     TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Creates a layout from the boxes of a user's decomposition. Collective on comm.
 *
 *  Each rank passes the box that it holds. The boxes must form a Cartesian grid that covers the
 *  shape without overlaps. Any rank can hold any box of the grid, and a rank with an empty box (low
 *  equal to high) holds no elements. Grid axis d of the new layout splits tensor dimension d.
 *
 *  @note Pass the shape if it is known: without it, boxes that all end one row too early are not an
 *        error, but a smaller tensor.
 *
 *  @param[in]  comm    communicator, see TenonPartitionCreate()
 *  @param[in]  ndim    number of tensor dimensions; must be 1 to 8
 *  @param[in]  shape   [ndim] global extents, the same on all ranks. May be NULL, in which case
 *                      they are the largest high of all boxes in each dimension.
 *  @param[in]  low     [ndim] first index of this rank's box; global indices begin at 0
 *  @param[in]  high    [ndim] one past its last index; must be >= low
 *  @param[out] layout  new layout, set up; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_LAYOUT      the boxes do not form such a grid; the message names the ranks and
 *                                their boxes, or the range that no rank holds and the nearest box
 *  @return TENON_ERR_ARG         ndim is out of range, or high is below low
 *  @return TENON_ERR_COLLECTIVE  ranks pass different numbers of dimensions or shapes
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateFromBoxes(MPI_Comm comm, int ndim,
                                                       const TenonInt shape[], const TenonInt low[],
                                                       const TenonInt high[],
                                                       TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Creates the layout of a field on a staggered grid from that of the cells. Collective on
 *         cells.
 *
 *  Values that are shifted by half a cell are located on faces: n + 1 faces for n cells between
 *  walls, n faces if the dimension is periodic. Face i is the lower face of cell i and on the rank
 *  of this cell; the last face is on the rank of the last cell. Fields with different offsets thus
 *  have layouts with one decomposition. The new layout has no halos.
 *
 *  Layers compute means between cells and faces: TenonLayerCreateCollocate() on cells,
 *  TenonLayerCreateStagger() on faces, with outputs in these layouts.
 *
 *  @param[in]  cells   layout of values in cells, set up
 *  @param[in]  faces   [ndim] 1 in dimensions with one more face than cells, otherwise 0
 *  @param[out] layout  new layout, set up; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_ARG         an entry of faces is neither 0 nor 1
 *  @return TENON_ERR_STATE       cells is not set up
 *  @return TENON_ERR_COLLECTIVE  ranks pass different arguments
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateStaggered(TenonLayout cells, const TenonInt faces[],
                                                       TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Creates a layout to be completed by setters. Collective on the partition.
 *
 *  Set at least the shape and the properties; everything else has a default. Then call
 *  TenonLayoutSetUp().
 *
 *  @param[in]  partition  process grid
 *  @param[out] layout     new layout; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_COLLECTIVE  ranks pass different process grids
 *  @see    TenonLayoutCreateSharded(), TenonLayoutCreateLike()
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreate(TenonPartition partition,
                                              TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Creates an editable copy of a layout. Collective on the model.
 *
 *  Change the settings that differ, for example add a halo, and call TenonLayoutSetUp().
 *
 *  @param[in]  model   layout that is set up, created by any call
 *  @param[out] layout  new layout, not set up; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_STATE       the model is not set up
 *  @return TENON_ERR_COLLECTIVE  ranks pass different models
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateLike(TenonLayout model,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Sets the global extents. Local; call on all ranks.
 *
 *  A dimension whose extent changes loses its split points, and a halo set by
 *  TenonLayoutSetHaloBoxes(); the widths of TenonLayoutSetHalo() remain. If the number of
 *  dimensions changes, split points and halos of all dimensions are lost.
 *
 *  @param[in] layout  layout
 *  @param[in] ndim    number of tensor dimensions; must be 1 to 8
 *  @param[in] shape   [ndim] global extents; must be >= 0
 *  @return TENON_ERR_LAYOUT  ndim or an extent is out of range
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetShape(TenonLayout layout, int ndim,
                                                const TenonInt shape[]) TENON_NOEXCEPT;

/** @brief Sets the property of each grid axis. Local; call on all ranks.
 *
 *  A dimension that is now split by other axes loses its split order, its split points, and a halo
 *  set by TenonLayoutSetHaloBoxes().
 *
 *  @param[in] layout      layout
 *  @param[in] properties  properties, one per grid axis: "S0,B"
 *  @return TENON_ERR_LAYOUT  the text is not a list of properties; the message names the unknown
 *                            word
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetProperties(TenonLayout layout,
                                                     const char* properties) TENON_NOEXCEPT;

/** @brief Sets the order of the axes that split a dimension. Local; call on all ranks.
 *
 *  The default is the order of the axes in the process grid. Call TenonLayoutSetShape() first.
 *
 *  @param[in] layout  layout
 *  @param[in] dim     tensor dimension, counted from 0
 *  @param[in] count   number of axes that split the dimension
 *  @param[in] axes    [count] grid axes, from the major (slowest) to the minor (fastest)
 *  @return TENON_ERR_ARG    there is no such dimension
 *  @return TENON_ERR_STATE  the shape is not set
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetSplitOrder(TenonLayout layout, int dim, int count,
                                                     const int axes[]) TENON_NOEXCEPT;

/** @brief Sets the split points of a dimension. Local; call on all ranks.
 *
 *  By default the dimension is split evenly along its major axis, and each resulting block along
 *  the next axis. Call TenonLayoutSetShape() first.
 *
 *  @param[in] layout  layout
 *  @param[in] dim     tensor dimension, counted from 0
 *  @param[in] count   number of local blocks along the dimension, plus 1
 *  @param[in] cuts    [count] split points, non-decreasing from 0 to the extent; blocks are
 *                     numbered over the splitting axes with the minor axis fastest, and two equal
 *                     split points make an empty block
 *  @return TENON_ERR_ARG    there is no such dimension
 *  @return TENON_ERR_STATE  the shape is not set
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetCuts(TenonLayout layout, int dim, int count,
                                               const TenonInt cuts[]) TENON_NOEXCEPT;

/** @brief Sets a halo of uniform width in one dimension. Local; call on all ranks.
 *
 *  Applies to every local block, whether or not the dimension is split. Empty blocks have no halo.
 *  The halo holds copies; for a halo of partial sums see TenonLayoutGetDual(). Call
 *  TenonLayoutSetShape() first.
 *
 *  Beyond a pole of a globe (TENON_BOUNDARY_POLE and the like) the rows of latitudes follow in
 *  reverse on the opposite meridian, at half of the longitudes further on, and so on for any width.
 *  The longitudes are another dimension, of even extent: the only other one that has a halo of mode
 *  periodic, of width 0 if it needs none, or else the only other one besides batch and channels
 *  (dimensions 0 and 1 of tensors of 4 or more). If they have a halo, its mode is periodic. For
 *  example, for [batch, channel, latitudes, longitudes]:
 *
 *      TenonLayoutSetHalo(layout, 2, 1, 1, TENON_BOUNDARY_POLE, TENON_BOUNDARY_POLE);
 *      TenonLayoutSetHalo(layout, 3, 1, 1, TENON_BOUNDARY_PERIODIC, TENON_BOUNDARY_PERIODIC);
 *
 *  @param[in] layout    layout
 *  @param[in] dim       tensor dimension, counted from 0
 *  @param[in] low       halo width before each block; if negative, the number of elements left out
 *  @param[in] high      halo width after each block; if negative, the number of elements left out
 *  @param[in] lowMode   boundary mode before the domain
 *  @param[in] highMode  boundary mode after the domain
 *  @return TENON_ERR_ARG    there is no such dimension or boundary mode
 *  @return TENON_ERR_STATE  the shape is not set
 *  @note   TenonLayoutSetUp() returns TENON_ERR_SHAPE if a mode at a pole has an odd number of
 *          longitudes, and TENON_ERR_LAYOUT if the longitudes are not periodic, or not determined.
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetHalo(TenonLayout layout, int dim, TenonInt low,
                                               TenonInt high, TenonBoundary lowMode,
                                               TenonBoundary highMode) TENON_NOEXCEPT;

/** @brief Sets the halo of a dimension by the range of each block. Local; call on all ranks.
 *
 *  As in TenonLayoutSetHalo() the halo holds copies. Call TenonLayoutSetShape() first.
 *
 *  @param[in] layout    layout
 *  @param[in] dim       tensor dimension, counted from 0
 *  @param[in] count     number of local blocks along the dimension; 1 if it is not split
 *  @param[in] low       [count] first index of each range, halo included; can be outside the domain
 *  @param[in] high      [count] one past its last index; must be >= low
 *  @param[in] lowMode   boundary mode before the domain
 *  @param[in] highMode  boundary mode after the domain
 *  @return TENON_ERR_ARG    there is no such dimension or boundary mode, or high is below low
 *  @return TENON_ERR_STATE  the shape is not set
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetHaloBoxes(TenonLayout layout, int dim, int count,
                                                    const TenonInt low[], const TenonInt high[],
                                                    TenonBoundary lowMode,
                                                    TenonBoundary highMode) TENON_NOEXCEPT;

/** @brief Completes the layout. Collective on the partition.
 *
 *  After an error the layout can be corrected by setters and set up again. A second call after
 *  success does nothing.
 *
 *  @param[in] layout  layout
 *  @return TENON_ERR_LAYOUT      the settings are inconsistent
 *  @return TENON_ERR_COLLECTIVE  settings differ between ranks
 *  @return TENON_ERR_STATE       shape or properties are not set
 *  @note   If a setter failed on any rank, the call returns the error of that setter.
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetUp(TenonLayout layout) TENON_NOEXCEPT;

/** @brief Returns the dual layout, that of the cotangents. Not collective.
 *
 *  In the dual, B is exchanged with P, and halos of copies are exchanged with halos of partial
 *  sums. The pairing of a tensor with a tensor in the dual layout is the sum over all ranks of the
 *  dot products of their local arrays, see TenonDTensorPairing().
 *
 *  In a halo of partial sums the value of an element is the sum over all boxes that contain the
 *  element. To make a layout with such halos, take the dual of a layout whose halos hold copies.
 *  For a layout with halos of both kinds, make a copy of this dual (TenonLayoutCreateLike()), and
 *  set halos of copies in other dimensions.
 *
 *  @param[in]  layout  layout that is set up
 *  @param[out] dual    new handle; destroy it with TenonLayoutDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayoutGetDual(TenonLayout layout,
                                               TenonLayout* dual) TENON_NOEXCEPT;

/** @brief Returns the process grid. Not collective.
 *  @param[in]  layout     layout that is set up
 *  @param[out] partition  new handle; destroy it with TenonPartitionDestroy() */
TENON_EXTERN TenonErrorCode TenonLayoutGetPartition(TenonLayout layout,
                                                    TenonPartition* partition) TENON_NOEXCEPT;

/** @brief Returns the number of tensor dimensions. Not collective.
 *  @param[in]  layout  layout whose shape is set
 *  @param[out] ndim    number of tensor dimensions */
TENON_EXTERN TenonErrorCode TenonLayoutGetDim(TenonLayout layout, int* ndim) TENON_NOEXCEPT;

/** @brief Returns the global extents. Not collective.
 *  @param[in]  layout  layout that is set up
 *  @param[out] shape   [ndim] global extents */
TENON_EXTERN TenonErrorCode TenonLayoutGetShape(TenonLayout layout,
                                                TenonInt shape[]) TENON_NOEXCEPT;

/** @brief Returns the properties as text. Not collective.
 *  @param[in]  layout      layout that is set up
 *  @param[out] properties  [length] text such as "S0,B". May be NULL, in which case only needed is
 *                          returned.
 *  @param[in]  length      size of the buffer in characters
 *  @param[out] needed      size that the text needs. May be NULL, in which case it is not returned.
 *  @return TENON_ERR_ARG  the text does not fit into the buffer */
TENON_EXTERN TenonErrorCode TenonLayoutGetProperties(TenonLayout layout, char properties[],
                                                     TenonInt length,
                                                     TenonInt* needed) TENON_NOEXCEPT;

/** @brief Returns the box of this rank, halo included. Not collective.
 *  @param[in]  layout  layout that is set up
 *  @param[out] low     [ndim] first index in each dimension
 *  @param[out] high    [ndim] one past the last index; low and high are 0 if the rank holds no
 *                      elements */
TENON_EXTERN TenonErrorCode TenonLayoutGetBox(TenonLayout layout, TenonInt low[],
                                              TenonInt high[]) TENON_NOEXCEPT;

/** @brief Returns the local block of this rank, without the halo. Not collective.
 *  @param[in]  layout  layout that is set up
 *  @param[out] low     [ndim] first index in each dimension
 *  @param[out] high    [ndim] one past the last index; low and high are 0 if the rank holds no
 *                      elements */
TENON_EXTERN TenonErrorCode TenonLayoutGetOwnedBox(TenonLayout layout, TenonInt low[],
                                                   TenonInt high[]) TENON_NOEXCEPT;

/** @brief Returns whether this rank takes part in the layout. Not collective.
 *  @param[in]  layout  layout that is set up
 *  @param[out] active  TENON_FALSE if the rank is outside the process grid, or its coordinate on an
 *                      R axis is not 0; otherwise TENON_TRUE, even if the box of the rank is
 *                      empty */
TENON_EXTERN TenonErrorCode TenonLayoutIsActive(TenonLayout layout,
                                                TenonBool* active) TENON_NOEXCEPT;

/** @brief Returns whether two layouts are equal and on the same communicator. Not collective.
 *
 *  In equal layouts every rank has the same local block and the same halos. Axes of one process are
 *  ignored: their properties, and whether the process grids have such axes.
 *
 *  @param[in]  layout  layout that is set up
 *  @param[in]  other   layout that is set up
 *  @param[out] equal   TENON_TRUE or TENON_FALSE */
TENON_EXTERN TenonErrorCode TenonLayoutIsEqual(TenonLayout layout, TenonLayout other,
                                               TenonBool* equal) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] layout  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonLayoutDestroy(TenonLayout* layout) TENON_NOEXCEPT;

#endif
