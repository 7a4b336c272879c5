// SPDX-License-Identifier: BSD-2-Clause
// The IDX reader on files written here byte by byte: good ones in parts against the formula that
// filled them, and every way of being broken.
#include "train/idx.hpp"

#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>

namespace tenon {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes header(std::uint8_t type, const Shape& shape) {
  Bytes bytes{0, 0, type, static_cast<std::uint8_t>(shape.size())};
  for (Index extent : shape)
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(extent >> shift));
  return bytes;
}

std::uint8_t valueAt(Index flat) {
  return static_cast<std::uint8_t>((flat * 37 + flat / 251) % 256);
}

Bytes wholeFile(const Shape& shape) {
  Bytes bytes = header(8, shape);
  for (Index i = 0; i < elements(shape); ++i)
    bytes.push_back(valueAt(i));
  return bytes;
}

class Idx : public ::testing::Test {
protected:
  Idx()
      : path_(::testing::TempDir() + "tenon_" +
              ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".idx") {}
  ~Idx() override { std::filesystem::remove(path_); }

  const std::string& write(const Bytes& bytes) const {
    std::ofstream file(path_, std::ios::binary);
    for (std::uint8_t byte : bytes)
      file.put(static_cast<char>(byte));
    return path_;
  }

  // Runs the body, which must fail with this code and these words in its message.
  static void expectError(TenonErrorCode code, const std::vector<std::string>& words,
                          const std::function<void()>& body) {
    try {
      body();
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.text();
      for (const std::string& word : words)
        EXPECT_NE(error.text().find(word), std::string::npos) << word << " in: " << error.text();
    }
  }

  void expectRefused(const Bytes& bytes, std::vector<std::string> words) const {
    write(bytes);
    words.push_back(path_);
    expectError(TENON_ERR_FORMAT, words, [&] { IdxFile file(path_); });
  }

  std::string path_;
};

TEST_F(Idx, GoodFile) {
  const IdxFile file(write(wholeFile({5, 4, 3})));
  EXPECT_EQ(file.elementType(), IdxFile::ElementType::UnsignedByte);
  EXPECT_EQ(file.shape(), (Shape{5, 4, 3}));
  const Bytes values = file.readCrop({{0, 4}, {0, 3}});
  ASSERT_EQ(values.size(), 60u);
  for (Index i = 0; i < 60; ++i)
    EXPECT_EQ(values[static_cast<std::size_t>(i)], valueAt(i));
}

TEST_F(Idx, LabelsHaveNoCrop) {
  const IdxFile file(write(wholeFile({7})));
  const Bytes values = file.readCrop({});
  ASSERT_EQ(values.size(), 7u);
  EXPECT_EQ(values[6], valueAt(6));
  EXPECT_EQ(file.readBox({{2, 4}}), (Bytes{valueAt(2), valueAt(3)}));
}

TEST_F(Idx, NoItems) {
  const IdxFile file(write(wholeFile({0, 4, 3})));
  EXPECT_TRUE(file.readCrop({{0, 4}, {0, 3}}).empty());
}

// More items than pass through the buffer at once.
TEST_F(Idx, BoxesOfAManyItemFile) {
  const Shape shape{40, 256, 300};
  const IdxFile file(write(wholeFile(shape)));
  const std::vector<Box> boxes{{{0, 40}, {0, 256}, {0, 300}}, {{0, 40}, {128, 256}, {0, 150}},
                               {{7, 33}, {0, 1}, {299, 300}}, {{39, 40}, {5, 250}, {17, 18}},
                               {{3, 3}, {0, 256}, {0, 300}},  {{0, 40}, {9, 9}, {0, 300}}};
  for (const Box& box : boxes) {
    const Bytes values = file.readBox(box);
    ASSERT_EQ(static_cast<Index>(values.size()), elements(box));
    std::size_t next = 0;
    Index wrong = 0;
    for (Index n = box[0].begin; n < box[0].end; ++n)
      for (Index y = box[1].begin; y < box[1].end; ++y)
        for (Index x = box[2].begin; x < box[2].end; ++x)
          wrong += values[next++] != valueAt((n * shape[1] + y) * shape[2] + x);
    EXPECT_EQ(wrong, 0);
  }
}

