// SPDX-License-Identifier: BSD-2-Clause
// A joining layer set up for its inputs: where each of them lies in the local output.
#pragma once

#include "layer/layer.hpp"
#include "linop/conversion.hpp"

namespace tenon {

class JoinSetup final : public Setup {
public:
  // dim is -1 where every input covers the output.
  JoinSetup(const Layer& layer, const Form& form, int dim);

  std::unique_ptr<Frame> makeFrame() override { return std::make_unique<Frame>(); }
  void applyMany(Inputs x, DTensor& y, Frame& frame, bool training) override;
  void tangentMany(Frame& frame, Inputs dx, DTensor& dy) override;
  void adjointMany(Frame& frame, const DTensor& dy, InputCotangents dx) override;
  std::string describe() const override;
  Index bytes() const override;

private:
  struct Place {
    Ref<Conversion> toUse;          // null where the input's memory serves as it is
    Ref<DTensor> use, useCotangent; // null likewise
    Index begin = 0;                // along the dimension, in the local output
  };

  void join(Inputs x, DTensor& y);

  int dim_;
  std::vector<Place> places_;
};

} // namespace tenon
