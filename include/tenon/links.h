/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Links of patches: several boxes on a rank, tiles with land removed, cubed spheres, folds.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A field on patches is a tensor [patches, channels, z, y, x] with the property S0: patches have
 *  the same extents, each rank has some of them, and a layer treats them as the samples of a batch.
 *  Links define how patches are joined to one field. Where a convolution, pooling or transposed
 *  convolution with boundary mode TENON_BOUNDARY_LINKED reads an element beyond a patch, this
 *  element is a copy of an element of the patch that the links name, possibly on another rank. The
 *  adjoint adds its cotangent to the copied element. For example, a network on a box of 2 x 4
 *  tiles, of which each rank has `count`:
 *
 *      const TenonInt tiles[2] = {2, 4};
 *      const TenonBoundary low[2] = {TENON_BOUNDARY_ZERO, TENON_BOUNDARY_PERIODIC};
 *      const TenonBoundary linked[2] = {TENON_BOUNDARY_LINKED, TENON_BOUNDARY_LINKED};
 *      TenonLinksCreateFromTiles(comm, 2, tiles, low, NULL, count, places, &links);
 *      TenonLinksGetLayout(links, 4, (TenonInt[]){0, channels, ny, nx}, &layout);
 *      TenonLayerSetBoundary(conv, linked, NULL);       // and other layers of the network
 *      TenonLayerSetLinks(network, links);              // a network hands them on
 *      TenonLayerSetUp(network, layout);
 *
 *  Links are a rule for patches of any extents and for halos of any width: one object serves all
 *  layers of a network, also those after a pooling. Links are the same on all ranks, a few numbers
 *  for each patch. A network on the tiles of a box has the same result as the network on the box.
 *
 *  Layers of a network with links:
 *
 *  - layers that work point by point: elementwise functions, layers over channels, sums and
 *    products, batch normalisation, losses that compare elements
 *  - layers with windows, if the windows continue from patch to patch: the padding before and after
 *    the patch adds up to the window's reach minus its stride, and the extents of the patch are
 *    multiples of the stride
 *
 *  TenonLayerSetUp() returns TENON_ERR_SUPPORT for other layers, which would treat each patch
 *  separately, and for another boundary mode in a dimension in which patches are joined.
 *
 *  Refinement. The output of a layer of type "linkedhalo" is its input with a halo, whose widths
 *  are the settings padding and padding_high. With the setting index_map the layer has a second
 *  input, a field on a coarser level: where there is no neighbouring patch, the index map
 *  (TenonLayerSetIndexMap()) interpolates the halo from this field. A window with boundary mode
 *  linked after this layer reads the halo that the layer has filled.
 *
 *  Vectors. Where patches meet rotated, the components of a vector are exchanged and change signs.
 *  The setting vectors of a convolution or pooling lists the channels of the input that are
 *  components of a vector; the setting vectors of a transposed convolution lists channels of the
 *  output. All components are located at the points of scalars.
 *
 *  Folds. The upper side of a tripolar grid is joined to itself in reverse. If the fold is between
 *  two rows of points (NEMO's F pivot), the argument turned of TenonLinksCreateFromSides() is 1. If
 *  the fold is about a point (NEMO's T pivot), it is 9: each point of the last row is stored twice,
 *  and the solver has to set both to the same value. Windows must have stride 1 in this case.
 *
 *  Common errors. All calls return TENON_ERR_NULL if a required handle or pointer is NULL, and
 *  TENON_ERR_HANDLE if a handle is not valid or is of another class. Errors of collective calls are
 *  the same on all ranks.
 */
#ifndef TENON_LINKS_H
#define TENON_LINKS_H

#include <tenon/error.h>
#include <tenon/layout.h>
#include <tenon/mpi.h>
#include <tenon/types.h>

/** @brief Creates the links of a box's tiles. Collective on comm.
 *
 *  The box is cut into equal tiles, and each rank has some of them, its patches. The other tiles
 *  read zeros in place of a tile that no rank has, such as land. Patches are numbered rank by rank,
 *  in the order of the lists.
 *
 *  @param[in]  comm   communicator of the ranks that have patches
 *  @param[in]  ndim   number of spatial dimensions, 1 to 3
 *  @param[in]  tiles  [ndim] number of tiles in each dimension
 *  @param[in]  low    [ndim] boundary mode before the box: zero, periodic, reflect, replicate,
 *                     symmetric, odd or odd_point, see TenonBoundary
 *  @param[in]  high   [ndim] boundary mode after the box. May be NULL, in which case low is used.
 *  @param[in]  count  number of this rank's tiles
 *  @param[in]  places [count] places of this rank's tiles in the grid of tiles, row by row, counted
 *                     from 0
 *  @param[out] links  new links; destroy them with TenonLinksDestroy()
 *  @return TENON_ERR_ARG         ndim, a number of tiles, a mode or a place is out of range, or two
 *                                tiles have one place
 *  @return TENON_ERR_SHAPE       the box has more tiles than a 64-bit integer counts
 *  @return TENON_ERR_COLLECTIVE  ranks pass different tiles or modes
 */
TENON_EXTERN TenonErrorCode TenonLinksCreateFromTiles(MPI_Comm comm, int ndim,
                                                      const TenonInt tiles[],
                                                      const TenonBoundary low[],
                                                      const TenonBoundary high[], TenonInt count,
                                                      const TenonInt places[],
                                                      TenonLinks* links) TENON_NOEXCEPT;

/** @brief Creates the links of patches that meet side by side. Collective on comm.
 *
 *  A patch has 2 * ndim sides: side 2 d is before the first element of dimension d, and side
 *  2 d + 1 after its last one. In two dimensions, y and x, sides 0 and 1 are the lower and upper
 *  sides in y, and sides 2 and 3 those in x. Each side meets one side of a patch, or no side: the
 *  field is zero beyond a side that meets none. A side that meets itself is a wall in which the
 *  field is mirrored, and vectors with it.
 *
 *  For example, two patches beside each other in x, with nothing around them, where rank 0 has
 *  both (ndim 2, count 8):
 *
 *      const TenonInt patches[8] = {-1, -1, -1, 1,    // patch 0: its side 3 meets patch 1
 *                                   -1, -1, 0, -1};   // patch 1: its side 2 meets patch 0
 *      const int sides[8] = {0, 0, 0, 2, 0, 0, 3, 0}; // side 2 of patch 1, and side 3 of patch 0
 *
 *  The argument turned says how two sides are rotated against each other. The dimensions of a side
 *  are the dimensions of the patch except the one that crosses the side. turned is the sum of:
 *
 *  | value | meaning                                                                           |
 *  | ----- | --------------------------------------------------------------------------------- |
 *  | 1     | the first dimension of the side is reversed in the other patch                    |
 *  | 2     | the second dimension of the side is reversed in the other patch                   |
 *  | 4     | the two dimensions of the side are exchanged in the other patch                   |
 *  | 8     | the last points of both patches are the same: element 1 beyond the side is the    |
 *  |       | last but one of the other patch. In a reversed dimension of n elements, element i |
 *  |       | meets element n - i, and element 0 the first one of the patch after the other     |
 *
 *  For example, the upper side in y of a periodic row of n patches, folded onto itself as in NEMO:
 *  side 1 of patch p meets side 1 of patch n - 1 - p, with turned 1 (F pivot) or 9 (T pivot).
 *
 *  An element beyond several sides is found by crossing these sides one after the other. Where
 *  different orders lead to different elements, as at the corners of a cube, the element is zero.
 *
 *  @param[in]  comm     communicator of the ranks that have patches
 *  @param[in]  ndim     number of spatial dimensions, 1 to 3
 *  @param[in]  count    length of the lists: 2 * ndim for each of this rank's patches
 *  @param[in]  patches  [count] patch that meets the side, numbered over all ranks in their order;
 *                       -1: none
 *  @param[in]  sides    [count] side of that patch, 0 to 2 * ndim - 1
 *  @param[in]  turned   [count] how the two sides are rotated against each other, see above. May be
 *                       NULL, in which case all are 0.
 *  @param[out] links    new links; destroy them with TenonLinksDestroy()
 *  @return TENON_ERR_ARG  ndim is out of range, count is not a multiple of 2 * ndim, or a side
 *                         meets another one that does not meet it in the same way; the message
 *                         names both sides
 */
TENON_EXTERN TenonErrorCode TenonLinksCreateFromSides(MPI_Comm comm, int ndim, TenonInt count,
                                                      const TenonInt patches[], const int sides[],
                                                      const int turned[],
                                                      TenonLinks* links) TENON_NOEXCEPT;

/** @brief Returns the layout of a field on the patches. Collective on the links.
 *  @param[in]  links   links
 *  @param[in]  ndim    number of dimensions of the field, >= 1
 *  @param[in]  shape   [ndim] global extents, the same on all ranks; 0 for the first, which is the
 *                      number of patches
 *  @param[out] layout  new layout; destroy it with TenonLayoutDestroy()
 *  @return TENON_ERR_SHAPE       the first extent is not 0, or there are no dimensions
 *  @return TENON_ERR_LAYOUT      an extent is negative
 *  @return TENON_ERR_COLLECTIVE  ranks pass different shapes
 */
TENON_EXTERN TenonErrorCode TenonLinksGetLayout(TenonLinks links, int ndim, const TenonInt shape[],
                                                TenonLayout* layout) TENON_NOEXCEPT;

/** @brief Hands links to a layer. Local; call on all ranks.
 *
 *  A network hands its links on to those of its layers that have none. The layer holds what it
 *  needs, so the links can be destroyed. Network files do not contain links.
 *
 *  @param[in] layer  layer or network, not set up
 *  @param[in] links  links on the communicator of the layer
 *  @return TENON_ERR_ARG  the links have another communicator
 */
TENON_EXTERN TenonErrorCode TenonLayerSetLinks(TenonLayer layer, TenonLinks links) TENON_NOEXCEPT;

/** @brief Releases a reference and sets the handle to NULL. Not collective.
 *  @param[in,out] links  address of the handle, which may hold NULL */
TENON_EXTERN TenonErrorCode TenonLinksDestroy(TenonLinks* links) TENON_NOEXCEPT;

#endif
