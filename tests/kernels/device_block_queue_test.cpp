// SPDX-License-Identifier: BSD-2-Clause
// BlockQueue, which copies, clears and adds several boxes in one kernel of the device, compared
// with loops over the elements on the host. `here` is the host's array and `there` its copy on the
// device.
#include "kernels/draw.hpp"
#include "kernels/movement/block_queue.hpp"
#include "kernels/on_device.hpp"

#include <algorithm>
#include <numeric>

namespace tenon::test {

namespace {

template <class T>
class DeviceBlockQueue : public ::testing::Test {};
TYPED_TEST_SUITE(DeviceBlockQueue, ElementTypes);

using Numbers = std::vector<Index>;

Index elementsOf(const Numbers& extent) {
  return std::accumulate(extent.begin(), extent.end(), Index(1), std::multiplies<>());
}

// Strides of a contiguous array of this shape whose dimensions are stored in this order: the last
// one has stride 1.
Numbers stridesOf(const Numbers& shape, const std::vector<int>& order) {
  Numbers strides(shape.size());
  Index stride = 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    strides[*d] = stride;
    stride *= shape[*d];
  }
  return strides;
}

std::vector<int> inOrder(const Numbers& shape) {
  std::vector<int> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Index offsetOf(const Numbers& at, const Numbers& strides) {
  return std::inner_product(at.begin(), at.end(), strides.begin(), Index(0));
}

// Calls visit(index) for each index of a box.
template <class Visit>
void forEach(const Numbers& extent, Visit visit) {
  Numbers at(extent.size(), 0);
  for (Index n = elementsOf(extent); n > 0; --n) {
    visit(at);
    for (std::size_t d = at.size(); d-- > 0;) {
      if (++at[d] < extent[d])
        break;
      at[d] = 0;
    }
  }
}

// An array and its copy on the device.
template <class T>
struct Twice {
  Numbers strides;
  std::vector<T> here;
  DeviceCopy<T> there;

  Twice(const Numbers& shape, const std::vector<int>& order, Draw& draw)
      : strides(stridesOf(shape, order)), here(draw.reals<T>(elementsOf(shape), -9, 9)),
        there(*deviceContext(), here.data(), Index(here.size())) {}
  std::vector<T> fetched() const {
    std::vector<T> values(here.size());
    there.fetch(values.data());
    return values;
  }
};

// Cuts each dimension at random positions, and copies the resulting boxes, or clears a fifth of
// them.
template <class T>
void expectCopied(const Numbers& shape, const std::vector<int>& orderOfX, Index pieces,
                  Draw& draw) {
  const int rank = static_cast<int>(shape.size());
  Twice<T> x(shape, orderOfX, draw), y(shape, inOrder(shape), draw);
  std::vector<Numbers> cuts;
  for (const Index extent : shape) {
    Numbers& cut = cuts.emplace_back(Numbers{0, extent});
    for (Index n = 1; n < pieces; ++n)
      cut.push_back(draw.integer(0, extent));
    std::sort(cut.begin(), cut.end());
  }
  BlockQueue queue(*deviceContext());
  forEach(Numbers(shape.size(), pieces), [&](const Numbers& piece) {
    Numbers begin, extent;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      begin.push_back(cuts[d][piece[d]]);
      extent.push_back(cuts[d][piece[d] + 1] - begin.back());
    }
    const Index from = offsetOf(begin, x.strides), to = offsetOf(begin, y.strides);
    const bool clears = draw.withProbability(0.2);
    if (clears)
      queue.clear(rank, extent.data(), y.there.data() + to, y.strides.data());
    else
      queue.copy(rank, extent.data(), x.there.data() + from, x.strides.data(), y.there.data() + to,
                 y.strides.data());
    forEach(extent, [&](const Numbers& at) {
      y.here[to + offsetOf(at, y.strides)] = clears ? T(0) : x.here[from + offsetOf(at, x.strides)];
    });
  });
  queue.flush();
  EXPECT_EQ(y.fetched(), y.here);
}

// Adds overlapping boxes to one array: random boxes, or the whole array several times if areSame.
template <class T>
void expectAdded(const Numbers& shape, int boxes, bool areSame, Draw& draw) {
  const int rank = static_cast<int>(shape.size());
  Twice<T> y(shape, inOrder(shape), draw);
  std::vector<Twice<T>> sources;
  BlockQueue queue(*deviceContext());
  for (int n = 0; n < boxes; ++n) {
    Numbers begin, extent;
    for (const Index length : shape) {
      begin.push_back(areSame ? 0 : draw.integer(0, length - 1));
      extent.push_back(areSame ? length : draw.integer(1, length - begin.back()));
    }
    Twice<T>& x = sources.emplace_back(extent, inOrder(extent), draw);
    queue.add(rank, begin.data(), extent.data(), x.there.data(), x.strides.data(), y.there.data(),
              y.strides.data());
    const Index to = offsetOf(begin, y.strides);
    forEach(extent, [&](const Numbers& at) {
      y.here[to + offsetOf(at, y.strides)] += x.here[offsetOf(at, x.strides)];
    });
  }
  queue.flush();
  EXPECT_EQ(y.fetched(), y.here);
}

} // namespace

