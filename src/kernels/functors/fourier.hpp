// SPDX-License-Identifier: BSD-2-Clause
// Functors (structs with the arrays of a kernel and the operation for one element, for host and
// device) for the Fourier transforms of spectral convolutions (fourier/fourier.hpp), on complex
// pairs (real, imaginary): per pair, or per element of a line (the elements along the transformed
// dimension). ToLines and FromLines copy between the stored part of lines and whole lines for
// cuFFT.
#pragma once

#include "kernels/walks/element_offsets.hpp"

namespace tenon::functors {

// Multiplies each pair by i.
template <class T>
struct Turned {
  const T* x;
  T* y;
  TENON_DEVICE void operator()(Index i) const {
    y[2 * i] = -x[2 * i + 1];
    y[2 * i + 1] = x[2 * i];
  }
};

// Multiplies each pair by the weight of its mode, in lines of `modes` pairs.
template <class T>
struct WeightedModes {
  const T *weights, *from;
  T* to;
  Index modes;
  struct Mode {
    T re, im;
  };
  TENON_DEVICE Mode read(Index pair, Index line) const {
    const T weight = weights[pair - line * modes];
    return {weight * from[2 * pair], weight * from[2 * pair + 1]};
  }
  TENON_DEVICE void write(Index pair, const Mode& mode) const {
    to[2 * pair] = mode.re;
    to[2 * pair + 1] = mode.im;
  }
};

// re + i im += a b, or conj(a) b if sign is -1.
template <class T>
TENON_DEVICE void addProduct(T sign, const T* a, const T* b, T& re, T& im) {
  const T x = a[0], y = sign * a[1];
  re += x * b[0] - y * b[1];
  im += x * b[1] + y * b[0];
}

// c += a b for each pair, or c += conj(a) b if sign is -1.
template <class T>
struct ComplexMultiplyAdd {
  T sign;
  const T *a, *b;
  T* c;
  TENON_DEVICE void operator()(Index i) const {
    addProduct(sign, a + 2 * i, b + 2 * i, c[2 * i], c[2 * i + 1]);
  }
};

// A complex number that the device loads and stores as a whole.
template <class T>
struct alignas(2 * sizeof(T)) WholePair {
  T part[2];
};
// Two numbers, which need not be aligned as a pair.
template <class T>
struct LoosePair {
  T part[2];
};

// c += the sum of a b over `count` pairs of a and b, in order.
template <class T, class Pair>
struct ComplexSums {
  ElementOffsets<3> offsets; // offsets of pairs in a, b and c
  Index count, stepA, stepB;
  T sign;
  const Pair *a, *b;
  Pair* c;
  TENON_DEVICE void operator()(Index i) const {
    const auto at = offsets(i);
    const Pair *from = a + at.of[0], *other = b + at.of[1];
    Pair sum = c[at.of[2]];
    for (Index r = 0; r < count; ++r, from += stepA, other += stepB) {
      const Pair one = *from, two = *other;
      addProduct(sign, one.part, two.part, sum.part[0], sum.part[1]);
    }
    c[at.of[2]] = sum;
  }
};

// The positions of a line that are stored in a packed array: [first, first + count), followed by
// the last `atEnd` positions of the line. Example: the modes 0, 1, -2, -1 of a line of 8 are
// {.extent = 8, .first = 0, .count = 2, .atEnd = 2}, stored as positions 0, 1, 6, 7.
struct PackedLine {
  Index extent, first, count, atEnd;

  TENON_DEVICE Index packed() const { return count + atEnd; }
  TENON_DEVICE Index toPacked(Index position) const { // -1 if the position is not stored
    if (position >= first && position < first + count)
      return position - first;
    return position >= extent - atEnd ? position - extent + packed() : -1;
  }
  TENON_DEVICE Index toLine(Index stored) const {
    return stored < count ? first + stored : extent - packed() + stored;
  }
};

// Copies [outer, packed, inner] to lines [outer, inner, extent], with zeros at positions that are
// not stored. An element has W components.
template <class T, int W>
struct ToLines {
  PackedLine line;
  Divisor extent, inner;
  Index width; // value of inner
  const T* from;
  T* lines;

  ToLines(const PackedLine& stored, Index innerExtent, const T* x, T* y)
      : line(stored), extent(static_cast<std::uint32_t>(stored.extent)),
        inner(static_cast<std::uint32_t>(innerExtent)), width(innerExtent), from(x), lines(y) {}

  TENON_DEVICE void operator()(Index i) const {
    auto outer = static_cast<std::uint32_t>(i);
    const Index stored = line.toPacked(extent.divide(outer)), within = inner.divide(outer);
    const T* element = from + W * ((outer * line.packed() + stored) * width + within);
    for (int w = 0; w < W; ++w)
      lines[W * i + w] = stored < 0 ? T(0) : element[w];
  }
};

// ToLines for modes k >= 0 before a transform to reals, which adds the mirror image of each mode
// that is not its own image; hence the factors 1/2.
template <class T>
struct HalvedLines {
  ToLines<T, 2> lines;
  Index elements; // length of a line of real elements

  TENON_DEVICE void operator()(Index i) const {
    lines(i);
    T* pair = lines.lines + 2 * i;
    auto rest = static_cast<std::uint32_t>(i);
    const Index k = lines.extent.divide(rest);
    const bool isOwnImage = k == 0 || 2 * k == elements;
    pair[0] *= isOwnImage ? T(1) : T(0.5);
    pair[1] *= isOwnImage ? T(0) : T(0.5);
  }
};

// The inverse of ToLines, per packed element.
template <class T, int W>
struct FromLines {
  PackedLine line;
  Divisor inner, packed;
  Index width;
  const T* lines;
  T* to;

  FromLines(const PackedLine& stored, Index innerExtent, const T* x, T* y)
      : line(stored), inner(static_cast<std::uint32_t>(innerExtent)),
        packed(static_cast<std::uint32_t>(stored.packed())), width(innerExtent), lines(x), to(y) {}

  TENON_DEVICE void operator()(Index i) const {
    auto outer = static_cast<std::uint32_t>(i);
    const Index within = inner.divide(outer), position = line.toLine(packed.divide(outer));
    const T* element = lines + W * ((outer * width + within) * line.extent + position);
    for (int w = 0; w < W; ++w)
      to[W * i + w] = element[w];
  }
};

} // namespace tenon::functors
