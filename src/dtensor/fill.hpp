// SPDX-License-Identifier: BSD-2-Clause
// Fills a tensor from functions of the global position, so that its value does not depend on the
// partition. Where the layout holds partial sums (P axes, G* dimensions), one contribution carries
// the value and the others are zero.
#pragma once

#include "dtensor/dtensor.hpp"

#include <cstdint>
#include <functional>

namespace tenon {

// x[i] = f(row-major global index of i).
void fillByIndex(DTensor& x, const std::function<double(Index)>& f);

// The value is that of every element of the global tensor.
void fillConstant(DTensor& x, double value);
// Random numbers, uniform in [low, high) or normal, drawn by the counter (seed, stream, global
// index).
void fillUniform(DTensor& x, std::uint64_t seed, std::uint64_t stream, double low, double high);
void fillNormal(DTensor& x, std::uint64_t seed, std::uint64_t stream, double mean,
                double deviation);

// Independent numbers in every element on every rank, copies and halos included. The result is raw
// memory for adjoint tests and not a valid tensor. The numbers are small integers with `integers`,
// else uniform in [-1, 1).
void fillRaw(DTensor& x, std::uint64_t seed, bool integers);

} // namespace tenon
