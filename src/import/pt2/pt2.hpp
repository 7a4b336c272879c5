// SPDX-License-Identifier: BSD-2-Clause
// PyTorch's archive of an exported program, torch.export.save(): a zip file with the graph and the
// shapes of the weights as JSON, and each weight's bytes as a member of its own ("PT2 Archive
// Spec"). Members that are pickles are never read.
//
// reader.cpp reads the archive, operators.cpp finds the row of an operator (rows.hpp), and the
// other sources have the rows by family.
#pragma once

#include "import/canonical/operands.hpp"
#include "import/model_program.hpp"

#include <map>
#include <set>

namespace tenon {

// Throws TENON_ERR_FORMAT for what is damaged, and TENON_ERR_SUPPORT for versions and parts that
// cannot be imported.
ModelProgram readPt2(const ByteSource& source);

bool isKnownInPt2(const std::string& type);
// The results of an operation. What is not known is refused. `isWritten`: something is written into
// the first result, or into parts of it.
ModelValues buildPt2(ModelBuilder& builder, const Operands& given, bool isWritten);

// Names of tensors of PyTorch that share memory. Operators such as relu_ and copy_ change the value
// that they are given, under its name: what it is a part of changes with it, and other views of
// that memory must not be read any more, since they have the values of before.
class InPlace {
public:
  // The name that the operation changes, or none.
  static const std::string* changed(const ModelOperation& operation);
  // Names of values into which, or into parts of which, something is written.
  static std::set<std::string> writtenNames(const ModelProgram& program);

  void note(const ModelOperation& operation);
  bool isStale(const std::string& name) const { return stale_.contains(name); }
  // Writes the value `made` under the name, and into what that is a view of.
  void write(ModelBuilder& builder, Operands::Names& names, std::string name,
             ModelBuilder::Value made);

private:
  struct View {
    std::string of, root;
    const ModelOperation* by;
  };
  // The value whose memory it is.
  const std::string& rootOf(const std::string& name) const;
  // What a view is of, once the view has the value `part`; null where that is not known.
  static ModelBuilder::Value whole(ModelBuilder& b, const ModelOperation& by,
                                   const Operands::Names& names, ModelBuilder::Value part);

  std::map<std::string, View> views_;
  std::map<std::string, std::vector<std::string>> members_; // of the memory of a name
  std::set<std::string> stale_;
};

} // namespace tenon
