// SPDX-License-Identifier: BSD-2-Clause
// Descriptions of machines as JSON files: see share/tenon/machines. A file has exactly these keys:
//
//   name, about   texts
//   levels        from the outermost: name, size
//   links         name, level, bandwidth (B/s), latency (s), rules; units may be left out (then 1)
//   messages      may be left out: overhead (s), copy_bandwidth (B/s)
//   arrays        may be left out: host or device, where the arrays are whose messages and kernels have these rates
//   kernels       may be left out: flops (1/s), memory (B/s), call (s), and curves, each of them with
//                 layer, pass (apply, adjoint), data_type, source, and lists of as many flops (for each
//                 byte) as bandwidths (B/s)
//   rules         groups: touching, filling, leaving or crossing; between, for crossing: level and
//                 units; unless: the name of a link before this one; each: true
//
// Each number is an object of value, source, and unit where it has one, so that no number stands in a
// file of which nobody knows where it comes from.
#pragma once

#include "machine/machine.hpp"

#include <optional>
#include <string>

namespace tenon {

// `where` is what messages call the file. Throws TENON_ERR_FORMAT naming file, byte and key.
Machine parseMachine(const std::string& text, const std::string& where);
// The description of a machine all of whose numbers have one source.
std::string textOf(const Machine& machine, const std::string& about, const std::string& source);

// The description of a name, NAME.json in -tenon_machine_path or in the library's own folder, or at a
// path: a word with a slash or the ending .json. `nodes`, if given, becomes the size of the level
// 'node'. Throws TENON_ERR_FILE if there is no such file, and
// TENON_ERR_ARG if there is no such level.
Machine readMachine(const std::string& nameOrPath, std::optional<Index> nodes = std::nullopt);

// -tenon_machine_file, "" by default.
std::string machineFileOption();

} // namespace tenon
