// SPDX-License-Identifier: BSD-2-Clause
// The arguments of a call that are in another space than the layer: for each the layer has a tensor of its own,
// into which what is read is copied before the call, and from which what is written is copied after it. So a solver
// keeps its fields on the host while its network runs on the device.
#pragma once

#include "layer/callers_copy.hpp"
#include "layer/inputs.hpp"

#include <vector>

namespace tenon {

class Layer;

class Crossing {
public:
  // The tensors that the layer reads in this call, and those that it writes; null for those that are null. The
  // owner of what is read may change it at once.
  Inputs enter(const Layer& layer, Inputs read);
  InputCotangents prepare(const Layer& layer, InputCotangents written);
  // Copies what was written to its owners, who may read it.
  void leave(InputCotangents owners);

  Index bytes() const;
  // Lines of a view for what the last call copied: `call` is its name, the others say what it reads and writes.
  std::string describe(const char* call, const char* read, const char* written) const;

private:
  template <class Tensor>
  struct Side {
    std::vector<Tensor*> tensors;
    std::vector<Ref<DTensor>> mine; // used where they are in another space
    std::vector<CallersCopy> copies;

    // Whether some of them are; then there is room for all.
    bool opens(std::span<Tensor* const> given, Space space);
    Index bytes() const;
    std::string describe(const char* call, const char* role) const;
  };

  Side<const DTensor> read_;
  Side<DTensor> written_;
};

} // namespace tenon
