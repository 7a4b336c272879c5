// SPDX-License-Identifier: BSD-2-Clause
// Tenon's C handles as C++ values that give their reference back, and its error codes as exceptions.
#pragma once

#include <tenon.h>

#include <stdexcept>
#include <string>
#include <utility>

namespace tenon::tools {

struct CallError : std::runtime_error {
  CallError(TenonErrorCode failed, const std::string& message)
      : std::runtime_error(message), code(failed) {}
  TenonErrorCode code;
};

// Throws the library's own message if a call has failed.
inline void require(TenonErrorCode code) {
  if (code == TENON_SUCCESS)
    return;
  char message[2048] = "";
  TenonGetLastError(nullptr, message, sizeof message);
  throw CallError(code, std::string(TenonErrorName(code)) + ": " + message);
}

template <class H, TenonErrorCode (*Destroy)(H*)>
class Handle {
public:
  Handle() = default;
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { Destroy(&handle_); }

  operator H() const { return handle_; }
  H* out() { return &handle_; }

private:
  H handle_ = nullptr;
};

using Partition = Handle<TenonPartition, TenonPartitionDestroy>;
using Layout = Handle<TenonLayout, TenonLayoutDestroy>;
using DTensor = Handle<TenonDTensor, TenonDTensorDestroy>;
using LinearOp = Handle<TenonLinearOp, TenonLinearOpDestroy>;
using PlacementList = Handle<TenonPlacementList, TenonPlacementListDestroy>;
using ReductionPrograms = Handle<TenonReductionPrograms, TenonReductionProgramsDestroy>;
using Layer = Handle<TenonLayer, TenonLayerDestroy>;
using Machine = Handle<TenonMachine, TenonMachineDestroy>;

} // namespace tenon::tools
