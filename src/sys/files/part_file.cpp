// SPDX-License-Identifier: BSD-2-Clause
// Writes a file under a temporary name (the part file) in the same folder and renames it when it is
// complete. A rename within a folder is atomic, so readers see the old or the new file, never a
// part. Order of the syncs to disk: the content, the rename, the folder with the name.
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

constexpr int kTries = 16;     // attempts to find an unused name
constexpr mode_t kMode = 0666; // reduced by the umask
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

// The stream of a descriptor, which it owns. NULL, with the reason in errno, if it fails; the
// descriptor is then closed here, since fdopen() leaves it open on failure.
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
  open(checkPath(), owner);
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

std::optional<mode_t> PartFile::checkPath() const {
  // lstat(), to detect a link instead of following it.
  struct stat status {};
  if (lstat(path_.c_str(), &status) != 0) {
    if (errno == ENOENT && !path_.empty())
      return std::nullopt;
    fail(std::strerror(errno));
  }
  if (!S_ISREG(status.st_mode))
    fail(fmt::format("it is {}; expected a regular file or a name that is free",
                     kindOf(status.st_mode)));
  if (access(path_.c_str(), W_OK) != 0)
    fail(std::strerror(errno));
  return status.st_mode & kPermissions;
}

// The file has the permissions of the replaced file from its creation on, so protected contents are
// never readable by others.
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
    // O_EXCL: an existing file or link of this name is not opened.
    file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   replaced.value_or(kMode));
    if (file_ < 0 && errno != EEXIST)
      break;
  }
  if (file_ < 0)
    fail(std::strerror(errno));
  // Restores the permissions that the umask removed.
  if (replaced && fchmod(file_, *replaced) != 0) {
    const int reason = errno;
    close();
    unlink(name_.c_str());
    fail(std::strerror(reason));
  }
}

void PartFile::sync() {
  // File systems without fsync return EINVAL.
  if (fsync(file_) != 0 && errno != EINVAL)
    fail(std::strerror(errno));
}

void PartFile::commit() {
  // The path can have changed since the file was opened.
  checkPath();
  if (std::rename(name_.c_str(), path_.c_str()) != 0)
    fail(errno == ENOENT
             ? fmt::format("'{}', which it is written as, is gone: another program has removed it; "
                           "give each program a folder of its own",
                           name_)
             : std::strerror(errno));
  isCommitted_ = true;
  owner_.reset();
  close();
  // A rename that is not on the disk is lost when the power fails.
  syncToDisk(folderOf(path_));
}

void PartFile::fail(const std::string& reason) const {
  throw Error(TENON_ERR_FILE, fmt::format("cannot write file '{}': {}", path_, reason));
}

// The stream has a duplicated descriptor, since the stream and the part file both close theirs.
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
  // Reads in blocks until the end: files in /proc do not report their size.
  char block[4096];
  while (const std::size_t count = std::fread(block, 1, sizeof block, file.get())) {
    text.append(block, count);
    if (text.size() > kMaxFileText)
      throw failed(fmt::format("it has more than {} bytes", kMaxFileText));
  }
  if (std::ferror(file.get()))
    throw failed(std::strerror(errno));
  return text;
}

} // namespace tenon
