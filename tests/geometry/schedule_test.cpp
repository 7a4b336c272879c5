// SPDX-License-Identifier: BSD-2-Clause
// Tests schedules against the definition of a conversion. The messages of all ranks are assembled
// to one sparse matrix from the memory of all source arrays to that of all target arrays (RawMemory
// numbers the elements of all ranks), and compared with the matrix that the rule of schedule.hpp
// defines element by element (support/conversion_definition.hpp). Layouts are random, with halos of
// all boundary modes.
#include "geometry/schedule/schedule.hpp"
#include "support/conversion_definition.hpp"
#include "support/random_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace tenon {
namespace {

using test::forEach;
using test::globalOf;
using test::LayoutDraw;
using test::mayTalk;
using test::signOf;

// Sparse integer matrix: (row, column) -> entry.
using Matrix = std::map<std::pair<Index, Index>, int>;

// Numbers the raw memory elements of all ranks one after the other.
struct RawMemory {
  RawMemory(const Layout& layout, int ranks) {
    for (int r = 0; r < ranks; ++r) {
      offset.push_back(size);
      boxes.push_back(layout.boxOfRank(r));
      size += elements(boxes.back());
    }
  }
  Index cell(int rank, const std::vector<Index>& local) const {
    const Shape strides = rowMajorStrides(extents(boxes[rank]));
    Index at = offset[rank];
    for (std::size_t d = 0; d < local.size(); ++d)
      at += local[d] * strides[d];
    return at;
  }
  std::vector<Index> offset;
  std::vector<Box> boxes;
  Index size = 0;
};

std::vector<Index> at(const std::vector<Index>& begin, const std::vector<Index>& step,
                      const std::vector<Index>& index) {
  std::vector<Index> result(index.size());
  for (std::size_t d = 0; d < index.size(); ++d)
    result[d] = begin[d] + step[d] * index[d];
  return result;
}

// The matrix that the ranks' send lists describe.
Matrix scheduledMatrix(const Layout& a, const Layout& b, int ranks) {
  const RawMemory source(a, ranks), target(b, ranks);
  Matrix matrix;
  for (int r = 0; r < ranks; ++r)
    for (const Transfer& t : makeSchedule(a, b, r).sends)
      for (const ElementBlock& block : t.blocks)
        forEach(block.extent, [&](const std::vector<Index>& index) {
          matrix[{target.cell(t.peer, at(block.targetBegin, block.targetStep, index)),
                  source.cell(r, at(block.sourceBegin, block.sourceStep, index))}] += block.sign;
        });
  return matrix;
}

// The matrix by the definition: for each pair of ranks that may exchange data (mayTalk()), and each
// pair of their elements, an entry if both are the same global element.
Matrix definedMatrix(const Layout& a, const Layout& b, int ranks) {
  const RawMemory source(a, ranks), target(b, ranks);
  Matrix matrix;
  for (int r = 0; r < ranks; ++r)
    for (int s = 0; s < ranks; ++s) {
      const int pr = a.grid().position(r), ps = b.grid().position(s);
      if (!a.isHolder(pr) || !b.isHolder(ps) || !mayTalk(a, pr, b, ps))
        continue;
      forEach(extents(source.boxes[r]), [&](const std::vector<Index>& i) {
        const auto from = globalOf(a, pr, i, /*asSource=*/true);
        if (!from)
          return;
        forEach(extents(target.boxes[s]), [&](const std::vector<Index>& j) {
          if (from == globalOf(b, ps, j, /*asSource=*/false))
            matrix[{target.cell(s, j), source.cell(r, i)}] +=
                signOf(a, pr, i, /*asSource=*/true) * signOf(b, ps, j, /*asSource=*/false);
        });
      });
    }
  return matrix;
}

Matrix transposed(const Matrix& matrix) {
  Matrix result;
  for (const auto& [at, entry] : matrix)
    result[{at.second, at.first}] = entry;
  return result;
}

struct Case {
  Layout a, b;
  int ranks;
  std::string text() const { return a.describe() + "  ->  " + b.describe(); }
};

Case drawCase(unsigned seed, int haloPercent, bool covering) {
  LayoutDraw draw(seed);
  const int ranks = draw.between(1, 9);
  const Shape shape = draw.shape(1, 3, 6);
  const GridPtr from = draw.grid(ranks, 3);
  const GridPtr to = draw.chance(60) ? from : draw.grid(ranks, 3);
  Case made{draw.layout(shape, from, haloPercent, covering),
            draw.layout(shape, to, haloPercent, covering), ranks};
  draw.poles(made.a);
  draw.poles(made.b);
  draw.modesByChannel(made.a, made.b);
  return made;
}

class ScheduleDraws : public testing::TestWithParam<int> {};

TEST_P(ScheduleDraws, EqualsTheDefinition) {
  for (int i = 0; i < 150; ++i) {
    const Case c = drawCase(GetParam() * 1000 + i, 30, false);
    ASSERT_EQ(scheduledMatrix(c.a, c.b, c.ranks), definedMatrix(c.a, c.b, c.ranks)) << c.text();
  }
}

TEST_P(ScheduleDraws, TransposeIsTheConversionOfTheDuals) {
  for (int i = 0; i < 150; ++i) {
    const Case c = drawCase(GetParam() * 1000 + i, 30, false);
    ASSERT_EQ(transposed(scheduledMatrix(c.a, c.b, c.ranks)),
              scheduledMatrix(c.b.dual(), c.a.dual(), c.ranks))
        << c.text();
  }
}

// Returns, for each element of an array, the number of boxes that contain it.
std::vector<int> counts(const std::vector<ElementBox>& boxes, const Shape& extent) {
  std::vector<int> result(elements(extent), 0);
  const Shape strides = rowMajorStrides(extent);
  for (const ElementBox& box : boxes)
    forEach(box.extent, [&](const std::vector<Index>& index) {
      Index number = 0;
      for (std::size_t d = 0; d < index.size(); ++d)
        number += (box.begin[d] + index[d]) * strides[d];
      ++result.at(number);
    });
  return result;
}

// 1 for each element of all ranks that the user supplies if the halo is filled in this role, else
// 0.
std::vector<int> userElements(const Layout& layout, int ranks, bool asSource) {
  const RawMemory raw(layout, ranks);
  std::vector<int> result(raw.size, 0);
  const auto modes = [&](int d, int rank, const std::vector<Index>& local) {
    return test::modesAt(*layout.halo(d), raw.boxes[rank], local);
  };
  for (int r = 0; r < ranks; ++r)
    forEach(extents(raw.boxes[r]), [&](const std::vector<Index>& local) {
      for (int d = 0; d < layout.ndim(); ++d) {
        const auto& halo = layout.halo(d);
        const Index at = raw.boxes[r][d].begin + local[d];
        if (halo && halo->isPartial == asSource &&
            ((at < 0 && modes(d, r, local).low == Boundary::Values) ||
             (at >= layout.shape()[d] && modes(d, r, local).high == Boundary::Values)))
          result[raw.cell(r, local)] = 1;
      }
    });
  return result;
}

void append(std::vector<int>& all, const std::vector<int>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Elements without an entry in the matrix are gaps, of the target and, for the transpose, of the
// source. The user supplies those of boundary mode Values; the others are zeros. Where an element
// has several entries, the schedule must say that it sums.
TEST_P(ScheduleDraws, GapsAreTheCellsThatNobodyContributesTo) {
  for (int i = 0; i < 150; ++i) {
    const Case c = drawCase(GetParam() * 1000 + i, 30, false);
    const RawMemory source(c.a, c.ranks), target(c.b, c.ranks);
    std::vector<int> sourceGap(source.size, 1), targetGap(target.size, 1);
    std::map<Index, int> contributions, transposedContributions;
    const bool mayAdd = makeSchedule(c.a, c.b, 0).sumsOnReceipt;
    const bool transposeMayAdd = makeSchedule(c.a, c.b, 0).sumsOnTranspose;
    for (const auto& [at, entry] : definedMatrix(c.a, c.b, c.ranks)) {
      targetGap[at.first] = sourceGap[at.second] = 0;
      ASSERT_TRUE(++contributions[at.first] == 1 || mayAdd) << c.text();
      ASSERT_TRUE(++transposedContributions[at.second] == 1 || transposeMayAdd) << c.text();
    }
    const auto sourceCallers = userElements(c.a, c.ranks, /*asSource=*/true);
    const auto targetCallers = userElements(c.b, c.ranks, /*asSource=*/false);
    std::vector<int> zeros, callers, expectedZeros(sourceGap), expectedCallers(sourceCallers);
    append(expectedZeros, targetGap);
    append(expectedCallers, targetCallers);
    std::transform(expectedZeros.begin(), expectedZeros.end(), expectedCallers.begin(),
                   expectedZeros.begin(), std::minus<>());
    for (const bool atSource : {true, false})
      for (int r = 0; r < c.ranks; ++r) {
        const Schedule s = makeSchedule(c.a, c.b, r);
        const Gaps& gaps = atSource ? s.sourceGaps : s.targetGaps;
        append(zeros, counts(gaps.zeros, atSource ? s.sourceExtent : s.targetExtent));
        append(callers, counts(gaps.userValues, atSource ? s.sourceExtent : s.targetExtent));
      }
    ASSERT_EQ(zeros, expectedZeros) << c.text();
    ASSERT_EQ(callers, expectedCallers) << c.text();
  }
}

TEST_P(ScheduleDraws, SendersAndReceiversAgree) {
  for (int i = 0; i < 50; ++i) {
    const Case c = drawCase(GetParam() * 1000 + i, 30, false);
    std::map<std::pair<int, int>, const Transfer*> sent;
    std::vector<Schedule> schedules;
    for (int r = 0; r < c.ranks; ++r)
      schedules.push_back(makeSchedule(c.a, c.b, r));
    for (int r = 0; r < c.ranks; ++r)
      for (const Transfer& t : schedules[r].sends)
        sent[{r, t.peer}] = &t;
    for (int s = 0; s < c.ranks; ++s)
      for (const Transfer& t : schedules[s].receives) {
        ASSERT_TRUE(sent.count({t.peer, s})) << c.text();
        const Transfer& other = *sent[{t.peer, s}];
        ASSERT_EQ(other.elements, t.elements);
        ASSERT_EQ(other.blocks.size(), t.blocks.size());
        for (std::size_t n = 0; n < t.blocks.size(); ++n) {
          ASSERT_EQ(other.blocks[n].extent, t.blocks[n].extent);
          ASSERT_EQ(other.blocks[n].sourceBegin, t.blocks[n].sourceBegin);
          ASSERT_EQ(other.blocks[n].targetBegin, t.blocks[n].targetBegin);
        }
        sent.erase({t.peer, s});
      }
    ASSERT_TRUE(sent.empty()) << c.text();
  }
}

// Reads, checks and draws the memory of all ranks that represents a tensor in a layout. One value
// has many representations if the layout holds partial sums (along axes P, and in halos G*, whose
// elements are contributions; halos G have copies): all contributions that add up to the value.
class Representation {
public:
  Representation(const Layout& layout, int ranks)
      : layout_(layout), raw_(layout, ranks), ranks_(ranks) {}

  // The tensor that the memory represents: the sum of all contributions to each element. If the
  // layout holds no partial sums, the owner's element is the only contribution.
  std::vector<int> value(const std::vector<int>& memory) const {
    std::vector<int> result(elements(layout_.shape()), 0);
    const Shape strides = rowMajorStrides(layout_.shape());
    visit([&](int r, int position, const std::vector<Index>& local) {
      for (int axis = 0; axis < layout_.grid().axes(); ++axis)
        if (layout_.property(axis).isBroadcast() && layout_.grid().coordinate(position, axis) != 0)
          return;
      const auto global = globalOf(layout_, position, local, /*asSource=*/true);
      if (!global)
        return;
      Index at = 0;
      for (std::size_t d = 0; d < strides.size(); ++d)
        at += (*global)[d] * strides[d];
      result[at] +=
          signOf(layout_, position, local, /*asSource=*/true) * memory[raw_.cell(r, local)];
    });
    return result;
  }

  // Whether the memory represents the value: copies on B axes are equal, and each element of a G
  // halo equals the element that it extends.
  bool isValid(const std::vector<int>& memory, const std::vector<int>& value) const {
    bool valid = true;
    const Shape strides = rowMajorStrides(layout_.shape());
    visit([&](int r, int position, const std::vector<Index>& local) {
      std::vector<int> first = layout_.grid().coordinates(position);
      for (int axis = 0; axis < layout_.grid().axes(); ++axis)
        if (layout_.property(axis).isBroadcast())
          first[axis] = 0;
      const int origin = layout_.grid().rank(layout_.grid().positionAt(first));
      valid &= memory[raw_.cell(r, local)] == memory[raw_.cell(origin, local)];
      if (layout_.holdsPartialSums())
        return;
      const auto global = globalOf(layout_, position, local, /*asSource=*/false);
      Index at = 0;
      for (std::size_t d = 0; global && d < strides.size(); ++d)
        at += (*global)[d] * strides[d];
      valid &= memory[raw_.cell(r, local)] ==
               (global ? signOf(layout_, position, local, /*asSource=*/false) * value[at] : 0);
    });
    return valid;
  }

  // Draws valid memory: random contributions if the layout holds partial sums, otherwise a random
  // value and its copies.
  std::vector<int> draw(LayoutDraw& random) const {
    std::vector<int> memory(raw_.size, 0);
    if (!layout_.holdsPartialSums()) {
      std::vector<int> value(elements(layout_.shape()));
      for (int& v : value)
        v = random.between(-9, 9);
      const Shape strides = rowMajorStrides(layout_.shape());
      visit([&](int r, int position, const std::vector<Index>& local) {
        const auto global = globalOf(layout_, position, local, /*asSource=*/false);
        Index at = 0;
        for (std::size_t d = 0; global && d < strides.size(); ++d)
          at += (*global)[d] * strides[d];
        memory[raw_.cell(r, local)] =
            global ? signOf(layout_, position, local, /*asSource=*/false) * value[at] : 0;
      });
      return memory;
    }
    for (int& m : memory)
      m = random.between(-9, 9);
    visit([&](int r, int position, const std::vector<Index>& local) {
      std::vector<int> first = layout_.grid().coordinates(position);
      for (int axis = 0; axis < layout_.grid().axes(); ++axis)
        if (layout_.property(axis).isBroadcast())
          first[axis] = 0;
      const int origin = layout_.grid().rank(layout_.grid().positionAt(first));
      memory[raw_.cell(r, local)] = memory[raw_.cell(origin, local)];
    });
    return memory;
  }

private:
  template <class F>
  void visit(F f) const {
    for (int r = 0; r < ranks_; ++r) {
      const int position = layout_.grid().position(r);
      if (layout_.isHolder(position))
        forEach(extents(raw_.boxes[r]),
                [&](const std::vector<Index>& local) { f(r, position, local); });
    }
  }

  const Layout& layout_;
  RawMemory raw_;
  int ranks_;
};

bool halosAreOfOneKind(const Layout& layout) {
  // Within one layout the drawn halos are all G or all G*; P next to G is a partial tensor whose
  // copies in the halo are contributions too, which Representation does not model.
  return !(layout.hasHalos() && layout.holdsPartialSums() && layout.dual().holdsPartialSums()) &&
         !(layout.hasHalos() && std::ranges::any_of(layout.properties(), &Property::isPartial));
}

TEST_P(ScheduleDraws, KeepsTheValueOfValidTensors) {
  int tried = 0;
  for (int i = 0; tried < 80; ++i) {
    const Case c = drawCase(GetParam() * 1000 + i, 30, true);
    if (!halosAreOfOneKind(c.a) || !halosAreOfOneKind(c.b))
      continue;
    ++tried;
    LayoutDraw random(i);
    const Representation source(c.a, c.ranks), target(c.b, c.ranks);
    const std::vector<int> x = source.draw(random);
    std::vector<int> y(RawMemory(c.b, c.ranks).size, 0);
    for (const auto& [at, entry] : scheduledMatrix(c.a, c.b, c.ranks))
      y[at.first] += entry * x[at.second];
    ASSERT_EQ(target.value(y), source.value(x)) << c.text();
    ASSERT_TRUE(target.isValid(y, source.value(x))) << c.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScheduleDraws, testing::Range(1, 9));

TEST(Schedule, RefusesAChangeOfShape) {
  const GridPtr grid = Grid::make({2});
  const Layout a({.shape = {4}, .grid = grid, .properties = parseProperties("S0")});
  const Layout b({.shape = {5}, .grid = grid, .properties = parseProperties("S0")});
  EXPECT_ANY_THROW(makeSchedule(a, b, 0));
}

TEST(Schedule, CountsMessagesAndCells) {
  // 1 x 4 slab to 4 x 1 slab of an 8 x 8 tensor: each rank sends a 2 x 2 box to each of 3 others.
  const GridPtr grid = Grid::make({4});
  const Layout a({.shape = {8, 8}, .grid = grid, .properties = parseProperties("S0")});
  const Layout b({.shape = {8, 8}, .grid = grid, .properties = parseProperties("S1")});
  const Schedule schedule = makeSchedule(a, b, 1);
  EXPECT_EQ(sentTraffic(schedule, 1).messages, 3);
  EXPECT_EQ(sentTraffic(schedule, 1).elements, 12);
  EXPECT_EQ(receivedTraffic(schedule, 1).elements, 12);
  EXPECT_FALSE(schedule.sumsOnReceipt);
}

TEST(Schedule, SumsExactlyWhereContributionsMeet) {
  const GridPtr grid = Grid::make({3});
  const Layout p({.shape = {4}, .grid = grid, .properties = parseProperties("P")});
  const Layout r({.shape = {4}, .grid = grid, .properties = parseProperties("R")});
  EXPECT_TRUE(makeSchedule(p, r, 0).sumsOnReceipt);
  EXPECT_FALSE(makeSchedule(p, r, 0).sumsOnTranspose);
  EXPECT_FALSE(makeSchedule(r, p.dual(), 0).sumsOnReceipt);
  EXPECT_TRUE(makeSchedule(r, p.dual(), 0).sumsOnTranspose);
}

} // namespace
} // namespace tenon
