// SPDX-License-Identifier: BSD-2-Clause
// Local kernel of the type rows, which turns a field on a regular grid into the rows of a mesh, or
// back if the program has set the layout of the output, which is then that of the field. The kernel
// is one strided copy without communication: each rank keeps its points.
//
//   field   [batch, channel, space...]
//   rows    [batch * space..., channel]
//
// For a field of 2 x 3 points and 4 channels, with batch size 1, the rows are a matrix of 6 x 4.
#include "kernels/movement/block_copy.hpp"
#include "layer/core/layer_types.hpp"
#include "layer/core/local_kernel.hpp"

namespace tenon {

namespace {

class LocalRows final : public LinearKernel {
public:
  explicit LocalRows(bool toRows) : toRows_(toRows) {}

  void map(const DTensor& x, DTensor& y) override { copy(x, y, toRows_); }
  void mapAdjoint(const DTensor& dy, DTensor& dx) override { copy(dy, dx, !toRows_); }
  std::string describe() const override { return "local copy"; }
  bool runsOnDevice() const override { return true; }

private:
  static void copy(const DTensor& x, DTensor& y, bool toRows) {
    if (y.localElements() == 0)
      return;
    const DTensor &field = toRows ? x : y, &rows = toRows ? y : x;
    // The common index order of the copy: [batch, space..., channel]. `inField` and `inRows` are
    // the strides of these indices in both arrays.
    Shape extent;
    Strides inField{}, inRows{};
    for (int d = 0; d < field.rank(); ++d)
      if (d != 1) {
        inField[extent.size()] = field.strides()[d];
        extent.push_back(field.extent()[d]);
      }
    Index step = rows.strides()[0];
    for (std::size_t d = extent.size(); d-- > 0; step *= extent[d])
      inRows[d] = step;
    inField[extent.size()] = field.strides()[1];
    inRows[extent.size()] = rows.strides()[1];
    extent.push_back(field.extent()[1]);
    const Strides &read = toRows ? inField : inRows, &write = toRows ? inRows : inField;
    visitFloating(y.dataType(), [&]<class T>(T) {
      blockCombine(y.context(), Combine::Copy, static_cast<int>(extent.size()), extent.data(),
                   x.data<T>(), read.data(), y.mutableData<T>(), write.data());
    });
  }

  bool toRows_;
};

} // namespace

// Called at set-up on every rank; `at` has the layer, the number or name of the kernel, and
// layouts.
std::unique_ptr<LocalKernel> makeRowsKernel(const KernelSite& at) {
  return std::make_unique<LocalRows>(!at.layer.declaration().outputLayout());
}

} // namespace tenon
