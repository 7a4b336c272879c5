// SPDX-License-Identifier: BSD-2-Clause
// Runs the test stored in a model's file: inputs, and the results that the exporting program
// computed from them, with gradients if the file has them.
//
//   layoutsLike()   distributes the test's inputs like the inputs of this run
//   readArrays()    every rank reads the complete arrays of the test
//   evaluate()      Apply and adjoint of a new instance of the network, section by section
//   compare()       gathers the results on all ranks, which thus reach the same verdict
//
// The float64 run finds errors of the import (a wrong weight, index order, boundary or halo), which
// exceed its tolerance by orders of magnitude. The run in the layer's own precision tests the
// kernels that the layer will use.
//
// A network on the sphere has tables of Legendre functions in float32, which layers do not read but
// compute, to more digits. The float64 run then has the tables of the file, as products with
// constants; what the layers compute is compared within the rounding of such tables, the file's
// tolerance for float32.
//
// collectively(comm, f) in this file runs f on every rank; if f throws on one rank, all ranks
// throw.
#include "layer/networks/model_proof.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/batched.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "dtensor/host_view.hpp"
#include "layer/core/parameter.hpp"
#include "layer/networks/model.hpp"
#include "layer/networks/model_sections.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/text/text.hpp"
#include "weights/weights_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace tenon {

namespace {

// The limit on the size of an array: every rank holds complete copies of the test's arrays.
constexpr Index kMaxTestBytes = Index(64) << 20;
// Least divisor of a relative difference, if all expected numbers are 0.
constexpr double kNotZero = 1e-300;

// All elements of a tensor in the file, in row-major order.
std::vector<double> numbersOf(const ByteSource& file, const StoredTensor& tensor) {
  if (tensor.bytes > kMaxTestBytes)
    file.fail(tensor.name, fmt::format("its {} bytes are too many for a test; at most {} are read",
                                       tensor.bytes, kMaxTestBytes));
  std::vector<WeightsFile::Part> parts(tensor.shape.size());
  Index stride = 1;
  for (std::size_t d = parts.size(); d-- > 0; stride *= tensor.shape[d])
    parts[d] = {0, tensor.shape[d], stride};
  std::vector<double> all(static_cast<std::size_t>(stride));
  readBlock(file, tensor, parts, all.data());
  return all;
}

// The layout with a copy of the whole tensor on every rank of the grid.
Layout replicated(const Layout& pattern) {
  return Layout({.shape = pattern.shape(),
                 .grid = pattern.gridPtr(),
                 .properties = Properties(pattern.grid().axes(), Property::broadcast())});
}

// Describes the largest difference, relative to the largest expected number, and its position; ""
// if it is within the tolerance.
std::string differenceOf(const std::string& what, const Shape& shape,
                         const std::vector<double>& computed, const std::vector<double>& expected,
                         double tolerance) {
  if (computed.empty()) // a rank outside the process grid
    return "";
  std::size_t worst = 0;
  double maxDifference = -1, largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(computed[i] - expected[i]);
    largest = std::max(largest, std::abs(expected[i]));
    if (!(difference <= maxDifference)) { // also true for NaN
      maxDifference = std::isnan(difference) ? HUGE_VAL : difference;
      worst = i;
    }
  }
  const double relative = maxDifference <= 0 ? 0 : maxDifference / std::max(largest, kNotZero);
  if (relative <= tolerance)
    return "";
  std::vector<Index> index(shape.size());
  auto rest = static_cast<Index>(worst);
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
    index[d] = rest % shape[d];
  return fmt::format("{} differs by {:.1e}, allowed {:.1e}, at [{}]: {:.9g} for {:.9g}", what,
                     relative, tolerance, fmt::join(index, ","), computed[worst], expected[worst]);
}

