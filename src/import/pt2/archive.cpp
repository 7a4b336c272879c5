// SPDX-License-Identifier: BSD-2-Clause
// The members of a .pt2 archive, and what export_torch.py adds to it: a test, which is inputs,
// outputs, cotangents and gradients in float64 as .npy members, and tenon/test.json with their
// names and tolerances; and the bases of filters on the sphere. Sizes in the archive are not
// trusted: texts are read in pieces, and arrays must have the shapes that the network gives them.
#include "import/pt2/archive.hpp"

#include "kernels/sphere/turned_filter.hpp"
#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "weights/byte_stream.hpp"
#include "weights/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tenon {

namespace {

constexpr Index kMaxTextBytes = Index(256) << 20; // size of a member with a text

double toleranceIn(const JsonView& view) {
  const double tolerance = view.real();
  if (!(tolerance > 0 && tolerance < 1))
    view.fail("is not between 0 and 1");
  return tolerance;
}

// Reads three numbers for the gradient of each parameter, see ModelTest.
void readGradients(const Pt2Archive& archive, const JsonView& view, ModelTest& test) {
  const ZipMember& file = archive.member("tenon/parameters.npy");
  for (const JsonView& name : view.at("parameters").list())
    test.parameters.push_back(name.text());
  test.parameterGradients = readNpyMember(archive.source(), file);
  if (!isReal(test.parameterGradients->type) ||
      test.parameterGradients->shape !=
          std::vector<Index>{static_cast<Index>(test.parameters.size()), 3})
    archive.source().fail(file.name,
                          "it does not have three numbers for each of the test's parameters");
}

ModelFilterBasis filterBasisIn(const JsonView& view) {
  constexpr std::string_view kNames[] = {"linear", "harmonic", "morlet", "zernike",
                                         "fourierbessel"};
  view.allow({"basis", "kernel", "cutoff"});
  ModelFilterBasis basis{.name = view.at("basis").name(), .cutoff = view.at("cutoff").real()};
  if (std::ranges::find(kNames, basis.name) == std::end(kNames))
    view.at("basis").fail("is unknown");
  const std::vector<Index> kernel = view.at("kernel").integers(1);
  if (kernel.size() != (basis.name == "zernike" ? 1 : 2) ||
      std::ranges::max(kernel) > kMaxFilterKernel)
    view.at("kernel").fail(fmt::format("is not {} of at most {}",
                                       basis.name == "zernike" ? "one number" : "two numbers",
                                       kMaxFilterKernel));
  std::ranges::copy(kernel, basis.kernel.begin());
  if (!(basis.cutoff > 0 && basis.cutoff <= kMaxFilterCutoff))
    view.at("cutoff").fail(
        fmt::format("is not a positive angle of at most {:.4g}", kMaxFilterCutoff));
  return basis;
}

} // namespace

Pt2Archive::Pt2Archive(const ByteSource& source) : source_(source), members_(readZip(source)) {
  if (members_.empty())
    source_.fail("", "it is an empty archive");
  root_ = members_.front().name.substr(0, members_.front().name.find('/'));
  for (const ZipMember& member : members_)
    if (!byName_.emplace(member.name, &member).second)
      source_.fail(member.name, "the name is given twice");
}

const ZipMember& Pt2Archive::member(const std::string& name) const {
  const auto found = byName_.find(root_ + "/" + name);
  if (found == byName_.end())
    source_.fail(name, "the archive has no such member");
  return *found->second;
}

std::string Pt2Archive::text(const std::string& name) const {
  const ZipMember& file = member(name);
  if (file.bytes > kMaxTextBytes)
    source_.fail(name,
                 fmt::format("it has {} bytes; at most {} are read", file.bytes, kMaxTextBytes));
  std::string text;
  const auto stream = streamMember(source_, file);
  // The archive can state a false size, so memory is allocated only as bytes are read.
  constexpr Index kPiece = Index(1) << 20;
  for (Index remaining = file.bytes; remaining > 0;) {
    const Index part = std::min(remaining, kPiece);
    text.resize(text.size() + static_cast<std::size_t>(part));
    stream->read(reinterpret_cast<std::byte*>(text.data() + text.size()) - part, part);
    remaining -= part;
  }
  stream->finish();
  return text;
}

void readStoredTest(const Pt2Archive& archive, ModelProgram& program) {
  const std::string file = archive.source().name() + ": tenon/test.json";
  const JsonNode tree = parseJson(archive.text("tenon/test.json"), file);
  const JsonView view(tree, file);
  const std::string format = view.at("format").text();
  const bool isFirst = format == "tenon-test-1";
  if (!isFirst && format != "tenon-test-2")
    view.at("format").fail("is another format; expected \"tenon-test-1\" or \"tenon-test-2\"");
  ModelTest test;
  test.about = view.has("about") ? view.at("about").name() : "";
  test.tolerance64 = toleranceIn(view.at("tolerance").at("float64"));
  test.tolerance32 = toleranceIn(view.at("tolerance").at("float32"));
  if (view.at("tolerance").has("gradient32"))
    test.gradientTolerance32 = toleranceIn(view.at("tolerance").at("gradient32"));
  const auto array = [&](const char* kind, const std::string& name) {
    auto tensor =
        readNpyMember(archive.source(), archive.member(fmt::format("tenon/{}.{}.npy", kind, name)));
    if (!isReal(tensor.type) || tensor.shape.size() > kMaxModelDimensions)
      archive.source().fail(tensor.name, "it is not an array of real numbers");
    tensor.shape.resize(std::max<std::size_t>(tensor.shape.size(), 1), 1); // a number is [1]
    return tensor;
  };
  for (const JsonView& name : view.at("inputs").list()) {
    test.inputs.push_back(array("in", name.name()));
    test.gradients.emplace_back();
    if (archive.has(fmt::format("tenon/grad.{}.npy", name.name())))
      test.gradients.back() = array("grad", name.name());
  }
  for (const JsonView& name : view.at("outputs").list()) {
    program.outputNames.push_back(name.name());
    test.outputs.push_back(array("out", name.name()));
    test.cotangents.push_back(array("cot", name.name()));
    if (test.outputs.back().shape != test.cotangents.back().shape)
      archive.source().fail(test.outputs.back().name, "its cotangent has another shape");
  }
  if (test.inputs.size() != program.inputs.size() || test.outputs.size() != program.outputs.size())
    view.fail("has another number of inputs or outputs than the model");
  program.roundsNumbers = view.has("numbers");
  if (isFirst)
    program.types.clear(); // version 1 computed tables in float64 too
  else
    readGradients(archive, view, test);
  for (std::size_t i = 0; i < test.inputs.size(); ++i)
    if (const auto& grad = test.gradients[i]; grad && grad->shape != test.inputs[i].shape)
      archive.source().fail(test.inputs[i].name, "its gradient has another shape");
  program.test = std::move(test);
}

void readStoredFilters(const Pt2Archive& archive, ModelProgram& program) {
  const std::string file = archive.source().name() + ": tenon/filters.json";
  const JsonNode tree = parseJson(archive.text("tenon/filters.json"), file);
  for (const auto& [module, view] : JsonView(tree, file).members())
    try {
      program.filters.emplace(module, filterBasisIn(view));
    } catch (const Error& error) {
      program.filters[module].why = error.what(); // refused where the network uses it
    }
}

} // namespace tenon
