// SPDX-License-Identifier: BSD-2-Clause
// Tests the kernels of layer types on plain arrays, without MPI: one process makes the kernels of
// each rank of a form. For random examples of every type in one file, with every label on 2 and 3
// ranks, tangents are compared with differences of values, adjoints with tangents, and the scratch
// memory that a declaration states with what a context holds. Other tests compare values with the
// mathematics: that derivatives fit the values does not show that the values are right.
#include "declaration/core/types.hpp"
#include "declaration/kernel/kernel_place.hpp"
#include "sys/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace tenon::test {
namespace {

// Random numbers in [low, high), each draw another.
class Numbers {
public:
  double between(double low, double high) {
    return low + (high - low) * uniformAt(/*seed=*/7, streamOf("kernels"), count_++);
  }

private:
  std::uint64_t count_ = 0;
};

// An array of one rank in memory of its own, contiguous or with a gap behind each element.
class Block {
public:
  Block() = default;
  Block(const Box& box, bool hasGaps) : extent_(extents(box)), strides_(rowMajorStrides(extent_)) {
    for (Index& stride : strides_)
      stride *= hasGaps ? 2 : 1;
    step_ = hasGaps ? 2 : 1;
    values_.resize(static_cast<std::size_t>(elements(extent_) * step_));
  }
  Index size() const { return elements(extent_); }
  double& operator[](Index i) { return values_[i * step_]; }
  double operator[](Index i) const { return values_[i * step_]; }
  LocalArray array(KernelContext& context) {
    memory_ = {values_.data(), TENON_FLOAT64, extent_, strides_.data(), &context};
    return LocalArray(memory_);
  }
  void draw(Numbers& numbers, double low, double high) {
    for (Index i = 0; i < size(); ++i)
      (*this)[i] = numbers.between(low, high);
  }
  void addTo(Block& y, double factor) const {
    for (Index i = 0; i < size(); ++i)
      y[i] += factor * (*this)[i];
  }
  double dot(const Block& y) const {
    double sum = 0;
    for (Index i = 0; i < size(); ++i)
      sum += (*this)[i] * y[i];
    return sum;
  }

private:
  Shape extent_, strides_;
  Index step_ = 1;
  std::vector<double> values_;
  LocalArray::Memory memory_;
};

// The arrays of one kind (values, tangents or cotangents) of a kernel's inputs and parameters.
struct Blocks {
  std::vector<Block> inputs, parameters;
};

// By value of the list: whether it depends on the inputs in a way that is differentiated.
std::vector<bool> differentiated(const MapList& list) {
  std::vector<bool> values(list.values().size());
  for (const ValueId v : list.inputs())
    values[v] = true;
  for (const Map& map : list.maps())
    if (map.y != kNoValue && !map.fixed)
      values[map.y] =
          values[map.y] || std::ranges::any_of(map.x, [&](ValueId v) { return values[v]; });
  return values;
}

// One kernel of a form on one rank.
class KernelRun {
public:
  KernelRun(const Declaration& declaration, const Form& form, const MapList& list, const Map& map,
            int rank)
      : entry_(list.kernels()[map.object]), map_(map),
        kernel_(declaration.makeKernel({declaration, form, list, map.object, rank, context_})) {
    if (!kernel_)
      return;
    for (const ValueId v : map.x) {
      boxes_.push_back(list.values()[v].layout.boxOfRank(rank));
      hasTangent_.push_back(!entry_.isSource && differentiated(list)[v]);
    }
    output_ = list.values()[map.y].layout.boxOfRank(rank);
    if (entry_.gradients != Gradients::None)
      for (const ParameterForm& parameter : form.parameters)
        parameterBoxes_.push_back(parameter.use.boxOfRank(rank));
    if (const Index bytes = entry_.workspace.bytesOfRank(rank))
      workspace_ = Buffer(bytes, "workspace");
  }
  bool exists() const { return kernel_ != nullptr; }
  ArrayKernel& kernel() { return *kernel_; }