// Describes the norm of the difference, relative to the norm of the expected numbers, and where the
// difference is largest; "" if it is within the tolerance. At a kink, such as that of relu at 0,
// rounding can change a derivative by any amount, so single elements of a gradient are not judged
// in float32.
std::string normDifferenceOf(const std::string& what, const Shape& shape,
                             const std::vector<double>& computed,
                             const std::vector<double>& expected, double tolerance) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < std::min(computed.size(), expected.size()); ++i) {
    difference += (computed[i] - expected[i]) * (computed[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  const double relative = std::sqrt(difference) / std::max(std::sqrt(norm), kNotZero);
  if (computed.empty() || relative <= tolerance)
    return "";
  return fmt::format("{} differs in its norm by {:.1e}, allowed {:.1e}; its largest element: {}",
                     what, relative, tolerance,
                     differenceOf(what, shape, computed, expected, /*tolerance=*/-1));
}

// The file states the rounding noise of each gradient in float32. A gradient may differ by this
// noise times kShareOfNoise in float32, and times kDigits64 / kDigits32 in float64. kDigits64 is
// above the precision of float64, because the rounding errors of many operations add up.
constexpr double kShareOfNoise = 10, kDigits32 = 6e-8, kDigits64 = 1e-12;

// Instead of whole gradients of parameters, the file stores the product of each gradient with a
// cosine wave, sum over k of gradient[k] cos(k), where k numbers the elements of the file's tensor
// in PyTorch's order. A layer's parameter can be a piece of such a tensor; each rank adds the terms
// of its elements to the product of the tensor, and sum() adds over the ranks.
class ParameterProducts {
public:
  explicit ParameterProducts(const ModelProgram& program)
      : program_(program), products_(program.tensors.size(), 0.0),
        isTrained_(program.tensors.size(), false) {}

  // Excludes tensors that the import has combined with others.
  void exclude(const std::vector<std::string>& folded) {
    folded_.insert(folded.begin(), folded.end());
  }
  // Adds the gradients of the parameters of a section of the network.
  void add(const ImportedNetwork& network, const Layer& layer) {
    for (const ImportedNetwork::Parameter& imported : network.parameters) {
      const Layer& node = *layer.nodes()[static_cast<std::size_t>(imported.node)].layer;
      for (const Ref<Parameter>& parameter : node.ownParameters())
        if (parameter->name() == imported.name && !parameter->isFrozen() &&
            !imported.value.isNumbers())
          add(imported.value, *parameter, layer.comm());
    }
  }

  void sum(const Communicator& comm) {
    checkMpi(MPI_Allreduce(MPI_IN_PLACE, products_.data(), static_cast<int>(products_.size()),
                           MPI_DOUBLE, MPI_SUM, comm.mpi()),
             "MPI_Allreduce");
  }

  // Compares with the test, and returns a text for each difference. `expected` has three numbers
  // per parameter: the product with the wave, the norm of the gradient, and the norm of the float32
  // error of the gradient.
  std::vector<std::string> differences(const ModelTest& test, const std::vector<double>& expected,
                                       double tolerance, double noise) const {
    constexpr double kMin = 1e-4; // relative to the largest gradient: smaller ones are rounding
    std::vector<std::string> failures;
    double largest = 0;
    for (std::size_t i = 0; i < test.parameters.size(); ++i)
      largest = std::max(largest, expected[3 * i + 1]);
    for (std::size_t i = 0; i < test.parameters.size(); ++i) {
      const std::string& name = test.parameters[i];
      const auto tensor = std::ranges::find(program_.tensors, name, &ModelTensor::name);
      const auto index = static_cast<std::size_t>(tensor - program_.tensors.begin());
      if (folded_.contains(name))
        continue;
      if (tensor == program_.tensors.end() || !isTrained_[index]) {
        failures.push_back(fmt::format("parameter {} is not trained here", name));
        continue;
      }
      const double *row = &expected[3 * i], difference = std::abs(products_[index] - row[0]);
      const double allowed = std::max(tolerance * std::max(row[1], kMin * largest), noise * row[2]);
      if (!(difference <= allowed))
        failures.push_back(fmt::format("dL/d{} differs, in its product with a wave, by {:.1e}, "
                                       "allowed {:.1e}: {:.9g} for {:.9g}",
                                       name, difference, allowed, products_[index], row[0]));
    }
    return failures;
  }

private:
  // Adds this rank's elements of one gradient. `value` tells from which tensors of the file the
  // parameter was composed.
  void add(const ModelConstant& value, Parameter& parameter, const CommPtr& comm) {
    const Ref<DTensor> gradient = Ref<DTensor>::share(&parameter.gradient());
    const Ref<DTensor> host = makeRef<DTensor>(comm, gradient->layout(), gradient->dataType());
    copyLocal(*gradient, *host);
    for (const ModelConstant::Piece& piece : value.pieces())
      isTrained_[piece.tensor] = true;
    const Box box = host->box();
    if (elements(box) > 0)
      visitFloating(host->dataType(), [&]<class T>(T) {
        forEachPlace(extents(box), [&](const std::vector<Index>& index, Index place) {
          std::vector<Index> elementIndex = index;
          for (std::size_t d = 0; d < elementIndex.size(); ++d)
            elementIndex[d] += box[d].begin;
          const auto [tensor, number] = positionInFile(value, std::move(elementIndex));
          products_[tensor] += static_cast<double>(std::as_const(*host).template data<T>()[place]) *
                               std::cos(static_cast<double>(number));
        });
      });
  }
  // The tensor of the file that holds an element, and the element's index in it in PyTorch's order.
  // Along the dimension value.dim() the parameter consists of pieces of tensors, one after another.
  std::pair<std::size_t, Index> positionInFile(const ModelConstant& value,
                                               std::vector<Index> elementIndex) const {
    const ModelConstant::Piece* piece = &value.pieces().front();
    const auto along = static_cast<std::size_t>(value.dim());
    for (std::size_t p = 0; p + 1 < value.pieces().size() && elementIndex[along] >= piece->extent;
         ++p) {
      elementIndex[along] -= piece->extent;
      piece = &value.pieces()[p + 1];
    }
    const ModelTensor& tensor = program_.tensors[piece->tensor];
    Index number = 0;
    for (const int axis : tensor.axes) {
      number *= tensor.stored.shape[static_cast<std::size_t>(axis)];
      for (std::size_t d = 0; d < piece->axes.size(); ++d)
        if (piece->axes[d] == axis)
          number += piece->begin[d] + elementIndex[d];
      for (const auto& [dropped, index] : piece->at)
        if (dropped == axis)
          number += index;
    }
    return {piece->tensor, number};
  }

  const ModelProgram& program_;
  std::vector<double> products_; // by tensor of the file; before sum(), of this rank
  std::vector<bool> isTrained_;  // by tensor: whether a parameter of a layer has it
  std::set<std::string> folded_; // tensors that the import has combined with others: not compared
};

// One run of the test in one precision: the arrays of the file, and the results of a new instance
// of the network.
class ProofRun {
public:
  ProofRun(const Layer& layer, SectionedModel::How how, ModelTables tables)
      : layer_(layer), model_(*modelOf(layer)->file()), test_(*model_.program().test),
        how_(std::move(how)), tables_(tables), gradients_(model_.program()) {}

  void run(const Layouts& inputs) {
    layoutsLike(inputs);
    ImportedNetwork whole = importedNetwork();
    isExact_ = how_.type == TENON_FLOAT64 && !whole.computesTables;
    gradients_.exclude(whole.folded);
    SectionedModel network(layer_, std::move(whole), how_);
    readArrays(network.outputCount());
    std::vector<Ref<DTensor>> x;
    std::vector<bool> isWanted; // no gradient is computed if the file has none
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      x.push_back(spread(layouts_[i], storedInputs_.values[i]));
      isWanted.push_back(!storedInputs_.derivatives[i].empty());
    }
    const auto cotangentOf = [&](std::size_t output, const Layout& layout) {
      checkOutput(output, layout.shape());
      return spread(layout.dual(), storedOutputs_.derivatives[output]);
    };
    if (test_.cotangents.empty()) {
      network.evaluate(x, isWanted, {});
      for (std::size_t i = 0; i < network.outputCount(); ++i)
        checkOutput(i, network.output(i).layout().shape());
    } else if (test_.parameterGradients)
      network.evaluate(x, isWanted, cotangentOf,
                       [&](const ImportedNetwork& section, const Layer& layer) {
                         gradients_.add(section, layer);
                       });
    else
      network.evaluate(x, isWanted, cotangentOf);
    if (test_.parameterGradients)
      gradients_.sum(*layer_.comm());
    compare(network);
  }

private:
  // The arrays in the file for the inputs, or for the outputs; one array per input or output.
  struct StoredArrays {
    std::vector<std::vector<double>> values;
    // The expected gradients of inputs, or the cotangents of outputs at which the adjoint begins.
    std::vector<std::vector<double>> derivatives;
  };

  // The layouts of the test's inputs: distributed like the inputs of this run.
  void layoutsLike(const Layouts& inputs) {
    collectively(*layer_.comm(), [&] {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Layout& inputOfRun = inputs[i];
        if (test_.inputs[i].shape.size() != inputOfRun.shape().size())
          throw Error(TENON_ERR_FORMAT, fmt::format("{}: the test's input {} has another number of "
                                                    "dimensions than the model's",
                                                    model_.path(), i));
        layouts_.push_back(Layout({.shape = test_.inputs[i].shape,
                                   .grid = inputOfRun.gridPtr(),
                                   .properties = inputOfRun.properties()}));
      }
      return true;
    });
  }

  // The network for the extents of the test.
  ImportedNetwork importedNetwork() const {
    return collectively(*layer_.comm(), [&] {
      std::vector<Shape> shapes;
      for (const Layout& input : layouts_)
        shapes.push_back(input.shape());
      return importNetwork(model_.program(), *model_.open(), shapes, ModelMode::Inference, tables_);
    });
  }

  void readArrays(std::size_t outputs) {
    collectively(*layer_.comm(), [&] {
      const std::unique_ptr<ByteSource> file = model_.open();
      for (std::size_t i = 0; i < layouts_.size(); ++i) {
        storedInputs_.values.push_back(numbersOf(*file, test_.inputs[i]));
        storedInputs_.derivatives.push_back(
            test_.gradients[i] ? numbersOf(*file, *test_.gradients[i]) : std::vector<double>());
      }
      for (std::size_t i = 0; i < outputs; ++i) {
        storedOutputs_.values.push_back(numbersOf(*file, test_.outputs[i]));
        if (!test_.cotangents.empty())
          storedOutputs_.derivatives.push_back(numbersOf(*file, test_.cotangents[i]));
      }
      if (test_.parameterGradients)
        parameters_ = numbersOf(*file, *test_.parameterGradients);
      return true;
    });
  }

  void checkOutput(std::size_t number, const Shape& shape) const {
    collectively(*layer_.comm(), [&] {
      const StoredTensor& stored = test_.outputs[number];
      if (elements(shape) != elements(stored.shape))
        throw Error(TENON_ERR_FORMAT,
                    fmt::format("{}: the test's output has shape [{}], but the network gives [{}]",
                                model_.path(), fmt::join(stored.shape, ","),
                                fmt::join(shape, ",")));
      return true;
    });
  }

  // spread() returns a tensor in this layout, whose elements all ranks have in `all`. collected()
  // returns all elements of a tensor, on all ranks.
  Ref<DTensor> spread(const Layout& layout, const std::vector<double>& all) const {
    const Layout copies = replicated(layout);
    const Ref<DTensor> whole = makeRef<DTensor>(layer_.comm(), copies, how_.type);
    if (whole->localElements() > 0)
      visitFloating(how_.type, [&]<class T>(T) {
        std::transform(all.begin(), all.end(), whole->mutableData<T>(),
                       [](double value) { return static_cast<T>(value); });
      });
    const Ref<DTensor> host = makeRef<DTensor>(layer_.comm(), layout, how_.type);
    makeConversion(layer_.comm(), copies, layout, how_.type)->apply(*whole, *host);
    Ref<DTensor> made = makeRef<DTensor>(layer_.comm(), layout, how_.type, how_.space);
    copyLocal(*host, *made);
    return made;
  }

  std::vector<double> collected(const DTensor& x) const {
    const Ref<DTensor> host = makeRef<DTensor>(layer_.comm(), x.layout(), x.dataType());
    copyLocal(x, *host);
    const Layout copies = replicated(x.layout());
    const Ref<DTensor> whole = makeRef<DTensor>(layer_.comm(), copies, x.dataType());
    makeConversion(layer_.comm(), x.layout(), copies, x.dataType())->apply(*host, *whole);
    return visitFloating(x.dataType(), [&]<class T>(T) {
      const DTensor& computed = *whole;
      return std::vector<double>(computed.data<T>(), computed.data<T>() + whole->localElements());
    });
  }

  void compare(const SectionedModel& network) const {
    // In float32, gradients of inputs are compared by their norms if the file has a tolerance for
    // it (see normDifferenceOf()).
    const bool isByNorm = !isExact_ && test_.gradientTolerance32;
    const double tolerance = isExact_ ? test_.tolerance64 : test_.tolerance32;
    const double ofGradients = isByNorm ? *test_.gradientTolerance32 : tolerance;
    std::vector<std::string> differences;
    const auto add = [&](auto describe, const std::string& what, const DTensor& computed,
                         const std::vector<double>& expected, double allowed) {
      differences.push_back(
          describe(what, computed.layout().shape(), collected(computed), expected, allowed));
    };
    const std::vector<std::string> names = layer_.outputNames();
    for (std::size_t i = 0; i < network.outputCount(); ++i)
      add(differenceOf, names[i], network.output(i), storedOutputs_.values[i], tolerance);
    for (std::size_t i = 0; i < layouts_.size(); ++i)
      if (!storedInputs_.derivatives[i].empty())
        add(isByNorm ? normDifferenceOf : differenceOf, "dL/d" + model_.program().inputs[i].name,
            network.cotangent(i), storedInputs_.derivatives[i], ofGradients);
    if (test_.parameterGradients)
      for (std::string& difference : gradients_.differences(
               test_, parameters_, ofGradients, isExact_ ? kDigits64 / kDigits32 : kShareOfNoise))
        differences.push_back(std::move(difference));
    std::erase(differences, "");
    collectively(*layer_.comm(), [&] {
      if (!differences.empty())
        throw Error(
            TENON_ERR_TEST,
            fmt::format("{} does not give its own results on this run ({}, inputs {}): {}. Run "
                        "it on one process: if that fails too, the file was changed or does "
                        "not say what the model computes; otherwise report it as a fault of "
                        "Tenon. -tenon_model_test off goes on without the test",
                        model_.path(), dataTypeName(how_.type), layouts_.front().describe(),
                        joined(differences, "; ")));
      return true;
    });
  }

  const Layer& layer_;
  const ModelFile& model_;
  const ModelTest& test_;
  const SectionedModel::How how_;
  const ModelTables tables_;
  bool isExact_ = false; // the network computes with all digits of the file
  Layouts layouts_;      // of the inputs
  StoredArrays storedInputs_, storedOutputs_;
  ParameterProducts gradients_;
  std::vector<double> parameters_; // see ParameterProducts::differences()
};

} // namespace

// Runs the test in one or two precisions, as the setting model_test (`how`) says. Collective.
bool proveModel(const Layer& layer, const Layouts& inputs, const std::string& how) {
  if (!modelOf(layer)->file()->program().test)
    return false;
  // The layer is being set up, and its ranks agree only at the end. The test needs communicators
  // now, so its agreements are made separately.
  const UnbatchedAgreements separateAgreements(*layer.comm());
  const SectionedModel::How exact = {
      .type = TENON_FLOAT64, .space = Space::Host, .backend = "auto"};
  if (how == "both")
    ProofRun(layer, exact, ModelTables::OfFile).run(inputs);
  // On the host in float64 the run would repeat the first test, unless layers compute tables.
  const auto backend = layer.declaration().value<std::string>("backend");
  const bool isSame = layer.dataType() == TENON_FLOAT64 && layer.space() == Space::Host &&
                      backend == "auto" && !modelOf(layer)->network().computesTables;
  if (how != "both" || !isSame)
    ProofRun(layer, {.type = layer.dataType(), .space = layer.space(), .backend = backend},
             ModelTables::Computed)
        .run(inputs);
  return true;
}

} // namespace tenon
