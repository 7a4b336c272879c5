// SPDX-License-Identifier: BSD-2-Clause
// Operators without communication: memory operators, boundary values set by the user, casts and
// zero.
//
// A memory operator (allocate, clear, add, copy, move) is a list of terms y[b] += x[a] with two
// boxes a and b of local elements, applied to y = 0. Elements that keep their value are a term from
// a box to itself, cleared elements have no term, and the adjoint runs the list with a and b
// exchanged. For "move a to b" in an array of 6 elements, with a = [0, 2) and b = [3, 5), the terms
// are
//
//     [2, 3) -> [2, 3)      [5, 6) -> [5, 6)      [0, 2) -> [3, 5)
#include "linop/algebra/memory_op.hpp"

#include "dtensor/arithmetic.hpp"
#include "geometry/schedule/user_elements.hpp"
#include "kernels/movement/block_copy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace tenon {

namespace {

// This rank's elements whose values the user supplies.
std::vector<ElementBox> elementsOfRank(const Communicator& comm, const Layout& layout) {
  if (!hasUserSide(layout))
    throw Error(
        TENON_ERR_LAYOUT,
        fmt::format("layout {} has no side with boundary mode \"values\"; set that mode on a halo",
                    layout.describe()));
  return userElements(layout, layout.grid().position(comm.rank()));
}

// Returns the layout; an error if its halos hold partial sums.
const Layout& ofValues(const Layout& layout) {
  for (int d = 0; d < layout.ndim(); ++d)
    if (const auto& halo = layout.halo(d); halo && halo->isPartial)
      throw Error(TENON_ERR_LAYOUT,
                  fmt::format("a boundary constant fills halo elements, but layout "
                              "{} holds partial sums there; pass its dual",
                              layout.describe()));
  return layout;
}

Index offsetOf(const std::vector<Index>& begin, const Strides& strides) {
  return std::inner_product(begin.begin(), begin.end(), strides.begin(), Index(0));
}

} // namespace

LinearOpRef boundaryValues(const CommPtr& comm, const Layout& layout, TenonDataType type) {
  return MemoryOp::mask("boundaryvalues", comm, layout, elementsOfRank(*comm, layout), type);
}

BoundaryConstant::BoundaryConstant(const CommPtr& comm, const Layout& layout, TenonDataType type)
    : LinearOp(comm, boundaryScalar(ofValues(layout)), layout, type),
      elements_(elementsOfRank(*comm, layout)) {}

void BoundaryConstant::doEnd(const Action& action) {
  const DTensor& x = *action.x;
  DTensor& y = *action.y;
  scaleArray(action.beta, y);
  visitDataType(y.dataType(), [&]<class T>(T) {
    // The scalar is accessed as a box with strides 0: forward it is added to each element of the
    // box; in the adjoint all elements of the box are added to it.
    static constexpr Strides kSame{};
    const T alpha = static_cast<T>(action.alpha);
    const T* from = x.data<T>();
    T* to = y.mutableData<T>();
    for (const auto& [begin, extent] : elements_) {
      const int rank = static_cast<int>(extent.size());
      if (action.sense == Sense::Forward)
        blockAxpby(y.context(), rank, extent.data(), alpha, from, kSame.data(), T(1),
                   to + offsetOf(begin, y.strides()), y.strides().data());
      else if (y.localElements() > 0) // a rank that does not have the scalar adds nothing
        blockMultiplyAdd<T>(y.context(), rank, extent.data(), alpha, nullptr, nullptr,
                            from + offsetOf(begin, x.strides()), x.strides().data(), to,
                            kSame.data());
    }
  });
}

Cast::Cast(CommPtr comm, const Layout& layout, TenonDataType from, TenonDataType to)
    : LinearOp(std::move(comm), layout, layout, from, to) {
  if (from == to)
    return;
  checkFloating(from, "a cast");
  checkFloating(to, "a cast");
}

void Cast::doEnd(const Action& action) {
  // axpby() accepts either type on either side, so the cast, its adjoint and the identity are the
  // same call.
  axpby(action.alpha, *action.x, action.beta, *action.y);
}

Zero::Zero(CommPtr comm, Layout from, Layout to, TenonDataType type)
    : LinearOp(std::move(comm), std::move(from), std::move(to), type) {}

