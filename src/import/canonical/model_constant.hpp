// SPDX-License-Identifier: BSD-2-Clause
// A tensor of fixed values in a network: either numbers in memory, or a recipe that assembles it
// from tensors of the file. A recipe lets each process read only the block that it needs.
//
// A recipe concatenates pieces along one dimension. A piece is a block of a stored tensor whose
// dimensions are permuted, with dimensions of extent 1 inserted or dropped. Example: the weights
// q [64, 64] and k [64, 64] of an attention, concatenated to [128, 64], are two pieces along
// dimension 0, each with extent 64, axes {0, 1} and begin {0, 0}.
#pragma once

#include "geometry/layout/box.hpp"
#include "import/model_program.hpp"

#include <map>
#include <memory>
#include <utility>

namespace tenon {

// A constant is either numbers (isNumbers()) or a recipe (pieces() along dimension dim()).
class ModelConstant {
public:
  struct Piece {
    std::size_t tensor = 0;
    // For each dimension of the constant: the dimension of the stored tensor (-1: inserted, of
    // extent 1), and the first index of the block in it.
    std::vector<int> axes;
    std::vector<Index> begin;
    Index extent = 1; // extent along the dimension of concatenation
    // Stored dimensions that are dropped at an index other than 0, as by w[1]: dimension, index.
    std::vector<std::pair<int, Index>> at = {};

    std::string text() const; // key: equal for equal blocks of equal tensors
  };

  // Constants of numbers, and of a whole tensor of the file.
  static ModelConstant ofNumbers(std::vector<Index> shape, std::vector<double> numbers,
                                 bool isInteger = false);
  static ModelConstant ofTensor(const ModelProgram& program, std::size_t tensor);

  const std::vector<Index>& shape() const noexcept { return shape_; }
  int ndim() const noexcept { return static_cast<int>(shape_.size()); }
  Index elements() const;
  // Name of the tensor in the file; "" if the constant was computed.
  const std::string& name() const noexcept { return name_; }
  bool isInteger() const noexcept { return isInteger_; }
  // Whether it contains parameters of the model, which training changes. Their numbers are never
  // used in computations at import.
  bool isTrained() const noexcept { return isTrained_; }
  // Whether training changes neither the constant nor any tensor from which it was computed.
  bool isFixed() const noexcept { return isFixed_; }
  bool isNumbers() const noexcept { return isNumbers_; }
  const std::vector<double>& numbers() const noexcept { return numbers_; }
  const std::vector<Piece>& pieces() const noexcept { return pieces_; }
  int dim() const noexcept { return dim_; }

  ModelConstant transposed(const std::vector<int>& permutation) const;
  // Returns none if the result needs numbers that are still in the file.
  std::optional<ModelConstant> reshaped(const std::vector<Index>& shape) const;
  std::optional<ModelConstant> sliced(int dim, Index begin, Index end, Index step) const;
  static std::optional<ModelConstant> concatenated(const std::vector<ModelConstant>& parts,
                                                   int dim);
  ModelConstant renamed(std::string name) const;
  // A number > 0 for a constant that was computed at import, equal for all of its reshapes. Two
  // constants with the same identity are the same parameter.
  int identity() const noexcept { return identity_; }
  ModelConstant identified(int identity) const;
  // Rounds the numbers to float32 or a narrower type, given by PyTorch's type number.
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

// reshaped() and sliced() for constants that are numbers, for which a result always exists. Throw
// TENON_ERR_INTERNAL for other constants.
ModelConstant reshapedNumbers(const ModelConstant& numbers, const std::vector<Index>& shape);
ModelConstant slicedNumbers(const ModelConstant& numbers, int dim, Index begin, Index end,
                            Index step);
ModelConstant joinedNumbers(const std::vector<ModelConstant>& parts, int dim);

// Reads constants of a program from its file. Program and file must outlive this object.
class ModelWeights {
public:
  ModelWeights(const ModelProgram& program, const ByteSource& file)
      : program_(program), file_(file) {}
  ModelWeights(const ModelWeights&) = delete;
  ModelWeights& operator=(const ModelWeights&) = delete;

  const ModelProgram& program() const noexcept { return program_; }
  const ByteSource& file() const noexcept { return file_; }
  // Reads the elements of a box, in row-major order.
  template <class T>
  void read(const ModelConstant& constant, const Box& box, T* to) const;
  // Reads all elements of a constant as numbers. Throws TENON_ERR_SUPPORT if the numbers of all
  // constants together exceed 64 MiB.
  ModelConstant folded(const ModelConstant& constant) const;
  // The same without a bound, but that of the file, and without the constant's properties.
  std::vector<double> allNumbers(const ModelConstant& constant) const;

private:
  // Returns the file that holds the tensor's bytes: the model's file, or one in the same folder or
  // below. Files outside of that folder are not opened.
  const ByteSource& sourceOf(const ModelTensor& tensor) const;

  const ModelProgram& program_;
  const ByteSource& file_;
  mutable std::map<std::string, std::unique_ptr<ByteSource>> beside_; // by file name
  mutable Index foldedBytes_ = 0;
};

// Calls visit(index, place) for all indices of a shape in row-major order; `place` is the linear
// index.
template <class Visit>
void forEachPlace(const std::vector<Index>& shape, Visit visit) {
  Index count = 1;
  for (const Index extent : shape)
    count *= extent;
  std::vector<Index> index(shape.size(), 0);
  for (Index place = 0; place < count; ++place) {
    visit(index, place);
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d])
        break;
      index[d] = 0;
    }
  }
}

} // namespace tenon
