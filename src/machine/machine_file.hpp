// SPDX-License-Identifier: BSD-2-Clause
// Machine descriptions as JSON files, see share/tenon/machines. A file has exactly these keys:
//
//   name, about   texts
//   levels        from the outermost: name, size
//   links         name, level, bandwidth (B/s), latency (s), rules; units (optional, default 1)
//   messages      optional: overhead (s), copy_bandwidth (B/s)
//   arrays        optional: host or device, the memory space to which these rates apply
//   kernels       optional: flops (1/s), memory (B/s), call (s), measured: a list of kind,
//                 pass (apply, adjoint, parameters), data_type, source, seconds per flop,
//                 byte, row and column
//   rules         groups: touching, filling, leaving or crossing; between, for crossing: level and
//                 units; unless: the name of a link before this one; each: true
//
// Every number, except those of `measured`, which share one source, is an object with value, source
// and, if it has one, unit: the origin of each number is documented. For example:
//
//   {"name": "pair", "about": "two nodes of 4 cores",
//    "levels": [{"name": "node", "size": {"value": 2, "source": "example"}},
//               {"name": "core", "size": {"value": 4, "source": "example"}}],
//    "links": [{"name": "NIC", "level": "node",
//               "bandwidth": {"value": 1e10, "unit": "B/s", "source": "data sheet"},
//               "latency": {"value": 2e-6, "unit": "s", "source": "measured"},
//               "rules": [{"groups": "leaving"}]}]}
#pragma once

#include "machine/machine.hpp"

#include <optional>
#include <string>

namespace tenon {

// `where` is the name of the file in messages. Throws TENON_ERR_FORMAT with file, byte and key.
Machine parseMachine(const std::string& text, const std::string& where);
// Returns the description of a machine, with one source for all numbers.
std::string textOf(const Machine& machine, const std::string& about, const std::string& source);

// Reads a description: NAME.json in the folder -tenon_machine_path or the library's own folder, or
// a path (an argument with a slash, or that ends in .json). `nodes`, if given, replaces the size of
// level 'node'. Throws TENON_ERR_FILE if there is no such file, and TENON_ERR_ARG if there is no
// such level.
Machine readMachine(const std::string& nameOrPath, std::optional<Index> nodes = std::nullopt);
// The machine of a file, resized for that many ranks. Throws TENON_ERR_ARG if that is not possible.
Machine machineForRanks(const std::string& file, Index ranks);

// Value of -tenon_machine_file, "" by default.
std::string machineFileOption();

} // namespace tenon
