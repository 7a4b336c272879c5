// SPDX-License-Identifier: BSD-2-Clause
// The kernel that gather, segment sum and sparse matrix share, which adds listed rows, and how
// edges become its lists. Forward and adjoint have lists of their own, since each writes every row
// once, by one thread.
#include "declaration/mesh/row_kernels.hpp"

#include "kernels/elementwise/reduce.hpp"

namespace tenon {

Index elementsOfRow(const Layout& layout, int rank) {
  const Box box = layout.boxOfRank(rank);
  Index inner = 1;
  for (std::size_t d = 1; d < box.size(); ++d)
    inner *= box[d].size();
  return inner;
}

Index rowCount(const Layout& layout, int rank) {
  return layout.boxOfRank(rank)[0].size();
}

namespace {

template <class T>
const T* firstOf(const std::vector<T>& list) {
  return list.empty() ? nullptr : list.data();
}

template <class T>
class CombinedRows final : public ListedKernel {
public:
  CombinedRows(KernelContext& context, Index rowsOfX, Index rowsOfY, const RowEntries& entries,
               const InRow& in, const char* what)
      : ListedKernel(in), forward_(listRows(rowsOfY, entries)),
        adjoint_(listTransposed(rowsOfX, entries)), what_(what) {
    forward_.finish(context);
    adjoint_.finish(context);
  }

  void forward(Arrays x, KernelParameters, LocalArray& y, Buffer*) override {
    combineRows<T>(y.context(), forward_, in_.inner, x[0].data<T>(), in_.inner, /*adds=*/false,
                   y.mutableData<T>() + in_.begin, in_.step);
  }
  void tangent(const SavedArrays&, Arrays dx, KernelParameters p, LocalArray& dy) override {
    if (dx[0])
      return forward(dx, p, dy, nullptr);
    zero(forward_.rows, dy);
  }
  void adjoint(const SavedArrays& at, const LocalArray& dy, KernelParameters,
               WrittenArrays dx) override {
    if (dx[0])
      combineRows<T>(dy.context(), adjoint_, in_.inner, dy.data<T>() + in_.begin, in_.step, at.adds,
                     dx[0].mutableData<T>(), in_.inner);
  }
  std::string describe() const override { return what_; }
  const RowLists* lists() const override { return &forward_; }

private:
  RowLists forward_, adjoint_;
  const char* what_;
};

} // namespace

RowEntries entriesOf(const Edges& edges) {
  return {.count = edges.count(),
          .row = nullptr,
          .from = nullptr,
          .weights = firstOf(edges.weights()),
          .key = firstOf(edges.key())};
}

void ListedKernel::zero(Index rows, LocalArray& y) const {
  const Index extent[] = {rows, in_.inner}, strides[] = {in_.step, 1};
  if (rows * in_.inner > 0)
    visitFloating(y.dataType(), [&]<class T>(T) {
      fillBlock(y.context(), 2, extent, T(0), y.mutableData<T>() + in_.begin, strides);
    });
}

std::unique_ptr<ArrayKernel> makeCombinedRows(TenonDataType type, KernelContext& context,
                                              Index rowsOfX, Index rowsOfY,
                                              const RowEntries& entries, const InRow& in,
                                              const char* what) {
  return makeTyped<CombinedRows>(type, context, rowsOfX, rowsOfY, entries, in, what);
}

} // namespace tenon
