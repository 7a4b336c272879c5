// SPDX-License-Identifier: BSD-2-Clause
// The zip archive of a .pt2 file: its members by name, without the folder that has all of them.
#pragma once

#include "import/model_program.hpp"
#include "weights/byte_source.hpp"
#include "weights/zip.hpp"

#include <map>
#include <string>
#include <vector>

namespace tenon {

class Pt2Archive {
public:
  // Throws TENON_ERR_FORMAT if it is not a zip archive, is empty, or has a name twice.
  explicit Pt2Archive(const ByteSource& source);
  Pt2Archive(const Pt2Archive&) = delete;
  Pt2Archive& operator=(const Pt2Archive&) = delete;

  const ByteSource& source() const noexcept { return source_; }
  bool has(const std::string& name) const { return byName_.contains(root_ + "/" + name); }
  // Throw TENON_ERR_FORMAT for other members, and if a text is too long.
  const ZipMember& member(const std::string& name) const;
  std::string text(const std::string& name) const;

private:
  const ByteSource& source_;
  std::vector<ZipMember> members_;
  std::map<std::string, const ZipMember*> byName_; // members_ by name
  std::string root_;                               // the folder that contains all members
};

// Reads the test that share/tenon/export_torch.py adds to an archive, and adds it to the program.
void readStoredTest(const Pt2Archive& archive, ModelProgram& program);
// Likewise the bases of filters on the sphere.
void readStoredFilters(const Pt2Archive& archive, ModelProgram& program);

} // namespace tenon
