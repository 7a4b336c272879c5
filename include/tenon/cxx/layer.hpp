// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: layers. */
#ifndef TENON_CXX_LAYER_HPP
#define TENON_CXX_LAYER_HPP

#include <tenon/cxx/linearop.hpp>

#include <string>
#include <type_traits>

namespace tenon {

class Layer : public Handle<TenonLayer> {
public:
  using Handle::Handle;
  /** A layer of a type: "conv", "affine", "tanh", "sequential", ... See TenonLayerSetType(). */
  Layer(MPI_Comm comm, const char* type, const Where& where = Where::current()) {
    detail::run(where, TenonLayerCreate, comm, out());
    detail::run(where, TenonLayerSetType, get(), type);
  }
  static Layer fromFile(MPI_Comm comm, const std::string& nameOrPath,
                        const Where& where = Where::current()) {
    Layer made;
    detail::run(where, TenonLayerCreateFromFile, comm, nameOrPath.c_str(), made.out());
    return made;
  }
  Layer share(const Where& where = Where::current()) const { return Layer(retained(where)); }

  /** Settings by name: set("kernel", {3, 3}).set("in_channels", 1).set("data_type", "float64"). */
  Layer& set(const char* name, Ints values, const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetIntegers, object(), name, static_cast<TenonInt>(values.size()),
                values.data());
    return *this;
  }
  template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
  Layer& set(const char* name, T value, const Where& where = Where::current()) {
    if constexpr (std::is_same_v<T, bool>) {
      detail::run(where, TenonObjectSetBool, object(), name, value ? TENON_TRUE : TENON_FALSE);
    } else if constexpr (std::is_integral_v<T>) {
      const auto number = static_cast<TenonInt>(value);
      detail::run(where, TenonObjectSetIntegers, object(), name, TenonInt(1), &number);
    } else {
      detail::run(where, TenonObjectSetReal, object(), name, static_cast<double>(value));
    }
    return *this;
  }
  Layer& set(const char* name, const char* text, const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetText, object(), name, text);
    return *this;
  }
  Layer& setFromOptions(const Where& where = Where::current()) {
    detail::run(where, TenonObjectSetFromOptions, object());
    return *this;
  }
  /** Of a sequential layer: the next layer. */
  Layer& add(const Layer& layer, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSequentialAdd, get(), layer.get());
    return *this;
  }
  /** Of a graph: a node that reads these inputs; its number. */
  int addNode(const Layer& layer, List<int> inputs, const Where& where = Where::current()) {
    int node = 0;
    detail::run(where, TenonLayerGraphAddNode, get(), layer.get(), static_cast<int>(inputs.size()),
                inputs.data(), &node);
    return node;
  }

  /** Where its tensors are and its kernels run, before setUp(). */
  Layer& setSpace(TenonMemorySpace space, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetSpace, get(), space);
    return *this;
  }
  void setUp(const Layout& input, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetUp, get(), input);
  }
  void initialize(TenonInt seed, const Where& where = Where::current()) {
    detail::run(where, TenonLayerInitialize, get(), seed);
  }
  void loadWeights(const std::string& path, const char* map = nullptr,
                   const Where& where = Where::current()) {
    detail::run(where, TenonLayerLoadWeights, get(), path.c_str(), map);
  }
  void saveWeights(const std::string& path, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSaveWeights, get(), path.c_str());
  }
  Layout outputLayout(const Where& where = Where::current()) const {
    Layout made;
    detail::run(where, TenonLayerGetOutputLayout, get(), made.out());
    return made;
  }
  DTensor createOutput(const Where& where = Where::current()) {
    return made(TenonLayerCreateOutput, where);
  }
  DTensor createOutputCotangent(const Where& where = Where::current()) {
    return made(TenonLayerCreateOutputCotangent, where);
  }
  DTensor createInputCotangent(const Where& where = Where::current()) {
    return made(TenonLayerCreateInputCotangent, where);
  }

  int parameterCount(const Where& where = Where::current()) const {
    int count = 0;
    detail::run(where, TenonLayerGetParameterCount, get(), &count);
    return count;
  }
  DTensor parameter(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetParameter, where, index);
  }
  DTensor parameter(const char* path, const Where& where = Where::current()) {
    return made(TenonLayerGetParameterAt, where, path);
  }
  DTensor parameterGradient(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetParameterGradient, where, index);
  }
  DTensor reducedGradient(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetReducedGradient, where, index);
  }
  DTensor parameterTangent(int index, const Where& where = Where::current()) {
    return made(TenonLayerGetParameterTangent, where, index);
  }

  void setTraining(bool training, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetTraining, get(), training ? TENON_TRUE : TENON_FALSE);
  }
  void setFrozen(bool frozen, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetFrozen, get(), frozen ? TENON_TRUE : TENON_FALSE);
  }
  void setTarget(const DTensor& target, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetTarget, get(), target.get());
  }
  void setTargetWeights(const DTensor& weights, const Where& where = Where::current()) {
    detail::run(where, TenonLayerSetTargetWeights, get(), weights.get());
  }
  void apply(const DTensor& x, DTensor& y, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApply, get(), x.get(), y.get());
  }
  void applyTangent(const DTensor& dx, DTensor& dy, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApplyTangent, get(), dx.get(), dy.get());
  }
  void applyAdjoint(const DTensor& dy, DTensor& dx, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApplyAdjoint, get(), dy.get(), dx.get());
  }
  /** The gradients of the parameters alone. */
  void applyAdjoint(const DTensor& dy, const Where& where = Where::current()) {
    detail::run(where, TenonLayerApplyAdjoint, get(), dy.get(), nullptr);
  }
  void zeroGradients(const Where& where = Where::current()) {
    detail::run(where, TenonLayerZeroGradients, get());
  }
  /** The derivative at x as an operator; see TenonLinearOpCreateJacobian(). */
  LinearOp jacobian(const DTensor& x, const Where& where = Where::current()) {
    LinearOp made;
    detail::run(where, TenonLinearOpCreateJacobian, get(), x.get(), made.out());
    return made;
  }
  /** The relative difference of the dot test of tangent and adjoint at x. */
  double testAdjoint(const DTensor& x, TenonInt seed, const Where& where = Where::current()) {
    double relative = 0;
    detail::run(where, TenonLayerTestAdjoint, get(), x.get(), seed, nullptr, nullptr, &relative);
    return relative;
  }
  /** The order of the Taylor test at x: 2 for a right derivative. */
  double testTaylor(const DTensor& x, TenonInt seed, const Where& where = Where::current()) {
    double order = 0;
    detail::run(where, TenonLayerTestTaylor, get(), x.get(), seed, &order, nullptr);
    return order;
  }
  void view(const Where& where = Where::current()) const {
    detail::run(where, TenonObjectView, object());
  }

private:
  template <class Function, class... Arguments>
  DTensor made(Function function, const Where& where, Arguments... arguments) {
    DTensor tensor;
    detail::run(where, function, get(), arguments..., tensor.out());
    return tensor;
  }
};

} // namespace tenon

#endif
