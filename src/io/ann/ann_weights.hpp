// SPDX-License-Identifier: BSD-2-Clause
// Writes the weights of a network to a NetCDF file in the layout of the ocean model MOM6
// (import/ann/ann.hpp).
#pragma once

#include "layer/core/layer.hpp"

namespace tenon {

// Whether weights are written in this layout to a file with this name: it ends with ".nc".
bool isAnnPath(const std::string& path);
// Writes the file on rank 0. Throws TENON_ERR_STATE if the layer is not set up, TENON_ERR_SUPPORT
// if it is not a network in the layout or in a build without NetCDF, and TENON_ERR_FILE.
// Collective.
void saveAnn(const Layer& layer, const std::string& path);

} // namespace tenon
