// SPDX-License-Identifier: BSD-2-Clause
// A layer set up for one list of input layouts, and what one Apply of it leaves for its adjoint.
//
// A layer maps its inputs x_1 .. x_k to one output y. Tangent and adjoint are those of the joint
// map:  dy = sum over i of J_i dx_i,  dx_i = J_i* dy.
#pragma once

#include "declaration/form.hpp"
#include "dtensor/dtensor.hpp"

#include <memory>
#include <span>

namespace tenon {

// One tensor for each input of a layer, in their order. Null is zero in a tangent, and "not wanted"
// in an adjoint.
using Inputs = std::span<const DTensor* const>;
using InputCotangents = std::span<DTensor* const>;

class Frame {
public:
  virtual ~Frame() = default;
  // Lets go of the tensors that it refers to.
  virtual void drop() noexcept {}
  // Memory of its own, allocated now.
  virtual Index bytes() const { return 0; }
};

class Setup {
public:
  Setup(Layouts inputs, Layout output)
      : inputs_(std::move(inputs)), output_(std::move(output)), outputDual_(output_.dual()) {
    for (const Layout& input : inputs_)
      inputDuals_.push_back(input.dual());
  }
  virtual ~Setup() = default;

  const Layouts& inputs() const noexcept { return inputs_; }
  const Layouts& inputDuals() const noexcept { return inputDuals_; }
  const Layout& output() const noexcept { return output_; }
  const Layout& outputDual() const noexcept { return outputDual_; }

  virtual std::unique_ptr<Frame> makeFrame() = 0;
  // Keeps in the frame what the adjoint needs if `training`, else uses it as scratch alone.
  virtual void applyMany(Inputs x, DTensor& y, Frame& frame, bool training) = 0;
  // dy <- J dx + (derivative in the parameters' tangents) at the frame's point.
  virtual void tangentMany(Frame& frame, Inputs dx, DTensor& dy) = 0;
  // dx <- J* dy; the parameters' gradients accumulate.
  virtual void adjointMany(Frame& frame, const DTensor& dy, InputCotangents dx) = 0;
  virtual std::string describe() const = 0;
  // Memory of its own, allocated now; the frames and parameters apart.
  virtual Index bytes() const = 0;

private:
  Layouts inputs_, inputDuals_;
  Layout output_, outputDual_;
};

} // namespace tenon
