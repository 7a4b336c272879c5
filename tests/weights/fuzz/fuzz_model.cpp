// SPDX-License-Identifier: BSD-2-Clause
// Fuzz target of trained models (PyTorch's .pt2 archives and ONNX files). libFuzzer calls
//
//   LLVMFuzzerCustomMutator  to change an input
//   LLVMFuzzerTestOneInput   to read the input, map it to layers, read the parameters and divide
//                            the layers into sections
//
// The only errors allowed are refusals of the input; TENON_ERR_INTERNAL and TENON_ERR_MEMORY count
// as crashes. Members of a .pt2 archive have checksums, so nearly every change of the archive's
// bytes would be refused at once. Seven of eight changes are therefore made within one member, and
// the archive is written with new checksums around it.
#include "import/lowering/sections.hpp"
#include "import/model_file.hpp"
#include "sys/errors/error.hpp"
#include "weights/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t maxSize);

namespace {

// At most this many elements of a parameter are read: a small file can claim huge shapes.
constexpr tenon::Index kMaxNumbers = 1 << 16;

void readParameter(const tenon::ModelWeights& weights, const tenon::ModelConstant& value) {
  tenon::Box box;
  tenon::Index elements = 1;
  for (const tenon::Index extent : value.shape()) {
    box.push_back({0, std::min(extent, kMaxNumbers / std::max<tenon::Index>(elements, 1))});
    elements *= box.back().end;
  }
  std::vector<double> numbers(static_cast<std::size_t>(elements));
  weights.read(value, box, numbers.data());
}

// The archive with one member mutated, of at most maxSize bytes if the member can shrink; "" if the
// archive has no members, or packed ones. The lowest bit of `random` decides whether the member is
// any one or one of the JSON files, the other bits choose it.
std::string withChangedMember(const tenon::ByteSource& archive, std::size_t maxSize,
                              unsigned random) {
  std::vector<tenon::ZipMember> members = tenon::readZip(archive);
  if (members.empty())
    return "";
  std::vector<std::size_t> json;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (members[i].deflated)
      return "";
    if (members[i].name.ends_with(".json"))
      json.push_back(i);
  }
  const bool isAny = random % 2 == 0 || json.empty();
  const std::size_t number = random / 2, free = maxSize - static_cast<std::size_t>(archive.size());
  const std::size_t changed = isAny ? number % members.size() : json[number % json.size()];
  std::string text, directory;
  for (std::size_t i = 0; i < members.size(); ++i) {
    tenon::ZipMember& member = members[i];
    std::vector<std::byte> bytes = archive.readPart(member.begin, member.stored, "a member");
    auto size = bytes.size();
    bytes.resize(i == changed ? size + free + 1 : size);
    auto* const data = reinterpret_cast<std::uint8_t*>(bytes.data());
    if (i == changed)
      size = LLVMFuzzerMutate(data, size, size + free);
    member.header = static_cast<tenon::Index>(text.size());
    member.stored = member.bytes = static_cast<tenon::Index>(size);
    member.crc = static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), data, size));
    text += tenon::zipLocalHeader(member) + std::string(reinterpret_cast<char*>(data), size);
    directory += tenon::zipDirectoryEntry(member);
  }
  const auto begin = static_cast<tenon::Index>(text.size());
  return text + directory +
         tenon::zipEnd(static_cast<tenon::Index>(members.size()), begin,
                       static_cast<tenon::Index>(directory.size()));
}

} // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t maxSize, unsigned random) {
  const auto source = tenon::bytesAt(reinterpret_cast<const std::byte*>(data),
                                     static_cast<tenon::Index>(size), "fuzz");
  try {
    if (random % 8 != 0 && tenon::isZip(*source))
      if (const std::string archive = withChangedMember(*source, maxSize, random / 8);
          !archive.empty() && archive.size() <= maxSize) {
        std::memcpy(data, archive.data(), archive.size());
        return archive.size();
      }
  } catch (const tenon::Error&) {
    // An earlier change has damaged the archive: its bytes are changed instead.
  }
  return LLVMFuzzerMutate(data, size, maxSize);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tenon;
  const auto source =
      bytesAt(reinterpret_cast<const std::byte*>(data), static_cast<Index>(size), "fuzz");
  try {
    const ModelProgram program = readModelProgram(*source);
    std::vector<Shape> inputs;
    for (const ModelInput& input : program.inputs) {
      Shape shape;
      for (const auto& extent : input.shape)
        shape.push_back(std::min<Index>(extent.value_or(16), 1 << 20)); // 16: the user's choice
      inputs.push_back(shape);
    }
    const ImportedNetwork network = importNetwork(program, *source, inputs);
    const ModelWeights weights(program, *source);
    for (const ImportedNetwork::Parameter& parameter : network.parameters)
      readParameter(weights, parameter.value);
    const std::vector<int> starts = sectionStarts(network, /*mostElements=*/64);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
      makeSection(network, starts[i], starts[i + 1]);
  } catch (const Error& error) {
    if (error.code() == TENON_ERR_INTERNAL || error.code() == TENON_ERR_MEMORY)
      std::abort();
  }
  return 0;
}
