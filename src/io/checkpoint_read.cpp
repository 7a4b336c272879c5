// SPDX-License-Identifier: BSD-2-Clause
// Reads a checkpoint. Rank 0 meets the file first and says what is in it; its data go into scratch
// memory, and only when all digests are right on all ranks do the objects change.
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

// A message of numbers and texts from one rank to the others.
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
  const std::uint64_t kind = from.number();
  if (kind == 2)
    return from.text();
  const std::uint64_t bits = from.number();
  Index integer = 0;
  double real = 0;
  std::memcpy(&integer, &bits, sizeof bits);
  std::memcpy(&real, &bits, sizeof bits);
  return kind == 0 ? StoredValue(integer) : StoredValue(real);
}

// The first few of many names.
std::string some(std::vector<std::string> words) {
  constexpr std::size_t kMax = 8;
  const std::size_t more = words.size() - std::min(words.size(), kMax);
  words.resize(words.size() - more);
  return joined(words) + (more ? fmt::format(" and {} more", more) : "");
}

std::string kindText(TenonDataType type, const Shape& shape) {
  return fmt::format("{} [{}]", dataTypeName(type), fmt::join(shape, ","));
}

} // namespace

void Checkpoint::fit(const StoredFile& file, const std::string& path, Contents& contents) const {
  std::map<std::string, const StoredDataset*> tensors;
  std::map<std::string, const StoredNumber*> numbers;
  for (const StoredDataset& each : file.tensors)
    tensors[each.path] = &each;
  for (const StoredNumber& each : file.numbers)
    numbers[each.path] = &each;
  std::vector<std::string> missing, other, extra;
  for (StoredDataset& each : contents.tensors) {
    const auto found = tensors.extract(each.path);
    if (found.empty())
      missing.push_back(each.path);
    else if (found.mapped()->type != each.type || found.mapped()->shape != each.shape)
      other.push_back(fmt::format("{} is {}, expected {}", each.path,
                                  kindText(found.mapped()->type, found.mapped()->shape),
                                  kindText(each.type, each.shape)));
    else
      each.digest = found.mapped()->digest;
  }
  for (StoredNumber& each : contents.numbers) {
    const auto found = numbers.extract(each.path);
    const auto older = std::ranges::find(file.numbers, each.older, &StoredNumber::path);
    if (!found.empty())
      each.value = found.mapped()->value;
    else if (older != file.numbers.end())
      each.value = older->value;
    else
      missing.push_back(each.path);
  }
  // A file may hold objects that were not added to this checkpoint; only what is new inside an
  // added one is a mismatch.
  const auto noteExtra = [&](const std::string& each) {
    const auto holds = [&](const auto& named) { return each.starts_with(named.root + "/"); };
    if (std::ranges::any_of(layers_, holds) || std::ranges::any_of(optimizers_, holds))
      extra.push_back(each);
  };
  for (const auto& [each, tensor] : tensors)
    noteExtra(each);
  for (const auto& [each, number] : numbers)
    noteExtra(each);
  std::string text;
  if (!missing.empty())
    text += fmt::format("; it lacks {}", some(missing));
  if (!extra.empty())
    text += fmt::format("; the objects have no {}", some(extra));
  if (!other.empty())
    text += fmt::format("; {}", some(other));
  if (!text.empty())
    throw Error(TENON_ERR_SHAPE,
                fmt::format("file '{}' does not fit the objects of {}{}", path, title(), text));
}

std::string Checkpoint::readStated(const std::string& path, Contents& contents) const {
  const std::string message = collectively(*comm_, [&] {
    MessageWriter writer;
    if (comm_->rank() != 0)
      return writer.message();
    const StoredFile file = readStructure(path);
    fit(file, path, contents);
    for (const StoredDataset& each : contents.tensors)
      writer.number(each.digest);
    for (const StoredNumber& each : contents.numbers)
      writer.number(each.value);
    writer.number(file.values.size());
    for (const auto& [key, value] : file.values) {
      writer.text(key);
      putValue(writer, value);
    }
    return writer.message();
  });
  return broadcastText(*comm_, message, 0);
}

Checkpoint::Arrived Checkpoint::prepare(const std::string& stated, Contents& contents) const {
  Arrived arrived;
  MessageReader reader(stated);
  for (StoredDataset& each : contents.tensors)
    each.digest = reader.number();
  for (StoredNumber& each : contents.numbers)
    each.value = reader.number();
  arrived.values = values_;
  for (std::uint64_t left = reader.number(); left > 0; --left) {
    const std::string key = reader.text();
    arrived.values[key] = takeValue(reader);
  }
  for (const Target& each : contents.targets) {
    DTensor& x = *each.tensor;
    x.checkWritable();
    x.readAddress(); // has an array from now on
    const Box& box = arrived.boxes.emplace_back(readBox(x.layout(), comm_->rank()));
    arrived.elements.emplace_back(tenon::elements(box) * dataTypeSize(x.dataType()),
                                  "a checkpoint that is read");
    Ref<DTensor>& copy = arrived.copies.emplace_back();
    if (x.space() != Space::Host) {
      copy = makeRef<DTensor>(x.comm(), x.layout(), x.dataType());
      copy->allocate();
    }
  }
  return arrived;
}

