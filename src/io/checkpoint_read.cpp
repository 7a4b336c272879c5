// SPDX-License-Identifier: BSD-2-Clause
// Reads a checkpoint: the members of class Checkpoint from broadcastStructure() to readLatest(), in
// the order that checkpoint.hpp describes. Rank 0 reads the structure first and broadcasts digests,
// numbers and values as a message. All ranks then read the values of tensors into scratch memory,
// and the objects change only when all digests are right on all ranks.
//
// The message is a sequence of 64-bit numbers and texts, without names, because all ranks have the
// same list of tensors and numbers (contents()):
//   digest of each tensor | number of each entry | count of values | key and value of each
#include "io/checkpoint.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/vote.hpp"
#include "dtensor/arithmetic.hpp"
#include "io/checkpoint_files.hpp"
#include "sys/log/log.hpp"
#include "sys/log/stopwatch.hpp"
#include "sys/text/output.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tenon {

namespace {

// The message: a number has 8 bytes, a text its length and then its characters. All ranks have the
// same byte order.
class MessageWriter {
public:
  void number(std::uint64_t value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(const std::string& words) {
    number(words.size());
    text_ += words;
  }
  const std::string& message() const noexcept { return text_; }

private:
  std::string text_;
};

class MessageReader {
public:
  explicit MessageReader(const std::string& text) : text_(text) {}
  std::uint64_t number() {
    std::uint64_t value = 0;
    std::memcpy(&value, text_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string text() {
    const std::size_t length = number();
    at_ += length;
    return text_.substr(at_ - length, length);
  }

private:
  const std::string& text_;
  std::size_t at_ = 0;
};

// A value of the user is the index of its type in StoredValue, and then an integer (0), the bits of
// a real number (1), or a text (2).
void putValue(MessageWriter& to, const StoredValue& value) {
  to.number(value.index());
  std::uint64_t bits = 0;
  if (const auto* integer = std::get_if<Index>(&value))
    std::memcpy(&bits, integer, sizeof bits);
  else if (const auto* real = std::get_if<double>(&value))
    std::memcpy(&bits, real, sizeof bits);
  else
    return to.text(std::get<std::string>(value));
  to.number(bits);
}

StoredValue takeValue(MessageReader& from) {
  constexpr std::uint64_t kIntegerKind = 0, kTextKind = 2;
  const std::uint64_t kind = from.number();
  if (kind == kTextKind)
    return from.text();
  const std::uint64_t bits = from.number();
  Index integer = 0;
  double real = 0;
  std::memcpy(&integer, &bits, sizeof bits);
  std::memcpy(&real, &bits, sizeof bits);
  return kind == kIntegerKind ? StoredValue(integer) : StoredValue(real);
}

// Joins the first eight of many names, and counts the others.
std::string some(std::vector<std::string> names) {
  constexpr std::size_t kMax = 8;
  const std::size_t omitted = names.size() - std::min(names.size(), kMax);
  names.resize(names.size() - omitted);
  return joined(names) + (omitted ? fmt::format(" and {} more", omitted) : "");
}

std::string kindText(TenonDataType type, const Shape& shape) {
  return fmt::format("{} [{}]", dataTypeName(type), fmt::join(shape, ","));
}

} // namespace

// Entries of the file that match are extracted from the two maps, so extra entries remain.
void Checkpoint::matchFile(const StoredFile& file, const std::string& path,
                           Contents& contents) const {
  std::map<std::string, const StoredDataset*> tensors;
  std::map<std::string, const StoredNumber*> numbers;
  for (const StoredDataset& entry : file.tensors)
    tensors[entry.path] = &entry;
  for (const StoredNumber& entry : file.numbers)
    numbers[entry.path] = &entry;
  std::vector<std::string> missing, different, extra;
  for (StoredDataset& entry : contents.tensors) {
    const auto found = tensors.extract(entry.path);
    if (found.empty())
      missing.push_back(entry.path);
    else if (found.mapped()->type != entry.type || found.mapped()->shape != entry.shape)
      different.push_back(fmt::format("{} is {}, expected {}", entry.path,
                                      kindText(found.mapped()->type, found.mapped()->shape),
                                      kindText(entry.type, entry.shape)));
    else
      entry.digest = found.mapped()->digest;
  }
  for (StoredNumber& entry : contents.numbers) {
    const auto found = numbers.extract(entry.path);
    const auto older = std::ranges::find(file.numbers, entry.older, &StoredNumber::path);
    if (!found.empty())
      entry.value = found.mapped()->value;
    else if (older != file.numbers.end())
      entry.value = older->value;
    else
      missing.push_back(entry.path);
  }
  // A file can contain objects that were not added to this checkpoint. Only additional state of an
  // object that was added is a mismatch.
  const auto noteExtra = [&](const std::string& entry) {
    const auto contains = [&](const auto& named) { return entry.starts_with(named.root + "/"); };
    if (std::ranges::any_of(layers_, contains) || std::ranges::any_of(optimizers_, contains))
      extra.push_back(entry);
  };
  for (const auto& [entry, tensor] : tensors)
    noteExtra(entry);
  for (const auto& [entry, number] : numbers)
    noteExtra(entry);
  std::string text;
  if (!missing.empty())
    text += fmt::format("; it lacks {}", some(missing));
  if (!extra.empty())
    text += fmt::format("; the objects have no {}", some(extra));
  if (!different.empty())
    text += fmt::format("; {}", some(different));
  if (!text.empty())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("file '{}' does not fit the objects of {}{}", path, title(), text));
}

std::string Checkpoint::broadcastStructure(const std::string& path, Contents& contents) const {
  const std::string message = collectively(*comm_, [&] {
    MessageWriter writer;
    if (comm_->rank() != 0)
      return writer.message();
    const StoredFile file = readStructure(path);
    matchFile(file, path, contents);
    for (const StoredDataset& entry : contents.tensors)
      writer.number(entry.digest);
    for (const StoredNumber& entry : contents.numbers)
      writer.number(entry.value);
    writer.number(file.values.size());
    for (const auto& [key, value] : file.values) {
      writer.text(key);
      putValue(writer, value);
    }
    return writer.message();
  });
  return broadcastText(*comm_, message, 0);
}

Checkpoint::Scratch Checkpoint::prepare(const std::string& message, Contents& contents) const {
  Scratch scratch;
  MessageReader reader(message);
  for (StoredDataset& entry : contents.tensors)
    entry.digest = reader.number();
  for (StoredNumber& entry : contents.numbers)
    entry.value = reader.number();
  scratch.values = values_; // values of the file replace those with the same keys
  for (std::uint64_t remaining = reader.number(); remaining > 0; --remaining) {
    const std::string key = reader.text();
    scratch.values[key] = takeValue(reader);
  }
  for (const Target& entry : contents.targets) {
    DTensor& x = *entry.tensor;
    x.checkWritable();
    x.readAddress(); // allocates the array now, while failing is allowed
    const Box& box = scratch.boxes.emplace_back(readBox(x.layout(), comm_->rank()));
    scratch.elements.emplace_back(tenon::elements(box) * dataTypeSize(x.dataType()),
                                  "a checkpoint that is read");
    Ref<DTensor>& copy = scratch.copies.emplace_back();
    if (x.space() != Space::Host) {
      copy = makeRef<DTensor>(x.comm(), x.layout(), x.dataType());
      copy->allocate();
    }
  }
  return scratch;
}

void Checkpoint::checkDigests(const std::string& path, const Contents& contents,
                              const Scratch& scratch) const {
  std::vector<std::uint64_t> digests = collectively(*comm_, [&] {
    std::vector<std::uint64_t> localDigests;
    for (std::size_t i = 0; i < scratch.elements.size(); ++i) {
      const DTensor& x = *contents.pointers[i];
      localDigests.push_back(digestOf(*contextOf(comm_), x.dataType(), x.layout().shape(),
                                      scratch.boxes[i], scratch.elements[i].data<std::byte>()));
    }
    return localDigests;
  });
  reduceNumbers(*comm_, digests, MPI_SUM);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const StoredDataset& stored = contents.tensors[i];
    const auto copies = static_cast<std::uint64_t>(copiesOf(contents.pointers[i]->layout()));
    // Each copy of an element has added its digest. All ranks have the same sums, so all throw
    // without an agreement; agreed(true) marks the rank whose error is printed.
    if (digests[i] != stored.digest * copies)
      throw madeError(TENON_ERR_FORMAT, [&] {
        return Error(TENON_ERR_FORMAT,
                     fmt::format("file '{}' is damaged: the values of '{}' do not have the digest "
                                 "{:016x} that stands beside them",
                                 path, stored.path, stored.digest));
      }).agreed(comm_->rank() == 0);
  }
}

void Checkpoint::copyToObjects(const Contents& contents, Scratch scratch) {
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    const Target& target = contents.targets[i];
    const bool hasCopy = scratch.copies[i].get() != nullptr;
    unpack(scratch.elements[i].data<std::byte>(), scratch.boxes[i],
           hasCopy ? *scratch.copies[i] : *target.tensor);
    if (hasCopy)
      copyLocal(*scratch.copies[i], *target.tensor);
    if (target.parameter)
      target.parameter->valueChanged();
    if (target.state)
      target.state->valueChanged();
  }
  for (std::size_t i = 0; i < contents.numbers.size(); ++i)
    std::memcpy(contents.places[i], &contents.numbers[i].value, sizeof contents.numbers[i].value);
  values_ = std::move(scratch.values);
}

