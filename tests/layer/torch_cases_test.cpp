// SPDX-License-Identifier: BSD-2-Clause
// Writes the results of layers of all types on these ranks to files, which torch_reference.py
// compares with PyTorch: for each case a file .npz with inputs, parameters, target, output,
// cotangents and gradients, and a line of cases.txt. Skipped unless the environment variable
// TENON_TORCH_CASES names a folder.
#include "layer_run.hpp"
#include "weights/weights_writer.hpp"

#include <cstdlib>
#include <fstream>

namespace tenon {
namespace {

using test::world;

constexpr int kCasesOfType = 6; // at most

// Collects the arrays of one case and writes them to a file.
class CaseFile {
public:
  void add(std::string name, const Shape& shape, std::vector<double> values) {
    tensors_.push_back({.name = std::move(name),
                        .type = ElementType::F64,
                        .shape = shape,
                        .bytes = static_cast<Index>(values.size() * sizeof(double))});
    values_.push_back(std::move(values));
  }
  void add(std::string name, const DTensor& x) {
    add(std::move(name), x.layout().shape(), test::gathered(x));
  }
  void write(const std::string& path) const {
    const auto writer = makeWeightsWriter(path, tensors_);
    for (const std::vector<double>& values : values_)
      writer->add(values.data());
    writer->commit();
  }

private:
  std::vector<StoredTensor> tensors_;
  std::vector<std::vector<double>> values_;
};

std::string settingsOf(const Layer& layer) {
  std::string text;
  for (const auto& entry : layer.declaration().settings().entries())
    if (const auto value = layer.declaration().settings().find(entry.spec->name))
      text += std::string("\t") + entry.spec->name + "=" + settingText(*value);
  return text;
}

// Returns false if the example cannot be compared: it has no elements, or its result is random.
bool writeCase(const std::string& type, std::uint64_t seed, const std::string& path,
               std::string& line) {
  ExampleDraw draw(seed);
  const auto layer = test::newLayer(world(), type);
  const Example example = layer->declaration().example(draw);
  for (const auto& [name, value] : example.settings)
    layer->set(name, value);
  const TenonDataType real = seed % 3 == 0 ? TENON_FLOAT32 : TENON_FLOAT64;
  layer->setDataType(real);
  // The first input has a random layout, and the others are replicated on its grid.
  test::LayoutDraw layouts(static_cast<unsigned>(seed));
  const Layout first = test::drawInput(layouts, example.inputs.front());
  Layouts inputs{first};
  for (std::size_t i = 1; i < example.inputs.size(); ++i)
    inputs.push_back(
        Layout({.shape = example.inputs[i],
                .grid = first.gridPtr(),
                .properties = Properties(first.grid().axes(), Property::broadcast())}));
  layer->setUp(inputs);
  layer->initialize(seed, 0);
  CaseFile file;
  std::vector<Ref<DTensor>> x, dx;
  for (const Layout& input : inputs) {
    x.push_back(test::tensor(input, real));
    dx.push_back(test::tensor(input.dual(), real));
    test::fillValid(*x.back(), seed + x.size(), example.low, example.high);
    file.add("x" + std::to_string(x.size() - 1), *x.back());
  }
  if (!example.target.empty()) {
    const auto target =
        test::tensor(test::onWorld(example.target, "B"), example.classes > 0 ? TENON_INT64 : real);
    fillByIndex(*target, [&](Index i) {
      return example.classes > 0 ? double((7 * i + 1) % example.classes) : std::cos(double(i));
    });
    layer->setTarget(target);
    std::vector<double> values;
    for (Index i = 0; i < elements(example.target); ++i)
      values.push_back(example.classes > 0 ? double((7 * i + 1) % example.classes)
                                           : std::cos(double(i)));
    file.add("target", example.target, std::move(values));
  }
  const Layout output = layer->outputLayout(inputs);
  const auto y = test::tensor(output, real), dy = test::tensor(output.dual(), real);
  for (const auto& p : layer->parameters()) {
    test::fillValid(p->value(), seed + 31);
    p->valueChanged();
    file.add("p." + p->name(), p->value());
  }
  for (const auto& state : layer->ownStates()) {
    fillByIndex(state->value(), [](Index i) { return 0.5 + 0.1 * double(i); });
    state->valueChanged();
    file.add("s." + state->name(), state->value());
  }
  test::fillValid(*dy, seed + 77);
  std::vector<const DTensor*> in(x.size());
  std::vector<DTensor*> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    in[i] = x[i].get();
    out[i] = dx[i].get();
  }
  layer->apply(Inputs(in.data(), in.size()), *y);
  layer->applyAdjoint(*dy, InputCotangents(out.data(), out.size()));
  file.add("y", *y);
  file.add("dy", *dy);
  for (std::size_t i = 0; i < dx.size(); ++i)
    file.add("d.x" + std::to_string(i), *dx[i]);
  for (const auto& p : layer->parameters())
    file.add("d.p." + p->name(), p->gradient());
  if (world()->rank() == 0)
    file.write(path);
  line = type + "\t" + (real == TENON_FLOAT32 ? "float32" : "float64") + settingsOf(*layer);
  return elements(output.shape()) > 0;
}

TEST(TorchCases, AreWritten) {
  const char* folder = std::getenv("TENON_TORCH_CASES");
  if (!folder)
    GTEST_SKIP() << "TENON_TORCH_CASES names no folder";
  std::string list;
  int number = 0;
  for (const std::string& type : declarationNames())
    for (int i = 0; i < kCasesOfType && type != "repartition" && type != "rows" &&
                    type != "dropout" && !makeDeclaration(type)->takesLists();
         ++i) {
      std::string line;
      const std::string name = std::to_string(number++) + ".npz";
      if (writeCase(type, static_cast<std::uint64_t>(1000 + number),
                    std::string(folder) + "/" + name, line))
        list += name + "\t" + line + "\n";
    }
  if (world()->rank() == 0)
    std::ofstream(std::string(folder) + "/cases.txt") << list;
}

} // namespace
} // namespace tenon