void Checkpoint::checkDigests(const std::string& path, const Contents& contents,
                              const Arrived& arrived) const {
  std::vector<std::uint64_t> digests = collectively(*comm_, [&] {
    std::vector<std::uint64_t> own;
    for (std::size_t i = 0; i < arrived.elements.size(); ++i) {
      const DTensor& x = *contents.pointers[i];
      own.push_back(digestOf(*contextOf(comm_), x.dataType(), x.layout().shape(), arrived.boxes[i],
                             arrived.elements[i].data<std::byte>()));
    }
    return own;
  });
  reduceNumbers(*comm_, digests, MPI_SUM);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const StoredDataset& stored = contents.tensors[i];
    const auto copies = static_cast<std::uint64_t>(copiesOf(contents.pointers[i]->layout()));
    // All ranks have the same sums, so all throw; one says so, as the agreement would.
    if (digests[i] != stored.digest * copies)
      throw madeError(TENON_ERR_FORMAT, [&] {
        return Error(TENON_ERR_FORMAT,
                     fmt::format("file '{}' is damaged: the values of '{}' do not have the digest "
                                 "{:016x} that stands beside them",
                                 path, stored.path, stored.digest));
      }).agreed(comm_->rank() == 0);
  }
}

void Checkpoint::take(const Contents& contents, Arrived arrived) {
  for (std::size_t i = 0; i < contents.targets.size(); ++i) {
    const Target& target = contents.targets[i];
    const bool hasCopy = arrived.copies[i].get() != nullptr;
    unpack(arrived.elements[i].data<std::byte>(), arrived.boxes[i],
           hasCopy ? *arrived.copies[i] : *target.tensor);
    if (hasCopy)
      copyLocal(*arrived.copies[i], *target.tensor);
    if (target.parameter)
      target.parameter->valueChanged();
    if (target.state)
      target.state->valueChanged();
  }
  for (std::size_t i = 0; i < contents.numbers.size(); ++i)
    std::memcpy(contents.places[i], &contents.numbers[i].value, sizeof contents.numbers[i].value);
  values_ = std::move(arrived.values);
}

void Checkpoint::readContents(const std::string& path, Contents& contents) {
  const std::string stated = readStated(path, contents);
  Arrived arrived = collectively(*comm_, [&] { return prepare(stated, contents); });
  readTensors(comm_, fileData(path, contents, "read"), contents.pointers, arrived.elements);
  checkDigests(path, contents, arrived);
  // Nothing was written to an object above this line, and nothing can fail any more.
  take(contents, std::move(arrived));
}

void Checkpoint::read(const std::string& path) {
  static const int event = logEvent("CheckpointRead");
  const LogScope scope(event);
  const Stopwatch watch;
  Contents found = contents(fmt::format("read '{}':", path));
  Report report{"read", path, bytesOf(found.tensors)};
  readContents(path, found);
  report.seconds = watch.seconds();
  lastReport_ = std::move(report);
}

void Checkpoint::load(Ref<DTensor> tensor, const std::string& path, const std::string& dataset) {
  Checkpoint one(tensor->comm());
  one.tensors_.push_back({dataset, std::move(tensor)});
  one.read(path);
}

std::optional<Index> Checkpoint::readLatest(const std::string& folder) {
  const std::string names = collectively(*comm_, [&] {
    return comm_->rank() == 0 ? fmt::format("{}", fmt::join(stepsIn(folder), " ")) : std::string();
  });
  const std::vector<std::string> steps = split(broadcastText(*comm_, names, 0), ' ');
  for (std::size_t i = 0; i < steps.size(); ++i)
    try {
      // The outcome is that of a body, so that all ranks have it here, and all go on with the next
      // file or none does.
      return collectively(*comm_, [&] {
        const Index step = std::stoll(steps[i]);
        read(stepFile(folder, step));
        return step;
      });
    } catch (const Error& error) {
      const bool isDamaged = error.code() == TENON_ERR_FORMAT || error.code() == TENON_ERR_FILE;
      if (!isDamaged || i + 1 == steps.size())
        throw;
      if (comm_->rank() == 0)
        printError(fmt::format("Tenon: warning: {}; the file before it is tried\n", error.text()));
    }
  return std::nullopt;
}

} // namespace tenon