  Blocks blocks() const {
    Blocks blocks;
    for (const Box& box : boxes_)
      blocks.inputs.emplace_back(box, entry_.anyStrides);
    for (const Box& box : parameterBoxes_)
      blocks.parameters.emplace_back(box, /*hasGaps=*/false);
    return blocks;
  }
  Block output() const { return Block(output_, entry_.anyStrides); }

  Block forward(Blocks at) {
    Block y = output();
    LocalArray array = y.array(*context_);
    kernel_->forward(read(at), values(at), array, &workspace_);
    return y;
  }
  Block tangent(Blocks at, Block y, Blocks d) {
    Block dy = output();
    LocalArray array = dy.array(*context_);
    std::vector<KernelParameter>& parameters = values(at);
    for (std::size_t p = 0; p < parameters.size(); ++p)
      parameters[p].tangent = d.parameters[p].array(*context_);
    std::vector<LocalArray> directions = tangents(d);
    kernel_->tangent(saved(at, y), directions, parameters, array);
    return dy;
  }
  Blocks adjoint(Blocks at, Block y, Block dy) {
    Blocks result = blocks();
    std::vector<LocalArray> dx = tangents(result);
    std::vector<KernelParameter>& parameters = values(at);
    for (std::size_t p = 0; p < parameters.size(); ++p)
      parameters[p].gradient = result.parameters[p].array(*context_);
    const LocalArray cotangent = dy.array(*context_);
    kernel_->adjoint(saved(at, y), cotangent, parameters, dx);
    if (entry_.gradients == Gradients::Separate)
      kernel_->adjointParameters(saved(at, y), cotangent, parameters);
    return result;
  }

  // Random directions of what has a tangent.
  Blocks directions(Numbers& numbers) const {
    Blocks d = blocks();
    for (std::size_t i = 0; i < d.inputs.size(); ++i)
      if (hasTangent_[i])
        d.inputs[i].draw(numbers, -1, 1);
    for (Block& parameter : d.parameters)
      parameter.draw(numbers, -1, 1);
    return d;
  }

private:
  std::vector<LocalArray> tangents(Blocks& blocks) {
    std::vector<LocalArray> arrays;
    for (std::size_t i = 0; i < blocks.inputs.size(); ++i)
      arrays.push_back(hasTangent_[i] ? blocks.inputs[i].array(*context_) : LocalArray());
    return arrays;
  }
  std::vector<LocalArray> read(Blocks& blocks) {
    std::vector<LocalArray> arrays;
    for (Block& block : blocks.inputs)
      arrays.push_back(entry_.isSource ? LocalArray() : block.array(*context_));
    return arrays;
  }
  std::vector<KernelParameter>& values(Blocks& blocks) {
    parameters_.clear();
    for (Block& block : blocks.parameters)
      parameters_.push_back({block.array(*context_), {}, {}, ++writes_});
    return parameters_;
  }
  // What Apply keeps for derivatives, according to the entry.
  SavedArrays saved(Blocks& at, Block& y) {
    savedInputs_ = entry_.savesInputs ? read(at) : std::vector<LocalArray>();
    return {savedInputs_, entry_.savesOutput ? y.array(*context_) : LocalArray(), &workspace_};
  }

