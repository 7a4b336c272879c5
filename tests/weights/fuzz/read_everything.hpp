// SPDX-License-Identifier: BSD-2-Clause
// The body of the fuzz targets of weights files: opens the input as a weights file, reads each
// tensor of real numbers, and assigns the tensors to two parameters. libFuzzer supplies the inputs.
// An input may be refused with TENON_ERR_FORMAT; any other error ends the program, which counts as
// a crash.
#pragma once

#include "sys/errors/error.hpp"
#include "weights/assignment.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace tenon::test {

// At most this many elements of a tensor are read: a file of a few bytes can claim huge shapes.
inline constexpr Index kMaxNumbers = 1 << 16;

// Reads the first block of a tensor that has at most kMaxNumbers elements, row-major.
inline void readTensor(const WeightsFile& file, const StoredTensor& tensor) {
  std::vector<WeightsFile::Part> parts;
  Index elements = 1;
  for (std::size_t d = tensor.shape.size(); d-- > 0;) {
    const Index end = std::min(tensor.shape[d], kMaxNumbers / std::max<Index>(elements, 1));
    parts.insert(parts.begin(), {.begin = 0, .end = end, .stride = elements});
    elements *= end;
  }
  std::vector<double> numbers(static_cast<std::size_t>(elements));
  file.read(tensor, parts, numbers.data());
}

// Runs `body`, which may throw TENON_ERR_FORMAT. Returns 0, the result that libFuzzer expects.
template <class Body>
int refusedOrFine(Body&& body) {
  try {
    body();
  } catch (const Error& error) {
    if (error.code() != TENON_ERR_FORMAT)
      std::abort();
  }
  return 0;
}

inline int readEverything(const std::uint8_t* data, std::size_t size) {
  return refusedOrFine([&] {
    const WeightsFile file(
        bytesAt(reinterpret_cast<const std::byte*>(data), static_cast<Index>(size), "fuzz"));
    for (const StoredTensor& tensor : file.tensors())
      if (isReal(tensor.type))
        refusedOrFine([&] { readTensor(file, tensor); });
    assignTensors({{"a", "weight", {2, 3}}, {"b", "weight", {2, 3}}}, file, nullptr, "net");
  });
}

} // namespace tenon::test
