// SPDX-License-Identifier: BSD-2-Clause
// Reads archives of torch.export.save(): a zip file with the graph and the shapes of the weights as
// JSON, and the bytes of each weight as a separate member ("PT2 Archive Spec"). Members that are
// pickles are never read, because unpickling executes code.
//
// Members that are read, all below one folder with the name of the archive:
//   archive_format, archive_version, byteorder     checked first
//   models/model.json                              types of values, inputs, nodes, outputs
//   data/weights/model_weights_config.json         name, type, shape and strides of each parameter,
//                                                  and the member with its bytes
//   data/constants/model_constants_config.json     the same for constants
//   tenon/test.json, tenon/*.npy                   results of PyTorch (ModelTest), if they were
//                                                  added by share/tenon/export_torch.py
//   tenon/filters.json                             by module, bases of filters on the sphere:
//                                                  {"conv": {"basis": "linear",
//                                                            "kernel": [3, 2], "cutoff": 0.9}}
//
// Example: models/model.json of y = relu(x), for inputs of shape [2, 3].
//
//   {"schema_version": {"major": 8, "minor": 14},
//    "graph_module": {
//      "signature": {"input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
//                    "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "relu"}}}}]},
//      "graph": {
//        "tensor_values": {"x": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}], ...}, ...},
//        "nodes": [{"target": "torch.ops.aten.relu.default",
//                   "inputs": [{"name": "self", "arg": {"as_tensor": {"name": "x"}}}],
//                   "outputs": [{"as_tensor": {"name": "relu"}}], "metadata": {...}}]}}}
//
//   reader.cpp          the archive, as a ModelProgram
//   in_place.cpp        operators that write in place, and views of memory
//   stored_types.cpp    what tensors of booleans and of integers keep of numbers
//   operator_table.cpp  finds the row of an operator (operator_rows.hpp)
//   *_ops.cpp           the rows, by family
#pragma once

#include "import/canonical/operands.hpp"
#include "import/model_program.hpp"

#include <map>
#include <set>
#include <span>

namespace tenon {

// Throws TENON_ERR_FORMAT if the file is damaged, and TENON_ERR_SUPPORT for versions and parts that
// cannot be imported.
ModelProgram readPt2(const ByteSource& source);

bool isKnownInPt2(const std::string& type);
// Returns PyTorch's number of the type to which it rounds the numbers of an operation, as 0.1 in
// x * 0.1 and x < 0.1 for x in float32; none if it is float64.
std::optional<Index> typeOfNumbers(const ModelOperation& operation, const ModelProgram& program);
// Whether an operator of torch-harmonics reads lists of filters on the sphere.
bool readsFilterLists(const std::string& type);
// Builds an operation and returns its results; an unknown operator is refused. `isWritten`: later
// operations write to the first result, or to parts of it.
ModelValues buildPt2(ModelBuilder& builder, const Operands& operands, bool isWritten);

// Tracks PyTorch tensors that share memory. Operators such as relu_ and copy_ write to a tensor in
// place. In the graph, where values are immutable, the name of that tensor gets a new value, and so
// does the tensor of which it is a view. Other views of the same memory are marked stale: their
// values are outdated and must not be read.
// Example: after v = x[0]; w = x[1]; v.relu_() the names v and x have new values, and w is stale.
//
// Calls of the importer, for each operation in order:
//   isStale(name)   for each name that the operation reads: an error if true
//   write(...)      if changed(operation) returns a name: assigns the operation's result to it
//   note(operation) records which results are views
class InPlace {
public:
  // Returns the name of the tensor that the operation writes to; null if it writes to none.
  static const std::string* changed(const ModelOperation& operation);
  // Returns names of tensors whose memory is written to, through any view.
  static std::set<std::string> writtenNames(const ModelProgram& program);

  // Throws TENON_ERR_SUPPORT if operations of a region without gradients write to a tensor from
  // outside of it, which would keep the gradient that it had before. Names of the region begin with
  // the prefix.
  static void checkRegion(std::span<const ModelOperation> region, const std::string& prefix,
                          const std::string& file);

  // Records which results of an operation are views of its arguments.
  void note(const ModelOperation& operation);
  bool isStale(const std::string& name) const { return stale_.contains(name); }
  // Assigns a new value to the tensor that an operation writes to, and to the tensors of which it
  // is a view.
  void write(ModelBuilder& builder, Operands::Names& names, const ModelOperation& operation,
             ModelBuilder::Value value);

private:
  struct View {
    // A view: its source (the tensor that was viewed, possibly a view itself), its root (the tensor
    // that owns the memory), and the operation that created it; null once it was turned in place.
    std::string source, root;
    const ModelOperation* by;
  };
  // Returns the tensor that owns the memory.
  const std::string& rootOf(const std::string& name) const;
  // Returns the new value of a view's source after the view got the value `part`. Returns null if
  // the operation `by`, which created the view, cannot be inverted.
  static ModelBuilder::Value whole(ModelBuilder& b, const ModelOperation& by,
                                   const Operands::Names& names, ModelBuilder::Value part);

  std::map<std::string, View> views_;
  // Views by the tensor that owns their memory.
  std::map<std::string, std::vector<std::string>> members_;
  // Names with outdated values.
  std::set<std::string> stale_;
};

// Converts results to booleans and to integers as PyTorch does (stored_types.cpp).
class StoredTypes {
public:
  using Value = ModelBuilder::Value;

  // Notes a boolean input of the model, which has 0 and 1.
  void noteTruths(Value x) { known_[x] = true; }
  // Returns the result `x` of an operation, whose name in the file is `name`, as a tensor of its
  // type has it.
  Value stored(ModelBuilder& b, const Operands& operands, const std::string& name, Value x);

private:
  static bool writesNumbers(const Operands& operands);
  bool areTruths(Value x, int depth);
  bool computesTruths(const ModelValue& x, int depth);

  std::map<Value, bool> known_; // areTruths()
};

} // namespace tenon