void Zero::doEnd(const Action& action) {
  scaleArray(action.beta, *action.y);
}

namespace {

// The whole local array as a box that begins at 0.
Box localBox(const Communicator& comm, const Layout& layout) {
  Box box;
  for (Index extent : extents(layout.box(layout.grid().position(comm.rank()))))
    box.push_back({0, extent});
  return box;
}

std::string describe(const Box& box) {
  std::string text;
  for (const Interval& side : box)
    text += fmt::format("{}[{},{})", text.empty() ? "" : "x", side.begin, side.end);
  return text;
}

void checkInside(const Box& box, const Box& memory, const char* name) {
  if (box.size() != memory.size())
    throw Error(
        TENON_ERR_ARG,
        fmt::format("{} has {} dimensions, but the tensor has {}; pass one index per dimension",
                    name, box.size(), memory.size()));
  elements(box); // throws if its extents cannot be counted
  // In an empty local array every empty box is valid, wherever it begins.
  const bool bothEmpty = elements(memory) == 0 && elements(box) == 0;
  for (std::size_t d = 0; d < box.size() && !bothEmpty; ++d)
    if (box[d].begin < 0 || box[d].end > memory[d].end)
      throw Error(TENON_ERR_ARG,
                  fmt::format("{} is {}, which is outside the local array {} of this rank", name,
                              describe(box), describe(memory)));
}

bool overlap(const Box& a, const Box& b) {
  for (std::size_t d = 0; d < a.size(); ++d)
    if (intersect(a[d], b[d]).empty())
      return false;
  return true;
}

// A box of the extents of `like` that begins at `begin`.
Box boxAt(const std::vector<Index>& begin, const Box& like) {
  elements(like); // throws if its extents cannot be counted
  Box box;
  for (std::size_t d = 0; d < begin.size(); ++d)
    // A start with another number of dimensions passes here; checkInside() reports it.
    box.push_back({begin[d], checkedSum(begin[d], d < like.size() ? like[d].size() : 0,
                                        "the end of a box in the local array")});
  return box;
}

// The elements of the boxes outside the box `hole`, as boxes: in each dimension the slabs before
// and after the hole are split off. A square with a hole in its middle becomes the rows above it,
// the rows below it, and the two pieces beside it.
std::vector<Box> without(const std::vector<Box>& boxes, const Box& hole) {
  std::vector<Box> result;
  for (Box box : boxes) {
    if (!overlap(box, hole)) {
      result.push_back(box);
      continue;
    }
    for (std::size_t d = 0; d < box.size(); ++d) {
      Box before = box, after = box;
      before[d].end = hole[d].begin;
      after[d].begin = hole[d].end;
      for (const Box& part : {before, after})
        if (!part[d].empty())
          result.push_back(part);
      box[d] = intersect(box[d], hole[d]);
    }
  }
  return result;
}

std::vector<Index> beginOf(const Box& box) {
  std::vector<Index> begin;
  for (const Interval& side : box)
    begin.push_back(side.begin);
  return begin;
}

// The two boxes of an operator that adds, copies or moves a to b: inside the array and disjoint.
struct Pair {
  Box memory, a, b;
  Pair(const Communicator& comm, const Layout& layout, const Box& source,
       const std::vector<Index>& to)
      : memory(localBox(comm, layout)), a(source), b(boxAt(to, source)) {
    checkInside(a, memory, "the source");
    checkInside(b, memory, "the target");
    if (overlap(a, b))
      throw Error(TENON_ERR_ARG,
                  fmt::format("source box {} and target box {} overlap; pass disjoint boxes",
                              describe(a), describe(b)));
  }
};

} // namespace

MemoryOp::MemoryOp(const char* name, CommPtr comm, const Layout& from, const Layout& to,
                   TenonDataType type, std::vector<Term> terms)
    : LinearOp(std::move(comm), from, to, type), name_(name), terms_(std::move(terms)) {
  // Ranks can pass empty boxes, for which no kernel needs to run.
  std::erase_if(terms_, [](const Term& term) { return elements(term.extent) == 0; });
}

std::vector<MemoryOp::Term> MemoryOp::keep(const std::vector<Box>& boxes) {
  std::vector<Term> terms;
  for (const Box& box : boxes)
    terms.push_back({.extent = extents(box), .from = beginOf(box), .to = beginOf(box)});
  return terms;
}