void Checkpoint::readContents(const std::string& path, Contents& contents) {
  const std::string message = broadcastStructure(path, contents);
  Scratch scratch = collectively(*comm_, [&] { return prepare(message, contents); });
  readTensors(comm_, fileData(path, contents, "read"), contents.pointers, scratch.elements);
  checkDigests(path, contents, scratch);
  // No object has been modified before this line, and nothing after it can fail.
  copyToObjects(contents, std::move(scratch));
}

void Checkpoint::read(const std::string& path) {
  static const int event = logEvent("CheckpointRead");
  const LogScope scope(event);
  const Stopwatch watch;
  Contents state = contents(fmt::format("read '{}':", path));
  Report report{"read", path, bytesOf(state.tensors)};
  readContents(path, state);
  report.seconds = watch.seconds();
  lastReport_ = std::move(report);
}

void Checkpoint::load(Ref<DTensor> tensor, const std::string& path, const std::string& dataset) {
  Checkpoint checkpoint(tensor->comm());
  checkpoint.tensors_.push_back({/*root=*/dataset, std::move(tensor)}); // any path of the file
  checkpoint.read(path);
}

std::optional<Index> Checkpoint::readLatest(const std::string& folder) {
  const std::string names = collectively(*comm_, [&] {
    return comm_->rank() == 0 ? fmt::format("{}", fmt::join(stepsIn(folder), " ")) : std::string();
  });
  const std::vector<std::string> steps = split(broadcastText(*comm_, names, 0), ' ');
  for (std::size_t i = 0; i < steps.size(); ++i)
    try {
      // collectively() returns the same outcome on all ranks, so either all try the next file or
      // none does.
      return collectively(*comm_, [&] {
        const Index step = std::stoll(steps[i]);
        read(stepFile(folder, step));
        return step;
      });
    } catch (const Error& error) {
      // Other errors, such as a tensor of another shape, would occur with older files too. A file
      // that cannot be opened counts as damaged: another program can have removed it since.
      const bool isDamaged = error.code() == TENON_ERR_FORMAT || error.code() == TENON_ERR_FILE;
      if (!isDamaged || i + 1 == steps.size())
        throw;
      if (comm_->rank() == 0)
        printError(fmt::format("Tenon: warning: {}; the file before it is tried\n", error.text()));
    }
  return std::nullopt;
}

} // namespace tenon
