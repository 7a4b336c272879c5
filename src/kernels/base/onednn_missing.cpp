// SPDX-License-Identifier: BSD-2-Clause
// Stubs that replace onednn.cpp and the other oneDNN sources in a build without oneDNN.
// resolveBackend() rejects the backend before any of these is called; `auto` becomes direct
// convolution or BLAS. The functions are declared in backend.hpp, library_info.hpp, and in
// backends.hpp and gemm.hpp of the folders of kernels.
#include "kernels/base/library_info.hpp"
#include "kernels/convolution/backends.hpp"
#include "kernels/convolution/packed.hpp"
#include "kernels/pooling/backends.hpp"
#include "kernels/products/gemm.hpp"
#include "sys/errors/error.hpp"

namespace tenon {

namespace {

[[noreturn]] void throwMissing() {
  throw Error(TENON_ERR_INTERNAL, "a kernel by oneDNN in a build without oneDNN");
}

} // namespace

bool hasOneDnn() noexcept {
  return false;
}

std::string oneDnnVersion() {
  return "none";
}

void gemmOneDnn(const Product<float>&) {
  throwMissing();
}

std::unique_ptr<Convolution<float>> makeOneDnnConvolution(const ConvolutionShape&,
                                                          KernelContextPtr) {
  throwMissing();
}

std::unique_ptr<PackedConvolution> makePackedConvolution(const ConvolutionShape&,
                                                         KernelContextPtr) {
  return nullptr;
}

bool oneDnnPools(const PoolingShape&) {
  return false;
}

std::unique_ptr<Pooling<float>> makeOneDnnPooling(const PoolingShape&, KernelContextPtr) {
  throwMissing();
}

} // namespace tenon