  KernelEntry entry_;
  Map map_;
  KernelContextPtr context_ = std::make_shared<KernelContext>();
  std::unique_ptr<ArrayKernel> kernel_;
  std::vector<Box> boxes_, parameterBoxes_;
  std::vector<bool> hasTangent_; // by input
  Box output_;
  Buffer workspace_;
  std::vector<LocalArray> savedInputs_;
  std::vector<KernelParameter> parameters_;
  std::uint64_t writes_ = 0; // each call has other values
};

// Values that other kernels write, such as sums, are drawn away from zero.
void draw(Numbers& numbers, Blocks& blocks, const MapList& list, const Map& map,
          const Example& example) {
  for (std::size_t i = 0; i < map.x.size(); ++i) {
    const bool isInput = list.values()[map.x[i]].layout.shape() == example.inputs.front();
    blocks.inputs[i].draw(numbers, isInput ? example.low : 0.5, isInput ? example.high : 2);
  }
  for (Block& parameter : blocks.parameters)
    parameter.draw(numbers, -1, 1);
}

Blocks moved(Blocks at, const Blocks& d, double step) {
  for (std::size_t i = 0; i < at.inputs.size(); ++i)
    d.inputs[i].addTo(at.inputs[i], step);
  for (std::size_t p = 0; p < at.parameters.size(); ++p)
    d.parameters[p].addTo(at.parameters[p], step);
  return at;
}

// The kernel "slopes" of a maximum declares the derivative of a sum whose value is 0.
bool hasDeclaredDerivative(const KernelEntry& entry) {
  return entry.name == "slopes";
}

// Compares the derivatives of a kernel at a random point.
void checkDerivatives(KernelRun& run, const MapList& list, const Map& map, const Example& example,
                      Numbers& numbers) {
  Blocks at = run.blocks();
  draw(numbers, at, list, map, example);
  const Blocks d = run.directions(numbers);
  // The last Apply is at the point itself, since derivatives read the workspace that it leaves.
  const double step = 1e-6;
  Block above = run.forward(moved(at, d, step));
  const Block below = run.forward(moved(at, d, -step));
  const Block y = run.forward(at);
  const Block dy = run.tangent(at, y, d);
  below.addTo(above, -1);
  for (Index i = 0; i < dy.size() && !hasDeclaredDerivative(list.kernels()[map.object]); ++i)
    ASSERT_NEAR(above[i] / (2 * step), dy[i], 1e-6 * (1 + std::abs(dy[i]))) << "element " << i;
  Block cotangent = run.output();
  cotangent.draw(numbers, -1, 1);
  const Blocks adjoint = run.adjoint(at, y, cotangent);
  double sum = 0, scale = 1;
  const auto add = [&](double term) {
    sum += term;
    scale += std::abs(term);
  };
  for (std::size_t i = 0; i < d.inputs.size(); ++i)
    add(d.inputs[i].dot(adjoint.inputs[i]));
  for (std::size_t p = 0; p < d.parameters.size(); ++p)
    add(d.parameters[p].dot(adjoint.parameters[p]));
  ASSERT_NEAR(cotangent.dot(dy), sum, 1e-12 * scale);
}

std::unique_ptr<Declaration> declared(const std::string& type, const Example& example) {
  auto declaration = makeDeclaration(type);
  for (const auto& [name, value] : example.settings)
    declaration->set(name, value);
  declaration->setText("data_type", "float64");
  return declaration;
}

Layouts replicated(const std::vector<Shape>& shapes, int ranks) {
  Layouts layouts;
  for (const Shape& shape : shapes)
    layouts.emplace_back(LayoutSpec{
        .shape = shape, .grid = Grid::make({ranks}), .properties = {Property::broadcast()}});
  return layouts;
}

// Visits the forms of random examples of a type, with each label on the ranks of one axis.
template <class Visit>
void forEachForm(const std::string& type, Visit&& visit) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    ExampleDraw draw(seed);
    const Example example = makeDeclaration(type)->example(draw);
    const auto declaration = declared(type, example);
    for (const SignatureRow& row : declaration->rows(example.inputs)) {
      const int ranks = seed % 2 == 0 ? 3 : 2;
      const Form form = declaration->form(replicated(example.inputs, ranks), {.labels = row.label});
      SCOPED_TRACE(type + ", label " + row.label + ", example " + std::to_string(seed));
      visit(*declaration, example, form, ranks);
    }
  }
}

// The types whose declarations make their kernels.
std::vector<std::string> typesInOneFile() {
  std::vector<std::string> names = pointwiseNames();
#define TENON_LAYER_TYPE(name, Name) names.emplace_back(#name);
#define TENON_TYPE_ON_TENSORS(name, Name)
#include "declaration/core/types.inc"
#undef TENON_TYPE_ON_TENSORS
#undef TENON_LAYER_TYPE
  // Without kernels or without examples.
  const auto others = {"edgeattention", "gather", "graph",      "indexmap",   "linkedhalo",
                       "repartition",   "rows",   "segmentsum", "sequential", "sparsematrix"};
  for (const char* other : others)
    std::erase(names, other);
  return names;
}

