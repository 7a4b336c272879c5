// SPDX-License-Identifier: BSD-2-Clause
// Converts failures of the CUDA runtime to errors. Kernels fail later than the call that queued
// them; so the error for a lost device explains how to find the kernel, since the call that reports
// it is not the cause.
#include "sys/cuda/status.hpp"

#include <fmt/format.h>

namespace tenon::cuda {

namespace {

// Whether every later call of the process fails after this failure.
bool losesDevice(int status) {
  switch (status) {
  case cudaErrorIllegalAddress:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorIllegalInstruction:
  case cudaErrorHardwareStackError:
  case cudaErrorLaunchFailure:
  case cudaErrorLaunchTimeout:
  case cudaErrorAssert:
  case cudaErrorECCUncorrectable:
  case cudaErrorNvlinkUncorrectable:
  case cudaErrorExternalDevice:
  case 226: // cudaErrorContained, which older versions of CUDA do not define
  case 721: // cudaErrorTensorMemoryLeak
    return true;
  default:
    return false;
  }
}

const char* adviceOn(cudaError_t status) {
  switch (static_cast<int>(status)) {
  case cudaErrorDevicesUnavailable:
    return "; another process may have the device for itself alone (the compute mode "
           "EXCLUSIVE_PROCESS, see nvidia-smi -q -d COMPUTE): start the server by which processes "
           "share it (nvidia-cuda-mps-control -d), or give each rank a device of its own";
  case cudaErrorMpsRpcFailure:
  case cudaErrorMpsServerNotReady:
  case cudaErrorMpsClientTerminated:
    return "; the device cannot be used again in this process, which shares it by CUDA's "
           "Multi-Process Service (MPS): a kernel of any of its processes may have failed. See "
           "the errors of the other ranks, and the server's log, in CUDA_MPS_LOG_DIRECTORY or "
           "/var/log/nvidia-mps";
  default:
    return losesDevice(status) ? "; the device cannot be used again in this process. A kernel that "
                                 "was queued earlier failed: the environment variable "
                                 "CUDA_LAUNCH_BLOCKING=1, or compute-sanitizer, shows which"
                               : "";
  }
}

} // namespace

void check(cudaError_t status, const char* what, std::source_location where) {
  if (status == cudaSuccess)
    return;
  cudaGetLastError(); // clears the error, which the next call would report again
  throw Error(status == cudaErrorMemoryAllocation ? TENON_ERR_MEMORY : TENON_ERR_LIBRARY,
              fmt::format("CUDA failed in {}: {} (error {}){}", what, cudaGetErrorString(status),
                          static_cast<int>(status), adviceOn(status)),
              where);
}

} // namespace tenon::cuda