TEST_F(Idx, MissingFile) {
  expectError(TENON_ERR_FILE, {path_, "No such file"}, [&] { IdxFile file(path_); });
}

TEST_F(Idx, Folder) {
  expectError(TENON_ERR_FILE, {::testing::TempDir()}, [&] { IdxFile file(::testing::TempDir()); });
}

TEST_F(Idx, Pipe) {
  const std::string pipe = path_ + ".pipe";
  std::filesystem::remove(pipe);
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  expectError(TENON_ERR_FILE, {pipe, "not a regular file"}, [&] { IdxFile file(pipe); });
  std::filesystem::remove(pipe);
}

TEST_F(Idx, Empty) {
  expectRefused({}, {"0 bytes"});
}

TEST_F(Idx, TruncatedMagic) {
  expectRefused({0, 0, 8}, {"3 bytes"});
}

TEST_F(Idx, TruncatedHeader) {
  Bytes bytes = header(8, {5, 4, 3});
  bytes.resize(10);
  expectRefused(bytes, {"after 10 bytes", "header of 16"});
}

TEST_F(Idx, TruncatedData) {
  Bytes bytes = wholeFile({5, 4, 3});
  bytes.resize(bytes.size() - 13);
  expectRefused(bytes, {"5 x 4 x 3", "60 bytes", "47 follow", "13 bytes are missing"});
}

TEST_F(Idx, TrailingData) {
  Bytes bytes = wholeFile({5, 4, 3});
  bytes.push_back(0);
  expectRefused(bytes, {"61 follow", "1 bytes too many"});
}

TEST_F(Idx, ForeignMagic) {
  expectRefused({0x89, 'P', 'N', 'G', 0, 0, 0, 0}, {"89 50 4e 47", "expected 00 00"});
  expectRefused({0, 0, 7, 1, 0, 0, 0, 0}, {"00 00 07 01"});
  expectRefused({0x1f, 0x8b, 8, 0, 0, 0, 0, 0}, {"gzip"});
}

TEST_F(Idx, WrongRank) {
  expectRefused({0, 0, 8, 0}, {"rank 0", "1 to 8"});
  expectRefused({0, 0, 8, 9}, {"rank 9"});
}

TEST_F(Idx, ExtentsBeyondAnyFile) {
  const Index huge = 0xffffffff;
  expectRefused(header(8, {huge, huge, huge}), {"4294967295 x 4294967295"});
}

TEST_F(Idx, OtherElementTypesAreNamed) {
  Bytes bytes = header(0x0c, {2});
  bytes.resize(bytes.size() + 8);
  const IdxFile file(write(bytes));
  EXPECT_EQ(file.elementType(), IdxFile::ElementType::Int);
  expectError(TENON_ERR_FORMAT, {path_, "32-bit integer", "unsigned byte"},
              [&] { file.readCrop({}); });
}

TEST_F(Idx, BoxOutsideTheFile) {
  const IdxFile file(write(wholeFile({5, 4, 3})));
  expectError(TENON_ERR_SHAPE, {"2 dimensions", "has 3"}, [&] { file.readBox({{0, 5}, {0, 4}}); });
  expectError(TENON_ERR_SHAPE, {"2 dimensions"}, [&] { file.readCrop({{0, 4}}); });
  expectError(TENON_ERR_ARG, {"[0,5)", "dimension 1", "4"}, [&] {
    file.readCrop({{0, 5}, {0, 3}});
  });
  expectError(TENON_ERR_ARG, {"[-1,5)"}, [&] { file.readBox({{-1, 5}, {0, 4}, {0, 3}}); });
  expectError(TENON_ERR_ARG, {"[3,2)"}, [&] { file.readBox({{3, 2}, {0, 4}, {0, 3}}); });
}

TEST_F(Idx, ShortenedAfterOpening) {
  const Bytes bytes = wholeFile({5, 4, 3});
  const IdxFile file(write(bytes));
  write(Bytes(bytes.begin(), bytes.begin() + 30));
  expectError(TENON_ERR_FORMAT, {path_, "shorter"}, [&] { file.readCrop({{0, 4}, {0, 3}}); });
}

} // namespace
} // namespace tenon
