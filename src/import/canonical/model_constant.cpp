// SPDX-License-Identifier: BSD-2-Clause
// Constants of a network as numbers or recipes. What cannot stay a recipe is none, and then becomes
// numbers: a weight that is only moved about is never read.
#include "import/canonical/model_constant.hpp"

#include "sys/errors/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tenon {

namespace {

Index elementsOf(const std::vector<Index>& shape) {
  return std::accumulate(shape.begin(), shape.end(), Index(1), std::multiplies<>());
}

} // namespace

ModelConstant ModelConstant::ofNumbers(std::vector<Index> shape, std::vector<double> numbers,
                                       bool isInteger) {
  ModelConstant made;
  made.shape_ = std::move(shape);
  made.numbers_ = std::move(numbers);
  made.isNumbers_ = made.isFixed_ = true;
  made.isInteger_ = isInteger;
  return made;
}

ModelConstant ModelConstant::ofTensor(const ModelProgram& program, std::size_t tensor) {
  const ModelTensor& stored = program.tensors[tensor];
  if (stored.numbers && stored.role != ModelTensor::Role::Parameter)
    return ofNumbers(stored.stored.shape, *stored.numbers, !isReal(stored.stored.type))
        .renamed(stored.name)
        .fixed(stored.role == ModelTensor::Role::Buffer);
  ModelConstant made;
  made.shape_ = stored.shape();
  made.name_ = stored.name;
  made.isTrained_ = stored.role == ModelTensor::Role::Parameter;
  made.isFixed_ = stored.role == ModelTensor::Role::Buffer;
  made.isInteger_ = !isReal(stored.stored.type);
  made.pieces_ = {{tensor, stored.axes, std::vector<Index>(made.shape_.size(), 0),
                   made.shape_.empty() ? 1 : made.shape_.front()}};
  return made;
}

Index ModelConstant::elements() const {
  return elementsOf(shape_);
}

ModelConstant ModelConstant::renamed(std::string name) const {
  ModelConstant made = *this;
  made.name_ = std::move(name);
  return made;
}

ModelConstant ModelConstant::fixed(bool isFixed) const {
  ModelConstant made = *this;
  made.isFixed_ = isFixed;
  return made;
}

ModelConstant ModelConstant::identified(int identity) const {
  ModelConstant made = *this;
  made.identity_ = identity;
  return made;
}

ModelConstant ModelConstant::rounded(Index type) const {
  constexpr Index kHalf = 6, kSingle = 7, kBrain = 13; // PyTorch's numbers of types
  const int digits = type == kSingle ? 24 : type == kHalf ? 11 : type == kBrain ? 8 : 53;
  const int smallest = type == kHalf ? -24 : -149; // the exponent of the least number above 0
  ModelConstant made = *this;
  for (double& number : made.numbers_) {
    if (!isNumbers_ || digits == 53 || number == 0 || !std::isfinite(number))
      continue;
    int exponent = 0;
    std::frexp(number, &exponent);
    const int unit = std::max(exponent - digits, smallest);
    number = std::ldexp(std::nearbyint(std::ldexp(number, -unit)), unit);
  }
  return made;
}

ModelConstant ModelConstant::transposed(const std::vector<int>& permutation) const {
  ModelConstant made = *this;
  for (std::size_t d = 0; d < permutation.size(); ++d) {
    const auto from = static_cast<std::size_t>(permutation[d]);
    made.shape_[d] = shape_[from];
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      made.pieces_[p].axes[d] = pieces_[p].axes[from];
      made.pieces_[p].begin[d] = pieces_[p].begin[from];
    }
    if (permutation[d] == dim_)
      made.dim_ = static_cast<int>(d);
  }
  if (!isNumbers_)
    return made;
  std::vector<Index> strides(shape_.size(), 1);
  for (std::size_t d = shape_.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape_[d];
  forEachPlace(made.shape_, [&](const std::vector<Index>& index, Index place) {
    Index from = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      from += index[d] * strides[static_cast<std::size_t>(permutation[d])];
    made.numbers_[static_cast<std::size_t>(place)] = numbers_[static_cast<std::size_t>(from)];
  });
  return made;
}

std::string ModelConstant::Piece::text() const {
  std::string text =
      fmt::format("{} [{}] [{}] {}", tensor, fmt::join(axes, ","), fmt::join(begin, ","), extent);
  for (const auto& [axis, index] : at)
    text += fmt::format(" {}@{}", index, axis);
  return text;
}

std::optional<ModelConstant> ModelConstant::reshaped(const std::vector<Index>& shape) const {
  ModelConstant made = *this;
  made.shape_ = shape;
  if (isNumbers_)
    return made;
  // Extents of 1 come and go; the others are the same, in their order.
  std::vector<std::size_t> kept;
  for (std::size_t d = 0; d < shape_.size(); ++d)
    if (shape_[d] != 1)
      kept.push_back(d);
  std::size_t at = 0;
  for (Piece& piece : made.pieces_) {
    piece.axes.assign(shape.size(), -1);
    piece.begin.assign(shape.size(), 0);
  }
  const int dim = dim_;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    if (at == kept.size() || shape_[kept[at]] != shape[d])
      return std::nullopt;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      made.pieces_[p].axes[d] = pieces_[p].axes[kept[at]];
      made.pieces_[p].begin[d] = pieces_[p].begin[kept[at]];
    }
    if (static_cast<int>(kept[at]) == dim)
      made.dim_ = static_cast<int>(d);
    ++at;
  }
  if (at != kept.size())
    return std::nullopt;
  // A stored dimension that is left out begins where it did.
  for (std::size_t d = 0; d < shape_.size(); ++d)
    for (std::size_t p = 0; shape_[d] == 1 && p < pieces_.size(); ++p) {
      if (pieces_.size() > 1 && static_cast<int>(d) == dim)
        return std::nullopt;
      if (pieces_[p].axes[d] >= 0 && pieces_[p].begin[d] != 0)
        made.pieces_[p].at.emplace_back(pieces_[p].axes[d], pieces_[p].begin[d]);
    }
  if (made.pieces_.size() == 1) {
    made.dim_ = 0;
    made.pieces_[0].extent = shape.empty() ? 1 : shape[0];
  }
  return made;
}

