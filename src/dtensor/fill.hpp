// SPDX-License-Identifier: BSD-2-Clause
// Fills a tensor by functions of the global index, so its value does not depend on the partition.
// If the layout holds partial sums (P axes, G* dimensions), one contribution has the value and the
// others are zero. For example, fillByIndex(x, [](Index i) { return i; }) fills a tensor [2, 3]
// with 0 1 2 / 3 4 5, of which each rank has its part. Local: each rank fills its own array.
#pragma once

#include "dtensor/dtensor.hpp"

#include <cstdint>
#include <functional>

namespace tenon {

// x[i] = f(row-major global index of i).
void fillByIndex(DTensor& x, const std::function<double(Index)>& f);

// Every element of the global tensor gets this value.
void fillConstant(DTensor& x, double value);
// Random numbers, uniform in [low, high) or normal, from the counter (seed, stream, global index).
void fillUniform(DTensor& x, std::uint64_t seed, std::uint64_t stream, double low, double high);
void fillNormal(DTensor& x, std::uint64_t seed, std::uint64_t stream, double mean,
                double deviation);

// Independent numbers in all elements on all ranks, copies and halos included: raw memory for
// adjoint tests, not a valid tensor. Small integers if `integers` is true, otherwise uniform in
// [-1, 1).
void fillRaw(DTensor& x, std::uint64_t seed, bool integers);

} // namespace tenon
