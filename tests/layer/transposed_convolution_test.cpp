// SPDX-License-Identifier: BSD-2-Clause
// The transposed convolution against its definition (each input is added to the elements of its
// window, times the weights, in loops), and against the adjoint of the convolution.
#include "run_layer.hpp"

namespace tenon {
namespace {

using test::elementsOf;
using test::forEachIndex;
using test::onWorld;
using test::placeOf;
using test::world;

using Indices = std::vector<Index>;

// The settings of a transposed convolution.
struct TransposedCase {
  Shape input;
  Index outputs, groups = 1;
  Indices kernel, stride, dilation, padding;
  Indices more; // output padding: further elements at the high end of the output
  std::string boundary = "none";

  test::Settings settings() const {
    return {{"in_channels", input[1]}, {"out_channels", outputs}, {"groups", groups},
            {"kernel", kernel},        {"stride", stride},        {"dilation", dilation},
            {"padding", padding},      {"output_padding", more},  {"boundary", boundary}};
  }
  Shape output() const {
    Shape shape = {input[0], outputs};
    for (std::size_t s = 0; s < kernel.size(); ++s)
      shape.push_back((input[s + 2] - 1) * stride[s] - 2 * padding[s] +
                      dilation[s] * (kernel[s] - 1) + 1 + more[s]);
    return shape;
  }
  Shape weight() const {
    Shape shape = {input[1], outputs / groups};
    shape.insert(shape.end(), kernel.begin(), kernel.end());
    return shape;
  }
};

// The index to which a contribution beyond the domain is added, by the boundary mode; -1 for none.
Index folded(Index index, Index extent, const std::string& boundary) {
  if (index >= 0 && index < extent)
    return index;
  if (boundary == "periodic")
    return (index % extent + extent) % extent;
  if (boundary == "replicate")
    return std::clamp<Index>(index, 0, extent - 1);
  if (boundary == "reflect")
    return index < 0 ? -index : 2 * (extent - 1) - index;
  return -1;
}

// The reference: adds each input, times the weights, to the elements of its window. Contributions
// to the padding are folded into the output; those beyond the padding are dropped.
std::vector<double> spread(const TransposedCase& c, const std::vector<double>& x,
                           const std::vector<double>& w, const std::vector<double>& b) {
  const Shape out = c.output(), weight = c.weight();
  std::vector<double> y;
  forEachIndex(out, [&](const Shape& o) { y.push_back(b[o[1]]); });
  const Index inOfGroup = c.input[1] / c.groups, outOfGroup = c.outputs / c.groups;
  forEachIndex(c.input, [&](const Shape& i) {
    forEachIndex(weight, [&](const Shape& t) {
      if (t[0] != i[1])
        return;
      Shape at = {i[0], i[1] / inOfGroup * outOfGroup + t[1]};
      for (std::size_t s = 0; s < c.kernel.size(); ++s) {
        const Index index = i[s + 2] * c.stride[s] - c.padding[s] + t[s + 2] * c.dilation[s];
        const bool inPadding = index >= -c.padding[s] && index < out[s + 2] + c.padding[s];
        at.push_back(inPadding                          ? folded(index, out[s + 2], c.boundary)
                     : index >= 0 && index < out[s + 2] ? index
                                                        : -1);
        if (at.back() < 0)
          return;
      }
      y[placeOf(at, out)] += x[placeOf(i, c.input)] * w[placeOf(t, weight)];
    });
  });
  return y;
}

// One to three dimensions; groups; dilation; windows smaller than the stride, between which outputs
// have the bias alone; and boundary modes.
const TransposedCase kCases[] = {{.input = {2, 3, 6},
                                  .outputs = 4,
                                  .kernel = {3},
                                  .stride = {2},
                                  .dilation = {1},
                                  .padding = {1},
                                  .more = {1}},
                                 {.input = {2, 4, 5, 4},
                                  .outputs = 6,
                                  .groups = 2,
                                  .kernel = {4, 3},
                                  .stride = {2, 3},
                                  .dilation = {1, 2},
                                  .padding = {1, 2},
                                  .more = {0, 1}},
                                 {.input = {1, 2, 3, 4, 3},
                                  .outputs = 2,
                                  .kernel = {2, 2, 2},
                                  .stride = {2, 2, 2},
                                  .dilation = {1, 1, 1},
                                  .padding = {0, 0, 0},
                                  .more = {0, 0, 0}},
                                 {.input = {2, 2, 4, 7},
                                  .outputs = 3,
                                  .kernel = {1, 2},
                                  .stride = {3, 1},
                                  .dilation = {1, 3},
                                  .padding = {0, 0},
                                  .more = {2, 2}},
                                 {.input = {2, 3, 6},
                                  .outputs = 2,
                                  .kernel = {4},
                                  .stride = {2},
                                  .dilation = {1},
                                  .padding = {2},
                                  .more = {0},
                                  .boundary = "periodic"},
                                 {.input = {2, 2, 5, 4},
                                  .outputs = 3,
                                  .kernel = {3, 3},
                                  .stride = {1, 2},
                                  .dilation = {1, 1},
                                  .padding = {1, 1},
                                  .more = {0, 0},
                                  .boundary = "replicate"},
                                 {.input = {2, 2, 7},
                                  .outputs = 2,
                                  .kernel = {5},
                                  .stride = {1},
                                  .dilation = {1},
                                  .padding = {2},
                                  .more = {0},
                                  .boundary = "reflect"}};

TEST(TransposedConvolution, SpreadsEachInputOverItsWindow) {
  for (const TransposedCase& c : kCases)
    for (const std::string& split : test::splitsOf(c.input))
      for (const TenonDataType type : {TENON_FLOAT64, TENON_FLOAT32}) {
        const auto layer = test::layerWith("transposedconv", c.settings());
        test::Step step(layer, onWorld(c.input, split), type);
        ASSERT_EQ(step.y->layout().shape(), c.output());
        const std::vector<double> x = elementsOf(c.input), w = elementsOf(c.weight(), 1),
                                  b = elementsOf({c.outputs}, 2);
        test::fillFrom(*step.x, x);
        for (const auto& p : layer->parameters()) {
          test::fillFrom(p->value(), p->name() == "bias" ? b : w);
          p->valueChanged();
        }
        step.apply();
        ASSERT_NO_FATAL_FAILURE(test::expectNear(
            test::gathered(*step.y), spread(c, x, w, b), type == TENON_FLOAT64 ? 1e-13 : 1e-5,
            fmt::format("kernel {} in {} of {}", c.kernel[0], c.boundary, split)));
      }
}

// The transposed convolution of x equals the convolution's adjoint for the cotangent x.
TEST(TransposedConvolution, IsTheConvolutionsAdjoint) {
  const Shape image = {2, 3, 9, 8}, features = {2, 4, 4, 4};
  const auto transposed = test::layerWith("transposedconv", {{"in_channels", Index(4)},
                                                             {"out_channels", Index(3)},
                                                             {"kernel", Indices{3, 4}},
                                                             {"stride", Indices{2, 2}},
                                                             {"padding", Indices{0, 1}},
                                                             {"boundary", std::string("periodic")},
                                                             {"bias", false}});
  const auto conv = test::layerWith("conv", {{"in_channels", Index(3)},
                                             {"out_channels", Index(4)},
                                             {"kernel", Indices{3, 4}},
                                             {"stride", Indices{2, 2}},
                                             {"padding", Indices{0, 1}},
                                             {"boundary", std::string("periodic")},
                                             {"bias", false}});
  test::Step forward(transposed, onWorld(features, "S2")), adjoint(conv, onWorld(image, "S2"));
  ASSERT_EQ(forward.y->layout().shape(), image);
  const std::vector<double> w = elementsOf({4, 3, 3, 4});
  for (const auto& layer : {transposed, conv}) {
    test::fillFrom(layer->parameters()[0]->value(), w);
    layer->parameters()[0]->valueChanged();
  }
  test::fillFrom(*forward.x, elementsOf(features));
  test::fillFrom(*adjoint.x, elementsOf(image));
  test::fillFrom(*adjoint.dy, elementsOf(features));
  forward.apply();
  adjoint.apply();
  adjoint.adjoint();
  test::expectNear(test::gathered(*forward.y), test::gathered(*adjoint.dx), 1e-13, "adjoint");
}

TEST(TransposedConvolution, RefusesInvalidSettings) {
  const test::Settings sizes = {
      {"in_channels", Index(4)}, {"out_channels", Index(6)}, {"kernel", Indices{2, 2}}};
  const auto with = [&](const test::Settings& more) {
    const auto layer = test::layerWith("transposedconv", sizes);
    for (const auto& [name, value] : more)
      layer->set(name, value);
    return layer;
  };
  const auto refuses = [&](std::initializer_list<const char*> words, const test::Settings& more) {
    test::expectErrorOnAll(TENON_ERR_ARG, words, [&] {
      with(more)->setUp(onWorld({2, 4, 3, 3}, "B"));
    });
  };
  refuses({"output padding", "below the stride, 1"}, {{"output_padding", Indices{1, 0}}});
  refuses({"\"values\"", "periodic"}, {{"boundary", std::string("values")}});
  refuses({"groups, 4", "6 output"}, {{"groups", Index(4)}});
  const auto grouped = with({{"groups", Index(2)}});
  grouped->setText("signature", "i");
  test::expectErrorOnAll(TENON_ERR_OPTION, {"2 groups", "by g"}, [&] {
    grouped->setUp(onWorld({2, 4, 3, 3}, "B"));
  });
  test::expectErrorOnAll(TENON_ERR_SHAPE, {"less padding"}, [&] {
    with({{"padding", Indices{3}}})->setUp(onWorld({2, 4, 3, 3}, "B"));
  });
}

// Settings that restrict each other are checked when all are set, and can be set in any order.
TEST(TransposedConvolution, TakesItsSettingsInAnyOrder) {
  const test::Settings settings = {{"in_channels", Index(4)},   {"out_channels", Index(6)},
                                   {"kernel", Indices{2, 2}},   {"stride", Indices{3, 3}},
                                   {"dilation", Indices{2, 2}}, {"output_padding", Indices{2, 2}},
                                   {"groups", Index(2)},        {"padding", Indices{1, 1}}};
  const Shape wanted = {2, 6, 9, 12}; // 3 (n - 1) + 2 (2 - 1) + 1 - 2 + 2
  for (std::size_t first = 0; first < settings.size(); ++first) {
    test::Settings turned(settings.rbegin(), settings.rend());
    std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(first), turned.end());
    const auto layer = test::layerWith("transposedconv", turned);
    layer->setUp(onWorld({2, 4, 3, 4}, "B"));
    EXPECT_EQ(layer->outputLayout(onWorld({2, 4, 3, 4}, "B")).shape(), wanted) << first;
  }
}

} // namespace
} // namespace tenon
