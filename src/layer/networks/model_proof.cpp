// SPDX-License-Identifier: BSD-2-Clause
// Runs the test that a model's file holds. float64 finds what is wrong (a weight, an order, a
// boundary, a halo) by orders of magnitude, the run's own precision whether its kernels are right.
// The results are brought to all ranks and compared there, so that all come to the same verdict.
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

// All ranks hold all of a test's arrays.
constexpr Index kMaxTestBytes = Index(64) << 20;

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

Layout everywhere(const Layout& like) {
  return Layout({.shape = like.shape(),
                 .grid = like.gridPtr(),
                 .properties = Properties(like.grid().axes(), Property::broadcast())});
}

// The largest difference, as a part of the largest number, and where it is; "" if it is allowed.
std::string differenceOf(const std::string& what, const Shape& shape,
                         const std::vector<double>& found, const std::vector<double>& wanted,
                         double tolerance) {
  if (found.empty()) // a rank outside the grid
    return "";
  std::size_t worst = 0;
  double most = -1, largest = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::abs(found[i] - wanted[i]);
    largest = std::max(largest, std::abs(wanted[i]));
    if (!(difference <= most)) { // also where it is no number
      most = std::isnan(difference) ? HUGE_VAL : difference;
      worst = i;
    }
  }
  const double relative = most <= 0 ? 0 : most / std::max(largest, 1e-300);
  if (relative <= tolerance)
    return "";
  std::vector<Index> index(shape.size());
  auto rest = static_cast<Index>(worst);
  for (std::size_t d = shape.size(); d-- > 0; rest /= shape[d])
    index[d] = rest % shape[d];
  return fmt::format("{} differs by {:.1e}, allowed {:.1e}, at [{}]: {:.9g} for {:.9g}", what,
                     relative, tolerance, fmt::join(index, ","), found[worst], wanted[worst]);
}

// How far a gradient may be off: so many times what float32 is off, in float32; in float64 by its
// digits fewer, and a product of many numbers has as many roundings.
constexpr double kShareOfNoise = 10, kDigits32 = 6e-8, kDigits64 = 1e-12;

// The products of the gradients of the model's parameters with a wave, by the tensors of the file,
// of which the network's own parameters are pieces. Each rank adds its elements.
class ParameterProducts {
public:
  explicit ParameterProducts(const ModelProgram& program)
      : program_(program), products_(program.tensors.size(), 0.0),
        isTrained_(program.tensors.size(), false) {}

  void add(const ImportedNetwork& network, const Layer& layer) {
    folded_.insert(network.folded.begin(), network.folded.end());
    for (const ImportedNetwork::Parameter& its : network.parameters) {
      const Layer& node = *layer.nodes()[static_cast<std::size_t>(its.node)].layer;
      for (const Ref<Parameter>& parameter : node.ownParameters())
        if (parameter->name() == its.name && !parameter->isFrozen() && !its.value.isNumbers())
          add(its.value, *parameter, layer.comm());
    }
  }

  void sum(const Communicator& comm) {
    checkMpi(MPI_Allreduce(MPI_IN_PLACE, products_.data(), static_cast<int>(products_.size()),
                           MPI_DOUBLE, MPI_SUM, comm.mpi()),
             "MPI_Allreduce");
  }

  // `wanted` has three numbers for each parameter of the test.
  std::vector<std::string> differences(const ModelTest& test, const std::vector<double>& wanted,
                                       double tolerance, double noise) const {
    constexpr double kMin = 1e-4; // of the largest gradient: what is smaller is rounding
    std::vector<std::string> found;
    double largest = 0;
    for (std::size_t i = 0; i < test.parameters.size(); ++i)
      largest = std::max(largest, wanted[3 * i + 1]);
    for (std::size_t i = 0; i < test.parameters.size(); ++i) {
      const std::string& name = test.parameters[i];
      const auto tensor = std::ranges::find(program_.tensors, name, &ModelTensor::name);
      const auto place = static_cast<std::size_t>(tensor - program_.tensors.begin());
      if (folded_.contains(name))
        continue;
      if (tensor == program_.tensors.end() || !isTrained_[place]) {
        found.push_back(fmt::format("parameter {} is not trained here", name));
        continue;
      }
      const double *row = &wanted[3 * i], difference = std::abs(products_[place] - row[0]);
      const double allowed = std::max(tolerance * std::max(row[1], kMin * largest), noise * row[2]);
      if (!(difference <= allowed))
        found.push_back(fmt::format("dL/d{} differs, in its product with a wave, by {:.1e}, "
                                    "allowed {:.1e}: {:.9g} for {:.9g}",
                                    name, difference, allowed, products_[place], row[0]));
    }
    return found;
  }

private:
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
          std::vector<Index> at = index;
          for (std::size_t d = 0; d < at.size(); ++d)
            at[d] += box[d].begin;
          const auto [tensor, number] = placeOf(value, std::move(at));
          products_[tensor] += static_cast<double>(std::as_const(*host).template data<T>()[place]) *
                               std::cos(static_cast<double>(number));
        });
      });
  }
  // The tensor of the file in which an element is, and its number there in PyTorch's order.
  std::pair<std::size_t, Index> placeOf(const ModelConstant& value, std::vector<Index> at) const {
    const ModelConstant::Piece* its = &value.pieces().front();
    const auto along = static_cast<std::size_t>(value.dim());
    for (std::size_t p = 0; p + 1 < value.pieces().size() && at[along] >= its->extent; ++p) {
      at[along] -= its->extent;
      its = &value.pieces()[p + 1];
    }
    const ModelTensor& tensor = program_.tensors[its->tensor];
    Index number = 0;
    for (const int axis : tensor.axes) {
      number *= tensor.stored.shape[static_cast<std::size_t>(axis)];
      for (std::size_t d = 0; d < its->axes.size(); ++d)
        if (its->axes[d] == axis)
          number += its->begin[d] + at[d];
    }
    return {its->tensor, number};
  }

  const ModelProgram& program_;
  std::vector<double> products_;
  std::vector<bool> isTrained_;
  std::set<std::string> folded_;
};

