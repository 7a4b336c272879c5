// SPDX-License-Identifier: BSD-2-Clause
// Streams of bytes, which are read or skipped from the beginning to the end. Weights files are read
// through them:
//   RawStream        a range of a file
//   StoredMember     a member of a zip archive that is not compressed, with its checksum
//   DeflatedMember   a compressed member, decompressed by zlib through a fixed buffer
// The sizes in an archive can be wrong, so decompression stops at the declared size, and finish()
// verifies that the member ends there.
#include "weights/byte_stream.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace tenon {

namespace {

constexpr Index kBufferBytes = Index(1) << 16;
using Block = std::array<std::byte, kBufferBytes>;

// A range of bytes of a file. Bytes that are skipped are not read from the file.
class RawStream final : public ByteStream {
public:
  RawStream(const ByteSource& source, Index begin, Index count)
      : source_(source), at_(begin), end_(begin + count) {}

  void read(std::byte* to, Index count) override {
    check(count);
    while (count > 0) {
      if (at_ < blockBegin_ || at_ >= blockEnd_)
        fill();
      const Index part = std::min(count, blockEnd_ - at_);
      to = std::copy_n(block_->data() + (at_ - blockBegin_), part, to);
      at_ += part;
      count -= part;
    }
  }
  void skip(Index count) override {
    check(count);
    at_ += count;
  }
  void finish() override {}

private:
  void check(Index count) const {
    if (count > end_ - at_)
      throw Error(TENON_ERR_INTERNAL, "more bytes are read than a tensor has");
  }
  // Refills the block from the current position.
  void fill() {
    blockBegin_ = at_;
    blockEnd_ = std::min(at_ + kBufferBytes, end_);
    source_.read(blockBegin_, block_->data(), blockEnd_ - blockBegin_);
  }

  const ByteSource& source_;
  Index at_, end_;
  Index blockBegin_ = 0, blockEnd_ = 0; // range in the buffer
  std::unique_ptr<Block> block_ = std::make_unique<Block>();
};

// Decompressed bytes of an archive member; updates the checksum.
class MemberStream : public ByteStream {
public:
  MemberStream(const ByteSource& source, const ZipMember& member)
      : source_(source), member_(member) {}

  void read(std::byte* to, Index count) final {
    if (count > member_.bytes - done_)
      fail("it ends before its last element");
    while (count > 0) {
      const Index part = std::min(count, kBufferBytes);
      unpack(to, part);
      crc_ = crc32(crc_, reinterpret_cast<const Bytef*>(to), static_cast<uInt>(part));
      to += part;
      count -= part;
      done_ += part;
    }
  }
  // Compressed data cannot be skipped: decompress and discard.
  void skip(Index count) final {
    while (count > 0) {
      const Index part = std::min(count, kBufferBytes);
      read(skipped_->data(), part);
      count -= part;
    }
  }
  void finish() final {
    // The checksum covers the whole member, so the rest must be decompressed too.
    skip(member_.bytes - done_);
    checkEnd();
    if (crc_ != member_.crc)
      fail("its bytes do not have the checksum that the archive gives: the file is damaged");
  }

protected:
  // Returns the next `count` bytes of the member in `to`.
  virtual void unpack(std::byte* to, Index count) = 0;
  // Throws unless the member ends after the bytes that have been unpacked.
  virtual void checkEnd() = 0;
  [[noreturn]] void fail(const std::string& why) const { source_.fail(member_.name, why); }

  const ByteSource& source_;
  const ZipMember& member_;

private:
  Index done_ = 0; // bytes that have been read or skipped
  uLong crc_ = crc32(0, nullptr, 0);
  std::unique_ptr<Block> skipped_ = std::make_unique<Block>();
};

class StoredMember final : public MemberStream {
public:
  StoredMember(const ByteSource& source, const ZipMember& member)
      : MemberStream(source, member), raw_(source, member.begin, member.stored) {}

private:
  void unpack(std::byte* to, Index count) override { raw_.read(to, count); }
  void checkEnd() override {}

  RawStream raw_;
};

class DeflatedMember final : public MemberStream {
public:
  DeflatedMember(const ByteSource& source, const ZipMember& member)
      : MemberStream(source, member), at_(member.begin), end_(member.begin + member.stored) {
    if (inflateInit2(&zlib_, -MAX_WBITS) != Z_OK) // raw deflate data, without a zlib header
      throw std::bad_alloc();
  }
  ~DeflatedMember() override { inflateEnd(&zlib_); }

private:
  void unpack(std::byte* to, Index count) override {
    zlib_.next_out = reinterpret_cast<Bytef*>(to);
    zlib_.avail_out = static_cast<uInt>(count);
    while (zlib_.avail_out > 0)
      step("it unpacks to fewer bytes than the archive gives");
  }
  // After the last byte there must be the end of the compressed data and nothing else.
  void checkEnd() override {
    Bytef extraByte = 0;
    zlib_.next_out = &extraByte;
    zlib_.avail_out = 1;
    while (!ended_ && zlib_.avail_out > 0)
      step("its packed bytes have no end");
    if (zlib_.avail_out == 0 || zlib_.avail_in > 0 || at_ != end_)
      fail("it has more bytes than the archive gives");
  }
  // Decompresses as much as fits into the output. `ifEnded` is the error if no bytes are left.
  void step(const char* ifEnded) {
    if (zlib_.avail_in == 0 && at_ < end_) {
      const Index part = std::min(kBufferBytes, end_ - at_);
      source_.read(at_, block_->data(), part);
      at_ += part;
      zlib_.next_in = reinterpret_cast<Bytef*>(block_->data());
      zlib_.avail_in = static_cast<uInt>(part);
    }
    // The end can be reached together with the last requested bytes; it is a fault only if more are
    // requested.
    if (ended_)
      fail(ifEnded);
    const int result = inflate(&zlib_, Z_NO_FLUSH);
    ended_ = result == Z_STREAM_END;
    if (result == Z_MEM_ERROR)
      throw std::bad_alloc();
    if (result == Z_BUF_ERROR)
      fail(ifEnded);
    if (result != Z_OK && !ended_)
      fail(fmt::format("its packed bytes are damaged ({})", zlib_.msg ? zlib_.msg : "zlib"));
  }

  z_stream zlib_{};
  Index at_, end_;     // range of the compressed bytes that have not been passed to zlib
  bool ended_ = false; // zlib has found the end of the compressed data
  std::unique_ptr<Block> block_ = std::make_unique<Block>();
};

} // namespace

std::unique_ptr<ByteStream> streamBytes(const ByteSource& source, Index begin, Index count) {
  return std::make_unique<RawStream>(source, begin, count);
}

std::unique_ptr<ByteStream> streamMember(const ByteSource& source, const ZipMember& member) {
  if (member.deflated)
    return std::make_unique<DeflatedMember>(source, member);
  return std::make_unique<StoredMember>(source, member);
}

} // namespace tenon
