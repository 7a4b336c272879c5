// SPDX-License-Identifier: BSD-2-Clause
// Class ModelConstant: a constant as numbers or as a recipe (pieces, which are blocks of tensors of
// the file, concatenated along dimension dim_; example in the header). Transposing, slicing or
// joining recipes yields a recipe where possible, so a weight that is only rearranged is not read
// at import. If the result cannot be expressed as a recipe, the functions return none, and the
// caller reads the numbers (ModelWeights::folded()). No function modifies the constant itself.
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
  ModelConstant result;
  result.shape_ = std::move(shape);
  result.numbers_ = std::move(numbers);
  result.isNumbers_ = result.isFixed_ = true;
  result.isInteger_ = isInteger;
  return result;
}

ModelConstant ModelConstant::ofTensor(const ModelProgram& program, std::size_t tensor) {
  const ModelTensor& stored = program.tensors[tensor];
  // Small tensors that are stored in the graph are numbers at once.
  if (stored.numbers && stored.role != ModelTensor::Role::Parameter)
    return ofNumbers(stored.stored.shape, *stored.numbers, !isReal(stored.stored.type))
        .renamed(stored.name)
        .fixed(stored.role == ModelTensor::Role::Buffer);
  ModelConstant result;
  result.shape_ = stored.shape();
  result.name_ = stored.name;
  result.isTrained_ = stored.role == ModelTensor::Role::Parameter;
  result.isFixed_ = stored.role == ModelTensor::Role::Buffer;
  result.isInteger_ = !isReal(stored.stored.type);
  result.pieces_ = {{tensor, stored.axes, std::vector<Index>(result.shape_.size(), 0),
                     result.shape_.empty() ? 1 : result.shape_.front()}};
  return result;
}

Index ModelConstant::elements() const {
  return elementsOf(shape_);
}

ModelConstant ModelConstant::renamed(std::string name) const {
  ModelConstant result = *this;
  result.name_ = std::move(name);
  return result;
}

ModelConstant ModelConstant::fixed(bool isFixed) const {
  ModelConstant result = *this;
  result.isFixed_ = isFixed;
  return result;
}

ModelConstant ModelConstant::identified(int identity) const {
  ModelConstant result = *this;
  result.identity_ = identity;
  return result;
}

ModelConstant ModelConstant::rounded(Index type) const {
  // PyTorch's numbers of types. Both parts of a complex number have the same real type.
  constexpr Index kHalf = 6, kSingle = 7, kComplexOfHalf = 9, kComplexOfSingle = 10, kBrain = 13;
  const bool isHalf = type == kHalf || type == kComplexOfHalf,
             isSingle = type == kSingle || type == kComplexOfSingle;
  // Significant bits of the type, including the implicit one.
  const int digits = isSingle ? 24 : isHalf ? 11 : type == kBrain ? 8 : 53;
  const int smallest = isHalf ? -24 : -149; // the smallest positive number is 2^smallest
  ModelConstant result = *this;
  for (double& number : result.numbers_) {
    if (!isNumbers_ || digits == 53 || number == 0 || !std::isfinite(number))
      continue;
    int exponent = 0;
    std::frexp(number, &exponent);
    const int unit = std::max(exponent - digits, smallest); // the result is a multiple of 2^unit
    number = std::ldexp(std::nearbyint(std::ldexp(number, -unit)), unit);
  }
  return result;
}

