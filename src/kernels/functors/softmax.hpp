// SPDX-License-Identifier: BSD-2-Clause
// Functors (structs with the arrays of a kernel and the operation for one element, for host and
// device) for the steps of rows/softmax.hpp, per element and per term of a sum. Arrays are viewed
// as [outer, n, inner]; a line is the n elements that differ only in the middle index. x are the
// inputs, m the maxima of lines, e = exp(x - m), s the sums of e over a line. SoftmaxOfLines
// computes the whole softmax; all others are single steps.
#pragma once

#include "kernels/base/maximum.hpp"
#include "kernels/functors/elementary.hpp"
#include "kernels/functors/reduce.hpp"
#include "kernels/rows/axis_shape.hpp"
#include "sys/types.hpp"

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace tenon::functors {

// The softmax of whole lines in one kernel on the device. Several threads of a thread block (the
// lanes) share a line; each lane has up to kEach elements of it, which stay in shared memory until
// they are written.
template <class T>
class SoftmaxOfLines {
public:
  static constexpr int kEach = 16; // maximum number of elements per lane
  struct Shared {
    T value[kEach][device::kThreads], maximumOfThread[device::kThreads];
    double sum[device::kThreads];
  };

  SoftmaxOfLines(const AxisShape& shape, const T* x, T* y)
      : shape_(blockShape(shape)), n_(static_cast<std::uint32_t>(shape.n)),
        inner_(static_cast<std::uint32_t>(shape.inner)),
        lines_(static_cast<std::uint32_t>(shape.outer * shape.inner)),
        perInner_(divisorOf(shape.inner)), x_(x), y_(y) {}
  // Whether a thread block has enough lanes for a line, and neighbouring threads read from the same
  // sector of memory: neighbouring elements of a line, or, for long inner dimensions, of kSector
  // lines, which leaves fewer lanes to each.
  static bool fits(const AxisShape& shape) {
    const Index lanes = (shape.n + kEach - 1) / kEach;
    return lanes <= (shape.inner < kSector ? device::kThreads : device::kThreads / kSector);
  }
  Index blocks() const {
    return n_ == 0 ? 0 : (Index(lines_) + shape_.groups() - 1) / shape_.groups();
  }

  // A lane's elements, and the thread of the first lane of its line.
  struct Thread {
    unsigned number, lane, firstLane;
    int count;
    Index first, step;
  };
  TENON_DEVICE Thread threadOf(const GridThread& p) const {
    const unsigned lane = shape_.lane(p.thread);
    std::uint32_t outer = p.block * shape_.groups() + shape_.group(p.thread);
    const int count = outer < lines_ && lane < n_ ? int((n_ - lane - 1) >> shape_.bits) + 1 : 0;
    const std::uint32_t inside = perInner_.divide(outer);
    return {p.thread,
            lane,
            p.thread - lane * shape_.nextLane(),
            count,
            (outer * n_ + lane) * inner_ + inside,
            Index(inner_) << shape_.bits};
  }

  // Phases: the maxima of the threads, their tree, the exponentials with their sums, their tree,
  // and the quotients.
  TENON_DEVICE int phases() const { return 3 + 2 * shape_.steps(); }
  TENON_DEVICE void operator()(int phase, const Thread& t, Shared& shared) const {
    const int sums = shape_.steps() + 1;
    if (phase == 0) {
      shared.maximumOfThread[t.number] = read(t, shared);
    } else if (phase < sums) {
      if (t.lane < shape_.left(phase))
        shared.maximumOfThread[t.number] =
            shape_.template stepOf<MaxTo>(shared.maximumOfThread, t.number, phase);
    } else if (phase == sums) {
      shared.sum[t.number] = exponentiate(t, shared.maximumOfThread[t.firstLane], shared);
    } else if (phase < 2 * sums) {
      if (t.lane < shape_.left(phase - sums))
        shared.sum[t.number] = shape_.template stepOf<AddTo>(shared.sum, t.number, phase - sums);
    } else {
      write(t, T(shared.sum[t.firstLane]), shared);
    }
  }

private:
  static constexpr Index kSector = 8; // floats per memory sector
  static BlockShape blockShape(const AxisShape& shape) {
    const auto lanes = static_cast<std::uint32_t>((shape.n + kEach - 1) / kEach);
    return {unsigned(std::bit_width(lanes > 0 ? lanes - 1 : 0)), shape.inner < kSector ? 0u : 1u};
  }
  // Calls visit(k, number of elements from k on) for all elements of a lane, four at a time while
  // possible.
  template <class Visit>
  TENON_DEVICE static void forEach(int count, const Visit& visit) {
    constexpr int kTogether = 4;
    int k = 0;
    TENON_KEEP_LOOP
    for (; k + kTogether <= count; k += kTogether)
      visit(k, Together<kTogether>());
    TENON_KEEP_LOOP
    for (; k < count; ++k)
      visit(k, Together<1>());
  }
  template <int kCount>
  using Together = std::integral_constant<int, kCount>;

  // Loads a lane's elements into shared memory, and returns their maximum.
  TENON_DEVICE T read(const Thread& t, Shared& shared) const {
    T maximum = -std::numeric_limits<T>::infinity();
    const T* from = x_ + t.first;
    forEach(t.count, [&]<int kCount>(int k, Together<kCount>) {
      T values[kCount];
      TENON_UNROLL
      for (int j = 0; j < kCount; ++j, from += t.step)
        values[j] = *from;
      TENON_UNROLL
      for (int j = 0; j < kCount; ++j) {
        shared.value[k + j][t.number] = values[j];
        maximum = MaxTo{}(maximum, values[j]);
      }
    });
    return maximum;
  }
  // Replaces a lane's elements by exp(x - maximum), and returns their sum.
  TENON_DEVICE static double exponentiate(const Thread& t, T maximum, Shared& shared) {
    double sum = 0;
    forEach(t.count, [&]<int kCount>(int k, Together<kCount>) {
      TENON_UNROLL
      for (int j = 0; j < kCount; ++j) {
        const T value = exponential(shared.value[k + j][t.number] - maximum);
        shared.value[k + j][t.number] = value;
        sum += double(value);
      }
    });
    return sum;
  }
  // Writes a lane's elements divided by the sum.
  TENON_DEVICE void write(const Thread& t, T sum, const Shared& shared) const {
    T* to = y_ + t.first;
    forEach(t.count, [&]<int kCount>(int k, Together<kCount>) {
      TENON_UNROLL
      for (int j = 0; j < kCount; ++j, to += t.step)
        *to = shared.value[k + j][t.number] / sum;
    });
  }

  BlockShape shape_;
  std::uint32_t n_, inner_, lines_;
  Divisor perInner_;
  const T* x_;
  T* y_;
};

// p = factor exp(z - shift); p can be z.
template <class T>
struct Softmax {
  T shift, factor;
  const T* z;
  T* p;
  TENON_DEVICE void operator()(Index i) const { p[i] = exponential(z[i] - shift) * factor; }
};

// Functors for element `at` of an array [outer, n, inner] whose line is element `line` of an array
// [outer, inner]: write(at, read(at, line)).
template <class T>
struct ShiftedExponential {
  const T *x, *m;
  T* e;
  TENON_DEVICE T read(Index at, Index line) const { return exponential(x[at] - m[line]); }
  TENON_DEVICE void write(Index at, T value) const { e[at] = value; }
};
// y = s of its line.
template <class T>
struct Spread {
  const T* s;
  T* y;
  TENON_DEVICE T read(Index, Index line) const { return s[line]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// y = e / s of its line.
template <class T>
struct Quotient {
  const T *e, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index line) const { return e[at] / s[line]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// de can be null.
template <class T>
struct QuotientTangent {
  const T *e, *s, *de, *ds;
  T* dy;
  TENON_DEVICE T read(Index at, Index line) const {
    return ((de ? de[at] : T(0)) - e[at] * ds[line] / s[line]) / s[line];
  }
  TENON_DEVICE void write(Index at, T value) const { dy[at] = value; }
};
// ds contains the sums of dy e.
template <class T>
struct QuotientSum {
  const T* s;
  T* ds;
  TENON_DEVICE void operator()(Index i) const { ds[i] /= -s[i] * s[i]; }
};

// s contains a factor for each element of [outer, inner].
template <class T>
struct Scaled {
  const T *x, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index line) const { return x[at] * s[line]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// y - x s
template <class T>
struct LessScaled {
  const T *x, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index line) const { return y[at] - x[at] * s[line]; }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};
// y (d - s): the derivative of a softmax y in the direction d; s is the sum of y d.
template <class T>
struct SoftmaxSlope {
  const T *y, *d, *s;
  T* r;
  TENON_DEVICE T read(Index at, Index line) const { return y[at] * (d[at] - s[line]); }
  TENON_DEVICE void write(Index at, T value) const { r[at] = value; }
};
// Causal mask of attention scores: the columns are keys [key, key + n), and the rows are queries
// [query, query + queries) of one matrix after the other. A score becomes -infinity if its key
// comes after its query.
template <class T>
struct Causal {
  Index n, queries, query, key;
  T* x;
  TENON_DEVICE T read(Index at, Index line) const {
    const bool isLater = key + (at - line * n) > query + line % queries;
    return isLater ? -std::numeric_limits<T>::infinity() : x[at];
  }
  TENON_DEVICE void write(Index at, T value) const { x[at] = value; }
};
// Online softmax: updates the running maximum m of a row with another maximum c, and rescales the
// running sum s by the factor exp(old m - new m), which is returned in c. m starts at the lowest
// finite number instead of -infinity, since -infinity minus itself is NaN.
template <class T>
struct RaisedMaximum {
  T *m, *s, *c;
  TENON_DEVICE void operator()(Index i) const {
    const T maximum = beats(c[i], m[i]) ? c[i] : m[i];
    c[i] = exponential(m[i] - maximum);
    m[i] = maximum;
    s[i] *= c[i];
  }
};
// e / s, or 0 if nothing was summed. s is a sum of exponentials whose largest is 1.
template <class T>
struct QuotientOrZero {
  const T *e, *s;
  T* y;
  TENON_DEVICE T read(Index at, Index line) const {
    const T sum = s[line], quotient = e[at] / atLeast(bound(T(0.5)), sum);
    return sum == T(0) ? T(0) : quotient;
  }
  TENON_DEVICE void write(Index at, T value) const { y[at] = value; }
};

// Terms of sums along the dimension.
template <class T>
struct ElementOf {
  const T* x;
  TENON_DEVICE T operator()(Index at, Index) const { return x[at]; }
};
// The term a b of a sum over a line.
template <class T>
struct ProductOf {
  const T *a, *b;
  TENON_DEVICE T operator()(Index at, Index) const { return a[at] * b[at]; }
};
// The term exp(x - m) of a sum over a line.
template <class T>
struct ExponentialOf {
  const T *x, *m;
  TENON_DEVICE T operator()(Index at, Index line) const { return exponential(x[at] - m[line]); }
};

} // namespace tenon::functors
