// SPDX-License-Identifier: BSD-2-Clause
// Magic numbers at the beginning of files. A pickle begins only with the opcode and the number of
// its protocol.
#include "sys/files/foreign_file.hpp"

#include <utility>

namespace tenon {

namespace {

using namespace std::string_view_literals;

constexpr std::pair<std::string_view, ForeignFile> kMarks[] = {
    {"version https://git-lfs.github.com/spec/"sv, ForeignFile::GitLfs},
    {"<!DOCTYPE html"sv, ForeignFile::Web},
    {"<!doctype html"sv, ForeignFile::Web},
    {"<html"sv, ForeignFile::Web},
    {"\x1f\x8b"sv, ForeignFile::Gzip},
    {"\x89HDF\r\n\x1a\n"sv, ForeignFile::Hdf5},
    {"CDF\x01"sv, ForeignFile::NetCdf3},
    {"CDF\x02"sv, ForeignFile::NetCdf3},
    {"CDF\x05"sv, ForeignFile::NetCdf3},
    {"\x80\x02"sv, ForeignFile::Pickle},
    {"\x80\x03"sv, ForeignFile::Pickle},
    {"\x80\x04"sv, ForeignFile::Pickle},
    {"\x80\x05"sv, ForeignFile::Pickle},
    {"\x93NUMPY"sv, ForeignFile::Npy},
};

} // namespace

ForeignFile foreignFile(std::string_view beginning) {
  for (const auto& [mark, file] : kMarks)
    if (beginning.starts_with(mark))
      return file;
  return ForeignFile::None;
}

std::string foreignFileText(ForeignFile file) {
  switch (file) {
  case ForeignFile::GitLfs:
    return "a pointer of git lfs, and not the file itself; run `git lfs pull` where it was cloned";
  case ForeignFile::Web:
    return "a page of a web site, and not the file itself; download it again by its own address";
  case ForeignFile::Gzip:
    return "packed by gzip; unpack it first (gunzip)";
  case ForeignFile::Hdf5:
    return "an HDF5 file (of Keras or NetCDF-4, for example)";
  case ForeignFile::NetCdf3:
    return "a NetCDF file of the classic format (NetCDF-3)";
  case ForeignFile::Pickle:
    return "a pickle (of older versions of torch.save(), for example), which can run any code and "
           "is "
           "never read";
  case ForeignFile::Npy:
    return "a single array of numpy";
  default:
    return "of another format";
  }
}

} // namespace tenon
