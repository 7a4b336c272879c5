// SPDX-License-Identifier: BSD-2-Clause
// Class InPlace: operators of PyTorch that write in place, and views of the same memory (example in
// pt2.hpp). The values of the graph are immutable. So a write to a view creates a new value of the
// view, and a new value of the viewed tensor in which the view's elements are replaced (whole()),
// up to the owner of the memory. For v = x[0]; v.relu_():
//   note(select)   v is a view of x, by the operation select
//   write(v, r)    the name v now has the value r, the result of relu; the name x has
//                  replaced(x, dim 0, index 0, r); all other views of x are stale
// A view whose operation cannot be inverted, such as a transpose, leaves the owner stale.
#include "import/pt2/pt2.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>

namespace tenon {

namespace {

// Returns the name of the first argument; null if that is not a tensor.
const std::string* selfName(const ModelOperation& operation) {
  for (const auto& [name, argument] : operation.arguments)
    if (name == "self" || name == "input")
      if (argument.isValue())
        return &argument.text;
  return nullptr;
}

// Whether an operator of PyTorch can return a view of its argument's memory.
bool makesView(const std::string& type) {
  static const std::set<std::string, std::less<>> views = {"alias",
                                                           "alpha_dropout",
                                                           "chunk",
                                                           "contiguous",
                                                           "detach",
                                                           "diagonal",
                                                           "dropout",
                                                           "expand",
                                                           "expand_as",
                                                           "feature_alpha_dropout",
                                                           "flatten",
                                                           "mT",
                                                           "moveaxis",
                                                           "movedim",
                                                           "feature_dropout",
                                                           "narrow",
                                                           "permute",
                                                           "reshape",
                                                           "reshape_as",
                                                           "select",
                                                           "slice",
                                                           "split",
                                                           "squeeze",
                                                           "swapaxes",
                                                           "split_with_sizes",
                                                           "t",
                                                           "to",
                                                           "type_as",
                                                           "transpose",
                                                           "unbind",
                                                           "unflatten",
                                                           "unsqueeze",
                                                           "view",
                                                           "view_as",
                                                           "view_as_complex",
                                                           "view_as_real"};
  constexpr std::size_t kAten = 5; // length of "aten."
  return type.starts_with("aten.") &&
         views.contains(type.substr(kAten, type.find('.', kAten) - kAten));
}

} // namespace

const std::string* InPlace::changed(const ModelOperation& operation) {
  // In PyTorch, names of operators that write in place end in "_".
  const std::size_t dot = operation.type.rfind('.');
  const bool writesInPlace = operation.type.starts_with("aten.") && dot != operation.type.npos &&
                             dot > 0 && operation.type[dot - 1] == '_' &&
                             operation.type != "aten.detach_.default";
  return writesInPlace ? selfName(operation) : nullptr;
}

// A separate pass over the program, before it is built.
std::set<std::string> InPlace::writtenNames(const ModelProgram& program) {
  InPlace inPlace;
  std::set<std::string> written;
  for (const ModelOperation& operation : program.operations) {
    if (const std::string* name = changed(operation))
      written.insert(inPlace.rootOf(*name));
    inPlace.note(operation);
  }
  return written;
}

// A result of an operator that writes in place is the same memory as its argument.
void InPlace::note(const ModelOperation& operation) {
  const std::string* self = changed(operation);
  if (!self && makesView(operation.type))
    self = selfName(operation);
  if (!self)
    return;
  const std::string root = rootOf(*self);
  for (const std::string& result : operation.results) {
    views_[result] = {*self, root, &operation};
    members_[root].push_back(result);
  }
}

const std::string& InPlace::rootOf(const std::string& name) const {
  const auto found = views_.find(name);
  return found == views_.end() ? name : found->second.root;
}

void InPlace::write(ModelBuilder& builder, Operands::Names& names, std::string name,
                    ModelBuilder::Value value) {
  // First mark everything that shares the memory as stale, then update the chain of tensors from
  // this view to the owner.
  const std::string root = rootOf(name);
  builder.spend(static_cast<Index>(members_[root].size()));
  stale_.insert(root);
  stale_.insert(members_[root].begin(), members_[root].end());
  while (value) {
    builder.spend(1);
    names[name] = value;
    stale_.erase(name);
    const auto view = views_.find(name);
    if (view == views_.end())
      return;
    name = view->second.source;
    value = whole(builder, *view->second.by, names, value);
  }
}

ModelBuilder::Value InPlace::whole(ModelBuilder& b, const ModelOperation& by,
                                   const Operands::Names& names, ModelBuilder::Value part) {
  static const Operands::Flags noFlags;
  const Operands operands(b, by, names, noFlags);
  // Views that only relabel elements are inverted by a reshape, slices by replacing the slice.
  const auto isType = [&](const char* type) { return by.type.starts_with(type); };
  if (changed(by) || isType("aten.alias.") || isType("aten.detach."))
    return part;
  const ModelBuilder::Value x = names.at(*selfName(by));
  if (isType("aten.view.") || isType("aten.unsqueeze.") || isType("aten.squeeze."))
    return b.reshape(part, x->shape);
  if (!isType("aten.slice.") && !isType("aten.select."))
    return nullptr;
  const int d = b.dimension(operands.integer("dim", 0), x->ndim());
  const Index n = x->shape[static_cast<std::size_t>(d)];
  const auto bound = [&](Index at) { return std::clamp(at < 0 ? at + n : at, Index(0), n); };
  if (isType("aten.slice.")) {
    const Index begin = bound(operands.integer("start", 0)),
                end = bound(operands.integer("end", std::numeric_limits<Index>::max()));
    return operands.integer("step", 1) == 1 ? b.replaced(x, d, begin, std::max(begin, end), part)
                                            : nullptr;
  }
  const Index at = bound(operands.integer("index"));
  Shape shape = x->shape;
  shape[static_cast<std::size_t>(d)] = 1;
  return b.replaced(x, d, at, at + 1, b.reshape(part, shape));
}

} // namespace tenon
