// SPDX-License-Identifier: BSD-2-Clause
// Writes a file under another name in the same folder and renames it, since a rename within a
// folder is the one change of a file that is made as a whole. The disk is told in this order: the
// content, the rename, then the folder, which holds the name.
#include "sys/files/part_file.hpp"

#include "sys/errors/error.hpp"
#include "sys/files/regular_file.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>

namespace tenon {

namespace {

constexpr int kTries = 16;     // of names that nobody has
constexpr mode_t kMode = 0666; // of which umask takes some
constexpr mode_t kPermissions = 0777;
constexpr std::size_t kMaxName = 200; // of the 255 bytes that file systems allow

const char* kindOf(mode_t mode) {
  switch (mode & S_IFMT) {
  case S_IFDIR:
    return "a folder";
  case S_IFLNK:
    return "a symbolic link";
  case S_IFCHR:
  case S_IFBLK:
    return "a device";
  case S_IFIFO:
    return "a pipe";
  default:
    return "a socket";
  }
}

// The stream of a descriptor, which it closes. NULL with the reason in errno if there is none, and
// then the descriptor is closed at once: fdopen() leaves it open where it fails.
std::FILE* streamOf(int descriptor, const char* mode) {
  std::FILE* stream = descriptor < 0 ? nullptr : fdopen(descriptor, mode);
  if (!stream && descriptor >= 0) {
    const int reason = errno;
    ::close(descriptor);
    errno = reason;
  }
  return stream;
}

} // namespace

std::string folderOf(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? "." : path.substr(0, slash + 1);
}

void syncToDisk(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    throw Error(TENON_ERR_FILE, fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
  const int reason = fsync(file) == 0 ? 0 : errno;
  ::close(file);
  if (reason != 0 && reason != EINVAL)
    throw Error(TENON_ERR_FILE,
                fmt::format("cannot bring '{}' to the disk: {}", path, std::strerror(reason)));
}

std::string PartFile::prefix(const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  return fmt::format(".{}.part.", name.substr(0, kMaxName));
}

PartFile::PartFile(std::string path, Owner owner) : path_(std::move(path)) {
  open(checkPlace(), owner);
}

PartFile::~PartFile() {
  close();
  if (!isCommitted_)
    unlink(name_.c_str());
}

void PartFile::close() noexcept {
  if (file_ >= 0)
    ::close(file_);
  file_ = -1;
}

std::optional<mode_t> PartFile::checkPlace() const {
  // lstat(), as a link is to be found, and not what it leads to.
  struct stat there {};
  if (lstat(path_.c_str(), &there) != 0) {
    if (errno == ENOENT && !path_.empty())
      return std::nullopt;
    fail(std::strerror(errno));
  }
  if (!S_ISREG(there.st_mode))
    fail(fmt::format("it is {}; expected a regular file or a name that is free",
                     kindOf(there.st_mode)));
  if (access(path_.c_str(), W_OK) != 0)
    fail(std::strerror(errno));
  return there.st_mode & kPermissions;
}

// Creates the file with the permissions of the file that is replaced from the first moment on, so
// that what the old file hid stays hidden.
void PartFile::open(std::optional<mode_t> replaced, Owner owner) {
  std::random_device random;
  const std::string folder = path_.substr(0, path_.rfind('/') + 1);
  for (int i = 0; i < kTries && file_ < 0; ++i) {
    name_ = fmt::format("{}{}{:08x}{:08x}", folder, prefix(path_), random(), random());
    if (owner == Owner::Named && !owner_.emplace(name_).isHeld()) {
      if (errno != EEXIST)
        break;
      continue;
    }
    // Exclusively: a file or a link that somebody put there under this name is not opened.
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   replaced.value_or(kMode));
    if (file_ < 0 && errno != EEXIST)
      break;
  }
  if (file_ < 0)
    fail(std::strerror(errno));
  if (replaced && fchmod(file_, *replaced) != 0) { // restores what umask took
    const int reason = errno;
    close();
    unlink(name_.c_str());
    fail(std::strerror(reason));
  }
}

void PartFile::sync() {
  // File systems without fsync say so by EINVAL.
  if (fsync(file_) != 0 && errno != EINVAL)
    fail(std::strerror(errno));
}

void PartFile::commit() {
  // The place may have changed since the file was opened.
  checkPlace();
  if (std::rename(name_.c_str(), path_.c_str()) != 0)
    fail(errno == ENOENT
             ? fmt::format("'{}', which it is written as, is gone: another program has removed it; "
                           "give each program a folder of its own",
                           name_)
             : std::strerror(errno));
  isCommitted_ = true;
  owner_.reset();
  close();
  // A rename that only memory knows is lost with the power.
  syncToDisk(folderOf(path_));
}

void PartFile::fail(const std::string& reason) const {
  throw Error(TENON_ERR_FILE, fmt::format("cannot write file '{}': {}", path_, reason));
}

// The stream has a descriptor of its own, since the stream and the part file both close theirs.
NewFile::NewFile(std::string path)
    : part_(std::move(path)), file_(streamOf(dup(part_.descriptor()), "wb")) {
  if (!file_)
    part_.fail(std::strerror(errno));
}

NewFile::~NewFile() {
  std::fclose(file_);
}

void NewFile::write(std::string_view text) {
  if (!text.empty() && std::fwrite(text.data(), 1, text.size(), file_) != text.size())
    part_.fail(std::strerror(errno));
}

void NewFile::commit() {
  if (std::fflush(file_) != 0)
    part_.fail(std::strerror(errno));
  part_.sync();
  part_.commit();
}

std::string readWholeFile(const std::string& path, const std::string& kind) {
  const auto failed = [&](const std::string& reason) {
    return Error(TENON_ERR_FILE, fmt::format("cannot read {} '{}': {}", kind, path, reason));
  };
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(
      streamOf(openRegularFile(path, fmt::format("cannot read {}", kind)), "rb"), close);
  if (!file)
    throw failed(std::strerror(errno));
  std::string text;
  // In blocks until there is no more: files of /proc do not tell their size.
  char block[4096];
  while (const std::size_t got = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, got);
    if (text.size() > kMaxFileText)
      throw failed(fmt::format("it has more than {} bytes", kMaxFileText));
  }
  if (std::ferror(file.get()))
    throw failed(std::strerror(errno));
  return text;
}

} // namespace tenon
