// SPDX-License-Identifier: BSD-2-Clause
// Fills a tensor from functions of the global position, so that its value does not depend on the
// partition. Where the layout holds addends (P axes, G* dimensions) one addend carries the value
// and the others are zero.
#pragma once

#include "dtensor/dtensor.hpp"

#include <cstdint>
#include <functional>

namespace tenon {

// x[i] = f(row-major global index of i).
void fillByIndex(DTensor& x, const std::function<double(Index)>& f);

void fillConstant(DTensor& x, double value);
// Uniform in [low, high), or normal: counter-based by (seed, stream, global index).
void fillUniform(DTensor& x, std::uint64_t seed, std::uint64_t stream, double low, double high);
void fillNormal(DTensor& x, std::uint64_t seed, std::uint64_t stream, double mean,
                double deviation);

// Independent numbers in every element of every rank, copies and halos too: raw memory for adjoint
// tests, no valid tensor. With `integers` small integers, else uniform in [-1, 1).
void fillRaw(DTensor& x, std::uint64_t seed, bool integers);

} // namespace tenon
