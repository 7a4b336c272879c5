// SPDX-License-Identifier: BSD-2-Clause
// Declares `degreeproduct`, which multiplies spherical harmonic coefficients [batch, channel,
// orders, degrees, 2] by a number f(l) of each degree: the Laplacian on a sphere of radius 1, its
// inverse, or the decay of diffusion over a time of 1. All of them commute with rotations of the
// sphere. The kernel is a single strided product, and every split of the coefficients is possible.
// declareDegreeProduct() is declared in core/types.hpp.
//
// Labels: S0, S1, ... (splits dimension 0, 1, ...), B, R, P.
#include "declaration/core/elementwise.hpp"
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/errors/error.hpp"
#include "sys/log/log.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace tenon {

namespace {

constexpr int kDegreesAt = 3; // the dimension of degrees

constexpr OptionSpec kDegreeProductSettings[] = {
    {"filter", OptionSpec::Choice, nullptr,
     "f(l): laplacian -l(l+1), inverse_laplacian -1/(l(l+1)) and 0 for l = 0, diffusion "
     "exp(-rate (l(l+1))^power)",
     "laplacian|inverse_laplacian|diffusion"},
    {"rate", OptionSpec::Real, "0", "rate of diffusion", nullptr, atLeast(0)},
    {"power", OptionSpec::Real, "1", "power of the Laplacian in diffusion", nullptr, atLeast(0)},
};

// Multiplies by the factors of this rank's degrees. The map is its own adjoint.
template <class T>
class LocalDegreeFactors final : public LinearKernel {
public:
  LocalDegreeFactors(const KernelPlace& at, const std::vector<T>& factors)
      : factors_(*at.context, factors) {}
  void map(const LocalArray& x, LocalArray& y) override {
    Strides along{};
    along[kDegreesAt] = 1;
    setZero(y);
    blockMultiplyAdd<T>(y.context(), y.ndim(), y.extent().data(), T(1), factors_.data(),
                        along.data(), x.data<T>(), x.strides(), y.mutableData<T>(), y.strides());
    logFlops(double(y.elements()));
  }
  void mapAdjoint(const LocalArray& dy, LocalArray& dx) override { map(dy, dx); }
  std::string describe() const override { return "a factor for each degree"; }

private:
  ReadList<T> factors_;
};

class DegreeProduct final : public Elementwise {
public:
  DegreeProduct() : Elementwise("degreeproduct", kDegreeProductSettings) {}

  Shape outputShape(const std::vector<Shape>& inputs) const override {
    const Shape& c = inputs.front();
    if (c.size() != 5 || c[4] != 2)
      throw Error(TENON_ERR_SHAPE,
                  fmt::format("the coefficients have shape [{}], but {} needs [batch, channel, "
                              "orders, degrees, 2], with real and imaginary part last",
                              fmt::join(c, ","), title()));
    return c;
  }
  Form form(const Layouts& inputs, const Choice& choice) const override {
    outputShape({inputs.front().shape()});
    return Elementwise::form(inputs, choice);
  }
  KernelEntry kernel(const Form&) const override { return {.name = type(), .anyStrides = true}; }
  std::unique_ptr<ArrayKernel> makeKernel(const KernelPlace& at) const override {
    return visitFloating(at.type, [&]<class T>(T) -> std::unique_ptr<ArrayKernel> {
      std::vector<T> factors;
      for (Index l = at.input()[kDegreesAt].begin; l < at.input()[kDegreesAt].end; ++l)
        factors.push_back(static_cast<T>(factorOf(l)));
      return std::make_unique<LocalDegreeFactors<T>>(at, factors);
    });
  }
  Work work(const Form& form, int position) const override {
    const double flops = double(elements(form.output.box(position)));
    return {.forward = flops, .adjoint = flops};
  }
  std::string summary() const override { return text("filter"); }
  Example example(ExampleDraw& draw) const override {
    return {{{"filter", std::string(draw.of({"laplacian", "inverse_laplacian", "diffusion"}))},
             {"rate", 0.1},
             {"power", double(draw.between(1, 2))}},
            {{draw.between(1, 3), draw.between(1, 3), draw.between(1, 5), draw.between(1, 6), 2}}};
  }

private:
  bool isLinear() const override { return true; }

  double factorOf(Index l) const {
    const double eigenvalue = double(l) * double(l + 1);
    if (text("filter") == "laplacian")
      return -eigenvalue;
    if (text("filter") == "inverse_laplacian")
      return l == 0 ? 0 : -1 / eigenvalue;
    return std::exp(-real("rate") * std::pow(eigenvalue, real("power")));
  }
};

} // namespace

std::unique_ptr<Declaration> declareDegreeProduct() {
  return std::make_unique<DegreeProduct>();
}

} // namespace tenon
