// SPDX-License-Identifier: BSD-2-Clause
// A joining layer set up for its inputs, as a list of maps:
//
//   add          y <- C(x_i -> y) x_i, one after the other
//   concatenate  a part of y <- C(x_i -> y there) x_i
#pragma once

#include "layer/layer.hpp"

namespace tenon {

class JoinSetup final : public Setup {
public:
  // dim is -1 where every input covers the output.
  JoinSetup(const Layer& layer, const Form& form, int dim);

private:
  std::string facts() const override;
};

} // namespace tenon
