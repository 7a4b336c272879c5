// SPDX-License-Identifier: BSD-2-Clause
// Two-stage reductions on the device. Each of several groups of n terms is reduced to one value by
// a binary operation Op (a sum, a maximum, ...):
//
//   first stage   each group is split into pieces; GroupTrees reduces each piece to one value
//   second stage  the values of the pieces (PieceTerm) are reduced in the same way, or by the host
//
// Example: the sum of 10^6 terms is one group. In the first stage, each of 245 pieces is reduced by
// a thread block of 256 threads, with 16 terms per thread; in the second, one thread block adds the
// 245 values. walks/device_reduce.hpp launches the two stages.
//
// GroupTrees reduces a piece by the lanes (some threads) of a thread block, in a tree of fixed
// shape. GroupLoops, for small n, reduces a group by one thread, in order. The number of pieces
// depends on the sizes alone, so results are bitwise identical on every device.
//
// A Term has
//   Wide                 the type of the reduction,
//   f(group, i)          term i of a group; or instead of this operator
//   f.of(group, first, step)   an iterator over the terms first, first + step, ... of a group:
//       next()           returns the position of a term and advances
//       at(position)     the value of the term
//       stays(n)         whether ahead(k), k <= n, needs no branch, which lets loads overlap
//       ahead(k)         the position k terms ahead;  skip(n) advances by n terms
//       endOf(n)         min(n, terms of this group), if groups differ in size (optional)
//       write(position, value)   called for each term after its value is loaded (optional)
//   Run                  accumulator of a thread's values, reduced by its value() (optional)
//   f.groupsAreCloser()  whether neighbouring groups are closer in memory than neighbouring terms.
// use(index, value) stores a result, where the index is the number of the group, or in the first
// stage group * pieces + piece.
#pragma once

#include "kernels/functors/operations.hpp"
#include "kernels/walks/element_offsets.hpp"
#include "kernels/walks/walks.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

namespace tenon::functors {

// Division of a thread block: 2^bits lanes for the terms of each of its groups. Neighbouring
// threads read what is adjacent in memory: terms, or groups if isAcross is 1.
struct BlockShape {
  unsigned bits, isAcross;

  static constexpr unsigned kMaxBits = std::bit_width(device::kThreads) - 1;
  static_assert(device::kThreads == 1u << kMaxBits);

  TENON_DEVICE unsigned lanes() const { return 1u << bits; }
  TENON_DEVICE unsigned groups() const { return device::kThreads >> bits; }
  TENON_DEVICE unsigned lane(unsigned thread) const {
    return isAcross ? thread >> (kMaxBits - bits) : thread & (lanes() - 1);
  }
  TENON_DEVICE unsigned group(unsigned thread) const {
    return isAcross ? thread & (groups() - 1) : thread >> bits;
  }
  TENON_DEVICE unsigned nextLane() const { return isAcross ? groups() : 1; } // distance in threads

