// SPDX-License-Identifier: BSD-2-Clause
// Reads a checkpoint. Rank 0 reads the structure first and broadcasts it. The data are read into
// scratch memory, and the objects change only when all digests are right on all ranks.
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

// A message of numbers and texts, broadcast from one rank to the others.
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

// Joins the first few of many names.
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

void Checkpoint::fit(const StoredFile& file, const std::string& path, Contents& contents) const {
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
    const auto holds = [&](const auto& named) { return entry.starts_with(named.root + "/"); };
    if (std::ranges::any_of(layers_, holds) || std::ranges::any_of(optimizers_, holds))
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

std::string Checkpoint::readStated(const std::string& path, Contents& contents) const {
  const std::string message = collectively(*comm_, [&] {
    MessageWriter writer;
    if (comm_->rank() != 0)
      return writer.message();
    const StoredFile file = readStructure(path);
    fit(file, path, contents);
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

Checkpoint::Arrived Checkpoint::prepare(const std::string& stated, Contents& contents) const {
  Arrived arrived;
  MessageReader reader(stated);
  for (StoredDataset& entry : contents.tensors)
    entry.digest = reader.number();
  for (StoredNumber& entry : contents.numbers)
    entry.value = reader.number();
  arrived.values = values_;
  for (std::uint64_t remaining = reader.number(); remaining > 0; --remaining) {
    const std::string key = reader.text();
    arrived.values[key] = takeValue(reader);
  }
  for (const Target& entry : contents.targets) {
    DTensor& x = *entry.tensor;
    x.checkWritable();
    x.readAddress(); // allocates the array now, while failing is allowed
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
    std::vector<std::uint64_t> localDigests;
    for (std::size_t i = 0; i < arrived.elements.size(); ++i) {
      const DTensor& x = *contents.pointers[i];
      localDigests.push_back(digestOf(*contextOf(comm_), x.dataType(), x.layout().shape(),
                                      arrived.boxes[i], arrived.elements[i].data<std::byte>()));
    }
    return localDigests;
  });
  reduceNumbers(*comm_, digests, MPI_SUM);
  for (std::size_t i = 0; i < digests.size(); ++i) {
    const StoredDataset& stored = contents.tensors[i];
    const auto copies = static_cast<std::uint64_t>(copiesOf(contents.pointers[i]->layout()));
    // All ranks have the same sums, so all throw; only one prints the message.
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
  // No object has been modified before this line, and nothing after it can fail.
  take(contents, std::move(arrived));
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
  checkpoint.tensors_.push_back({dataset, std::move(tensor)});
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
      const bool isDamaged = error.code() == TENON_ERR_FORMAT || error.code() == TENON_ERR_FILE;
      if (!isDamaged || i + 1 == steps.size())
        throw;
      if (comm_->rank() == 0)
        printError(fmt::format("Tenon: warning: {}; the file before it is tried\n", error.text()));
    }
  return std::nullopt;
}

} // namespace tenon