Ref<MemoryOp> MemoryOp::allocate(CommPtr comm, const Layout& from, const Layout& to,
                                 const std::vector<Index>& at, TenonDataType type) {
  const Box old = localBox(*comm, from);
  const Box place = boxAt(at, old);
  if (from.ndim() != to.ndim())
    throw Error(TENON_ERR_SHAPE, fmt::format("the target has {} dimensions, but the source has {}; "
                                             "pass tensors of the same number of dimensions",
                                             to.ndim(), from.ndim()));
  checkInside(place, localBox(*comm, to), "the place of the old memory");
  // No term writes the elements around the old memory; a plain action therefore sets them to 0.
  return makeRef<MemoryOp>(
      "allocate", std::move(comm), from, to, type,
      std::vector<Term>{{.extent = extents(old), .from = beginOf(old), .to = at}});
}

Ref<MemoryOp> MemoryOp::clear(CommPtr comm, const Layout& layout, const Box& b,
                              TenonDataType type) {
  const Box memory = localBox(*comm, layout);
  checkInside(b, memory, "the box");
  return makeRef<MemoryOp>("clear", std::move(comm), layout, layout, type,
                           keep(without({memory}, b)));
}

Ref<MemoryOp> MemoryOp::add(CommPtr comm, const Layout& layout, const Box& a,
                            const std::vector<Index>& to, TenonDataType type) {
  const Pair pair(*comm, layout, a, to);
  // All elements keep their value, also the target, to which the source is added.
  std::vector<Term> terms = keep({pair.memory});
  terms.push_back({.extent = extents(a), .from = beginOf(a), .to = to});
  return makeRef<MemoryOp>("add", std::move(comm), layout, layout, type, std::move(terms));
}

Ref<MemoryOp> MemoryOp::copy(CommPtr comm, const Layout& layout, const Box& a,
                             const std::vector<Index>& to, TenonDataType type) {
  const Pair pair(*comm, layout, a, to);
  // The target gets the source's value in place of its own.
  std::vector<Term> terms = keep(without({pair.memory}, pair.b));
  terms.push_back({.extent = extents(a), .from = beginOf(a), .to = to});
  return makeRef<MemoryOp>("copy", std::move(comm), layout, layout, type, std::move(terms));
}

Ref<MemoryOp> MemoryOp::move(CommPtr comm, const Layout& layout, const Box& a,
                             const std::vector<Index>& to, TenonDataType type) {
  const Pair pair(*comm, layout, a, to);
  // Neither the target, which gets another value, nor the source, which becomes 0, keeps its value.
  std::vector<Term> terms = keep(without(without({pair.memory}, pair.b), pair.a));
  terms.push_back({.extent = extents(a), .from = beginOf(a), .to = to});
  return makeRef<MemoryOp>("move", std::move(comm), layout, layout, type, std::move(terms));
}

Ref<MemoryOp> MemoryOp::mask(const char* name, CommPtr comm, const Layout& layout,
                             const std::vector<ElementBox>& boxes, TenonDataType type) {
  std::vector<Term> terms;
  for (const ElementBox& box : boxes)
    terms.push_back({.extent = box.extent, .from = box.begin, .to = box.begin});
  return makeRef<MemoryOp>(name, std::move(comm), layout, layout, type, std::move(terms));
}

void MemoryOp::doEnd(const Action& action) {
  const DTensor& x = *action.x;
  DTensor& y = *action.y;
  const bool forward = action.sense == Sense::Forward;
  // Two terms can write the same elements, so beta is applied once, before all of them.
  scaleArray(action.beta, y);
  visitDataType(y.dataType(), [&]<class T>(T) {
    for (const Term& term : terms_) {
      const T* source = x.data<T>();
      T* target = y.mutableData<T>();
      for (int d = 0; d < x.ndim(); ++d) {
        source += (forward ? term.from : term.to)[d] * x.strides()[d];
        target += (forward ? term.to : term.from)[d] * y.strides()[d];
      }
      blockAxpby(y.context(), x.ndim(), term.extent.data(), static_cast<T>(action.alpha), source,
                 x.strides().data(), T(1), target, y.strides().data());
    }
  });
}

} // namespace tenon
