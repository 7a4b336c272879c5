// SPDX-License-Identifier: BSD-2-Clause
#include "weights/npz.hpp"

#include "weights/byte_stream.hpp"
#include "weights/npy.hpp"
#include "weights/zip.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

namespace tenon {

namespace {

StoredTensor readMember(const ByteSource& source, const ZipMember& member) {
  constexpr std::string_view kEnding = ".npy";
  if (!member.name.ends_with(kEnding) || member.name.size() == kEnding.size())
    source.fail(member.name, "it is no array: its name does not end with .npy");
  std::array<std::byte, kNpyStart> start{};
  const auto stream = streamMember(source, member);
  stream->read(start.data(), kNpyStart);
  const NpyStart npy = parseNpyStart(source, member.name, start.data());
  // The text begins within what is read already.
  std::string text(reinterpret_cast<const char*>(start.data()) + npy.textBegin,
                   static_cast<std::size_t>(kNpyStart - npy.textBegin));
  if (npy.textBytes < static_cast<Index>(text.size()))
    source.fail(member.name, "its header is damaged");
  const std::size_t known = text.size();
  text.resize(static_cast<std::size_t>(npy.textBytes));
  stream->read(reinterpret_cast<std::byte*>(text.data() + known),
               npy.textBytes - static_cast<Index>(known));
  const NpyHeader header = parseNpyText(source, member.name, text);
  StoredTensor tensor{.name = member.name.substr(0, member.name.size() - kEnding.size()),
                      .type = header.type,
                      .shape = header.shape,
                      .isFortranOrder = header.isFortranOrder,
                      .begin = npy.textBegin + npy.textBytes,
                      .member = member};
  tensor.bytes = member.bytes - tensor.begin;
  if (bytesOf(tensor.shape, tensor.type) != tensor.bytes)
    source.fail(tensor.name, fmt::format("{} elements of type {} do not have the {} bytes that "
                                         "follow its header",
                                         fmt::join(tensor.shape, " x "),
                                         elementTypeName(tensor.type), tensor.bytes));
  return tensor;
}

} // namespace

WeightsDirectory readNpz(const ByteSource& source) {
  WeightsDirectory directory{.isOrdered = true};
  for (const ZipMember& member : readZip(source))
    directory.tensors.push_back(readMember(source, member));
  return directory;
}

} // namespace tenon
