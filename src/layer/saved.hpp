// SPDX-License-Identifier: BSD-2-Clause
// A tensor kept from Apply for the adjoint. The library's own tensors are referenced, and one that
// was changed since is refused; a caller's array is copied, since nobody can tell when he writes
// it.
#pragma once

#include "dtensor/dtensor.hpp"

namespace tenon {

// References: of arrays that stay as they are until the adjoint, whoever's they are.
enum class Saving { CopiesPlaced, References };

class SavedTensor {
public:
  // x must be contiguous. Returns whether it was copied.
  bool keep(const DTensor& x, Saving saving = Saving::CopiesPlaced);
  // Throws TENON_ERR_STATE if the tensor was changed since; `who` kept it.
  const DTensor& get(const std::string& who) const;
  void drop() noexcept { kept_ = {}; }
  Index bytes() const noexcept { return copy_ ? copy_->arrayBytes() : 0; }

private:
  Ref<DTensor> kept_, copy_;
  std::uint64_t state_ = 0;
};

} // namespace tenon
