// SPDX-License-Identifier: BSD-2-Clause
#include "layer/core/local_kernel.hpp"

namespace tenon {

WindowShape localWindow(const std::vector<Window>& windows, const Shape& shape, const Box& in,
                        const Box& out) {
  WindowShape local;
  local.rank = static_cast<int>(windows.size());
  for (int s = 0; s < local.rank; ++s) {
    const int d = s + kFirstSpatial;
    local.in[s] = in[d].size();
    local.out[s] = out[d].size();
    local.kernel[s] = windows[s].kernel;
    local.stride[s] = windows[s].stride;
    local.dilation[s] = windows[s].dilation;
    local.padLow[s] = out[d].empty() ? 0 : in[d].begin - windowInput(windows[s], out[d]).begin;
    local.padEnd[s] = shape[d] + windows[s].padHigh - in[d].begin;
  }
  return local;
}

} // namespace tenon
