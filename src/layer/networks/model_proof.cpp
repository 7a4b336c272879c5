// SPDX-License-Identifier: BSD-2-Clause
// Runs the test that a model's file holds. float64 finds what is wrong (a weight, an order, a boundary,
// a halo) by orders of magnitude, the run's own precision whether its kernels are right. The results
// are brought to all ranks and compared there, so that all come to the same verdict.
#include "layer/networks/model_proof.hpp"

#include "comm/agreement/agreement.hpp"
#include "comm/agreement/joint.hpp"
#include "dtensor/arithmetic.hpp"
#include "dtensor/dtensor.hpp"
#include "dtensor/host_view.hpp"
#include "layer/networks/model.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "sys/text/text.hpp"
#include "weights/weights_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon {

namespace {

// All ranks hold all of a test's arrays.
constexpr Index kMostTestBytes = Index(64) << 20;

std::vector<double> numbersOf(const ByteSource& file, const StoredTensor& tensor) {
  if (tensor.bytes > kMostTestBytes)
    file.fail(tensor.name, fmt::format("its {} bytes are too many for a test; at most {} are read",
                                       tensor.bytes, kMostTestBytes));
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

// The test's numbers in a layout, and back.
Ref<DTensor> spread(const Layer& layer, const Layout& layout, const std::vector<double>& all) {
  const Layout copies = everywhere(layout);
  const Ref<DTensor> whole = makeRef<DTensor>(layer.comm(), copies, layer.dataType());
  if (whole->localElements() > 0)
    visitFloating(layer.dataType(), [&]<class T>(T) {
      std::transform(all.begin(), all.end(), whole->mutableData<T>(),
                     [](double value) { return static_cast<T>(value); });
    });
  const Ref<DTensor> host = makeRef<DTensor>(layer.comm(), layout, layer.dataType());
  makeConversion(layer.comm(), copies, layout, layer.dataType())->apply(*whole, *host);
  const Ref<DTensor> made = makeRef<DTensor>(layer.comm(), layout, layer.dataType(), layer.space());
  copyLocal(*host, *made);
  return made;
}

std::vector<double> collected(const Layer& layer, const DTensor& x) {
  const Ref<DTensor> host = makeRef<DTensor>(layer.comm(), x.layout(), x.dataType());
  copyLocal(x, *host);
  const Layout copies = everywhere(x.layout());
  const Ref<DTensor> whole = makeRef<DTensor>(layer.comm(), copies, x.dataType());
  makeConversion(layer.comm(), x.layout(), copies, x.dataType())->apply(*host, *whole);
  return visitFloating(x.dataType(), [&]<class T>(T) {
    const DTensor& found = *whole;
    return std::vector<double>(found.data<T>(), found.data<T>() + whole->localElements());
  });
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

// The network once more, sharing nothing with the layer but the file.
Ref<Layer> secondInstance(Layer& layer, bool isExact) {
  const Ref<Layer> made = makeModel(layer.comm());
  made->set("path", modelOf(layer)->value<std::string>("path"));
  made->set("model_test", std::string("off"));
  modelOf(*made)->setFile(modelOf(layer)->sharedFile());
  if (isExact) {
    made->setDataType(TENON_FLOAT64);
    return made;
  }
  made->setDataType(layer.dataType());
  made->setSpace(layer.space());
  made->set("backend", layer.declaration().value<std::string>("backend"));
  return made;
}

// One run of the test: the second instance, the file's arrays, and what the instance makes of them.
class ProofRun {
public:
  ProofRun(const Layer& layer, const ModelFile& model, Ref<Layer> second)
      : layer_(layer), model_(model), test_(*model.program().test), second_(std::move(second)) {}

  void run(const Layouts& inputs) {
    second_->setUp(layoutsLike(inputs));
    // The gradients of the weights are not compared, and would be as large as these.
    second_->setFrozen(true);
    readArrays();
    evaluate();
    compare();
  }

private:
  // What the file has of each input or output, and the tensors of the run: x and dx of an input, y and dy of an output.
  struct Side {
    std::vector<std::vector<double>> values, derivatives; // derivatives: gradients or cotangents
    std::vector<Ref<DTensor>> primal, dual;
  };

  // The test's inputs as the run's are laid out.
  const Layouts& layoutsLike(const Layouts& inputs) {
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
    return layouts_;
  }

  void readArrays() {
    const Layouts outputs = second_->outputLayouts();
    collectively(*layer_.comm(), [&] {
      const std::unique_ptr<ByteSource> file = model_.open();
      for (std::size_t i = 0; i < layouts_.size(); ++i) {
        in_.values.push_back(numbersOf(*file, test_.inputs[i]));
        in_.derivatives.push_back(test_.gradients[i] ? numbersOf(*file, *test_.gradients[i])
                                                     : std::vector<double>());
      }
      for (std::size_t i = 0; i < outputs.size(); ++i) {
        out_.values.push_back(numbersOf(*file, test_.outputs[i]));
        out_.derivatives.push_back(numbersOf(*file, test_.cotangents[i]));
        if (elements(outputs[i].shape()) != elements(test_.outputs[i].shape))
          throw Error(
              TENON_ERR_FORMAT,
              fmt::format("{}: the test's output has shape [{}], but the network gives [{}]",
                          model_.path(), fmt::join(test_.outputs[i].shape, ","),
                          fmt::join(outputs[i].shape(), ",")));
      }
      return true;
    });
  }

  Ref<DTensor> empty(const Layout& layout) const {
    return makeRef<DTensor>(layer_.comm(), layout, second_->dataType(), second_->space());
  }

  void evaluate() {
    const Layouts outputs = second_->outputLayouts();
    std::vector<const DTensor*> x, dy;
    std::vector<DTensor*> dx, y;
    for (std::size_t i = 0; i < layouts_.size(); ++i) {
      in_.primal.push_back(spread(*second_, layouts_[i], in_.values[i]));
      in_.dual.push_back(in_.derivatives[i].empty() ? Ref<DTensor>() : empty(layouts_[i].dual()));
      x.push_back(in_.primal.back().get());
      dx.push_back(in_.dual.back().get());
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      out_.primal.push_back(empty(outputs[i]));
      out_.dual.push_back(spread(*second_, outputs[i].dual(), out_.derivatives[i]));
      y.push_back(out_.primal.back().get());
      dy.push_back(out_.dual.back().get());
    }
    second_->apply(Inputs(x.data(), x.size()), Outputs(y.data(), y.size()));
    second_->applyAdjoint(OutputCotangents(dy.data(), dy.size()),
                          InputCotangents(dx.data(), dx.size()));
  }

  void compare() const {
    const double tolerance =
        second_->dataType() == TENON_FLOAT64 ? test_.tolerance64 : test_.tolerance32;
    std::vector<std::string> differences;
    const auto add = [&](const std::string& what, const Ref<DTensor>& found,
                         const std::vector<double>& wanted) {
      if (found) // no gradient where the file has none
        differences.push_back(differenceOf(what, found->layout().shape(),
                                           collected(*second_, *found), wanted, tolerance));
    };
    const std::vector<std::string> names = second_->outputNames();
    for (std::size_t i = 0; i < out_.primal.size(); ++i)
      add(names[i], out_.primal[i], out_.values[i]);
    for (std::size_t i = 0; i < in_.dual.size(); ++i)
      add("dL/d" + model_.program().inputs[i].name, in_.dual[i], in_.derivatives[i]);
    std::erase(differences, "");
    collectively(*layer_.comm(), [&] {
      if (!differences.empty())
        throw Error(
            TENON_ERR_TEST,
            fmt::format("{} does not give its own results on this run ({}, inputs {}): {}. Run "
                        "it on one process: if that fails too, the file was changed or does "
                        "not say what the model computes; otherwise report it as a fault of "
                        "Tenon. -tenon_model_test off goes on without the test",
                        model_.path(), dataTypeName(second_->dataType()),
                        layouts_.front().describe(), joined(differences, "; ")));
      return true;
    });
  }

  const Layer& layer_;
  const ModelFile& model_;
  const ModelTest& test_;
  const Ref<Layer> second_;
  Layouts layouts_; // of the inputs
  Side in_, out_;
};

void runTest(Layer& layer, const Layouts& inputs, bool isExact) {
  ProofRun(layer, *modelOf(layer)->file(), secondInstance(layer, isExact)).run(inputs);
}

} // namespace

bool proveModel(Layer& layer, const Layouts& inputs, const std::string& how) {
  if (!modelOf(layer)->file()->program().test)
    return false;
  // It runs within the set-up of the layer, whose communicators are made at its end.
  const ApartFromJoint apart(*layer.comm());
  // The weights once more in float64: not where they are most of a node's memory.
  constexpr Index kMostBytes = Index(256) << 20;
  Index elementsOfWeights = 0;
  for (const Ref<Parameter>& parameter : layer.parameters())
    elementsOfWeights += elements(parameter->storage().shape());
  const bool isSmall = elementsOfWeights <= kMostBytes / Index(sizeof(double));
  if (how == "both" && isSmall)
    runTest(layer, inputs, true);
  // In float64 on the host the run is what was just tested.
  const bool isSame = layer.dataType() == TENON_FLOAT64 && layer.space() == Space::Host &&
                      layer.declaration().value<std::string>("backend") == "auto";
  if (how != "both" || !isSmall || !isSame)
    runTest(layer, inputs, false);
  return true;
}

} // namespace tenon
