/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief TenonLayout: how a tensor lies on a mesh of processes.
 *
 *  Along each mesh axis the tensor has one property, written
 *      S0, S1, ...  sharded: each process holds its part of tensor dimension 0, 1, ...
 *      B            broadcast: each process holds a full copy
 *      P            partial: each process holds an addend of full size; the value is the sum
 *      R            root: the process at coordinate 0 holds the tensor, the others nothing
 *  with commas between: "S0,B". A dimension that axes split is divided at cuts, balanced unless the
 *  caller sets his own. A dimension may carry a margin: the processes' boxes then overlap, leave
 *  gaps or leave the domain, and cells outside the domain follow a boundary mode.
 *
 *  Tensor dimensions count from 0, row-major: the last lies closest in memory. Boxes are half-open
 *  intervals of global indices, low <= i < high, which count from 0.
 *
 *  Life: TenonLayoutCreate(), TenonLayoutSet...(), TenonLayoutSetUp(); or one of the calls that do
 *  it all. Once set up a layout never changes. A failed Set leaves the layout as it was and makes
 *  the next TenonLayoutSetUp() fail on all ranks, unless the same Set is repeated with success.
 *
 *  All calls return TENON_ERR_NULL for a NULL handle or address, TENON_ERR_HANDLE for a handle
 *  whose object is gone or of another class, TENON_ERR_STATE for a Set after, or a Get before
 *  TenonLayoutSetUp().
 */
#ifndef TENON_LAYOUT_H
#define TENON_LAYOUT_H

#include <tenon/error.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** The linear extension of a dimension of n cells beyond its ends. */
typedef enum TenonBoundary {
  TENON_BOUNDARY_NONE = 0,      /**< boxes are clipped to the domain */
  TENON_BOUNDARY_ZERO = 1,      /**< cells outside are zero */
  TENON_BOUNDARY_PERIODIC = 2,  /**< ... n-2 n-1 | 0 1 ... n-1 | 0 1 ... */
  TENON_BOUNDARY_REFLECT = 3,   /**< ... 2 1     | 0 1 ... n-1 | n-2 n-3 ... */
  TENON_BOUNDARY_REPLICATE = 4, /**< ... 0 0     | 0 1 ... n-1 | n-1 n-1 ... */
  TENON_BOUNDARY_VALUES = 5,    /**< the caller's: a conversion leaves zero there */
  TENON_BOUNDARY_MAX_ = 0x7fff
} TenonBoundary;

/** @brief A layout in one call. Collective on the partition.
 *
 *  @param[in]  partition   the mesh
 *  @param[in]  ndim        number of tensor dimensions, 1 to 8
 *  @param[in]  shape       [ndim] the global extents, at least 0
 *  @param[in]  properties  one for each mesh axis: "S0,B"
 *  @param[out] layout      set up; to be given back with TenonLayoutDestroy()
 *  @return on all ranks TENON_ERR_LAYOUT if the arguments do not fit each other,
 *          TENON_ERR_COLLECTIVE if ranks pass different ones
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateSharded(TenonPartition partition, int ndim,
                                                     const TenonInt shape[], const char* properties,
                                                     TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The layout in which each rank holds the box that it passes. Collective on `comm`.
 *
 *  The boxes must be the cells of a Cartesian grid that covers the shape: no two overlap, none leaves
 *  the shape, and nothing is left over. Which rank holds which cell is free, and a rank with an empty
 *  box (low equal to high) holds nothing. Mesh axis d of the result splits tensor dimension d.
 *
 *  Pass the shape where it is known: without it, boxes that all end one row short make a smaller
 *  tensor, without an error.
 *
 *  @param[in]  comm    as for TenonPartitionCreate()
 *  @param[in]  ndim    number of tensor dimensions, 1 to 8
 *  @param[in]  shape   [ndim] global extents, the same on all ranks; NULL: the largest `high` of all
 *                      boxes in each dimension
 *  @param[in]  low     [ndim] this rank's first cell; global indices begin at 0
 *  @param[in]  high    [ndim] one past its last
 *  @param[out] layout  set up
 *  @return on all ranks TENON_ERR_LAYOUT if the boxes are not such a grid: the message names the ranks
 *          and their boxes, and where no rank holds a range, the range and the nearest box;
 *          TENON_ERR_ARG for a box with high below low; TENON_ERR_COLLECTIVE if ranks pass different
 *          shapes
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateFromBoxes(MPI_Comm comm, int ndim,
                                                       const TenonInt shape[], const TenonInt low[],
                                                       const TenonInt high[],
                                                       TenonLayout* layout) TENON_NOEXCEPT;

/** @brief A layout to be specified by the calls below and set up. Collective on the partition.
 *
 *  Needed are a shape and properties; all else has defaults.
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreate(TenonPartition partition,
                                              TenonLayout* layout) TENON_NOEXCEPT;

/** @brief A layout to be specified that begins as a copy of another: change what differs, as a margin
 *         for a halo, and set it up. Collective on the model.
 *
 *  @param[in]  model   set up; made by any of the calls, from boxes too
 *  @param[out] layout  not set up yet; to be given back with TenonLayoutDestroy()
 *  @return on all ranks TENON_ERR_STATE if the model is not set up, TENON_ERR_COLLECTIVE if ranks
 *          pass different ones
 */
