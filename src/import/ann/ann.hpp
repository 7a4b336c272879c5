// SPDX-License-Identifier: BSD-2-Clause
// Reads networks in the layout of the ocean model MOM6 (its module MOM_ANN): products with
// matrices, a relu between them, and a normalisation of the inputs and outputs. MOM6 reads NetCDF
// files; the tensors of such a file are passed as the bytes of a safetensors file (openModel()).
//
//   num_layers               number of layers of neurons, inputs and outputs included
//   layer_sizes              neurons of each, for example 27, 20, 3
//   A0, b0, A1, b1, ...      matrix [neurons before, neurons after] and bias of each product;
//                            Fortran reads the same array as A(after, before)
//   input_means, input_norms, output_means, output_norms      optional
//   x_test, y_test           optional: an input, and the output that belongs to it
//
// Both programs compute y = output_means + output_norms * (... relu(A0 z + b0) ...), where z is
// (x - input_means) / input_norms.
#pragma once

#include "import/model_program.hpp"

namespace tenon {

// Whether the bytes can be those of a safetensors file.
bool hasTensorsOnly(const ByteSource& source);
// Throws TENON_ERR_FORMAT if the tensors are not those of a network in this layout, and
// TENON_ERR_SUPPORT if it has other functions than relu.
ModelProgram readAnn(const ByteSource& source);

} // namespace tenon