TEST(Kernels, DerivativesFitTheValuesOnEachRank) {
  int kernels = 0;
  Numbers numbers;
  for (const std::string& type : typesInOneFile())
    forEachForm(type, [&](const Declaration& declaration, const Example& example, const Form& form,
                          int ranks) {
      const MapList list = declaration.maps(form, declaration.storageLayouts(form));
      for (int rank = 0; rank < ranks; ++rank)
        for (const Map& map : list.maps())
          if (map.kind == Map::Kind::Kernel) {
            SCOPED_TRACE("kernel " + list.kernels()[map.object].name + ", rank " +
                         std::to_string(rank));
            KernelRun run(declaration, form, list, map, rank);
            ASSERT_TRUE(run.exists());
            EXPECT_NE(run.kernel().describe(), "");
            if (!map.fixed)
              checkDerivatives(run, list, map, example, numbers);
            ++kernels;
          }
    });
  EXPECT_GT(kernels, 1000); // a type that is left out by mistake would go unnoticed
}

TEST(Kernels, ScratchMemoryIsKnownForEachRank) {
  for (const std::string& type : typesInOneFile())
    forEachForm(type, [&](const Declaration& declaration, const Example&, const Form& form,
                          int ranks) {
      const MapList list = declaration.maps(form, declaration.storageLayouts(form));
      for (int rank = 0; rank < ranks; ++rank) {
        const auto context = std::make_shared<KernelContext>();
        const auto bytes = kernelBytes(declaration, form, rank, context);
        ASSERT_TRUE(bytes);
        EXPECT_EQ(context->scratchBytes(), 0);
        std::vector<std::unique_ptr<ArrayKernel>> kernels;
        for (int k = 0; k < static_cast<int>(list.kernels().size()); ++k)
          kernels.push_back(declaration.makeKernel({declaration, form, list, k, rank, context}));
        EXPECT_EQ(bytes->scratch, context->scratchBytes()) << "rank " << rank;
      }
    });
}

TEST(Kernels, ScratchMemoryIsThatOfTheDeclarationsBackend) {
  const auto context = std::make_shared<KernelContext>();
  const auto scratch = [&](const char* backend) {
    const auto conv = makeDeclaration("conv");
    for (const auto& [name, value] : {std::pair("in_channels", 3), {"out_channels", 4}})
      conv->set(name, Index(value));
    conv->set("kernel", std::vector<Index>{3, 3});
    conv->setText("backend", backend);
    const Form form = conv->form(replicated({{2, 3, 9, 8}}, 2), {.labels = "h"});
    return kernelBytes(*conv, form, /*rank=*/1, context)->scratch;
  };
  EXPECT_EQ(scratch("reference"), 0);
  EXPECT_GT(scratch("blas"), 0);
}

TEST(Kernels, OfTypesOnTensorsAreMadeInTheModuleLayer) {
  const auto attention = makeDeclaration("attention");
  const Shape q = {1, 1, 2, 3};
  const Form form = attention->form(replicated({q, q, q}, 1), {});
  EXPECT_FALSE(kernelBytes(*attention, form, 0, std::make_shared<KernelContext>()));
}

// Calls the only kernel of a form on one rank, with numbers that are functions of global indices.
using OfIndex = std::function<double(const std::vector<Index>& index)>;

void fillBlock(Block& block, const Box& box, const OfIndex& f) {
  std::vector<Index> index(box.size());
  for (Index i = 0; i < block.size(); ++i) {
    Index rest = i;
    for (std::size_t d = box.size(); d-- > 0; rest /= box[d].size())
      index[d] = box[d].begin + rest % box[d].size();
    block[i] = f(index);
  }
}

Block valuesOn(int rank, const Declaration& declaration, const Form& form, const OfIndex& x,
               const std::vector<OfIndex>& parameters = {}) {
  const MapList list = declaration.maps(form, declaration.storageLayouts(form));
  const auto map = std::ranges::find(list.maps(), Map::Kind::Kernel, &Map::kind);
  KernelRun run(declaration, form, list, *map, rank);
  Blocks at = run.blocks();
  fillBlock(at.inputs[0], form.uses[0].boxOfRank(rank), x);
  for (std::size_t p = 0; p < parameters.size(); ++p)
    fillBlock(at.parameters[p], form.parameters[p].use.boxOfRank(rank), parameters[p]);
  return run.forward(at);
}

