// SPDX-License-Identifier: BSD-2-Clause
// Files in /dev/shm, and pages that are replaced by theirs. mmap() of such a file reserves nothing,
// and a store to a page without memory raises SIGBUS, so every range is committed by fallocate()
// before it is used.
#include "comm/memory/shared_segment.hpp"

#include "sys/errors/error.hpp"
#include "sys/memory/own_memory.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

namespace tenon {

namespace {

constexpr const char* kFolder = "/dev/shm";
// Descriptors that are left to the program, at most a quarter of all.
constexpr int kSpareFiles = 64;

// "/dev/shm/NAME", without allocation.
class Path {
public:
  explicit Path(const std::string& name) noexcept {
    *fmt::format_to_n(text_.data(), text_.size() - 1, "{}/{}", kFolder, name).out = 0;
  }
  const char* text() const noexcept { return text_.data(); }

private:
  std::array<char, 256> text_{};
};

Index softLimit(__rlimit_resource_t resource) {
  struct rlimit limit {};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur > INT64_MAX)
    return INT64_MAX;
  return static_cast<Index>(limit.rlim_cur);
}

// True if few descriptors are left. The system assigns the lowest free number, so a high one means
// that those below are in use.
bool isAmongTheLast(int file) {
  const Index limit = softLimit(RLIMIT_NOFILE);
  return file >= limit - std::min<Index>(kSpareFiles, limit / 4);
}

} // namespace

SharedSegment::SharedSegment(const std::string& name, Index bytes, int flags) : bytes_(bytes) {
  const auto fail = [&](const char* what) {
    const int cause = errno;
    closeFile();
    throw Error(TENON_ERR_MEMORY,
                fmt::format("{} {}: {}", what, Path(name).text(), strerror(cause)));
  };
  const bool isNew = flags & O_CREAT;
  if (isNew && bytes > largest()) {
    errno = EFBIG;
    fail("cannot size");
  }
  file_ = ::open(Path(name).text(), O_RDWR | O_CLOEXEC | flags, S_IRUSR | S_IWUSR);
  if (file_ < 0)
    fail("cannot open");
  if (isNew && isAmongTheLast(file_)) {
    errno = EMFILE;
    fail("cannot keep open");
  }
  if (isNew && ftruncate(file_, bytes) != 0)
    fail("cannot size");
  void* place = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0);
  if (place == MAP_FAILED)
    fail("cannot map");
  data_ = static_cast<std::byte*>(place);
  // Large pages, if the system supports them for shared memory.
  madvise(place, bytes, MADV_HUGEPAGE);
  if (!isNew)
    closeFile();
}

void SharedSegment::closeFile() noexcept {
  if (file_ >= 0)
    ::close(std::exchange(file_, -1));
}

SharedSegment SharedSegment::create(const std::string& name, Index bytes) {
  return {name, bytes, O_CREAT | O_EXCL};
}

SharedSegment SharedSegment::open(const std::string& name, Index bytes) {
  return {name, bytes, 0};
}

SharedSegment::SharedSegment(SharedSegment&& other) noexcept
    : file_(std::exchange(other.file_, -1)), data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

SharedSegment& SharedSegment::operator=(SharedSegment&& other) noexcept {
  std::swap(file_, other.file_);
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

SharedSegment::~SharedSegment() {
  if (data_)
    munmap(data_, bytes_);
  closeFile();
}

bool SharedSegment::commit(Index begin, Index bytes) noexcept {
  int result = 0;
  do
    result = fallocate(file_, 0, begin, bytes);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

void SharedSegment::discard(Index begin, Index bytes) noexcept {
  const Index page = pageBytes();
  // Only whole pages: the pages at the ends can contain data of a neighbour.
  const Index first = (begin + page - 1) / page * page, end = (begin + bytes) / page * page;
  if (first < end)
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, first, end - first);
}

// MPI libraries hook mmap and mremap, and their hooks allocate memory: between the copy of a heap
// page and the call they would change the content that was copied. So the system call is made
// directly, and then repeated through the hooks, without effect, to inform them.
bool SharedSegment::commitPages(std::byte* pages, Index begin, Index bytes) {
  constexpr int kProtection = PROT_READ | PROT_WRITE;
  constexpr int kFlags = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
  copyPages(pages, data_ + begin, bytes);
  if (syscall(SYS_mmap, pages, bytes, kProtection, kFlags, file_, begin) == -1)
    return false;
  static_cast<void>(mmap(pages, bytes, kProtection, kFlags, file_, begin));
  return true;
}

bool SharedSegment::giveUp(std::byte* pages, Index begin, Index bytes) noexcept {
  void* copy = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED)
    return false;
  std::memcpy(copy, data_ + begin, bytes);
  if (syscall(SYS_mremap, copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, pages) == -1) {
    const int cause = errno;
    munmap(copy, bytes);
    errno = cause;
    return false;
  }
  static_cast<void>(mremap(pages, bytes, bytes, 0));
  return true;
}

bool SharedSegment::isMappedOver(const std::byte* pages, Index bytes) const {
  struct stat status {};
  if (fstat(file_, &status) != 0)
    return false;
  const auto ranges = mappedRanges(pages, bytes);
  return !ranges.empty() && ranges.front().begin <= pages && ranges.back().end >= pages + bytes &&
         std::all_of(ranges.begin(), ranges.end(), [&](const MappedRange& range) {
           return range.isShared && range.file == status.st_ino;
         });
}

void SharedSegment::unlink(const std::string& name) noexcept {
  ::unlink(Path(name).text());
}

Index SharedSegment::pageBytes() noexcept {
  static const Index bytes = sysconf(_SC_PAGESIZE);
  return bytes;
}

Index SharedSegment::capacity() noexcept {
  struct statvfs status {};
  if (statvfs(kFolder, &status) != 0)
    return 0;
  return static_cast<Index>(status.f_blocks) * static_cast<Index>(status.f_frsize);
}

Index SharedSegment::largest() noexcept {
  return softLimit(RLIMIT_FSIZE);
}

} // namespace tenon
