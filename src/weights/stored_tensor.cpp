// SPDX-License-Identifier: BSD-2-Clause
// Checks of a file's claims about its tensors. The file is not trusted: sizes are multiplied with
// overflow checks, and names are verified before they are used in messages.
#include "weights/stored_tensor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tenon {

std::optional<Index> bytesOf(const std::vector<Index>& shape, ElementType type) {
  Index bytes = elementSize(type);
  // Test for an extent of 0 first, because then the product of the others is irrelevant.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end())
    return 0;
  for (Index extent : shape)
    if (__builtin_mul_overflow(bytes, extent, &bytes))
      return std::nullopt;
  return bytes;
}

void checkName(const ByteSource& source, const std::string& name) {
  constexpr std::size_t kMax = 1024;
  if (name.empty() || name.size() > kMax)
    source.fail("",
                fmt::format("a tensor's name has {} bytes; expected 1 to {}", name.size(), kMax));
  const auto isControl = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(name.begin(), name.end(), isControl))
    source.fail("", "a tensor's name has control characters");
}

void checkDistinct(const ByteSource& source, const std::vector<StoredTensor>& tensors) {
  std::set<std::string_view> names;
  for (const StoredTensor& tensor : tensors)
    if (!names.insert(tensor.name).second)
      source.fail(tensor.name, "the name is given twice");
}

} // namespace tenon
