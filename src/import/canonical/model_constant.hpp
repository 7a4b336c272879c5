// SPDX-License-Identifier: BSD-2-Clause
// A tensor of fixed values in a network: numbers, or a recipe over tensors of the file, so that a
// process that needs a block of it reads that block.
//
// A recipe concatenates pieces along one dimension. A piece is a block of a stored tensor whose
// dimensions are permuted, with dimensions of extent 1 put in or left out.
#pragma once

#include "geometry/layout/box.hpp"
#include "import/model_program.hpp"

#include <map>
#include <memory>
#include <utility>

namespace tenon {

class ModelConstant {
public:
  struct Piece {
    std::size_t tensor = 0;
    // Of each dimension: the stored one (-1: an extent of 1 that was put in), and where it begins.
    std::vector<int> axes;
    std::vector<Index> begin;
    Index extent = 1; // along the dimension of concatenation
    // Stored dimensions that are left out, of which it has one index that is not 0: w[1].
    std::vector<std::pair<int, Index>> at = {};

    std::string text() const; // equal for equal parts of equal tensors
  };

  // Fixed numbers.
  static ModelConstant ofNumbers(std::vector<Index> shape, std::vector<double> numbers,
                                 bool isInteger = false);
  static ModelConstant ofTensor(const ModelProgram& program, std::size_t tensor);

  const std::vector<Index>& shape() const noexcept { return shape_; }
  int rank() const noexcept { return static_cast<int>(shape_.size()); }
  Index elements() const;
  // Of the stored tensor that it is; "" where it was computed.
  const std::string& name() const noexcept { return name_; }
  bool isInteger() const noexcept { return isInteger_; }
  // Whether parameters of the model, which training changes, are in it. Nothing is computed with
  // their numbers.
  bool isTrained() const noexcept { return isTrained_; }
  // Whether training changes nothing that it consists of or was computed of.
  bool isFixed() const noexcept { return isFixed_; }
  bool isNumbers() const noexcept { return isNumbers_; }
  const std::vector<double>& numbers() const noexcept { return numbers_; }
  const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  int dim() const noexcept { return dim_; }

  ModelConstant transposed(const std::vector<int>& permutation) const;
  // None where it would need numbers that are still in the file.
  std::optional<ModelConstant> reshaped(const std::vector<Index>& shape) const;
  std::optional<ModelConstant> sliced(int dim, Index begin, Index end, Index step) const;
  static std::optional<ModelConstant> concatenated(const std::vector<ModelConstant>& parts,
                                                   int dim);
  ModelConstant renamed(std::string name) const;
  // Numbers that have been computed: those of one value, in whatever shape, have one identity,
  // which is above 0.
  int identity() const noexcept { return identity_; }
  ModelConstant identified(int identity) const;
  // With the numbers as PyTorch's float32 or a narrower type has them (by PyTorch's number of the
  // type).
  ModelConstant rounded(Index type) const;
  ModelConstant fixed(bool isFixed = true) const;

private:
  std::optional<ModelConstant> block(int dim, Index begin, Index end) const;

  std::vector<Index> shape_;
  std::string name_;
  bool isInteger_ = false, isNumbers_ = false, isTrained_ = false, isFixed_ = false;
  std::vector<double> numbers_; // row-major
  std::vector<Piece> pieces_;
  int dim_ = 0, identity_ = 0;
};

// The same of numbers, of which there always is one; an error where they are no numbers.
ModelConstant reshapedNumbers(const ModelConstant& numbers, const std::vector<Index>& shape);
ModelConstant slicedNumbers(const ModelConstant& numbers, int dim, Index begin, Index end,
                            Index step);
ModelConstant joinedNumbers(const std::vector<ModelConstant>& parts, int dim);

// Reads constants of a program from its file, which must outlive it.
class ModelWeights {
public:
  ModelWeights(const ModelProgram& program, const ByteSource& file)
      : program_(program), file_(file) {}
  ModelWeights(const ModelWeights&) = delete;
  ModelWeights& operator=(const ModelWeights&) = delete;

  const ModelProgram& program() const noexcept { return program_; }
  const ByteSource& file() const noexcept { return file_; }
  // The elements of a box, row-major.
  template <class T>
  void read(const ModelConstant& constant, const Box& box, T* to) const;
  // All of its numbers. Throws TENON_ERR_SUPPORT where numbers of all constants together would take
  // more than 64 MiB.
  ModelConstant folded(const ModelConstant& constant) const;

private:
  // Where the tensor's bytes are. Opens a file beside the network's, but none outside of its
  // folder.
  const ByteSource& sourceOf(const ModelTensor& tensor) const;

  const ModelProgram& program_;
  const ByteSource& file_;
  mutable std::map<std::string, std::unique_ptr<ByteSource>> beside_;
  mutable Index foldedBytes_ = 0;
};

// visit(index, place) for all of a shape, row-major.
template <class Visit>
void forEachPlace(const std::vector<Index>& shape, Visit visit) {
  Index all = 1;
  for (const Index extent : shape)
    all *= extent;
  std::vector<Index> index(shape.size(), 0);
  for (Index place = 0; place < all; ++place) {
    visit(index, place);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

} // namespace tenon