// Dimension d of the result is dimension permutation[d] of this constant. In a recipe, only the
// lists axes and begin of the pieces are permuted; numbers are copied in the new order.
ModelConstant ModelConstant::transposed(const std::vector<int>& permutation) const {
  ModelConstant result = *this;
  for (std::size_t d = 0; d < permutation.size(); ++d) {
    const auto from = static_cast<std::size_t>(permutation[d]);
    result.shape_[d] = shape_[from];
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      result.pieces_[p].axes[d] = pieces_[p].axes[from];
      result.pieces_[p].begin[d] = pieces_[p].begin[from];
    }
    if (permutation[d] == dim_)
      result.dim_ = static_cast<int>(d);
  }
  if (!isNumbers_)
    return result;
  std::vector<Index> strides(shape_.size(), 1);
  for (std::size_t d = shape_.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape_[d];
  forEachPlace(result.shape_, [&](const std::vector<Index>& index, Index place) {
    Index from = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      from += index[d] * strides[static_cast<std::size_t>(permutation[d])];
    result.numbers_[static_cast<std::size_t>(place)] = numbers_[static_cast<std::size_t>(from)];
  });
  return result;
}

std::string ModelConstant::Piece::text() const {
  std::string text =
      fmt::format("{} [{}] [{}] {}", tensor, fmt::join(axes, ","), fmt::join(begin, ","), extent);
  for (const auto& [axis, index] : at)
    text += fmt::format(" {}@{}", index, axis);
  return text;
}

std::optional<ModelConstant> ModelConstant::reshaped(const std::vector<Index>& shape) const {
  ModelConstant result = *this;
  result.shape_ = shape;
  if (isNumbers_)
    return result;
  // A recipe can gain and lose extents of 1; the other extents must be the same, in order.
  // Dimension largerDims[at] of this constant becomes the next dimension of the result whose extent
  // is not 1.
  std::vector<std::size_t> largerDims;
  for (std::size_t d = 0; d < shape_.size(); ++d)
    if (shape_[d] != 1)
      largerDims.push_back(d);
  std::size_t at = 0;
  for (Piece& piece : result.pieces_) {
    piece.axes.assign(shape.size(), -1);
    piece.begin.assign(shape.size(), 0);
  }
  const int dim = dim_; // of concatenation, in this constant
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    if (at == largerDims.size() || shape_[largerDims[at]] != shape[d])
      return std::nullopt;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
      result.pieces_[p].axes[d] = pieces_[p].axes[largerDims[at]];
      result.pieces_[p].begin[d] = pieces_[p].begin[largerDims[at]];
    }
    if (static_cast<int>(largerDims[at]) == dim)
      result.dim_ = static_cast<int>(d);
    ++at;
  }
  if (at != largerDims.size())
    return std::nullopt;
  // A stored dimension that is dropped keeps its first index.
  for (std::size_t d = 0; d < shape_.size(); ++d)
    for (std::size_t p = 0; shape_[d] == 1 && p < pieces_.size(); ++p) {
      if (pieces_.size() > 1 && static_cast<int>(d) == dim)
        return std::nullopt;
      if (pieces_[p].axes[d] >= 0 && pieces_[p].begin[d] != 0)
        result.pieces_[p].at.emplace_back(pieces_[p].axes[d], pieces_[p].begin[d]);
    }
  if (result.pieces_.size() == 1) {
    result.dim_ = 0;
    result.pieces_[0].extent = shape.empty() ? 1 : shape[0];
  }
  return result;
}

// Returns the indices [begin, end) of dimension dim of a recipe; none if no piece has any of them.
std::optional<ModelConstant> ModelConstant::block(int dim, Index begin, Index end) const {
  const auto d = static_cast<std::size_t>(dim);
  ModelConstant result = *this;
  result.name_.clear();
  result.shape_[d] = end - begin;
  if (pieces_.size() == 1 || dim != dim_) {
    for (Piece& piece : result.pieces_)
      piece.begin[d] += begin;
    if (pieces_.size() == 1)
      result.pieces_[0].extent = result.shape_[static_cast<std::size_t>(dim_)];
    return result;
  }
  // Along the dimension of concatenation, each piece contributes the part of the block that it has.
  result.pieces_.clear();
  Index before = 0; // extent of the pieces before
  for (Piece piece : pieces_) {
    const Index first = std::clamp(begin - before, Index(0), piece.extent),
                last = std::clamp(end - before, Index(0), piece.extent);
    before += piece.extent;
    piece.begin[d] += first;
    piece.extent = last - first;
    if (first < last)
      result.pieces_.push_back(std::move(piece));
  }
  return result.pieces_.empty() ? std::nullopt : std::optional(result);
}

