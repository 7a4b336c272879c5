/* SPDX-License-Identifier: BSD-2-Clause */
/** @file
 *  @brief Grids on the sphere, and the order in which layers on the sphere store spherical harmonic
 *         coefficients. The layers have the types "sht", "inversesht", "sphericalconv",
 *         "degreeproduct", "disco" and "transposeddisco" (doc/sphere.md).
 *
 *  This header is experimental (doc/1.0.md).
 */
#ifndef TENON_SPHERE_H
#define TENON_SPHERE_H

#include <tenon/error.h>

/** @brief Returns the latitudes and quadrature weights of a grid on the sphere. Not collective; can
 *         be called at any time.
 *
 *  Rows are numbered from the north pole. On n rows the colatitudes are
 *
 *  | grid  | colatitudes                                | weights                         |
 *  | ----- | ------------------------------------------ | ------------------------------- |
 *  | gauss | the roots of the Legendre polynomial       | Gauss-Legendre                  |
 *  | poles | pi y / (n - 1), the poles included; n >= 2 | Clenshaw-Curtis                 |
 *  | cells | pi (y + 1/2) / n, without the poles        | Fejer's first rule              |
 *
 *  The weights sum to 2. The mean of a field over the sphere is the sum of weight[y] / (2 columns)
 *  times the element in row y, over all elements.
 *
 *  @param[in]  grid        gauss, poles or cells
 *  @param[in]  rows        number of rows
 *  @param[out] colatitude  [rows] angle from the north pole, in radians
 *  @param[out] weight      [rows] weights of the rows
 *  @return TENON_ERR_ARG  the grid is unknown, or cannot have this number of rows
 */
TENON_EXTERN TenonErrorCode TenonSphereGetRows(const char* grid, TenonInt rows, double colatitude[],
                                               double weight[]) TENON_NOEXCEPT;

/** @brief Returns the order m of the spherical harmonics at each place of the dimension of orders
 *         of coefficients [batch, channel, orders, degrees, 2]. Not collective; can be called at
 *         any time.
 *
 *  Orders are stored as 0, M-1, 1, M-2, ...: an order m has the degrees l = m, m+1, ... only, and
 *  blocks of equal size then have equal work. Degrees are stored as 0, 1, 2, ...
 *
 *  @param[in]  orders  number of orders M
 *  @param[out] order   [orders] order of each place
 *  @return TENON_ERR_ARG  orders is negative
 */
TENON_EXTERN TenonErrorCode TenonSphereGetOrders(TenonInt orders, TenonInt order[]) TENON_NOEXCEPT;

#endif
