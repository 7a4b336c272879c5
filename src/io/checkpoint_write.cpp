// SPDX-License-Identifier: BSD-2-Clause
// Writes a checkpoint: the members of class Checkpoint from texts() to writeStep(). texts()
// and writeNewFile() are local; the others are collective. The steps of writeContents():
//   1. all ranks compute digests of their elements, which are added up (addState())
//   2. rank 0 creates the temporary file and writes its structure, with the digests
//   3. all ranks write the values of the tensors (writeTensors())
//   4. each rank that has written flushes the file to the disk; agreement
//   5. rank 0 renames the temporary file to its final name; agreement
// The old file is untouched until step 5. An agreement is a small collective message, after which
// all ranks continue, or all throw the same error. Class Checkpoint is in checkpoint.hpp.
#include "io/checkpoint.hpp"

#include "comm/agreement/agreement.hpp"
#include "dtensor/host_view.hpp"
#include "dtensor/measure.hpp"
#include "io/checkpoint_files.hpp"
#include "sys/log/log.hpp"
#include "sys/log/stopwatch.hpp"
#include "sys/text/output.hpp"

#include <tenon/version.h>

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <utility>

namespace tenon {

namespace {

// Upper estimate of HDF5's own data per file and per dataset, for the check of free space.
constexpr Index kStructureBytes = 65536, kStructureBytesOfDataset = 8192;

// Returns the present time, "2026-03-01T12:00:00Z".
std::string timeText() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32] = "";
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

} // namespace

std::vector<StoredText> Checkpoint::texts() const {
  std::vector<StoredText> attributes;
  for (const auto& [root, layer] : layers_) {
    attributes.push_back({root, "type", std::string(layer->type())});
    attributes.push_back({root, "settings", layer->agreedText()});
  }
  for (const auto& [root, optimizer] : optimizers_) {
    attributes.push_back({root, "type", std::string(optimizer->type())});
    attributes.push_back({root, "settings", optimizer->settings().describe()});
  }
  return attributes;
}

void Checkpoint::addState(Contents& contents, std::vector<Ref<DTensor>>& copies) const {
  struct Sums {
    std::vector<std::uint64_t> digests, numbers;
  };
  Sums sums = collectively(*comm_, [&] {
    Sums local;
    copies.resize(contents.pointers.size());
    for (std::size_t i = 0; i < copies.size(); ++i) {
      const DTensor& x = inSpace(*contents.pointers[i], comm_, Space::Host, copies[i]);
      contents.pointers[i] = &x;
      local.digests.push_back(digestOf(x, writtenBox(x.layout(), comm_->rank())));
    }
    for (const StoredNumber& number : contents.numbers)
      local.numbers.push_back(number.value);
    return local;
  });
  reduceNumbers(*comm_, sums.digests, MPI_SUM);
  // A rank that holds no part of a random layer's tensors has drawn no numbers, so its count is 0.
  reduceNumbers(*comm_, sums.numbers, MPI_MAX);
  for (std::size_t i = 0; i < sums.digests.size(); ++i)
    contents.tensors[i].digest = sums.digests[i];
  for (std::size_t i = 0; i < sums.numbers.size(); ++i)
    contents.numbers[i].value = sums.numbers[i];
}

// On rank 0 only.
void Checkpoint::writeNewFile(const PartFile& part, const std::string& path,
                              const Contents& contents) const {
  writeStructure(part.name(), {.writer = fmt::format("Tenon {}.{}.{}", TENON_VERSION_MAJOR,
                                                     TENON_VERSION_MINOR, TENON_VERSION_PATCH),
                               .created = timeText(),
                               .ranks = comm_->size(),
                               .tensors = contents.tensors,
                               .numbers = contents.numbers,
                               .texts = texts(),
                               .values = values_});
  reserveRoom(part.descriptor(), path);
}

void Checkpoint::writeContents(const std::string& path, Contents& contents) {
  std::vector<Ref<DTensor>> copies;
  addState(contents, copies);
  std::optional<PartFile> part; // the temporary file; only on rank 0
  const std::string name = collectively(*comm_, [&] {
    if (comm_->rank() != 0)
      return std::string();
    // Another process that is writing a checkpoint to this path, if any; the user is warned once.
    const std::optional<std::string> writer = removeParts(path);
    if (writer && !std::exchange(hasWarnedOfSharedFolder_, true))
      printError(sharedFolderText(path, *writer));
    const Index datasets = static_cast<Index>(contents.tensors.size());
    checkRoom(path,
              bytesOf(contents.tensors) + kStructureBytes + datasets * kStructureBytesOfDataset);
    part.emplace(path, PartFile::Owner::Named); // other processes can see who writes it
    writeNewFile(*part, path, contents);
    return part->name();
  });
  const std::string partName = broadcastText(*comm_, name, 0);
  FileData data = fileData(path, contents, "write");
  data.path = partName;
  writeTensors(comm_, data, contents.pointers);
  commitPart(comm_, part, data);
}

bool Checkpoint::isFinite(const Contents& contents) const {
  std::vector<std::uint64_t> isBad = collectively(*comm_, [&] {
    std::vector<std::uint64_t> local{0};
    for (std::size_t i = 0; i < contents.pointers.size(); ++i)
      if (!contents.tensors[i].path.starts_with("tensors/") &&
          !isInteger(contents.tensors[i].type) &&
          !std::isfinite(localMaxAbsolute(*contents.pointers[i])))
        local[0] = 1;
    return local;
  });
  reduceNumbers(*comm_, isBad, MPI_MAX);
  return isBad[0] == 0;
}

void Checkpoint::write(const std::string& path) {
  static const int event = logEvent("CheckpointWrite");
  const LogScope scope(event);
  const Stopwatch watch;
  Contents state = contents(fmt::format("write '{}':", path));
  Report report{"wrote", path, bytesOf(state.tensors)};
  writeContents(path, state);
  report.seconds = watch.seconds();
  lastReport_ = std::move(report);
}

void Checkpoint::writeStep(const std::string& folder, Index step) {
  collectively(*comm_, [&] {
    if (step < 0)
      throw Error(TENON_ERR_ARG, fmt::format("step is {}; it must be >= 0", step));
    if (comm_->rank() == 0)
      makeFolder(folder);
    return true;
  });
  setValue("step", step);
  // The contents are listed twice, here and in write(), since write() replaces what it lists by
  // copies on the host.
  const std::string path = stepFile(folder, step);
  const bool finite = isFinite(contents(fmt::format("write '{}':", path)));
  write(path);
  // A file whose state is not finite replaces only another such file, so the finite ones are
  // preserved.
  const std::string replaced = std::exchange(notFinite_, finite ? "" : path);
  std::optional<Error> failure;
  if (comm_->rank() == 0)
    try {
      if (finite) {
        removeSteps(folder, step, keep_);
      } else {
        printError(fmt::format("Tenon: warning: the state in '{}' is not finite; the files before "
                               "it are kept\n",
                               path));
        std::error_code ignored;
        if (!replaced.empty() && replaced != path)
          std::filesystem::remove(replaced, ignored);
      }
    } catch (...) {
      failure = caughtError();
    }
  agreeWithoutLimit(*comm_, failure);
}

} // namespace tenon
