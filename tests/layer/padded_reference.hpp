// SPDX-License-Identifier: BSD-2-Clause
// A reference for windows with boundary modes (periodic, reflect, ...), in one process: PaddedInput
// pads the whole input by global index according to the modes, and the caller then runs a kernel
// without modes on the padded array. For x = [a b c d], two cells beyond each side:
//
//   periodic   c d | a b c d | a b          symmetric   b a | a b c d | d c
//   reflect    c b | a b c d | c b          replicate   a a | a b c d | d d
//   odd        -b -a | a b c d | -d -c      odd_point   -c -b | a b c d | -c -b
//
// On a side with mode none nothing is padded here; the kernel's own padding (zeros that a mean does
// not count) remains.
#pragma once

#include "kernels/convolution/convolution.hpp"
#include "kernels/pooling/pooling.hpp"
#include "layer_run.hpp"
#include "support/conversion_definition.hpp"

#include <optional>

namespace tenon::test {

// The value of a cell inside or beyond the domain, along one dimension: a copy of an element, 0
// (Nothing), or a value that the caller of the layer supplies (User).
struct CellValue {
  enum Kind { Copy, Nothing, User } kind;
  Index source = 0;     // of a copy
  int sign = 1;         // of a copy
  bool crossed = false; // of a copy beyond a pole: its longitude is shifted
};

// Reflects or shifts the index until it is in the domain [0, extent).
inline CellValue cellValueOf(Index index, Index extent, Boundary low, Boundary high) {
  if (index >= 0 && index < extent)
    return {CellValue::Copy, index};
  const Boundary mode = index < 0 ? low : high;
  int sign = 1;
  if (mode == Boundary::Values)
    return {CellValue::User};
  if (mode == Boundary::Zero || mode == Boundary::None)
    return {CellValue::Nothing};
  if (isPole(mode)) {
    const bool crossed = crossPoles(index, extent, {low, high}) % 2 != 0;
    const bool isVector = mode == Boundary::PoleVector || mode == Boundary::PolePointVector;
    return {CellValue::Copy, index, crossed && isVector ? -1 : 1, crossed};
  }
  while (index < 0 || index >= extent) {
    if (mode == Boundary::Periodic)
      index += index < 0 ? extent : -extent;
    if (mode == Boundary::Replicate)
      index = index < 0 ? 0 : extent - 1;
    const bool onPoint = mode == Boundary::Reflect || mode == Boundary::OddPoint;
    if (onPoint && extent == 1)
      index = 0;
    else if (onPoint)
      index = index < 0 ? -index : 2 * (extent - 1) - index;
    if (mode == Boundary::Symmetric || mode == Boundary::Odd)
      index = index < 0 ? -1 - index : 2 * extent - 1 - index;
    if (mode == Boundary::Odd || mode == Boundary::OddPoint)
      sign = -sign;
  }
  return {CellValue::Copy, index, sign};
}

// The input [batch, channel, spatial...] padded: `begin` is the global index of its first elements.
class PaddedInput {
public:
  PaddedInput(const Shape& input, const std::vector<Window>& windows)
      : input_(input), windows_(windows), extent_(input), begin_(input.size(), 0) {
    for (std::size_t s = 0; s < windows.size(); ++s) {
      const Window& w = windows[s];
      const Index n = input[s + 2];
      bool low = w.padLow < 0, high = w.padHigh < 0;
      for (Index channel = 0; channel < input[1]; ++channel) {
        low |= modesOf(w, channel).first != Boundary::None;
        high |= modesOf(w, channel).second != Boundary::None;
      }
      begin_[s + 2] = low ? -w.padLow : 0;
      extent_[s + 2] = (high ? n + w.padHigh : n) - begin_[s + 2];
    }
  }

  const Shape& extent() const { return extent_; }
  bool covers(std::size_t d, Index global) const {
    return global >= begin_[d] && global < begin_[d] + extent_[d];
  }
  // Row-major index of the padded cell at a global index.
  Index at(const std::vector<Index>& global) const {
    Index flat = 0;
    for (std::size_t d = 0; d < extent_.size(); ++d)
      flat = flat * extent_[d] + global[d] - begin_[d];
    return flat;
  }
  // visit(padded index, kind, row-major index in the input of a copy, its sign) for every padded
  // cell.
  template <class Visit>
  void forEachCell(Visit visit) const {
    Index padded = 0;
    forEach(extent_, [&](const std::vector<Index>& local) {
      CellValue::Kind kind = CellValue::Copy;
      Index source = 0;
      int sign = 1;
      std::vector<CellValue> values;
      for (std::size_t d = 0; d < local.size(); ++d)
        values.push_back(cellValueAt(d, local[d] + begin_[d], local[1]));
      for (std::size_t d = 2; d < local.size(); ++d)
        if (values[d].crossed) {
          const int x = windows_[d - 2].longitudes + 2;
          values[x].source = (values[x].source + input_[x] / 2) % input_[x];
        }
      for (std::size_t d = 0; d < local.size(); ++d) {
        source = source * input_[d] + values[d].source;
        sign *= values[d].sign;
        if (values[d].kind > kind)
          kind = values[d].kind;
      }
      visit(padded++, kind, source, sign);
    });
  }
  // The padded array of an input x. `values` is a padded array too, of which only the cells that
  // the caller of the layer supplies are used.
  std::vector<double> pad(const std::vector<double>& x, const std::vector<double>& values) const {
    std::vector<double> result(static_cast<std::size_t>(elements(extent_)), 0);
    forEachCell([&](Index i, CellValue::Kind kind, Index source, int sign) {
      if (kind == CellValue::Copy)
        result[i] = sign * x[source];
      if (kind == CellValue::User)
        result[i] = values[i];
    });
    return result;
  }
  // The transpose of pad(): returns the input's cotangent, and sets `values` to that of the
  // supplied cells.
  std::vector<double> fold(const std::vector<double>& padded, std::vector<double>& values) const {
    std::vector<double> dx(static_cast<std::size_t>(elements(input_)), 0);
    values.assign(padded.size(), 0);
    forEachCell([&](Index i, CellValue::Kind kind, Index source, int sign) {
      if (kind == CellValue::Copy)
        dx[source] += sign * padded[i];
      if (kind == CellValue::User)
        values[i] = padded[i];
    });
    return dx;
  }
  // The window in the indices of the padded array.
  WindowShape window(const Shape& output) const {
    WindowShape shape;
    shape.rank = static_cast<int>(windows_.size());
    for (int s = 0; s < shape.rank; ++s) {
      const Window& w = windows_[s];
      shape.in[s] = extent_[s + 2];
      shape.out[s] = output[s + 2];
      shape.kernel[s] = w.kernel;
      shape.stride[s] = w.stride;
      shape.dilation[s] = w.dilation;
      shape.padLow[s] = w.padLow + begin_[s + 2];
      shape.padEnd[s] = input_[s + 2] + w.padHigh - begin_[s + 2];
    }
    return shape;
  }

private:
  CellValue cellValueAt(std::size_t d, Index global, Index channel) const {
    if (d < 2)
      return {CellValue::Copy, global};
    const auto [low, high] = modesOf(windows_[d - 2], channel);
    return cellValueOf(global, input_[d], low, high);
  }

  Shape input_;
  std::vector<Window> windows_;
  Shape extent_;
  std::vector<Index> begin_;
};

} // namespace tenon::test
