// SPDX-License-Identifier: BSD-2-Clause
// Tests that every data movement of parallel programs is a composition of memory operators, as
// Hewett and Grady 2020 define them (Section 3 and Appendix A). In this model the memories of all
// processes are one memory, here a matrix, the "machine", of which each rank has its own copy:
//
//     row w              the input array of process w
//     row processes + w  the output array of process w
//
// A movement allocates the output rows, adds and copies between rows, and removes the input rows.
// For each movement, the test writes this composition, applies it to the arrays of all ranks, and
// compares the row of each rank with the result of the library's conversion; likewise for the
// adjoints.
#include "operators.hpp"

#include <gtest/gtest.h>

namespace tenon {
namespace {

using test::elementsOf;
using test::onLine;
using test::world;

// The composition for a conversion between two layouts, as a list of memory operators (steps_).
class Machine {
public:
  Machine(const Layout& from, const Layout& to, TenonDataType type)
      : from_(from), to_(to), type_(type) {
    for (const Layout* layout : {&from, &to})
      for (int w = 0; w < processes(); ++w)
        for (int d = 0; d < 2; ++d)
          extent_[d] = std::max(extent_[d], layout->boxOfRank(w)[d].size());
    steps_.push_back(
        MemoryOp::allocate(world(), rows(processes()), rows(2 * processes()), {0, 0, 0}, type));
  }

  static int processes() { return world()->size(); }
  // The rows of the input and the output of process w.
  static Index in(int w) { return w; }
  static Index out(int w) { return processes() + w; }
  Interval domainPart(int w, int d = 0) const { return from_.ownedBox(position(from_, w))[d]; }
  Interval rangePart(int w, int d = 0) const { return to_.ownedBox(position(to_, w))[d]; }

  // Adds a step that copies the elements i x j of one row to another row, where they begin at
  // element `to`.
  void copy(Index row, Interval i, Interval j, Index toRow, std::vector<Index> to) {
    if (!i.empty() && !j.empty())
      steps_.push_back(MemoryOp::copy(world(), rows(2 * processes()), {{row, row + 1}, i, j},
                                      {toRow, to[0], to[1]}, type_));
  }
  void copy(Index row, Interval elements, Index toRow, Index to) {
    copy(row, elements, {0, 1}, toRow, {to, 0});
  }
  // Adds a step that adds elements of one row to those of another.
  void add(Index row, Interval elements, Index toRow) {
    steps_.push_back(MemoryOp::add(world(), rows(2 * processes()),
                                   {{row, row + 1}, elements, {0, 1}}, {toRow, elements.begin, 0},
                                   type_));
  }

  void expectEqualToTheConversion() {
    steps_.push_back(adjointView(MemoryOp::allocate(
        world(), rows(processes()), rows(2 * processes()), {processes(), 0, 0}, type_)));
    const LinearOpRef chain = compose(steps_), conversion = test::conversion(from_, to_, type_);
    for (Sense sense : {Sense::Forward, Sense::Adjoint})
      for (std::uint64_t seed = 1; seed < 4; ++seed) {
        const test::Ends actual(*conversion, sense, seed), model(*chain, sense, seed);
        test::act(*conversion, sense, 1, *actual.x, 0, *actual.y);
        gatherRows(*actual.x, *model.x);
        test::act(*chain, sense, 1, *model.x, 0, *model.y);
        EXPECT_EQ(elementsOf(*actual.y), ownRow(*model.y, actual.y->extent()))
            << conversion->describe() << (sense == Sense::Forward ? "" : ", adjoint");
      }
  }

private:
  static int position(const Layout& layout, int w) { return layout.grid().position(w); }
  // S0 over all ranks with equal parts: `count` rows on each rank, and its own dual.
  Layout rows(int count) const {
    return onLine({Index(count) * processes(), extent_[0], extent_[1]}, "S0");
  }
  Index elementsOfRow() const { return extent_[0] * extent_[1]; }

  // Fills the input rows of a machine with the arrays of all ranks.
  void gatherRows(const DTensor& x, DTensor& machine) const {
    const std::vector<double> mine = elementsOf(x);
    std::vector<double> row(elementsOfRow(), 0), all(elementsOfRow() * processes());
    for (std::size_t n = 0; n < mine.size(); ++n)
      row[n / x.extent()[1] * extent_[1] + n % x.extent()[1]] = mine[n];
    const int count = static_cast<int>(row.size());
    MPI_Allgather(row.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD);
    test::setCells(machine, all);
  }
  // Returns the elements of this rank's output, from its row.
  std::vector<double> ownRow(const DTensor& machine, const Shape& extent) const {
    const std::vector<double> all = elementsOf(machine);
    std::vector<double> row;
    for (Index i = 0; i < extent[0]; ++i)
      for (Index j = 0; j < extent[1]; ++j)
        row.push_back(all[world()->rank() * elementsOfRow() + i * extent_[1] + j]);
    return row;
  }

