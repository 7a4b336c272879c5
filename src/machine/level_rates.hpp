// SPDX-License-Identifier: BSD-2-Clause
// The rates of a described machine: rank r is its device r.
//
// Two ranks in different units of a level, and in one of every level further out, load the links of the
// machine's rules for a pair in the first and in the last unit of that level. Their latency is the largest,
// their bandwidth the least of these links', each divided by the devices below an instance, as if all of
// them sent at once: of a NIC for 32 cores a rank has a 32nd.
#pragma once

#include "machine/link.hpp"
#include "machine/machine.hpp"

namespace tenon {

// Overhead and copies are the machine's, or the base's where it has none; latency and bandwidth of a level that
// no link joins are the base's.
LinkRates ratesOf(const Machine& machine, const LinkRates& base);

} // namespace tenon
