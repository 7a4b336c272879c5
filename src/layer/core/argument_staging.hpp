// SPDX-License-Identifier: BSD-2-Clause
// The arguments of a call that are in another space than the layer: for each the layer has a tensor
// of its own, into which what is read is copied before the call, and from which what is written is
// copied after it. So a solver keeps its fields on the host while its network runs on the device.
#pragma once

#include "dtensor/dtensor.hpp"
#include "layer/core/local_kernel.hpp"
#include "sys/text/view.hpp"

#include <fmt/format.h>

#include <vector>

namespace tenon {

// A tensor kept from Apply for the adjoint. The library's own tensors are referenced, and one that
// was changed since is refused; a caller's array is copied, since nobody can tell when he writes
// it.

// References: of arrays that stay as they are until the adjoint, whoever's they are. Nothing: of
// the caller's memory, so that no adjoint can follow.
enum class Saving { CopiesPlaced, References, Nothing };

class SavedTensor {
public:
  // x must be contiguous; a copy is such a value of the maps. Returns whether it was copied.
  bool keep(const DTensor& x, Saving saving, const Value& as, const BoundMaps& maps);
  // Throws TENON_ERR_STATE if the tensor was changed since; `who` kept it.
  const DTensor& get(const std::string& who) const;
  void drop() noexcept { saved_ = {}; }
  Index bytes() const noexcept { return copy_ ? copy_->arrayBytes() : 0; }

private:
  Ref<DTensor> saved_, copy_;
  std::uint64_t state_ = 0;
};

// A caller's array that a layer copies at every call, since a kernel needs it contiguous, or since
// it may change before the adjoint: remembered for views.

class UserCopy {
public:
  // Whether the last call copied this array.
  void note(bool copied, const DTensor& array) {
    bytes_ = copied ? array.localElements() * dataTypeSize(array.dataType()) : 0;
    if (copied && title_ != array.title()) // from the second call on nothing is allocated
      title_ = array.title();
  }

  // A line of a view: `copied at each Apply: input, tensor "u" (strided array), 512 B on this
  // rank`; empty if nothing was copied.
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

class ArgumentStaging {
public:
  // The tensors that the layer reads in this call, and those that it writes; null for those that
  // are null. The owner of what is read may change it at once.
  Inputs enter(const Layer& layer, Inputs read);
  InputCotangents prepare(const Layer& layer, InputCotangents written);
  // Copies what was written to its owners, who may read it.
  void leave(InputCotangents owners);

  Index bytes() const;
  // Lines of a view for what the last call copied: `call` is its name, the others say what it reads
  // and writes.
  std::string describe(const char* call, const char* read, const char* written) const;

private:
  template <class Tensor>
  struct Side {
    std::vector<Tensor*> tensors;
    std::vector<Ref<DTensor>> mine; // used where they are in another space
    std::vector<UserCopy> copies;

    // Whether some of them are; then there is room for all.
    bool opens(std::span<Tensor* const> given, Space space);
    Index bytes() const;
    std::string describe(const char* call, const char* role) const;
  };

  Side<const DTensor> read_;
  Side<DTensor> written_;
};

} // namespace tenon
