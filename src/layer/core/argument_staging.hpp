// SPDX-License-Identifier: BSD-2-Clause
// Copies of arguments for a layer call. If an argument is in another memory space (host or device)
// than the layer, the layer uses a replacement tensor in its own space: inputs are copied to their
// replacements before the call, and outputs from theirs after the call. A solver can thus have its
// fields on the host while its network runs on the device. Layer::apply(), applyTangent() and
// applyAdjoint() call ArgumentStaging. The file also declares SavedTensor, for tensors that Apply
// saves for the adjoint.
#pragma once

#include "dtensor/dtensor.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <vector>

namespace tenon {

// How Apply saves tensors for the adjoint. A tensor is placed if its array belongs to the user.
//   CopiesPlaced   placed tensors as copies, other tensors by reference
//   References     all by reference, if the caller knows that they do not change before the adjoint
//   Nothing        no placed tensor is saved, and no adjoint can follow
enum class Saving { CopiesPlaced, References, Nothing };

// A tensor saved from Apply for the adjoint. If the tensor is saved by reference, a change before
// the adjoint is an error, which its state counter reveals. Writes to a user's array have no
// counter; such arrays are copied.
class SavedTensor {
public:
  // Saves x, which must be contiguous. `as` describes a copy, if one is made: its layout, and
  // whether it is rounded to bfloat16. Returns whether x was copied.
  bool save(const DTensor& x, Saving saving, const Value& as, const BoundMaps& maps);
  // The saved tensor. Throws TENON_ERR_STATE, naming `who` as its reader, if it was changed since.
  const DTensor& get(const std::string& who) const;
  void drop() noexcept { saved_ = {}; }
  Index bytes() const noexcept { return copy_ ? copy_->arrayBytes() : 0; }

private:
  Ref<DTensor> saved_, copy_;
  std::uint64_t state_ = 0;
};

// Records, for the text of views, a user array that a layer copies at every call: because a kernel
// needs it contiguous, because the layer works in the other memory space, or because the array can
// change before the adjoint.
class UserCopy {
public:
  // Stores whether the last call copied this array.
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
using ReadTensors = std::span<const DTensor* const>;
using WrittenTensors = std::span<DTensor* const>;

// The arguments of one kind of call (Apply, tangent or adjoint). For each call, Layer runs:
//
//   enter()     copies inputs to the layer's space; returns the tensors to read
//   prepare()   returns the tensors to write
//   (run)       the layer works on these tensors
//   leave()     copies the results to the caller's tensors
class ArgumentStaging {
public:
  // The tensors for the layer to read and to write. A null argument stays null. After enter() the
  // caller may already modify inputs that were copied.
  ReadTensors enter(const Layer& layer, ReadTensors read);
  WrittenTensors prepare(const Layer& layer, WrittenTensors written);
  // Copies results to the caller's tensors `owners`, those that were passed to prepare().
  void leave(WrittenTensors owners);

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

    // Returns false if all arguments are in the layer's space. Otherwise stores the arguments, for
    // the caller to exchange those in the other space for replacements, and returns true.
    bool stage(std::span<Tensor* const> arguments, Space space);
    Index bytes() const;
    std::string describe(const char* call, const char* role) const;
  };

  Side<const DTensor> read_;
  Side<DTensor> written_;
};

} // namespace tenon
