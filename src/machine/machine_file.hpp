// SPDX-License-Identifier: BSD-2-Clause
// Machine descriptions as JSON files, see share/tenon/machines. A file has exactly these keys:
//
//   name, about   texts
//   levels        from the outermost: name, size
//   links         name, level, bandwidth (B/s), latency (s), rules; units (optional, default 1):
//                 the number of neighbouring units of the level that share one instance
//   messages      optional: overhead (s), copy_bandwidth (B/s)
//   arrays        optional: host or device, the memory space to which the rates under `messages`
//                 and `kernels` apply
//   kernels       optional: flops (1/s), memory (B/s), call (s), measured: a list of kind,
//                 pass (apply, adjoint, parameters), data_type, source, seconds per flop,
//                 byte, row and column (kernel_rates.hpp), such as
//                 {"kind": "conv", "pass": "apply", "data_type": "float32", "source": "measured",
//                 "flop": 1e-11, "byte": 1e-10, "row": 2e-9, "column": 0}
//
// A rule of a link says which groups of devices use it; machine.hpp explains the terms. Its keys
// are
//
//   groups        touching, filling, leaving or crossing
//   between       only for crossing, and required there: level and units of the domains
//   unless        optional: the name of a link listed before; groups that use that link do not use
//                 this one
//   each          optional: true if the load counts once per device
//
// For example, {"groups": "crossing", "between": {"level": "socket"}, "unless": "NVLink"}.
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
