// SPDX-License-Identifier: BSD-2-Clause
// The signature table of types with two parameters per channel of [batch, channel, ...], such as a
// scale and a shift. Its rows state what a grid axis does to the input, to both parameters and to
// the output:
//
//   label        input and output    parameters
//   n            S0, batch split     B, replicated
//   c            S1, channels split  S0, split with the channels
//   S2, S3, ...  space split         B
//   B, R         B, or R (root)      B, or R
#pragma once

#include "declaration/core/signature.hpp"

namespace tenon {

inline SignatureTable channelTable(int rank) {
  SignatureTable table = elementwiseTable(rank, /*linear=*/false);
  for (SignatureRow& row : table) {
    const Property& x = row.output;
    const Property parameter = !x.isShard() ? x
                               : x.dim == 1 ? Property::shard(0)
                                            : Property::broadcast();
    row.parameters = {parameter, parameter};
    row.label = x == Property::shard(0) ? "n" : x == Property::shard(1) ? "c" : row.label;
  }
  return table;
}

} // namespace tenon
