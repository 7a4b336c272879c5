// SPDX-License-Identifier: BSD-2-Clause
// Tests namesIn(), which lists a folder, against a folder that the test makes, and its error for
// one that does not exist.
#include "sys/files/folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace tenon {
namespace {

TEST(Folder, HasTheNamesInIt) {
  const std::string folder = testing::TempDir() + "tenon_folder_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder + "/sub");
  std::ofstream(folder + "/.hidden") << "x";
  std::ofstream(folder + "/file") << "x";
  std::error_code error = std::make_error_code(std::errc::io_error);
  auto names = namesIn(folder, error);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{".hidden", "file", "sub"}));
  EXPECT_FALSE(error);
  std::filesystem::remove_all(folder);
}

TEST(Folder, SaysWhyItCannotBeRead) {
  std::error_code error;
  EXPECT_TRUE(namesIn(testing::TempDir() + "tenon_no_such_folder", error).empty());
  EXPECT_EQ(error, std::errc::no_such_file_or_directory);
}

} // namespace
} // namespace tenon