// Each rank writes the coordinates of its own points, and the one with the last channels of x all
// of them.
TEST(Kernels, CoordinatesAreThoseOfTheRanksPoints) {
  const auto coordinates =
      declared("coordinates", {{{"points", std::string("cells")}}, {{1, 2, 5, 4}}});
  for (const char* label : {"h", "c", "B"}) {
    const Form form = coordinates->form(replicated({{1, 2, 5, 4}}, 2), {.labels = label});
    for (int rank = 0; rank < 2; ++rank) {
      const Box box = form.output.boxOfRank(rank);
      const auto x = [](const std::vector<Index>& i) {
        return double(i[1] * 100 + i[2] * 10 + i[3]);
      };
      const Block y = valuesOn(rank, *coordinates, form, x);
      Block expected(box, /*hasGaps=*/false);
      fillBlock(expected, box, [&](const std::vector<Index>& i) {
        return i[1] < 2 ? x(i) : i[1] == 2 ? (double(i[2]) + 0.5) / 5 : (double(i[3]) + 0.5) / 4;
      });
      for (Index i = 0; i < y.size(); ++i)
        EXPECT_EQ(y[i], expected[i]) << "label " << label << ", rank " << rank << ", element " << i;
    }
  }
}

// If the input features are split, the results of the ranks add up, and one of them has the bias.
TEST(Kernels, PartialProductsOfAnAffineLayerAddUp) {
  const auto affine = declared("affine", {{{"inputs", Index(5)}, {"outputs", Index(3)}}, {}});
  const Form form = affine->form(replicated({{4, 5}}, 2), {.labels = "i"});
  const OfIndex x = [](const auto& i) { return double(i[0] - 2 * i[1]); };
  const OfIndex w = [](const auto& i) { return double(3 * i[0] + i[1] - 4); };
  const OfIndex b = [](const auto& i) { return double(10 * i[0] + 1); };
  Block sum = valuesOn(0, *affine, form, x, {w, b});
  valuesOn(1, *affine, form, x, {w, b}).addTo(sum, 1);
  for (Index n = 0; n < 4; ++n)
    for (Index o = 0; o < 3; ++o) {
      double expected = b({o});
      for (Index i = 0; i < 5; ++i)
        expected += x({n, i}) * w({o, i});
      EXPECT_EQ(sum[n * 3 + o], expected) << n << "," << o;
    }
}

// A rank computes its rows from its block with the halo.
TEST(Kernels, ConvolutionOfABlockWithItsHalo) {
  const auto conv = declared("conv", {{{"in_channels", Index(2)},
                                       {"out_channels", Index(2)},
                                       {"kernel", std::vector<Index>{3}},
                                       {"padding", std::vector<Index>{1}},
                                       {"overlap", std::string("off")}},
                                      {}});
  const Form form = conv->form(replicated({{1, 2, 7}}, 3), {.labels = "w"});
  const OfIndex x = [](const auto& i) { return double(i[1] * 7 + i[2] * i[2]); };
  const OfIndex w = [](const auto& i) { return double(i[0] - 2 * i[1] + 3 * i[2]); };
  const OfIndex b = [](const auto& i) { return double(i[0] + 1); };
  for (int rank = 0; rank < 3; ++rank) {
    const Box box = form.output.boxOfRank(rank);
    const Block y = valuesOn(rank, *conv, form, x, {w, b});
    Block expected(box, /*hasGaps=*/false);
    fillBlock(expected, box, [&](const std::vector<Index>& i) {
      double sum = b({i[1]});
      for (Index c = 0; c < 2; ++c)
        for (Index t = 0; t < 3; ++t)
          if (const Index at = i[2] + t - 1; at >= 0 && at < 7)
            sum += x({0, c, at}) * w({i[1], c, t});
      return sum;
    });
    for (Index i = 0; i < y.size(); ++i)
      EXPECT_NEAR(y[i], expected[i], 1e-12 * std::abs(expected[i])) << "rank " << rank;
  }
}

} // namespace
} // namespace tenon::test
