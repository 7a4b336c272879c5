// SPDX-License-Identifier: BSD-2-Clause
// Any bytes as a trained network, an archive of PyTorch or ONNX: read, mapped to layers, its
// parameters read, and divided into sections. The checksums of an archive would refuse nearly all
// changes of its members; so most of them are made in a member, and the archive is written anew
// around it.
#include "import/lowering/sections.hpp"
#include "import/model_file.hpp"
#include "sys/errors/error.hpp"
#include "weights/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

constexpr tenon::Index kMaxNumbers = 1 << 16;

void readParameter(const tenon::ModelWeights& weights, const tenon::ModelConstant& value) {
  tenon::Box box;
  tenon::Index all = 1;
  for (const tenon::Index extent : value.shape()) {
    box.push_back({0, std::min(extent, kMaxNumbers / std::max<tenon::Index>(all, 1))});
    all *= box.back().end;
  }
  std::vector<double> numbers(static_cast<std::size_t>(all));
  weights.read(value, box, numbers.data());
}

// The archive with one member changed, as often as not one of JSON; "" if one is packed or none is
// there.
std::string withChangedMember(const tenon::ByteSource& archive, std::size_t most, unsigned chance) {
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
  const bool isAny = chance % 2 == 0 || json.empty();
  const std::size_t number = chance / 2, free = most - static_cast<std::size_t>(archive.size());
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
                                               std::size_t most, unsigned chance) {
  const auto source = tenon::bytesAt(reinterpret_cast<const std::byte*>(data),
                                     static_cast<tenon::Index>(size), "fuzz");
  try {
    if (chance % 8 != 0 && tenon::isZip(*source))
      if (const std::string made = withChangedMember(*source, most, chance / 8);
          !made.empty() && made.size() <= most) {
        std::memcpy(data, made.data(), made.size());
        return made.size();
      }
  } catch (const tenon::Error&) {
    // It is no archive any more.
  }
  return LLVMFuzzerMutate(data, size, most);
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
        shape.push_back(std::min<Index>(extent.value_or(16), 1 << 20));
      inputs.push_back(shape);
    }
    const ImportedNetwork network = importNetwork(program, *source, inputs);
    const ModelWeights weights(program, *source);
    for (const ImportedNetwork::Parameter& parameter : network.parameters)
      readParameter(weights, parameter.value);
    const std::vector<int> starts = sectionStarts(network, 64);
    for (std::size_t i = 0; i + 1 < starts.size(); ++i)
      makeSection(network, starts[i], starts[i + 1]);
  } catch (const Error& error) {
    if (error.code() == TENON_ERR_INTERNAL || error.code() == TENON_ERR_MEMORY)
      std::abort();
  }
  return 0;
}
