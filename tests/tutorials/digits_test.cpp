// SPDX-License-Identifier: BSD-2-Clause
// The tutorial's digit set: whole IDX files of balanced classes, the same for the same seed, images
// that belong to their labels, and failures that say why and leave no incomplete file.
#include "digits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;
constexpr std::size_t kPixels = 28 * 28;

struct Set {
  Bytes pixels, labels;
};

// The bytes behind the header of an IDX file: two zero bytes, type 8, the rank, big-endian extents.
Bytes readIdx(const fs::path& path, const std::vector<std::size_t>& within) {
  std::ifstream file(path, std::ios::binary);
  const Bytes bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t header = 8 + 4 * within.size();
  const auto extent = [&](std::size_t d) {
    return std::size_t(bytes[4 + 4 * d]) << 24 | std::size_t(bytes[5 + 4 * d]) << 16 |
           std::size_t(bytes[6 + 4 * d]) << 8 | bytes[7 + 4 * d];
  };
  if (bytes.size() < header) {
    ADD_FAILURE() << path << " is too short";
    return {};
  }
  EXPECT_EQ(Bytes(bytes.begin(), bytes.begin() + 4),
            (Bytes{0, 0, 8, std::uint8_t(1 + within.size())}));
  std::size_t size = extent(0);
  for (std::size_t d = 0; d < within.size(); ++d) {
    EXPECT_EQ(extent(d + 1), within[d]);
    size *= within[d];
  }
  EXPECT_EQ(bytes.size(), header + size);
  return {bytes.begin() + static_cast<std::ptrdiff_t>(header), bytes.end()};
}

Set readSet(const fs::path& folder, const std::string& name) {
  return {readIdx(folder / (name + "-images-idx3-ubyte"), {28, 28}),
          readIdx(folder / (name + "-labels-idx1-ubyte"), {})};
}

std::set<Bytes> imagesOf(const Set& set) {
  std::set<Bytes> images;
  for (std::size_t i = 0; i < set.labels.size(); ++i)
    images.insert(Bytes(set.pixels.begin() + static_cast<std::ptrdiff_t>(i * kPixels),
                        set.pixels.begin() + static_cast<std::ptrdiff_t>((i + 1) * kPixels)));
  return images;
}

class DigitsInFolder : public ::testing::Test {
protected:
  DigitsInFolder()
      : folder_(fs::path(::testing::TempDir()) /
                (std::string("tenon_digits_") +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::remove_all(folder_);
  }
  ~DigitsInFolder() override { fs::remove_all(folder_); }

  void writeDigits(int train, int test, unsigned long long seed) const {
    ASSERT_EQ(DigitsWrite(folder_.c_str(), train, test, seed), 0) << DigitsMessage();
    EXPECT_STREQ(DigitsMessage(), "");
  }

  fs::path folder_;
};

TEST_F(DigitsInFolder, FourWholeFilesOfBalancedShuffledClasses) {
  writeDigits(200, 50, 1);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4);
  const Set train = readSet(folder_, "train");
  const Set test = readSet(folder_, "t10k");
  for (int digit = 0; digit < 10; ++digit) {
    EXPECT_EQ(std::count(train.labels.begin(), train.labels.end(), digit), 20);
    EXPECT_EQ(std::count(test.labels.begin(), test.labels.end(), digit), 5);
  }
  EXPECT_FALSE(std::is_sorted(train.labels.begin(), train.labels.begin() + 20));

  const std::set<Bytes> drawn = imagesOf(train);
  EXPECT_EQ(drawn.size(), 200u);
  for (const Bytes& image : imagesOf(test))
    EXPECT_EQ(drawn.count(image), 0u);
}

TEST_F(DigitsInFolder, TheSeedDecides) {
  writeDigits(40, 10, 1);
  const Set first = readSet(folder_, "train");
  writeDigits(40, 10, 2);
  const Set second = readSet(folder_, "train");
  writeDigits(40, 10, 1);
  const Set third = readSet(folder_, "train");
  EXPECT_NE(first.pixels, second.pixels);
  EXPECT_NE(first.labels, second.labels);
  EXPECT_EQ(first.pixels, third.pixels);
  EXPECT_EQ(first.labels, third.labels);
}

// The class whose mean image is nearest is the label far more often than one time in ten (50 of the
// 500 test images), and far from always: there is something to learn.
TEST_F(DigitsInFolder, LabelsBelongToImages) {
  writeDigits(2000, 500, 3);
  const Set train = readSet(folder_, "train");
  const Set test = readSet(folder_, "t10k");
  std::array<std::array<double, kPixels>, 10> mean{};
  for (std::size_t i = 0; i < train.labels.size(); ++i)
    for (std::size_t p = 0; p < kPixels; ++p)
      mean[train.labels[i]][p] += train.pixels[i * kPixels + p] / 200.0; // 200 of a digit
  int right = 0;
  for (std::size_t i = 0; i < test.labels.size(); ++i) {
    std::array<double, 10> distance{};
    for (std::size_t digit = 0; digit < 10; ++digit)
      for (std::size_t p = 0; p < kPixels; ++p) {
        const double difference = mean[digit][p] - test.pixels[i * kPixels + p];
        distance[digit] += difference * difference;
      }
    const auto nearest = std::min_element(distance.begin(), distance.end()) - distance.begin();
    right += nearest == test.labels[i];
  }
  EXPECT_GT(right, 150);
  EXPECT_LT(right, 450);
}

TEST_F(DigitsInFolder, FailuresNameTheFileAndLeaveThePreviousOne) {
  EXPECT_EQ(DigitsWrite((folder_ / "deep").c_str(), 10, 10, 1), 1);
  EXPECT_NE(std::string(DigitsMessage()).find((folder_ / "deep").string()), std::string::npos);
  EXPECT_NE(std::string(DigitsMessage()).find("No such file"), std::string::npos);

  EXPECT_EQ(DigitsWrite(nullptr, 10, 10, 1), 1);
  EXPECT_EQ(DigitsWrite(folder_.c_str(), 0, 10, 1), 1);
  EXPECT_NE(std::string(DigitsMessage()).find("0 training"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_));

  // A folder in the place of the third file.
  const fs::path obstacle = folder_ / "t10k-images-idx3-ubyte";
  fs::create_directories(obstacle / "full");
  EXPECT_EQ(DigitsWrite(folder_.c_str(), 10, 10, 1), 1);
  EXPECT_NE(std::string(DigitsMessage()).find(obstacle.string()), std::string::npos);
  EXPECT_TRUE(fs::is_directory(obstacle / "full"));
  EXPECT_FALSE(fs::exists(folder_ / "t10k-labels-idx1-ubyte"));
  EXPECT_EQ(readSet(folder_, "train").labels.size(), 10u);
}

} // namespace