TENON_EXTERN TenonErrorCode TenonLayoutCreateLike(TenonLayout model,
                                                  TenonLayout* layout) TENON_NOEXCEPT;

/** @brief The global extents. Not collective; the same on all ranks. A dimension whose extent
 *         changes forgets its cuts and its margin; if the number of dimensions changes, all do.
 *
 *  @param[in] ndim   number of tensor dimensions, 1 to 8
 *  @param[in] shape  [ndim] at least 0
 *  @return TENON_ERR_LAYOUT if one is out of range
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetShape(TenonLayout layout, int ndim,
                                                const TenonInt shape[]) TENON_NOEXCEPT;

/** @brief One property for each mesh axis ("S0,B"). Not collective; the same on all ranks. A
 *         dimension that other axes split than before forgets their order, its cuts and the boxes
 *         of its margin.
 *  @return TENON_ERR_LAYOUT, naming the word, if the text is no list of properties */
TENON_EXTERN TenonErrorCode TenonLayoutSetProperties(TenonLayout layout,
                                                     const char* properties) TENON_NOEXCEPT;

/** @brief The order of the axes that split a dimension, major first. Default: mesh order.
 *         Not collective; the same on all ranks; after TenonLayoutSetShape().
 *
 *  @param[in] dim    tensor dimension
 *  @param[in] count  number of axes that split it
 *  @param[in] axes   [count] mesh axes
 *  @return TENON_ERR_ARG if there is no such dimension
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetSplitOrder(TenonLayout layout, int dim, int count,
                                                     const int axes[]) TENON_NOEXCEPT;

/** @brief Where a dimension is cut. Default: balanced, by the major axis first, then each part by
 *         the next. Not collective; the same on all ranks; after TenonLayoutSetShape().
 *
 *  @param[in] dim    tensor dimension
 *  @param[in] count  number of parts plus 1; the parts count over the splitting axes, the minor
 *                    fastest
 *  @param[in] cuts   [count] from 0 to the extent, not falling; equal neighbours make an empty part
 *  @return TENON_ERR_ARG if there is no such dimension
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetCuts(TenonLayout layout, int dim, int count,
                                               const TenonInt cuts[]) TENON_NOEXCEPT;

/** @brief A margin of the same width around every part of a dimension, split or not.
 *         Not collective; the same on all ranks; after TenonLayoutSetShape().
 *
 *  @param[in] dim        tensor dimension
 *  @param[in] low        cells before each part; negative: cells of the part that are left out
 *  @param[in] high       cells after each part, likewise
 *  @param[in] lowMode    what lies before the domain
 *  @param[in] highMode   what lies beyond it
 *  @return TENON_ERR_ARG if there is no such dimension or mode
 *
 *  Empty parts have no margin.
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetMargin(TenonLayout layout, int dim, TenonInt low,
                                                 TenonInt high, TenonBoundary lowMode,
                                                 TenonBoundary highMode) TENON_NOEXCEPT;

/** @brief A margin given by the box of each part of a dimension.
 *         Not collective; the same on all ranks; after TenonLayoutSetShape().
 *
 *  @param[in] dim        tensor dimension
 *  @param[in] count      number of parts, 1 for a dimension that is not split
 *  @param[in] low        [count] first cell of each part's box; may lie outside the domain
 *  @param[in] high       [count] one past its last
 *  @param[in] lowMode    what lies before the domain
 *  @param[in] highMode   what lies beyond it
 *  @return TENON_ERR_ARG if there is no such dimension or mode
 */
