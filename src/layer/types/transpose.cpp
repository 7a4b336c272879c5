// SPDX-License-Identifier: BSD-2-Clause
// Another order of the dimensions, as one copy. Both arrays are read and written as they lie, with
// the strides of x in the order of y, so that a solver's array is not made contiguous first.
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

namespace {

// The extents are those of y in both directions, since its array has the order in which both are
// walked.
class LocalTranspose final : public LinearKernel {
public:
  explicit LocalTranspose(std::vector<Index> from) : from_(std::move(from)) {}

  void map(const DTensor& x, DTensor& y) override {
    copy(x, inOrderOfY(x), y, y.strides(), y.extent());
  }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override {
    copy(dy, dy.strides(), dx, inOrderOfY(dx), dy.extent());
  }
  std::string describe() const override { return "local copy"; }
  bool runsOnDevice() const override { return true; }

private:
  Strides inOrderOfY(const DTensor& x) const {
    Strides strides{};
    for (std::size_t d = 0; d < from_.size(); ++d)
      strides[d] = x.strides()[from_[d]];
    return strides;
  }
  static void copy(const DTensor& from, const Strides& read, DTensor& to, const Strides& write,
                   const Shape& extent) {
    if (to.localElements() == 0)
      return;
    visitFloating(to.dataType(), [&]<class T>(T) {
      blockCombine(to.context(), Combine::Copy, static_cast<int>(extent.size()), extent.data(),
                   from.data<T>(), read.data(), to.mutableData<T>(), write.data());
    });
  }

  std::vector<Index> from_;
};

} // namespace

std::unique_ptr<LocalKernel> makeTransposeKernel(const KernelSite& at) {
  return std::make_unique<LocalTranspose>(
      at.layer.declaration().value<std::vector<Index>>("permutation"));
}

} // namespace tenon