  // The tree adds the lanes in steps; each step leaves a quarter of them, the last step one. left()
  // is the number of lanes that remain after some steps.
  TENON_DEVICE int steps() const { return int(bits + 1) / 2; }
  TENON_DEVICE unsigned left(int after) const {
    const unsigned lost = 2 * unsigned(after);
    return lost < bits ? lanes() >> lost : 1;
  }
  // Result of step `number` >= 1 for one of the remaining lanes, from the values of all threads.
  template <class Op, class Wide>
  TENON_DEVICE Wide stepOf(const Wide* values, unsigned thread, int number) const {
    Wide result = values[thread];
    const unsigned remaining = left(number);
    TENON_KEEP_LOOP
    for (unsigned other = remaining; other < left(number - 1); other += remaining)
      result = Op{}(result, values[thread + other * nextLane()]);
    return result;
  }
};

// Iterator for a Term with f(group, i) alone.
template <class Term>
struct TermsByNumber {
  const Term& term;
  Index group, i, step;
  TENON_DEVICE Index next() {
    const Index current = i;
    i += step;
    return current;
  }
  TENON_DEVICE auto at(Index position) const { return term(group, position); }
};

// Whether a Term has an iterator.
template <class Term>
concept IsInSteps = requires(const Term& term) {
  term.of(Index(), Index(), Index());
};

template <class Term>
TENON_DEVICE auto termsOf(const Term& term, Index group, Index first, Index step) {
  if constexpr (IsInSteps<Term>)
    return term.of(group, first, step);
  else
    return TermsByNumber<Term>{term, group, first, step};
}

// Default accumulator: reduces values one by one.
template <class Op, class Wide>
struct RunOf {
  Wide all;
  TENON_DEVICE explicit RunOf(const Wide& neutral) : all(neutral) {}
  template <class Value, int kCount>
  TENON_DEVICE void add(const Value (&values)[kCount]) {
    TENON_UNROLL
    for (int k = 0; k < kCount; ++k)
      all = Op{}(all, Wide(values[k]));
  }
  TENON_DEVICE Wide value() const { return all; }
};
template <class Op, class Term>
struct RunOfTerm {
  using Type = RunOf<Op, typename Term::Wide>;
};
template <class Op, class Term>
requires requires {
  typename Term::Run;
}
struct RunOfTerm<Op, Term> {
  using Type = typename Term::Run;
};

// Reduces the terms first, first + 2^bits, ... < end of a group in one thread, kTogether at a time
// if stays() allows it.
template <class Op, int kTogether, class Term>
TENON_DEVICE typename Term::Wide reduceTerms(const Term& term, const typename Term::Wide& neutral,
                                             Index group, Index first, Index end, unsigned bits) {
  typename RunOfTerm<Op, Term>::Type run(neutral);
  if (first >= end)
    return run.value();
  auto terms = termsOf(term, group, first, Index(1) << bits);
  if constexpr (requires { terms.endOf(end); })
    end = terms.endOf(end);
  Index left = first < end ? ((end - first - 1) >> bits) + 1 : 0;
  TENON_KEEP_LOOP
  while (left > 0) {
    if constexpr (kTogether > 1) {
      TENON_KEEP_LOOP
      for (; left >= kTogether && terms.stays(kTogether); left -= kTogether) {
        decltype(terms.at(terms.next())) values[kTogether];
        TENON_UNROLL
        for (int k = 0; k < kTogether; ++k)
          values[k] = terms.at(terms.ahead(k));
        if constexpr (requires { terms.write(terms.ahead(0), values[0]); }) {
          TENON_UNROLL
          for (int k = 0; k < kTogether; ++k)
            terms.write(terms.ahead(k), values[k]);
        }
        terms.skip(kTogether);
        run.add(values);
      }
      if (left == 0)
        break;
    }
    const auto position = terms.next();
    const decltype(terms.at(position)) value[] = {terms.at(position)};
    if constexpr (requires { terms.write(position, value[0]); })
      terms.write(position, value[0]);
    run.add(value);
    --left;
  }
  return run.value();
}

// The functor of a thread block for eachThreadBlock(): block b reduces piece b % pieces of the
// groups of bundle b / pieces, where a bundle is the shape.groups() groups that a block processes
// together.
template <class Op, class Term, class Use>
struct GroupTrees {
  using Wide = typename Term::Wide;
  struct Shared {
    Wide lane[device::kThreads];
  };
  Term term;
  Use use;
  Wide neutral;
  BlockShape shape;
  unsigned pieces, groups;
  Index n, length; // terms of a group, and of a piece

  // One phase fills the lanes, and one follows for each step of the tree.
  TENON_DEVICE int phases() const { return 1 + shape.steps(); }
  TENON_DEVICE void operator()(int phase, const GridThread& p, Shared& shared) const {
    const unsigned lane = shape.lane(p.thread);
    if (phase > 0 && lane >= shape.left(phase))
      return;
    const Index group = Index(p.block / pieces) * shape.groups() + shape.group(p.thread);
    const Index piece = p.block % pieces;
    if (phase == 0) {
      shared.lane[p.thread] = group < groups ? sumOf(group, piece * length, lane) : neutral;
      return;
    }
    const Wide result = shape.stepOf<Op>(shared.lane, p.thread, phase);
    if (phase < shape.steps())
      shared.lane[p.thread] = result;
    else if (group < groups)
      use(group * pieces + piece, result);
  }

private:
  static constexpr int kTogether = IsInSteps<Term> ? 4 : 1;