TENON_EXTERN TenonErrorCode TenonLayoutSetMarginBoxes(TenonLayout layout, int dim, int count,
                                                      const TenonInt low[], const TenonInt high[],
                                                      TenonBoundary lowMode,
                                                      TenonBoundary highMode) TENON_NOEXCEPT;

/** @brief Whether the margin of a dimension holds addends, as in the dual of a layout with margins:
 *         the value of a cell is then the sum over all boxes that hold it. Default: TENON_FALSE.
 *         Not collective; the same on all ranks; after the margin was set.
 *  @return TENON_ERR_ARG if the dimension has no margin */
TENON_EXTERN TenonErrorCode TenonLayoutSetMarginAddends(TenonLayout layout, int dim,
                                                        TenonBool addends) TENON_NOEXCEPT;

/** @brief Completes the layout. Collective on the partition.
 *
 *  @return on all ranks TENON_ERR_LAYOUT if what was set does not fit together,
 *          TENON_ERR_COLLECTIVE if ranks have set different things, TENON_ERR_STATE if shape or
 *          properties are missing, or the error of an earlier Set. The layout can then be corrected
 *          by further Sets and set up again. */
TENON_EXTERN TenonErrorCode TenonLayoutSetUp(TenonLayout layout) TENON_NOEXCEPT;

/** @brief The layout of the cotangents of tensors in this one: B and P exchanged, and a margin of
 *         values with one of addends. Not collective.
 *
 *  The pairing of a tensor with one in the dual layout is the sum over all ranks of local dot
 *  products.
 *
 *  @param[out] dual  a new handle, to be given back with TenonLayoutDestroy()
 */
TENON_EXTERN TenonErrorCode TenonLayoutGetDual(TenonLayout layout,
                                               TenonLayout* dual) TENON_NOEXCEPT;

/** @brief The mesh. Not collective.
 *  @param[out] partition  a new handle, to be given back with TenonPartitionDestroy() */
TENON_EXTERN TenonErrorCode TenonLayoutGetPartition(TenonLayout layout,
                                                    TenonPartition* partition) TENON_NOEXCEPT;

/** @brief The number of tensor dimensions. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayoutGetDim(TenonLayout layout, int* ndim) TENON_NOEXCEPT;

/** @brief The global extents. Not collective.
 *  @param[out] shape  [ndim] */
TENON_EXTERN TenonErrorCode TenonLayoutGetShape(TenonLayout layout,
                                                TenonInt shape[]) TENON_NOEXCEPT;

/** @brief The properties as text. Not collective.
 *
 *  @param[out] properties  "S0,B"; ends with 0
 *  @param[in]  capacity    size of the buffer in characters
 *  @return also TENON_ERR_ARG if the text does not fit into the buffer
 */
TENON_EXTERN TenonErrorCode TenonLayoutGetProperties(TenonLayout layout, char* properties,
                                                     int capacity) TENON_NOEXCEPT;

/** @brief The box that this rank holds, margin included. Not collective.
 *
 *  @param[out] low   [ndim] first cell
 *  @param[out] high  [ndim] one past the last; where the rank holds nothing, low and high are 0
 */
TENON_EXTERN TenonErrorCode TenonLayoutGetBox(TenonLayout layout, TenonInt low[],
                                              TenonInt high[]) TENON_NOEXCEPT;

/** @brief The same without the margin: the part that this rank owns. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayoutGetOwnedBox(TenonLayout layout, TenonInt low[],
                                                   TenonInt high[]) TENON_NOEXCEPT;

/** @brief Whether this rank takes part: TENON_FALSE outside the mesh and away from the root of an R
 *         axis. An active rank's box may still be empty. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayoutIsActive(TenonLayout layout,
                                                TenonBool* active) TENON_NOEXCEPT;

/** @brief Whether two layouts are the same value on the same communicator. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayoutIsEqual(TenonLayout layout, TenonLayout other,
                                               TenonBool* equal) TENON_NOEXCEPT;

/** @brief Prints the layout, on rank 0 of its communicator. Not collective. */
TENON_EXTERN TenonErrorCode TenonLayoutView(TenonLayout layout) TENON_NOEXCEPT;

/** @brief Gives a reference back and sets the handle to NULL. Not collective; accepts NULL. */
TENON_EXTERN TenonErrorCode TenonLayoutDestroy(TenonLayout* layout) TENON_NOEXCEPT;

#endif
