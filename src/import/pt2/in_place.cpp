// SPDX-License-Identifier: BSD-2-Clause
// Class InPlace: operators of PyTorch that write in place, and views of the same memory (example in
// pt2.hpp). The values of the graph are immutable. So a write to a view creates a new value of the
// view, and a new value of the viewed tensor in which the view's elements are replaced (whole()),
// up to the owner of the memory. For v = x[0]; v.relu_():
//   note(select)   v is a view of x, by the operation select
//   write(v, r)    the name v now has the value r, the result of relu; the name x has
//                  replaced(x, dim 0, index 0, r); all other views of x are stale
// A view whose operation cannot be inverted, such as a transpose, leaves the owner stale, and so
// does detach(), after which the owner would have a gradient that is not that of its elements.
#include "import/pt2/pt2.hpp"

#include "import/pt2/operator_rows.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <span>
#include <string_view>

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

bool isOneOf(std::span<const std::string_view> names, const ModelOperation& operation) {
  return std::ranges::find(names, atenName(operation.type)) != names.end();
}

// Operators of PyTorch whose results can be views of their first argument's memory, also those that
// only return it, or copy it for some layouts in memory.
constexpr std::string_view kViews[] = {"_conj",
                                       "_unsafe_view",
                                       "adjoint",
                                       "alias",
                                       "alpha_dropout",
                                       "atleast_1d",
                                       "atleast_2d",
                                       "atleast_3d",
                                       "broadcast_to",
                                       "chunk",
                                       "conj",
                                       "conj_physical",
                                       "contiguous",
                                       "detach",
                                       "detach_",
                                       "diagonal",
                                       "dropout",
                                       "dsplit",
                                       "expand",
                                       "expand_as",
                                       "feature_alpha_dropout",
                                       "feature_dropout",
                                       "flatten",
                                       "hsplit",
                                       "imag",
                                       "linalg_diagonal",
                                       "mH",
                                       "mT",
                                       "matrix_H",
                                       "moveaxis",
                                       "movedim",
                                       "narrow",
                                       "numpy_T",
                                       "permute",
                                       "positive",
                                       "ravel",
                                       "real",
                                       "reshape",
                                       "reshape_as",
                                       "select",
                                       "slice",
                                       "split",
                                       "split_with_sizes",
                                       "squeeze",
                                       "swapaxes",
                                       "swapdims",
                                       "t",
                                       "tensor_split",
                                       "to",
                                       "transpose",
                                       "type_as",
                                       "unbind",
                                       "unflatten",
                                       "unfold",
                                       "unsqueeze",
                                       "view",
                                       "view_as",
                                       "view_as_complex",
                                       "view_as_real",
                                       "vsplit"};
// Each result is a view of the argument at its place in the list.
constexpr std::string_view kViewsOfLists[] = {"atleast_1d", "atleast_2d", "atleast_3d",
                                              "broadcast_tensors", "meshgrid"};
// These exchange dimensions of the argument itself, and leave the memory as it is.
constexpr std::string_view kTurns[] = {"swapaxes_", "swapdims_", "t_", "transpose_"};

// The product of one tensor is a view of it, if the equation sums over no label.
bool onlyReorders(const ModelOperation& operation) {
  for (const auto& [name, argument] : operation.arguments)
    if (name == "equation") {
      const std::size_t arrow = argument.text.find("->");
      const std::string_view text = argument.text, from = text.substr(0, arrow);
      return arrow == text.npos || std::ranges::all_of(from, [&](char label) {
               return text.find(label, arrow) != text.npos;
             });
    }
  return false;
}

// Returns the name of the tensor whose memory a result can share; null if it is a new one. A
// product of one tensor is a view of it.
const std::string* viewed(const ModelOperation& operation, std::size_t result) {
  if (InPlace::changed(operation) || isOneOf(kViews, operation))
    if (const std::string* self = selfName(operation))
      return self;
  const std::string_view operatorName = atenName(operation.type);
  const bool isOfOne =
      (operatorName == "einsum" && onlyReorders(operation)) || operatorName == "cartesian_prod";
  if (!isOfOne && !isOneOf(kViewsOfLists, operation))
    return nullptr;
  for (const auto& [name, argument] : operation.arguments)
    if (name == "tensors" && result < argument.list.size() &&
        (!isOfOne || argument.list.size() == 1) && argument.list[result].isValue())
      return &argument.list[result].text;
  return nullptr;
}

