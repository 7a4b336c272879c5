// SPDX-License-Identifier: BSD-2-Clause
// Files in a folder that are numbered by steps, temporary files of killed writers, and disk space:
//   step-100.h5                     checkpoint of step 100: start "step-", 1 digit or more
//   heat-000100.h5                  fields of step 100: start "heat-", 6 digits or more
//   .step-100.h5.part.RANDOM        temporary file of a checkpoint that is being written, or whose
//                                   writer was killed
// Only names that this library would generate are considered, including leading zeros; other files
// in the folder are never removed. Errors in removing files are ignored, because a full folder is
// better than a run that ends. One process calls these functions, rank 0.
#include "io/checkpoint_files.hpp"

#include "io/file_header.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/folder.hpp"
#include "sys/files/part_file.hpp"
#include "sys/files/part_owner.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>

namespace tenon {

namespace {

constexpr std::string_view kStep = "step-", kEnding = ".h5";
constexpr int kStepDigits = 1;

std::string numberedName(std::string_view start, Index step, int digits) {
  return fmt::format("{}{:0{}}{}", start, step, digits, kEnding);
}

// Returns the number in a name such as "step-100.h5", where `start` is "step-"; none if
// numberedName() would not generate that name.
std::optional<Index> numberOf(std::string_view name, std::string_view start, int digits) {
  if (!name.starts_with(start) || !name.ends_with(kEnding) ||
      name.size() <= start.size() + kEnding.size())
    return std::nullopt;
  const std::string_view number =
      name.substr(start.size(), name.size() - start.size() - kEnding.size());
  Index step = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), step).ec != std::errc() ||
      step < 0 || name != numberedName(start, step, digits))
    return std::nullopt;
  return step;
}

std::string fileName(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Whether a name is that of a temporary file of a numbered file.
bool isNumberedPart(const std::string& name, std::string_view start, int digits) {
  const std::size_t end = name.find(".part.");
  return name.starts_with(".") && end != name.npos &&
         numberOf(name.substr(1, end - 1), start, digits);
}

// Removes files that satisfy the condition, except those of a running writer, which is returned.
template <class Condition>
std::optional<std::string> removeWhere(const std::string& folder, Condition isMatch) {
  std::optional<std::string> writer;
  std::error_code ignored;
  for (const std::string& name : namesIn(folder, ignored)) {
    if (!isMatch(name))
      continue;
    const std::string path = folder + '/' + name;
    // writerOf() returns a process only if it is still running.
    if (auto writerName = writerOf(partOf(path)))
      writer = std::move(writerName);
    else
      std::filesystem::remove(path, ignored);
  }
  return writer;
}

} // namespace

std::string stepFile(const std::string& folder, Index step) {
  return fmt::format("{}{}{}", folder, folder.ends_with('/') ? "" : "/",
                     numberedName(kStep, step, kStepDigits));
}

std::vector<Index> numberedFiles(const std::string& folder, const std::string& start, int digits) {
  std::vector<Index> steps;
  std::error_code error;
  for (const std::string& name : namesIn(folder, error))
    if (const auto step = numberOf(name, start, digits))
      steps.push_back(*step);
  if (error && error != std::errc::no_such_file_or_directory)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot read folder '{}': {}", folder, error.message()));
  std::sort(steps.begin(), steps.end(), std::greater<>());
  return steps;
}

std::vector<Index> stepsIn(const std::string& folder) {
  return numberedFiles(folder, std::string(kStep), kStepDigits);
}

void makeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  std::error_code ignored;
  if (error && !std::filesystem::is_directory(folder, ignored))
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot make folder '{}': {}", folder, error.message()));
}

std::optional<std::string> removeParts(const std::string& path) {
  const std::string file = fileName(path);
  if (numberOf(file, kStep, kStepDigits))
    return removeNumberedParts(folderOf(path), std::string(kStep), kStepDigits);
  return removeWhere(folderOf(path), [&](const std::string& name) {
    return name.starts_with(PartFile::prefix(file));
  });
}

std::optional<std::string> removeNumberedParts(const std::string& folder, const std::string& start,
                                               int digits) {
  return removeWhere(folder,
                     [&](const std::string& name) { return isNumberedPart(name, start, digits); });
}

std::string sharedFolderText(const std::string& path, const std::string& writer) {
  return fmt::format(
      "Tenon: warning: {} writes such files too, while '{}' is written; each file is whole, but of "
      "one name the last writer's stays, and older ones are removed by either. Give each program a "
      "folder of its own\n",
      writer, path);
}

void removeSteps(const std::string& folder, Index last, Index keep) {
  std::vector<Index> steps = stepsIn(folder);
  // Later steps belong to another run, and files that are not checkpoints to other programs.
  std::erase_if(steps, [&](Index step) {
    return step > last || !beginsAsCheckpoint(stepFile(folder, step));
  });
  std::error_code ignored;
  for (std::size_t i = static_cast<std::size_t>(keep); i < steps.size(); ++i)
    std::filesystem::remove(stepFile(folder, steps[i]), ignored);
}

void checkRoom(const std::string& path, Index bytes) {
  const auto needed = static_cast<std::uint64_t>(bytes);
  struct rlimit limit {};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < needed)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot write file '{}': it needs {}, but this process may only write "
                            "files of {}; raise the limit (ulimit -f)",
                            path, sizeText(bytes), sizeText(static_cast<Index>(limit.rlim_cur))));
  struct statvfs disk {};
  if (statvfs(folderOf(path).c_str(), &disk) != 0)
    return; // opening the file reports what is wrong with the folder
  const std::uint64_t freeBytes = std::uint64_t(disk.f_bavail) * disk.f_frsize;
  if (freeBytes < needed)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot write file '{}': {} (it needs {}, and {} are free)", path,
                            std::strerror(ENOSPC), sizeText(bytes),
                            sizeText(static_cast<Index>(freeBytes))));
}

void reserveRoom(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0 || status.st_size == 0)
    return;
  // If the file system cannot reserve space, a full disk is detected while writing.
  if (fallocate(file, 0, 0, status.st_size) != 0 && errno != EOPNOTSUPP && errno != ENOSYS)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot write file '{}': {}", path, std::strerror(errno)));
}

} // namespace tenon
