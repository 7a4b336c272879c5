/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Links of patches: several boxes on a rank, tiles with land removed, cubed spheres, folds.
 *
 *  This header is experimental (doc/1.0.md).
 *
 *  A field on patches is a tensor [patches, channels, z, y, x] with the property S0: patches have
 *  the same extents, each rank has some of them, and they are the batch of the layers. Links say
 *  how patches are joined to one field. Convolutions, poolings and transposed convolutions with
 *  boundary mode TENON_BOUNDARY_LINKED read beyond a patch what the links say, on any rank, and
 *  their adjoints add there:
 *
 *      TenonLinksCreateFromTiles(comm, 2, tiles, low, high, count, places, &links);
 *      TenonLinksGetLayout(links, 4, (TenonInt[]){0, channels, ny, nx}, &layout);
 *      TenonLayerSetBoundary(conv, linked, NULL);       // and other layers of the network
 *      TenonLayerSetLinks(network, links);              // a network hands them on
 *      TenonLayerSetUp(network, layout);
 *
 *  Links are a rule for patches of any extents and for halos of any width: one object serves all
 *  layers of a network, pooled fields included. They are the same on all ranks, a few numbers for
 *  each patch. A network on tiles is the network on the box that they are cut from.
 *
 *  A network with links takes layers that work point by point (functions, channels, sums and
 *  products, batch normalisation, losses of elements) and windows that follow on from patch to
 *  patch: the padding before and after the patch is the window's reach minus its stride, and
 *  extents are multiples of the stride. Layers that would work on each patch for itself are
 *  refused by TenonLayerSetUp() (TENON_ERR_SUPPORT), as is padding of another mode where patches
 *  are joined.
 *
 *  Refinement. A layer of type "linkedhalo" gives the field with its halo, as wide as its settings
 *  padding and padding_high say, and with the setting index_map adds to it what that map
 *  (TenonLayerSetIndexMap()) makes of a second input: sparse rows of a coarser level where there is
 *  no patch. Windows with boundary mode linked read such a halo as it is.
 *
 *  Vectors. Where patches meet turned, a vector's components turn with the grid. The setting
 *  vectors of a convolution or pooling lists the channels of its input that are such components,
 *  that of a transposed convolution those of its output. Components lie where scalars do.
 *
 *  Folds. A tripolar grid is folded between points (NEMO's F pivot: turned 1), or about a point, so
 *  that its last row is one with itself (NEMO's T pivot: turned 9). The solver keeps that row's two
 *  halves equal. Windows have no stride then.
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
 *  The box is cut into equal tiles, of which each rank has some. Tiles that no rank has, such as
 *  land, are zero to the others. Patches are numbered rank by rank, in the order of the lists.
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
 *  A patch has 2 * ndim sides: in each dimension the lower one, then the upper one, the first
 *  dimension first; so side 2 d is before the first element of dimension d, and side 2 d + 1 after
 *  its last one. In two dimensions, y and x, sides 0 and 1 are those in y, and 2 and 3 those in x.
 *  Each side meets one side of a patch, or none: there the field is zero. A side that meets itself
 *  is a wall in which the field is mirrored, and vectors with it.
 *
 *  An element beyond several sides is found by crossing them one after the other. Where different
 *  orders lead to different elements, as at the corners of a cube, it is zero.
 *
 *  @param[in]  comm     communicator of the ranks that have patches
 *  @param[in]  ndim     number of spatial dimensions, 1 to 3
 *  @param[in]  count    length of the lists: 2 * ndim for each of this rank's patches
 *  @param[in]  patches  [count] patch that meets the side, numbered over all ranks in their order;
 *                       -1: none
 *  @param[in]  sides    [count] which of that patch's sides it is, 0 to 2 * ndim - 1
 *  @param[in]  turned   [count] how the two sides lie: the sum of 1 if the first of the other
 *                       dimensions runs the opposite way there, 2 if the second does, 4 if the two
 *                       are exchanged, and 8 if the two patches meet on their last points: element
 *                       1 beyond the side is the other's last but one, and where a dimension of
 *                       n elements runs the opposite way, element i meets the other's element
 *                       n - i, and element 0 the first one of the patch that follows the other in
 *                       that dimension. May be NULL, in which case all are 0.
 *  @param[out] links    new links; destroy them with TenonLinksDestroy()
 *  @return TENON_ERR_ARG  ndim is out of range, count is no multiple of 2 * ndim, or two sides do
 *                         not meet each other alike; the message names both
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
 *  A network hands them on to the layers in it that have none. The layer keeps what it needs of
 *  them. Network files have no links.
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