// Of a recipe; none where nothing of it is left.
std::optional<ModelConstant> ModelConstant::block(int dim, Index begin, Index end) const {
  const auto d = static_cast<std::size_t>(dim);
  ModelConstant made = *this;
  made.name_.clear();
  made.shape_[d] = end - begin;
  if (pieces_.size() == 1 || dim != dim_) {
    for (Piece& piece : made.pieces_)
      piece.begin[d] += begin;
    if (pieces_.size() == 1)
      made.pieces_[0].extent = made.shape_[static_cast<std::size_t>(dim_)];
    return made;
  }
  made.pieces_.clear();
  Index before = 0;
  for (Piece piece : pieces_) {
    const Index first = std::clamp(begin - before, Index(0), piece.extent),
                last = std::clamp(end - before, Index(0), piece.extent);
    before += piece.extent;
    piece.begin[d] += first;
    piece.extent = last - first;
    if (first < last)
      made.pieces_.push_back(std::move(piece));
  }
  return made.pieces_.empty() ? std::nullopt : std::optional(made);
}

std::optional<ModelConstant> ModelConstant::sliced(int dim, Index begin, Index end,
                                                   Index step) const {
  const auto d = static_cast<std::size_t>(dim);
  ModelConstant made = *this;
  if (!isNumbers_)
    return step == 1 ? block(dim, begin, end) : std::nullopt;
  std::vector<Index> places;
  for (Index i = begin; step > 0 ? i < end : i > end; i += step)
    places.push_back(i);
  made.shape_[d] = static_cast<Index>(places.size());
  const auto product = [](auto first, auto last) {
    return std::accumulate(first, last, Index(1), std::multiplies<>());
  };
  const Index inner = product(shape_.begin() + dim + 1, shape_.end());
  const Index outer = product(shape_.begin(), shape_.begin() + dim);
  made.numbers_.clear();
  for (Index o = 0; o < outer; ++o)
    for (const Index i : places) {
      const auto first = numbers_.begin() + (o * shape_[d] + i) * inner;
      made.numbers_.insert(made.numbers_.end(), first, first + inner);
    }
  return made;
}

std::optional<ModelConstant> ModelConstant::concatenated(const std::vector<ModelConstant>& parts,
                                                         int dim) {
  const auto d = static_cast<std::size_t>(dim);
  ModelConstant made = parts.front();
  made.name_.clear();
  made.identity_ = 0;
  made.isTrained_ = std::ranges::any_of(parts, &ModelConstant::isTrained);
  made.isFixed_ = std::ranges::all_of(parts, &ModelConstant::isFixed);
  made.shape_[d] = 0;
  made.numbers_.clear();
  made.pieces_.clear();
  made.dim_ = dim;
  for (const ModelConstant& part : parts) {
    if (part.isNumbers_ != made.isNumbers_ || (!part.isNumbers_ && part.pieces_.size() != 1))
      return std::nullopt;
    made.shape_[d] += part.shape_[d];
    for (Piece piece : part.pieces_) {
      piece.extent = part.shape_[d];
      made.pieces_.push_back(std::move(piece));
    }
  }
  if (!made.isNumbers_)
    return made;
  // Without a list of them: GCC 14 warns of one.
  const auto product = [](const Shape& shape, int begin, int end) {
    Index all = 1;
    for (int i = begin; i < end; ++i)
      all *= shape[static_cast<std::size_t>(i)];
    return all;
  };
  const int rank = static_cast<int>(made.shape_.size());
  const Index outer = product(made.shape_, 0, dim);
  for (Index o = 0; o < outer; ++o)
    for (const ModelConstant& part : parts) {
      const Index run = product(part.shape_, dim, rank);
      const auto first = part.numbers_.begin() + o * run;
      made.numbers_.insert(made.numbers_.end(), first, first + run);
    }
  return made;
}

namespace {

ModelConstant present(std::optional<ModelConstant> made) {
  if (!made)
    throw Error(TENON_ERR_INTERNAL, "a constant is moved about that has no numbers");
  return *std::move(made);
}

} // namespace

ModelConstant reshapedNumbers(const ModelConstant& numbers, const std::vector<Index>& shape) {
  return present(numbers.reshaped(shape));
}

ModelConstant slicedNumbers(const ModelConstant& numbers, int dim, Index begin, Index end,
                            Index step) {
  return present(numbers.sliced(dim, begin, end, step));
}

ModelConstant joinedNumbers(const std::vector<ModelConstant>& parts, int dim) {
  return present(ModelConstant::concatenated(parts, dim));
}

} // namespace tenon
