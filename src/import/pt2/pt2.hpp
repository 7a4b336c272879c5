// SPDX-License-Identifier: BSD-2-Clause
// Reads archives of torch.export.save(): a zip file with the graph and the shapes of the weights as
// JSON, and the bytes of each weight as a separate member ("PT2 Archive Spec"). Members that are
// pickles are never read, because unpickling executes code.
//
//   reader.cpp          the archive, as a ModelProgram
//   in_place.cpp        operators that write in place, and views of memory
//   operator_table.cpp  finds the row of an operator (operator_rows.hpp)
//   *_ops.cpp           the rows, by family
#pragma once

#include "import/canonical/operands.hpp"
#include "import/model_program.hpp"

#include <map>
#include <set>

namespace tenon {

// Throws TENON_ERR_FORMAT if the file is damaged, and TENON_ERR_SUPPORT for versions and parts that
// cannot be imported.
ModelProgram readPt2(const ByteSource& source);

bool isKnownInPt2(const std::string& type);
// Builds an operation and returns its results; an unknown operator is refused. `isWritten`: later
// operations write to the first result, or to parts of it.
ModelValues buildPt2(ModelBuilder& builder, const Operands& operands, bool isWritten);

// Tracks PyTorch tensors that share memory. Operators such as relu_ and copy_ write to a tensor in
// place. In the graph, where values are immutable, the name of that tensor gets a new value, and so
// does the tensor of which it is a view. Other views of the same memory are marked stale: their
// values are outdated and must not be read.
//
// Calls for each operation: isStale() for the names that it reads, write() if changed() returns a
// name, note().
class InPlace {
public:
  // Returns the name of the tensor that the operation writes to; null if it writes to none.
  static const std::string* changed(const ModelOperation& operation);
  // Returns names of tensors whose memory is written to, through any view.
  static std::set<std::string> writtenNames(const ModelProgram& program);

  // Records that the results of an operation are views of its first argument, if they are.
  void note(const ModelOperation& operation);
  bool isStale(const std::string& name) const { return stale_.contains(name); }
  // Assigns a new value to a tensor, and to the tensors of which it is a view.
  void write(ModelBuilder& builder, Operands::Names& names, std::string name,
             ModelBuilder::Value made);

private:
  struct View {
    // A view: the tensor that it was made of, the tensor that owns the memory, and the operation.
    std::string source, root;
    const ModelOperation* by;
  };
  // Returns the tensor that owns the memory.
  const std::string& rootOf(const std::string& name) const;
  // Returns the new value of the tensor that a view was made of, if the view has the value `part`;
  // null if the operation cannot be inverted.
  static ModelBuilder::Value whole(ModelBuilder& b, const ModelOperation& by,
                                   const Operands::Names& names, ModelBuilder::Value part);

  std::map<std::string, View> views_;
  // Views by the tensor that owns their memory.
  std::map<std::string, std::vector<std::string>> members_;
  // Names with outdated values.
  std::set<std::string> stale_;
};

} // namespace tenon
