// SPDX-License-Identifier: BSD-2-Clause
// Descriptions of machines as JSON files: see share/tenon/machines. A file has exactly these keys:
//
//   name, about   texts
//   levels        from the outermost: name, size
//   links         name, level, bandwidth (B/s), latency (s), rules; units may be left out (then 1)
//   messages      can be left out: overhead (s), copy_bandwidth (B/s)
//   arrays        can be left out: host or device, the space of the arrays with these rates
//   kernels       can be left out: flops (1/s), memory (B/s), call (s), measured: a list of kind,
//                 pass (apply, adjoint, parameters), data_type, source, seconds of one flop,
//                 byte, row and column
//   rules         groups: touching, filling, leaving or crossing; between, for crossing: level and
//                 units; unless: the name of a link before this one; each: true
//
// Each other number is an object of value, source, and unit where it has one, so that no file has a
// number whose origin nobody knows.
#pragma once

#include "machine/machine.hpp"

#include <optional>
#include <string>

namespace tenon {

// `where` is what messages call the file. Throws TENON_ERR_FORMAT naming file, byte and key.
Machine parseMachine(const std::string& text, const std::string& where);
// The description of a machine all of whose numbers have one source.
std::string textOf(const Machine& machine, const std::string& about, const std::string& source);

// Reads the description of a name, NAME.json in -tenon_machine_path or in the library's own folder,
// or at a path: a word with a slash or the ending .json. `nodes`, if given, becomes the size of the
// level 'node'. Throws TENON_ERR_FILE if there is no such file, and TENON_ERR_ARG if there is no
// such level.
Machine readMachine(const std::string& nameOrPath, std::optional<Index> nodes = std::nullopt);

// -tenon_machine_file, "" by default.
std::string machineFileOption();

} // namespace tenon