  TENON_DEVICE Wide sumOf(Index group, Index begin, unsigned lane) const {
    const Index end = begin + length < n ? begin + length : n;
    return reduceTerms<Op, kTogether>(term, neutral, group, begin + lane, end, shape.bits);
  }
};

// Reduction of short groups, one thread each.
template <class Op, class Term, class Use>
struct GroupLoops {
  using Wide = typename Term::Wide;
  Term term;
  Use use;
  Wide neutral;
  Index n;

  TENON_DEVICE void operator()(Index group) const {
    use(group, reduceTerms<Op, 1>(term, neutral, group, 0, n, 0));
  }
};

// The values of the pieces, which the first stage has stored, as the terms of the second stage.
template <class W>
struct PieceTerm {
  using Wide = W;
  const Wide* values;
  Index pieces;
  TENON_DEVICE Wide operator()(Index group, Index i) const { return values[group * pieces + i]; }
};

// Final stage: y[group] = value.
template <class T, class Wide>
struct StoreGroup {
  T* y;
  TENON_DEVICE void operator()(Index group, Wide value) const { y[group] = T(value); }
  StoreGroup from(Index group) const { return {y + group}; } // stores the groups after it
};

// Iterates over products of the elements of K arrays at the offsets of a box.
template <class T, class Wide, int K>
struct ProductsInSteps {
  using Offsets = typename ElementOffsets<K>::Offsets;
  typename ElementOffsets<K>::Steps steps;
  const T* arrays[K];
  TENON_DEVICE auto next() { return steps.next(); }
  TENON_DEVICE bool stays(int count) const { return steps.stays(count); }
  TENON_DEVICE auto ahead(int count) const { return steps.ahead(count); }
  TENON_DEVICE void skip(int count) { steps.skip(count); }
  TENON_DEVICE Wide at(const Offsets& position) const {
    Wide value = arrays[0][position.of[0]];
    if constexpr (K == 2)
      value *= Wide(arrays[1][position.of[1]]);
    return value;
  }
};

// |x| for the elements of a box.
template <class T>
struct SizeTerm {
  using Wide = double;
  ElementOffsets<1> offsets;
  const T* x;
  struct Terms : ProductsInSteps<T, Wide, 1> {
    TENON_DEVICE double at(const ElementOffsets<1>::Offsets& position) const {
      return std::abs(double(this->arrays[0][position.of[0]]));
    }
  };
  TENON_DEVICE auto of(Index, Index first, Index step) const {
    return Terms{{{offsets, first, step}, {x}}};
  }
};

// Elements of one array, or products of elements of two arrays. The group is an index in the box
// `written`, the term an index in the box `summed`; offsets of both are added.
template <class T, int K>
struct ProductTerm {
  using Wide = std::conditional_t<std::is_integral_v<T>, T, double>;
  ElementOffsets<K> written, summed; // offsets in the arrays
  Index areColumns;                  // 1 if adjacent elements of the box are in different groups
  const T* arrays[K];
  bool groupsAreCloser() const { return areColumns == 1; }
  TENON_DEVICE auto of(Index group, Index first, Index step) const {
    const auto from = written(group);
    ProductsInSteps<T, Wide, K> terms{{summed, first, step}, {}};
    for (int k = 0; k < K; ++k)
      terms.arrays[k] = arrays[k] + from.of[k];
    return terms;
  }
};
// y[element] += alpha value
template <class T, class Wide>
struct AddToElement {
  ElementOffsets<1> offsets;
  T alpha;
  T* y;
  TENON_DEVICE void operator()(Index group, Wide value) const {
    y[offsets(group).of[0]] += T(alpha * T(value));
  }
};

// y += alpha a x for three boxes; null a stands for ones.
template <class T>
struct MultiplyAddElements {
  ElementOffsets<3> offsets;
  T alpha;
  const T *a, *x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    const auto at = offsets(i);
    y[at.of[2]] += alpha * (a ? a[at.of[0]] : T(1)) * x[at.of[1]];
  }
};

} // namespace tenon::functors
