// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: linear operators. */
#ifndef TENON_CXX_LINEAROP_HPP
#define TENON_CXX_LINEAROP_HPP

#include <tenon/cxx/dtensor.hpp>

namespace tenon {

class LinearOp : public Handle<TenonLinearOp> {
public:
  using Handle::Handle;
  static LinearOp conversion(const Layout& from, const Layout& to, TenonDataType type,
                             const Where& where = Where::current()) {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateConversion, from, to, type, made.out());
    return made;
  }
  static LinearOp halo(const Layout& from, const Layout& to, TenonDataType type,
                       const Where& where = Where::current()) {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateHalo, from, to, type, made.out());
    return made;
  }
  LinearOp share(const Where& where = Where::current()) const { return LinearOp(retained(where)); }
  LinearOp adjoint(const Where& where = Where::current()) const {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateAdjoint, get(), made.out());
    return made;
  }

  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApply, get(), x.get(), y.get());
  }
  void applyAdjoint(const DTensor& y, DTensor& x, const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApplyAdjoint, get(), y.get(), x.get());
  }
  void applyAdd(double alpha, const DTensor& x, double beta, DTensor& y,
                const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApplyAdd, get(), alpha, x.get(), beta, y.get());
  }
  void applyAdjointAdd(double alpha, const DTensor& y, double beta, DTensor& x,
                       const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpApplyAdjointAdd, get(), alpha, y.get(), beta, x.get());
  }
  /** Of a Jacobian (Layer::jacobian()): moves it to another point. */
  void setPoint(const DTensor& x, const Where& where = Where::current()) {
    detail::run(where, TenonLinearOpJacobianSetPoint, get(), x.get());
  }
  /** The relative difference of the two pairings. */
  double testAdjoint(TenonInt seed, bool integers = false, const Where& where = Where::current()) {
    double relative = 0;
    detail::run(where, TenonLinearOpTestAdjoint, get(), seed, integers ? TENON_TRUE : TENON_FALSE,
                nullptr, nullptr, &relative);
    return relative;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonObjectView, object());
  }
};

} // namespace tenon

#endif
