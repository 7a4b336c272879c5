// SPDX-License-Identifier: BSD-2-Clause
// For the tests of linear operators: allOperators(), a list with one operator of every kind, on
// which every_operator_test.cpp and others test the properties that all must have; and functions
// that create layouts, apply an operator in either direction, and read and write a tensor's local
// elements as numbers. Layouts are named by their property on each axis of the process grid: S0
// (dimension 0 is split), B (copies), P (partial sums, whose sum is the value), R (only the first
// rank has elements).
#pragma once

#include "dtensor/arithmetic.hpp"
#include "dtensor/fill.hpp"
#include "linop/algebra/composition.hpp"
#include "linop/algebra/memory_op.hpp"
#include "linop/algebra/primitive.hpp"
#include "linop/algebra/shell.hpp"
#include "linop/collectives/reduction_op.hpp"
#include "linop/exchange/index_map_op.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "linop/exchange/make_index_map.hpp"
#include "linop/exchange/refill_op.hpp"
#include "support/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

namespace tenon::test {

inline Layout layoutOn(const GridPtr& grid, const Shape& shape, const char* properties) {
  return Layout({.shape = shape, .grid = grid, .properties = parseProperties(properties)});
}

// A layout on a process grid of one axis with all ranks.
inline Layout onLine(const Shape& shape, const char* properties) {
  return layoutOn(Grid::make({world()->size()}), shape, properties);
}

// Returns a layout with a halo of `width` elements on both sides of dimension 0.
inline Layout withHalo(const Layout& plain, Index width, Boundary boundary) {
  LayoutSpec spec = plain.spec();
  Halo halo{.boxes = {}, .low = boundary, .high = boundary};
  for (int part = 0; part < plain.parts(0); ++part) {
    const Interval owned = plain.owned(0, part);
    halo.boxes.push_back({owned.begin - width, owned.end + width});
  }
  spec.halos = {halo};
  spec.halos.resize(spec.shape.size());
  return Layout(spec);
}

// The policy of the command line's options, with this transport or these routes instead.
inline CarrierPolicy by(Transport transport) {
  CarrierPolicy policy = CarrierPolicy::fromOptions();
  policy.transport = transport;
  return policy;
}

inline MovementPolicy by(const RoutePolicy& route) {
  MovementPolicy policy = MovementPolicy::fromOptions();
  policy.route = route;
  return policy;
}

// Returns the local elements of a tensor on the library's own array, row-major.
inline std::vector<double> elementsOf(const DTensor& x) {
  std::vector<double> elements(x.localElements());
  visitDataType(x.dataType(),
                [&]<class T>(T) { std::copy_n(x.data<T>(), elements.size(), elements.begin()); });
  return elements;
}

// Returns the local elements of any tensor, row-major.
inline std::vector<double> elementsIn(const DTensor& x) {
  const auto packed = makeRef<DTensor>(x.comm(), x.layout(), x.dataType());
  copyLocal(x, *packed);
  return elementsOf(*packed);
}

// Returns a copy of a tensor in device memory.
inline Ref<DTensor> sameOnDevice(const DTensor& x) {
  const auto onDevice = makeRef<DTensor>(x.comm(), x.layout(), x.dataType(), Space::Device);
  copyLocal(x, *onDevice);
  return onDevice;
}

// Writes the local elements, in row-major order.
inline void setCells(DTensor& x, const std::vector<double>& elements) {
  visitDataType(x.dataType(), [&]<class T>(T) {
    std::transform(elements.begin(), elements.end(), x.mutableData<T>(),
                   [](double value) { return static_cast<T>(value); });
  });
}

// Tensors x and y for one direction of an operator: in its domain and range, or in their duals for
// the adjoint. They are filled with small integers.
struct Ends {
  Ref<DTensor> x, y;
  Ends(const LinearOp& op, Sense sense, std::uint64_t seed) {
    const bool forward = sense == Sense::Forward;
    x = makeRef<DTensor>(op.comm(), forward ? op.domain() : op.range().dual(),
                         forward ? op.domainType() : op.rangeType());
    y = makeRef<DTensor>(op.comm(), forward ? op.range() : op.domain().dual(),
                         forward ? op.rangeType() : op.domainType());
    fillRaw(*x, seed, /*integers=*/true);
    fillRaw(*y, seed + 1, /*integers=*/true);
  }
};

// y <- alpha F x + beta y, or with F* for Sense::Adjoint.
inline void act(LinearOp& op, Sense sense, double alpha, const DTensor& x, double beta,
                DTensor& y) {
  if (sense == Sense::Forward)
    op.apply(alpha, x, beta, y);
  else
    op.applyAdjoint(alpha, x, beta, y);
}

// An operator of allOperators(), for both floating types.
struct NamedOp {
  std::string name;
  std::function<LinearOpRef(TenonDataType)> make;
};

inline void PrintTo(const NamedOp& op, std::ostream* out) {
  *out << op.name;
}

// For INSTANTIATE_TEST_SUITE_P.
inline std::string nameOfParameter(const testing::TestParamInfo<NamedOp>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
}

inline LinearOpRef conversion(const Layout& from, const Layout& to, TenonDataType type) {
  return makeConversion(world(), from, to, type);
}

// y <- 2 x on one layout, by functions of the user.
inline Ref<Shell> twice(const Layout& layout, TenonDataType type) {
  const auto map = [](const DTensor& x, DTensor& y) { axpby(2, x, 0, y); };
  return makeRef<Shell>(world(), layout, layout, type, type,
                        Shell::Functions{.apply = map, .applyAdjoint = map});
}

// The boundary modes whose elements beyond the domain a rank can compute from its own elements.
inline std::vector<Boundary> refilledModes() {
  return {Boundary::None,      Boundary::Zero,      Boundary::Periodic, Boundary::Reflect,
          Boundary::Replicate, Boundary::Symmetric, Boundary::Odd,      Boundary::OddPoint};
}

// Fills a halo of width 2 from one of width 4 without messages. The wide one has no elements beyond
// the domain, unless that is periodic.
inline LinearOpRef refill(const Layout& plain, Boundary mode, TenonDataType type) {
  const bool goesRound = mode == Boundary::Periodic;
  return makeRef<RefillOp>(world(), withHalo(plain, 4, goesRound ? mode : Boundary::None),
                           withHalo(plain, 2, mode), type);
}

inline std::vector<NamedOp> conversions() {
  std::vector<NamedOp> ops;
  for (const char* from : {"S0", "S1", "B", "P", "R"})
    for (const char* to : {"S0", "S1", "B", "P", "R"})
      ops.push_back({std::string(from) + " to " + to, [=](TenonDataType type) {
                       return conversion(onLine({7, 5}, from), onLine({7, 5}, to), type);
                     }});
  for (const Boundary mode : kExtensions)
    ops.push_back({std::string("halo ") + boundaryName(mode), [=](TenonDataType type) {
                     const Layout plain = onLine({11, 2}, "S0");
                     return conversion(plain, withHalo(plain, 2, mode), type);
                   }});
  // A globe of 5 x 6 with 2 scalars, or the components of a vector; halos wider than the globe.
  for (const Boundary mode : {Boundary::Pole, Boundary::PolePointVector})
    ops.push_back({std::string("halo ") + boundaryName(mode), [=](TenonDataType type) {
                     const Layout plain = onLine({5, 2, 6}, "S0");
                     LayoutSpec spec = withHalo(plain, 7, Boundary::Zero).spec();
                     spec.halos[0]->low = spec.halos[0]->high = mode;
                     spec.halos[0]->longitudes = 2;
                     spec.halos[2] = Halo{
                         .boxes = {{-2, 9}}, .low = Boundary::Periodic, .high = Boundary::Periodic};
                     return conversion(plain, Layout(std::move(spec)), type);
                   }});
  for (const Boundary mode : refilledModes())
    ops.push_back({std::string("refill ") + boundaryName(mode), [=](TenonDataType type) {
                     return refill(onLine({11, 2}, "S0"), mode, type);
                   }});
  return ops;
}

// Sends a tensor from the first rank to the last.
inline LinearOpRef sendReceive(TenonDataType type) {
  const auto onRank = [](int rank) { return layoutOn(Grid::make({1}, {rank}), {7, 5}, "B"); };
  return conversion(onRank(0), onRank(world()->size() - 1), type);
}

inline std::vector<NamedOp> memoryOps() {
  const Layout layout = onLine({5 * world()->size(), 3}, "S0"); // 5 x 3 elements on each rank
  // The box that is cleared, or whose 2 x 2 elements are added, copied or moved to the box that
  // begins at the given element.
  const Box low = {{0, 2}, {1, 3}};
  return {
      {"allocate",
       [=](TenonDataType t) {
         return MemoryOp::allocate(world(), layout, onLine({7 * world()->size(), 4}, "S0"), {1, 1},
                                   t);
       }},
      {"clear", [=](TenonDataType t) { return MemoryOp::clear(world(), layout, low, t); }},
      {"add",
       [=](TenonDataType t) {
         return MemoryOp::add(world(), layout, low, {3, 0}, t);
       }},
      {"copy",
       [=](TenonDataType t) {
         return MemoryOp::copy(world(), layout, low, {2, 0}, t);
       }},
      {"move",
       [=](TenonDataType t) {
         return MemoryOp::move(world(), layout, low, {3, 1}, t);
       }},
  };
}

inline std::vector<NamedOp> boundaryOps() {
  const Layout wide = withHalo(onLine({11, 2}, "S0"), 2, Boundary::Values);
  return {
      {"boundary values", [=](TenonDataType t) { return boundaryValues(world(), wide, t); }},
      {"boundary values of contributions",
       [=](TenonDataType t) { return boundaryValues(world(), wide.dual(), t); }},
      {"boundary constant",
       [=](TenonDataType t) { return makeRef<BoundaryConstant>(world(), wide, t); }},
  };
}

// A sum by a reduction program on one level with all ranks.
inline LinearOpRef reduction(const Layout& from, const Layout& to, TenonDataType type) {
  ReductionPlan plan;
  plan.goal = sumBetween(from, to).value_or(SumChange{}).goal;
  if (world()->size() > 1) {
    plan.hierarchy = {world()->size()};
    plan.program = parseProgram("(0, InsideGroup, ReduceScatter)");
    if (plan.goal != SumGoal::Share)
      plan.program.push_back(parseProgram("(0, InsideGroup, AllGather)").front());
  }
  return makeRef<ReductionOp>(world(), from, to, type, plan);
}

inline std::vector<NamedOp> otherOps() {
  const Layout s = onLine({7, 5}, "S0"), b = onLine({7, 5}, "B"), p = onLine({7, 5}, "P"),
               r = onLine({7, 5}, "R");
  return {
      {"send receive", sendReceive},
      {"reduction", [=](TenonDataType t) { return reduction(p, b, t); }},
      {"reduction to root", [=](TenonDataType t) { return reduction(p, r, t); }},
      {"broadcast by program", [=](TenonDataType t) { return reduction(r, b, t); }},
      {"identity", [=](TenonDataType t) { return makeRef<Cast>(world(), s, t, t); }},
      {"cast to single",
       [=](TenonDataType t) { return makeRef<Cast>(world(), p, t, TENON_FLOAT32); }},
      {"cast to double",
       [=](TenonDataType t) { return makeRef<Cast>(world(), b, t, TENON_FLOAT64); }},
      {"zero", [=](TenonDataType t) { return makeRef<Zero>(world(), s, onLine({3}, "B"), t); }},
      {"shell", [=](TenonDataType t) { return twice(s, t); }},
      {"adjoint view", [=](TenonDataType t) { return adjointView(conversion(s, b, t)); }},
      {"scale", [=](TenonDataType t) { return scale(-3, conversion(p, s, t)); }},
      {"scale by zero", [=](TenonDataType t) { return scale(0, conversion(p, s, t)); }},
      {"sum",
       [=](TenonDataType t) {
         const LinearOpRef one = conversion(p, b, t);
         return sum({one, scale(2, one), one});
       }},
      {"composition",
       [=](TenonDataType t) {
         return compose({conversion(p, s, t), twice(s, t), conversion(s, b, t)});
       }},
      {"composition with casts",
       [=](TenonDataType t) {
         const LinearOpRef gather = conversion(s, b, TENON_FLOAT64);
         return compose({makeRef<Cast>(world(), s, t, TENON_FLOAT64), gather,
                         conversion(b, s, TENON_FLOAT64),
                         makeRef<Cast>(world(), s, TENON_FLOAT64, t)});
       }},
      {"composition of one", [=](TenonDataType t) { return compose({conversion(s, b, t)}); }},
  };
}

// A mesh of five nodes per rank, with a ghost of one node of each rank; and a map with weights and
// repeated entries.
inline std::vector<NamedOp> indexMaps() {
  const auto make = [](const IndexMapPtr& map, const Layout& domain, TenonDataType type) {
    return makeRef<IndexMapOp>(world(), map, domain, type, CarrierPolicy::fromOptions());
  };
  const auto mesh = [=](TenonDataType type) {
    std::vector<Index> ids;
    for (Index i = 0; i < 5; ++i)
      ids.push_back((5 * world()->rank() + i) * 1000003);
    for (int rank = 0; rank < world()->size(); ++rank)
      ids.push_back((5 * rank + rank % 5) * 1000003);
    return make(makeIndexMapFromIds(*world(), 5, ids), onLine({5 * world()->size(), 3}, "S0"),
                type);
  };
  const auto sparse = [=](TenonDataType type) {
    const Layout from = onLine({4 * world()->size(), 3}, "S0");
    WantedEntries wanted;
    for (Index i = 0; i < 12; ++i) {
      wanted.target.push_back(i % 5);
      wanted.source.push_back(i * i % from.shape()[0]);
      wanted.weights.push_back(double(i % 4) - 1);
    }
    return make(makeIndexMap(*world(), from, onLine({6 * world()->size(), 3}, "S0"), {0}, wanted),
                from, type);
  };
  return {{"index map of a mesh", mesh}, {"index map with weights", sparse}};
}

inline std::vector<NamedOp> allOperators() {
  std::vector<NamedOp> ops = conversions();
  for (const auto& more : {memoryOps(), boundaryOps(), otherOps(), indexMaps()})
    ops.insert(ops.end(), more.begin(), more.end());
  return ops;
}

} // namespace tenon::test
