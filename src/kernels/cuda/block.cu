// SPDX-License-Identifier: BSD-2-Clause
#include "kernels/cuda/launch.cuh"
#include "kernels/functors/bfloat16.hpp"
#include "kernels/functors/block.hpp"

namespace tenon::device {

using namespace functors;

#define TENON_CELLS(...) template void eachCell(const Stream&, const Block&, const __VA_ARGS__&);
#define TENON_ALL(T)                                                                               \
  TENON_CELLS(CombineCells<T, CopyTo>)                                                             \
  TENON_CELLS(CombineCells<T, AddTo>)                                                              \
  TENON_CELLS(CombineCells<T, MaxTo>)                                                              \
  TENON_CELLS(ScaleCells<T, T>)                                                                    \
  TENON_CELLS(AxpbyCells<T, T>)                                                                    \
  TENON_CELLS(MultiplyCells<T>)                                                                    \
  TENON_CELLS(FillCells<T>)
TENON_ALL(float)
TENON_ALL(double)
TENON_ALL(std::int64_t)
TENON_CELLS(RoundCells<float>)
TENON_CELLS(RoundCells<double>)
TENON_CELLS(ScaleCells<float, double>)
TENON_CELLS(ScaleCells<double, float>)
TENON_CELLS(AxpbyCells<float, double>)
TENON_CELLS(AxpbyCells<double, float>)

} // namespace tenon::device