  Layout from_, to_;
  TenonDataType type_;
  std::array<Index, 2> extent_ = {1, 1};
  std::vector<LinearOpRef> steps_;
};

// Elements of the tensors: a number that 2, 3 and 4 processes divide unevenly.
constexpr Index kCells = 11;
constexpr Interval kAll = {0, kCells};

class Appendix : public testing::TestWithParam<TenonDataType> {
protected:
  static Machine machine(const char* from, const char* to) {
    return {onLine({kCells, 1}, from), onLine({kCells, 1}, to), GetParam()};
  }
  static constexpr int kRoot = 0;
};

TEST_P(Appendix, SendReceiveIsACopy) {
  const int last = Machine::processes() - 1;
  const Layout there = test::layoutOn(Grid::make({1}, {last}), {kCells, 1}, "B"),
               here = test::layoutOn(Grid::make({1}, {0}), {kCells, 1}, "B");
  Machine m(here, there, GetParam());
  m.copy(m.in(0), kAll, m.out(last), 0);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, BroadcastIsCopiesOfTheRoots) {
  Machine m = machine("R", "B");
  for (int w = 0; w < m.processes(); ++w)
    m.copy(m.in(kRoot), kAll, m.out(w), 0);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, BroadcastMayBeATree) {
  Machine m = machine("R", "B");
  m.copy(m.in(kRoot), kAll, m.out(kRoot), 0);
  for (int reached = 1; reached < m.processes(); reached *= 2)
    for (int w = reached; w < std::min(2 * reached, m.processes()); ++w)
      m.copy(m.out(w - reached), kAll, m.out(w), 0);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, SumReduceIsAdds) {
  Machine m = machine("P", "R");
  for (int w = 0; w < m.processes(); ++w)
    m.add(m.in(w), kAll, m.out(kRoot));
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, AllReduceIsABroadcastOfASumReduce) {
  Machine m = machine("P", "B");
  for (int w = 1; w < m.processes(); ++w)
    m.add(m.in(w), kAll, m.in(kRoot));
  for (int w = 0; w < m.processes(); ++w)
    m.copy(m.in(kRoot), kAll, m.out(w), 0);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, ScatterIsCopiesOfParts) {
  Machine m = machine("R", "S0");
  for (int w = 0; w < m.processes(); ++w)
    m.copy(m.in(kRoot), m.rangePart(w), m.out(w), 0);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, GatherIsCopiesOfParts) {
  Machine m = machine("S0", "R");
  for (int w = 0; w < m.processes(); ++w)
    m.copy(m.in(w), {0, m.domainPart(w).size()}, m.out(kRoot), m.domainPart(w).begin);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, AllGatherIsABroadcastOfEachPart) {
  Machine m = machine("S0", "B");
  for (int from = 0; from < m.processes(); ++from)
    for (int w = 0; w < m.processes(); ++w)
      m.copy(m.in(from), {0, m.domainPart(from).size()}, m.out(w), m.domainPart(from).begin);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, ReduceScatterIsAScatterOfASumReduce) {
  Machine m = machine("P", "S0");
  for (int w = 1; w < m.processes(); ++w)
    m.add(m.in(w), kAll, m.in(kRoot));
  for (int w = 0; w < m.processes(); ++w)
    m.copy(m.in(kRoot), m.rangePart(w), m.out(w), 0);
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, AllToAllIsAScatterFromEach) {
  Machine m(onLine({7, 5}, "S0"), onLine({7, 5}, "S1"), GetParam());
  for (int from = 0; from < m.processes(); ++from)
    for (int w = 0; w < m.processes(); ++w)
      m.copy(m.in(from), {0, m.domainPart(from).size()}, m.rangePart(w, 1), m.out(w),
             {m.domainPart(from).begin, 0});
  m.expectEqualToTheConversion();
}

TEST_P(Appendix, SliceAndZeroPadAreLocalCopies) {
  Machine slice = machine("B", "S0"), pad = machine("S0", "P");
  for (int w = 0; w < Machine::processes(); ++w) {
    slice.copy(slice.in(w), slice.rangePart(w), slice.out(w), 0);
    pad.copy(pad.in(w), {0, pad.domainPart(w).size()}, pad.out(w), pad.domainPart(w).begin);
  }
  slice.expectEqualToTheConversion();
  pad.expectEqualToTheConversion();
}

// Each halo element is copied from its owner; a halo can extend over several processes. Beyond the
// domain, a periodic halo is copied from the other end, and a zero halo keeps the zeros of its
// allocation.
TEST_P(Appendix, HaloExchangeIsCopiesFromTheOwners) {
  constexpr Index kWidth = 2;
  for (Boundary boundary : {Boundary::Zero, Boundary::Periodic}) {
    const Layout plain = onLine({kCells, 1}, "S0");
    Machine m(plain, test::withHalo(plain, kWidth, boundary), GetParam());
    for (int w = 0; w < m.processes(); ++w) {
      const Interval part = m.domainPart(w);
      for (Index i = part.begin - kWidth; i < part.end + kWidth; ++i) {
        if (boundary == Boundary::Zero && (i < 0 || i >= kCells))
          continue;
        const Index cell = (i + kCells) % kCells;
        int owner = 0;
        while (cell >= m.domainPart(owner).end)
          ++owner;
        const Index local = cell - m.domainPart(owner).begin;
        m.copy(m.in(owner), {local, local + 1}, m.out(w), i - (part.begin - kWidth));
      }
    }
    m.expectEqualToTheConversion();
  }
}

INSTANTIATE_TEST_SUITE_P(Linop, Appendix, testing::Values(TENON_FLOAT32, TENON_FLOAT64),
                         [](const auto& info) { return std::string(dataTypeName(info.param)); });

} // namespace
} // namespace tenon
