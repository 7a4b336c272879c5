// SPDX-License-Identifier: BSD-2-Clause
// Copies of arguments for a layer call. If an argument is in another memory space than the layer
// (host or device), the layer uses a tensor of its own: inputs are copied to it before the call,
// and outputs from it after the call. A solver can so have its fields on the host while its network
// runs on the device. The file also declares the tensors that Apply saves for the adjoint.
#pragma once

#include "dtensor/dtensor.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <vector>

namespace tenon {

// How Apply saves tensors for the adjoint. CopiesPlaced: tensors of the library by reference,
// arrays placed by the user as copies. References: all by reference, because they do not change
// before the adjoint. Nothing: user arrays are not saved, and no adjoint can follow.
enum class Saving { CopiesPlaced, References, Nothing };

// A tensor saved from Apply for the adjoint. If it is saved by reference, a change before the
// adjoint is an error. User arrays are copied because changes to them cannot be detected.
class SavedTensor {
public:
  // x must be contiguous. `as` is the value of the maps that describes a copy. Returns whether it
  // was copied.
  bool keep(const DTensor& x, Saving saving, const Value& as, const BoundMaps& maps);
  // The saved tensor. Throws TENON_ERR_STATE, naming `who` as its reader, if it was changed since.
  const DTensor& get(const std::string& who) const;
  void drop() noexcept { saved_ = {}; }
  Index bytes() const noexcept { return copy_ ? copy_->arrayBytes() : 0; }

private:
  Ref<DTensor> saved_, copy_;
  std::uint64_t state_ = 0;
};

// Records, for views, a user array that a layer copies at every call, because a kernel needs it
// contiguous, or because it can change before the adjoint.

class UserCopy {
public:
  // Whether the last call copied this array.
  void note(bool copied, const DTensor& array) {
    bytes_ = copied ? array.localElements() * dataTypeSize(array.dataType()) : 0;
    if (copied && title_ != array.title()) // later calls allocate nothing
      title_ = array.title();
  }

  // A line of a view, or an empty text if nothing was copied:
  // `copied at each Apply: input, tensor "u" (strided array), 512 B on this rank`
  std::string describe(const char* call, const char* role, const char* why) const {
    return bytes_ == 0 ? ""
                       : fmt::format("  copied at each {}: {}, {} ({}), {} on this rank\n", call,
                                     role, title_, why, sizeText(bytes_));
  }

private:
  std::string title_;
  Index bytes_ = 0;
};

class Layer;

// The arguments of one kind of call. The order of its calls:
//
//   enter()     copies inputs to the layer's space; returns the tensors to read
//   prepare()   returns the tensors to write
//   (run)       the layer works on these tensors
//   leave()     copies the results to the caller's tensors
class ArgumentStaging {
public:
  // The tensors for the layer to read and to write; null arguments stay null. After enter() the
  // caller can already modify the inputs.
  Inputs enter(const Layer& layer, Inputs read);
  InputCotangents prepare(const Layer& layer, InputCotangents written);
  // Copies results to the caller's tensors, which are then valid.
  void leave(InputCotangents owners);

  Index bytes() const;
  // Lines of a view about the copies of the last call; `call` is its name, the other texts describe
  // the tensors that it reads and writes.
  std::string describe(const char* call, const char* read, const char* written) const;

private:
  template <class Tensor>
  struct Side {
    std::vector<Tensor*> tensors;
    std::vector<Ref<DTensor>> replacements; // used for tensors in another space
    std::vector<UserCopy> copies;

    // Prepares replacements. Returns false if all tensors are in the layer's space already.
    bool needsCopies(std::span<Tensor* const> arguments, Space space);
    Index bytes() const;
    std::string describe(const char* call, const char* role) const;
  };

  Side<const DTensor> read_;
  Side<DTensor> written_;
};

} // namespace tenon