// A recipe can only be sliced with step 1; numbers with any step.
std::optional<ModelConstant> ModelConstant::sliced(int dim, Index begin, Index end,
                                                   Index step) const {
  const auto d = static_cast<std::size_t>(dim);
  ModelConstant result = *this;
  if (!isNumbers_)
    return step == 1 ? block(dim, begin, end) : std::nullopt;
  std::vector<Index> indices;
  for (Index i = begin; step > 0 ? i < end : i > end; i += step)
    indices.push_back(i);
  result.shape_[d] = static_cast<Index>(indices.size());
  const auto product = [](auto first, auto last) {
    return std::accumulate(first, last, Index(1), std::multiplies<>());
  };
  const Index inner = product(shape_.begin() + dim + 1, shape_.end());
  const Index outer = product(shape_.begin(), shape_.begin() + dim);
  result.numbers_.clear();
  for (Index o = 0; o < outer; ++o)
    for (const Index i : indices) {
      const auto first = numbers_.begin() + (o * shape_[d] + i) * inner;
      result.numbers_.insert(result.numbers_.end(), first, first + inner);
    }
  return result;
}

// Either all parts are numbers, or all are recipes of one piece each; otherwise the result is none.
std::optional<ModelConstant> ModelConstant::concatenated(const std::vector<ModelConstant>& parts,
                                                         int dim) {
  const auto d = static_cast<std::size_t>(dim);
  ModelConstant result = parts.front();
  result.name_.clear();
  result.identity_ = 0;
  result.isTrained_ = std::ranges::any_of(parts, &ModelConstant::isTrained);
  result.isFixed_ = std::ranges::all_of(parts, &ModelConstant::isFixed);
  result.shape_[d] = 0;
  result.numbers_.clear();
  result.pieces_.clear();
  result.dim_ = dim;
  for (const ModelConstant& part : parts) {
    if (part.isNumbers_ != result.isNumbers_ || (!part.isNumbers_ && part.pieces_.size() != 1))
      return std::nullopt;
    result.shape_[d] += part.shape_[d];
    for (Piece piece : part.pieces_) {
      piece.extent = part.shape_[d];
      result.pieces_.push_back(std::move(piece));
    }
  }
  if (!result.isNumbers_)
    return result;
  // A loop instead of accumulate() over iterators, for which GCC 14 reports a false warning.
  const auto product = [](const Shape& shape, int begin, int end) {
    Index count = 1;
    for (int i = begin; i < end; ++i)
      count *= shape[static_cast<std::size_t>(i)];
    return count;
  };
  const int rank = static_cast<int>(result.shape_.size());
  const Index outer = product(result.shape_, 0, dim);
  for (Index o = 0; o < outer; ++o)
    for (const ModelConstant& part : parts) {
      const Index run = product(part.shape_, dim, rank);
      const auto first = part.numbers_.begin() + o * run;
      result.numbers_.insert(result.numbers_.end(), first, first + run);
    }
  return result;
}

namespace {

// Returns the result of a function that cannot fail for numbers.
ModelConstant valueOf(std::optional<ModelConstant> result) {
  if (!result)
    throw Error(TENON_ERR_INTERNAL, "a constant is moved about that has no numbers");
  return *std::move(result);
}

} // namespace

ModelConstant reshapedNumbers(const ModelConstant& numbers, const std::vector<Index>& shape) {
  return valueOf(numbers.reshaped(shape));
}

ModelConstant slicedNumbers(const ModelConstant& numbers, int dim, Index begin, Index end,
                            Index step) {
  return valueOf(numbers.sliced(dim, begin, end, step));
}

ModelConstant joinedNumbers(const std::vector<ModelConstant>& parts, int dim) {
  return valueOf(ModelConstant::concatenated(parts, dim));
}

} // namespace tenon