TYPED_TEST(DeviceBlockQueue, CopiesMoreBoxesThanOneKernelTakes) {
  Draw draw(31);
  expectCopied<TypeParam>({2, 6, 7, 90}, {0, 1, 2, 3}, 3, draw);
  expectCopied<TypeParam>({2, 6, 7, 90}, {3, 1, 0, 2}, 3, draw);
  expectCopied<TypeParam>({8, 8, 64}, {0, 1, 2}, 1, draw); // copied 16 bytes at a time
  expectCopied<TypeParam>({130}, {0}, 5, draw);
}

TYPED_TEST(DeviceBlockQueue, CopiesBoxesThatItsTableDoesNotTake) {
  Draw draw(32);
  expectCopied<TypeParam>({2, 3, 2, 3, 2, 5}, {5, 3, 1, 4, 2, 0}, 2, draw); // too many dimensions
  expectCopied<TypeParam>({130, 160}, {1, 0}, 1, draw);                     // transposed by tiles
}

TYPED_TEST(DeviceBlockQueue, AddsBoxesThatOverlapInTheirOrder) {
  Draw draw(33);
  expectAdded<TypeParam>({2, 5, 6, 7}, 60, false, draw);
  expectAdded<TypeParam>({2, 2, 5, 6, 7}, 12, false, draw);
  expectAdded<TypeParam>({2, 2, 2, 3, 4, 5}, 4, false, draw); // more dimensions than the table's
  expectAdded<TypeParam>({400}, 1, false, draw);
  expectAdded<TypeParam>({600, 500}, 5, true, draw); // large ones, which add to the same elements
  expectAdded<TypeParam>({600, 900}, 4, false, draw);
}

TYPED_TEST(DeviceBlockQueue, AddsAfterWhatItCopies) {
  Draw draw(34);
  const Numbers shape{5, 40};
  Twice<TypeParam> x(shape, inOrder(shape), draw), y(shape, inOrder(shape), draw);
  const Index begin[] = {0, 0};
  BlockQueue queue(*deviceContext());
  TypeParam *from = x.there.data(), *to = y.there.data();
  queue.copy(2, shape.data(), from, x.strides.data(), to, y.strides.data());
  queue.add(2, begin, shape.data(), from, x.strides.data(), to, y.strides.data());
  queue.add(2, begin, shape.data(), from, x.strides.data(), to, y.strides.data());
  queue.copy(2, shape.data(), to, y.strides.data(), from, x.strides.data());
  queue.flush();
  for (TypeParam& value : x.here)
    value = value + value + value;
  EXPECT_EQ(x.fetched(), x.here);
}

// A box whose strides write an element twice is an error, since threads write in any order.
TYPED_TEST(DeviceBlockQueue, RefusesBoxesThatWriteTwice) {
  const Index extent[] = {3, 4}, xs[] = {4, 1}, ys[] = {2, 1}, begin[] = {0, 0};
  Draw draw(35);
  Twice<TypeParam> x({3, 4}, {0, 1}, draw), y({3, 4}, {0, 1}, draw);
  BlockQueue queue(*deviceContext());
  const auto copy = [&] { queue.copy(2, extent, x.there.data(), xs, y.there.data(), ys); };
  const auto add = [&] { queue.add(2, begin, extent, x.there.data(), xs, y.there.data(), ys); };
  EXPECT_EQ(errorOf(copy).code(), TENON_ERR_SUPPORT);
  EXPECT_EQ(errorOf(add).code(), TENON_ERR_SUPPORT);
}

} // namespace tenon::test