// Complex numbers with a new real or imaginary part. The real part of real numbers are they
// themselves.
ModelBuilder::Value withPart(ModelBuilder& b, ModelBuilder::Value x, ModelBuilder::Value part,
                             bool isReal) {
  if (!x->isComplex())
    return part;
  const ModelBuilder::Parts parts = b.partsOf(x);
  return b.ofParts(isReal ? ModelBuilder::Parts{part, parts.imaginary}
                          : ModelBuilder::Parts{parts.real, part});
}

} // namespace

const std::string* InPlace::changed(const ModelOperation& operation) {
  // In PyTorch, names of operators that write in place end in "_", and those of Python's operators
  // are as "__iand__" (a &= b), where "__and__" (a & b) makes a new value.
  const std::string_view name = atenName(operation.type);
  const bool writesInPlace =
      name.ends_with("__") ? name.starts_with("__i") : name.ends_with('_') && name != "detach_";
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

void InPlace::checkRegion(std::span<const ModelOperation> region, const std::string& prefix,
                          const std::string& file) {
  InPlace inPlace;
  for (const ModelOperation& operation : region) {
    const std::string* name = changed(operation);
    if (name && !inPlace.rootOf(*name).starts_with(prefix))
      throw Error(
          TENON_ERR_SUPPORT,
          fmt::format("{}: {}: the operator {} writes, in a region of torch.no_grad(), to a tensor "
                      "from outside of it{}{}; what works: an operator that makes a new value, or "
                      "the write outside of the region",
                      file, operation.label, operation.type, operation.where.empty() ? "" : ": ",
                      operation.where));
    inPlace.note(operation);
  }
}

void InPlace::note(const ModelOperation& operation) {
  for (std::size_t i = 0; i < operation.results.size(); ++i)
    if (const std::string* source = viewed(operation, i)) {
      const std::string root = rootOf(*source);
      views_[operation.results[i]] = {*source, root, &operation};
      members_[root].push_back(operation.results[i]);
    }
}

const std::string& InPlace::rootOf(const std::string& name) const {
  const auto found = views_.find(name);
  return found == views_.end() ? name : found->second.root;
}

void InPlace::write(ModelBuilder& builder, Operands::Names& names, const ModelOperation& operation,
                    ModelBuilder::Value value) {
  std::string name = *changed(operation);
  // The elements of a view that is turned have no longer the places that its operation gave them.
  if (const auto view = views_.find(name); view != views_.end() && isOneOf(kTurns, operation))
    view->second.by = nullptr;
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
    value = view->second.by ? whole(builder, *view->second.by, names, value) : nullptr;
  }
}

ModelBuilder::Value InPlace::whole(ModelBuilder& b, const ModelOperation& by,
                                   const Operands::Names& names, ModelBuilder::Value part) {
  static const Operands::Flags noFlags;
  const Operands operands(b, by, names, noFlags);
  // Views that only relabel elements are inverted by a reshape, parts by replacing the part.
  const auto isType = [&](const char* type) { return by.type.starts_with(type); };
  if (changed(by) || isType("aten.alias.") || isType("aten.detach_."))
    return part;
  const std::string* self = selfName(by);
  if (!self)
    return nullptr;
  const ModelBuilder::Value x = names.at(*self);
  // The viewed tensor has the new elements, and the gradient as if nothing was written.
  if (isType("aten.detach."))
    return x && x->isKnown() ? b.stopped(part) : nullptr;
  if (isType("aten.real.") || isType("aten.imag."))
    return withPart(b, x, part, isType("aten.real."));
  if (isType("aten.view_as_real."))
    return b.complex(part);
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
    return b.replacedEvery(x, d, begin, std::max(begin, end), operands.integer("step", 1), part);
  }
  const Index at = bound(operands.integer("index"));
  Shape shape = x->shape;
  shape[static_cast<std::size_t>(d)] = 1;
  return b.replaced(x, d, at, at + 1, b.reshape(part, shape));
}

} // namespace tenon