// One run of the test: the file's arrays, and what another instance of the network makes of them.
class ProofRun {
public:
  ProofRun(const Layer& layer, SectionedModel::How how)
      : layer_(layer), model_(*modelOf(layer)->file()), test_(*model_.program().test),
        how_(std::move(how)), gradients_(model_.program()) {}

  void run(const Layouts& inputs) {
    layoutsLike(inputs);
    SectionedModel network(layer_, importedNetwork(), how_);
    readArrays(network.outputCount());
    std::vector<Ref<DTensor>> x;
    std::vector<bool> isWanted; // no gradient where the file has none
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      x.push_back(spread(layouts_[i], in_.values[i]));
      isWanted.push_back(!in_.derivatives[i].empty());
    }
    const auto cotangentOf = [&](std::size_t output, const Layout& layout) {
      checkOutput(output, layout.shape());
      return spread(layout.dual(), out_.derivatives[output]);
    };
    if (test_.parameterGradients)
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
  // What the file has of the inputs or outputs.
  struct Stored {
    std::vector<std::vector<double>> values, derivatives; // derivatives: gradients or cotangents
  };

  // The test's inputs as the run's are laid out.
  void layoutsLike(const Layouts& inputs) {
    collectively(*layer_.comm(), [&] {
      for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Layout& run = inputs[i];
        if (test_.inputs[i].shape.size() != run.shape().size())
          throw Error(TENON_ERR_FORMAT, fmt::format("{}: the test's input {} has another number of "
                                                    "dimensions than the model's",
                                                    model_.path(), i));
        layouts_.push_back(Layout({.shape = test_.inputs[i].shape,
                                   .grid = run.gridPtr(),
                                   .properties = run.properties()}));
      }
      return true;
    });
  }

  // For the extents of the test.
  ImportedNetwork importedNetwork() const {
    return collectively(*layer_.comm(), [&] {
      std::vector<Shape> shapes;
      for (const Layout& input : layouts_)
        shapes.push_back(input.shape());
      return importNetwork(model_.program(), *model_.open(), shapes);
    });
  }

  void readArrays(std::size_t outputs) {
    collectively(*layer_.comm(), [&] {
      const std::unique_ptr<ByteSource> file = model_.open();
      for (std::size_t i = 0; i < layouts_.size(); ++i) {
        in_.values.push_back(numbersOf(*file, test_.inputs[i]));
        in_.derivatives.push_back(test_.gradients[i] ? numbersOf(*file, *test_.gradients[i])
                                                     : std::vector<double>());
      }
      for (std::size_t i = 0; i < outputs; ++i) {
        out_.values.push_back(numbersOf(*file, test_.outputs[i]));
        out_.derivatives.push_back(numbersOf(*file, test_.cotangents[i]));
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

  // The test's numbers in a layout, and back.
  Ref<DTensor> spread(const Layout& layout, const std::vector<double>& all) const {
    const Layout copies = everywhere(layout);
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
    const Layout copies = everywhere(x.layout());
    const Ref<DTensor> whole = makeRef<DTensor>(layer_.comm(), copies, x.dataType());
    makeConversion(layer_.comm(), x.layout(), copies, x.dataType())->apply(*host, *whole);
    return visitFloating(x.dataType(), [&]<class T>(T) {
      const DTensor& found = *whole;
      return std::vector<double>(found.data<T>(), found.data<T>() + whole->localElements());
    });
  }

  void compare(const SectionedModel& network) const {
    const double tolerance = how_.type == TENON_FLOAT64 ? test_.tolerance64 : test_.tolerance32;
    std::vector<std::string> differences;
    const auto add = [&](const std::string& what, const DTensor& found,
                         const std::vector<double>& wanted) {
      differences.push_back(
          differenceOf(what, found.layout().shape(), collected(found), wanted, tolerance));
    };
    const std::vector<std::string> names = layer_.outputNames();
    for (std::size_t i = 0; i < network.outputCount(); ++i)
      add(names[i], network.output(i), out_.values[i]);
    for (std::size_t i = 0; i < layouts_.size(); ++i)
      if (!in_.derivatives[i].empty())
        add("dL/d" + model_.program().inputs[i].name, network.cotangent(i), in_.derivatives[i]);
    if (test_.parameterGradients)
      for (std::string& difference : gradients_.differences(
               test_, parameters_, tolerance,
               how_.type == TENON_FLOAT64 ? kDigits64 / kDigits32 : kShareOfNoise))
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
  Layouts layouts_; // of the inputs
  Stored in_, out_;
  ParameterProducts gradients_;
  std::vector<double> parameters_; // what the file has of their gradients
};

} // namespace

bool proveModel(const Layer& layer, const Layouts& inputs, const std::string& how) {
  if (!modelOf(layer)->file()->program().test)
    return false;
  // It runs within the set-up of the layer, whose communicators are made at its end.
  const UnbatchedAgreements apart(*layer.comm());
  if (how == "both")
    ProofRun(layer, {TENON_FLOAT64, Space::Host, "auto"}).run(inputs);
  // In float64 on the host the run is what was just tested.
  const auto backend = layer.declaration().value<std::string>("backend");
  const bool isSame =
      layer.dataType() == TENON_FLOAT64 && layer.space() == Space::Host && backend == "auto";
  if (how != "both" || !isSame)
    ProofRun(layer, {layer.dataType(), layer.space(), backend}).run(inputs);
  return true;
}

} // namespace tenon
