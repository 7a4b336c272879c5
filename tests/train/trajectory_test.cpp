// SPDX-License-Identifier: BSD-2-Clause
// Training distributed in several ways follows, step by step, plain loops over all samples in one
// process: the loss of tanh(W x + b) against targets, its gradient, and the formulas of each
// optimizer, written here again.
#include "dtensor/fill.hpp"
#include "linop/exchange/make_conversion.hpp"
#include "support/layers.hpp"
#include "support/world.hpp"
#include "train/lbfgs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tenon {
namespace {

using test::world;
using Vector = std::vector<double>;

constexpr Index kRowsOfData = 8, kIn = 3, kOut = 2, kWeights = kIn * kOut;
constexpr std::size_t kUnknowns = kWeights + kOut;

double inputAt(Index i) {
  return std::sin(2.3 * static_cast<double>(i) + 0.4);
}
double targetAt(Index i) {
  return 0.8 * std::cos(1.1 * static_cast<double>(i));
}
double firstWeight(Index i) {
  return 0.5 * std::sin(static_cast<double>(i) + 1);
}
double firstBias(Index i) {
  return 0.1 * std::cos(static_cast<double>(i));
}

Vector firstUnknowns() {
  Vector w;
  for (Index i = 0; i < kWeights; ++i)
    w.push_back(firstWeight(i));
  for (Index i = 0; i < kOut; ++i)
    w.push_back(firstBias(i));
  return w;
}

// The mean squared error at w, and its gradient.
double plainLoss(const Vector& w, Vector& g) {
  g.assign(kUnknowns, 0);
  double loss = 0;
  for (Index n = 0; n < kRowsOfData; ++n)
    for (Index o = 0; o < kOut; ++o) {
      double z = w[kWeights + o];
      for (Index i = 0; i < kIn; ++i)
        z += w[o * kIn + i] * inputAt(n * kIn + i);
      const double y = std::tanh(z), d = y - targetAt(n * kOut + o), count = kRowsOfData * kOut;
      loss += d * d / count;
      const double dz = 2 * d / count * (1 - y * y);
      g[kWeights + o] += dz;
      for (Index i = 0; i < kIn; ++i)
        g[o * kIn + i] += dz * inputAt(n * kIn + i);
    }
  return loss;
}

// How the layer is distributed over one axis of all ranks: the property of its input, its label,
// and the storage of its parameters.
struct Split {
  const char *input, *signature, *storage;
};

// All parameters, on every rank.
Vector unknownsOf(const Layer& layer) {
  Vector all;
  for (const auto& p : layer.parameters()) {
    const Layout everywhere({.shape = p->storage().shape(),
                             .grid = Grid::make({world()->size()}),
                             .properties = {Property::broadcast()}});
    const auto copy = makeRef<DTensor>(world(), everywhere, TENON_FLOAT64);
    makeConversion(world(), p->storage(), everywhere, TENON_FLOAT64)->apply(p->value(), *copy);
    const DTensor& elements = *copy;
    all.insert(all.end(), elements.data<double>(),
               elements.data<double>() + elements.localElements());
  }
  return all;
}

// The same network on all ranks.
class OneLayer {
public:
  explicit OneLayer(const Split& d) {
    const int ranks = world()->size();
    const GridPtr grid = Grid::make({ranks});
    const Layout input(
        {.shape = {kRowsOfData, kIn}, .grid = grid, .properties = parseProperties(d.input)});
    const Layout target(
        {.shape = {kRowsOfData, kOut}, .grid = grid, .properties = {Property::broadcast()}});
    net = test::newLayer(world(), "sequential");
    const auto affine = test::newAffine(world(), kIn, kOut);
    affine->setText("signature", d.signature);
    loss_ = test::newLayer(world(), "meansquarederror");
    appendLayer(*net, affine);
    appendLayer(*net, test::newPointwise(world(), "tanh"));
    appendLayer(*net, loss_);
    net->setDataType(TENON_FLOAT64);
    net->setText("storage", d.storage);
    net->setUp(input);
    const auto made = [&](const Layout& layout) {
      return makeRef<DTensor>(world(), layout, TENON_FLOAT64);
    };
    x_ = made(input);
    y_ = made(net->outputLayout());
    seed_ = made(net->outputLayout().dual());
    const Ref<DTensor> t = made(target);
    fillByIndex(*x_, inputAt);
    fillByIndex(*t, targetAt);
    loss_->setTarget(t);
    for (const auto& [parameter, value] : {std::pair(net->parameters()[0], &firstWeight),
                                           std::pair(net->parameters()[1], &firstBias)}) {
      fillByIndex(parameter->value(), value);
      parameter->valueChanged();
    }
  }

  // The loss; its gradient, times a factor, accumulates.
  double evaluate(double factor = 1) {
    net->apply(*x_, *y_);
    fillConstant(*seed_, factor);
    net->applyAdjoint(*seed_, nullptr);
    return y_->localElements() > 0 ? y_->data<double>()[0] : NAN;
  }
  Vector unknowns() const { return unknownsOf(*net); }

  Ref<Layer> net;

private:
  Ref<Layer> loss_;
  Ref<DTensor> x_, y_, seed_;
};

const Split kDistributions[] = {
    {"S0", "n", "use"},  {"S0", "n", "sharded"}, {"B", "o", "use"},
    {"S1", "i", "root"}, {"B", "B", "sharded"},
};

void expectNear(const Vector& got, const Vector& want, double tolerance, const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < got.size(); ++i)
    ASSERT_NEAR(got[i], want[i], tolerance * std::max(1.0, std::abs(want[i]))) << what;
}

// step(w, g, s) is the plain step number s, from 1.
template <class Step>
void expectTrajectory(const char* type, void (*set)(Optimizer&), Step step) {
  for (const Split& d : kDistributions) {
    OneLayer network(d);
    const Ref<Optimizer> optimizer = makeOptimizer(type, network.net);
    set(*optimizer);
    auto plain = step;
    Vector w = firstUnknowns(), g;
    for (int s = 1; s <= 12; ++s) {
      network.evaluate();
      optimizer->step();
      plainLoss(w, g);
      plain(w, g, s);
      ASSERT_NO_FATAL_FAILURE(expectNear(
          network.unknowns(), w, 1e-12,
          fmt::format("{} on {} {} {} step {}", type, d.input, d.signature, d.storage, s)));
    }
  }
}

// The rate grows to 0.05 in the first 3 steps, then falls by a cosine from step 4 to a quarter of
// it at step 10, and stays there. Decay does not enter the means m and v: it is that of AdamW.
TEST(Trajectory, OfAdamWWithWarmupAndCosine) {
  expectTrajectory(
      "adamw",
      [](Optimizer& adam) {
        adam.set("learning_rate", 0.05);
        adam.set("weight_decay", 0.1);
        adam.set("schedule", "cosine");
        adam.set("schedule_period", Index(6));
        adam.set("least_rate", 0.25);
        adam.set("warmup", Index(3));
      },
      [m = Vector(kUnknowns, 0), v = Vector(kUnknowns, 0)](Vector& w, const Vector& g,
                                                           int s) mutable {
        const double pi = std::acos(-1.0);
        double rate = 0.05;
        if (s <= 3)
          rate *= s / 3.0;
        else
          rate *= 0.25 + 0.75 * (1 + std::cos(pi * std::min(1.0, (s - 4) / 6.0))) / 2;
        for (std::size_t i = 0; i < kUnknowns; ++i) {
          w[i] -= rate * 0.1 * w[i];
          m[i] = 0.9 * m[i] + 0.1 * g[i];
          v[i] = 0.999 * v[i] + 0.001 * g[i] * g[i];
          w[i] -= rate * (m[i] / (1 - std::pow(0.9, s))) /
                  (std::sqrt(v[i] / (1 - std::pow(0.999, s))) + 1e-8);
        }
      });
}

TEST(Trajectory, OfSgdWithDecayAndSteps) {
  expectTrajectory(
      "sgd",
      [](Optimizer& sgd) {
        sgd.set("learning_rate", 0.5);
        sgd.set("weight_decay", 0.01);
        sgd.set("schedule", "step");
        sgd.set("schedule_period", Index(5));
        sgd.set("schedule_factor", 0.5);
      },
      [](Vector& w, const Vector& g, int s) {
        const double rate = s <= 5 ? 0.5 : s <= 10 ? 0.25 : 0.125;
        for (std::size_t i = 0; i < kUnknowns; ++i)
          w[i] -= rate * (g[i] + 0.01 * w[i]);
      });
}

TEST(Trajectory, AccumulatedBatchesAreOne) {
  OneLayer whole(kDistributions[0]), parts(kDistributions[1]);
  const auto one = makeOptimizer("adam", whole.net), other = makeOptimizer("adam", parts.net);
  for (int s = 0; s < 5; ++s) {
    whole.evaluate();
    for (int part = 0; part < 4; ++part)
      parts.evaluate(0.25);
    one->step();
    other->step();
    expectNear(parts.unknowns(), whole.unknowns(), 1e-13, "accumulated");
  }
}

// What one rank would have, the ranks have together.
TEST(Trajectory, ShardedStorageDividesTheState) {
  OneLayer network(kDistributions[1]);
  double elements = 0;
  for (const auto& p : network.net->parameters()) {
    const double own = static_cast<double>(p->value().localElements());
    double all = 0;
    MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, world()->mpi());
    elements += all;
  }
  EXPECT_EQ(elements, static_cast<double>(kUnknowns));
}

// L-BFGS with the matrix H itself: from gamma I, one BFGS update for each of the last pairs.
class PlainLbfgs {
public:
  explicit PlainLbfgs(std::size_t history) : history_(history) {}

  void step(Vector& w) {
    Vector g;
    const double loss = plainLoss(w, g);
    const Vector d = direction(g);
    const double slope = dot(g, d), first = pairs_.empty() ? std::min(1.0, 1 / norm(g)) : 1;
    const double t = search(w, d, loss, slope, first);
    Vector s(kUnknowns), y(kUnknowns), after;
    for (std::size_t i = 0; i < kUnknowns; ++i) {
      s[i] = t * d[i];
      w[i] += s[i];
    }
    plainLoss(w, after);
    for (std::size_t i = 0; i < kUnknowns; ++i)
      y[i] = after[i] - g[i];
    if (dot(s, y) > 1e-15 * norm(s) * norm(y))
      pairs_.emplace_back(s, y);
    if (pairs_.size() > history_)
      pairs_.erase(pairs_.begin());
  }

private:
  using Matrix = std::vector<Vector>;
  static double dot(const Vector& a, const Vector& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      sum += a[i] * b[i];
    return sum;
  }
  static double norm(const Vector& a) { return std::sqrt(dot(a, a)); }

  Vector direction(const Vector& g) const {
    Matrix h(kUnknowns, Vector(kUnknowns, 0));
    const double gamma = pairs_.empty() ? 1
                                        : dot(pairs_.back().first, pairs_.back().second) /
                                              dot(pairs_.back().second, pairs_.back().second);
    for (std::size_t i = 0; i < kUnknowns; ++i)
      h[i][i] = gamma;
    for (const auto& [s, y] : pairs_) { // H + (s.y + y.Hy) s s' / (s.y)^2 - (Hy s' + s (Hy)') / s.y
      Vector hy(kUnknowns);
      for (std::size_t i = 0; i < kUnknowns; ++i)
        hy[i] = dot(h[i], y);
      const double sy = dot(s, y), both = (sy + dot(y, hy)) / (sy * sy);
      for (std::size_t i = 0; i < kUnknowns; ++i)
        for (std::size_t j = 0; j < kUnknowns; ++j)
          h[i][j] += both * s[i] * s[j] - (hy[i] * s[j] + s[i] * hy[j]) / sy;
    }
    Vector d(kUnknowns);
    for (std::size_t i = 0; i < kUnknowns; ++i)
      d[i] = -dot(h[i], g);
    return d;
  }

  // On this problem the first trial or its cubic continuation always serves, which is checked.
  static double search(const Vector& w, const Vector& d, double loss, double slope, double first) {
    const auto at = [&](double t, double& value, double& derivative) {
      Vector moved = w, g;
      for (std::size_t i = 0; i < kUnknowns; ++i)
        moved[i] += t * d[i];
      value = plainLoss(moved, g);
      derivative = dot(g, d);
    };
    double before = 0, valueBefore = loss, slopeBefore = slope, t = first;
    for (int trial = 0; trial < 25; ++trial) {
      double value = 0, derivative = 0;
      at(t, value, derivative);
      EXPECT_LE(value, loss + 1e-4 * t * slope);
      if (std::abs(derivative) <= -0.9 * slope)
        return t;
      EXPECT_LT(derivative, 0);
      // The cubic through both ends: (3.59) of Nocedal and Wright.
      const double d1 = slopeBefore + derivative - 3 * (valueBefore - value) / (before - t),
                   d2 = std::sqrt(d1 * d1 - slopeBefore * derivative),
                   least = t + 0.01 * (t - before),
                   next = t - (t - before) * (derivative + d2 - d1) /
                                  (derivative - slopeBefore + 2 * d2);
      before = t;
      valueBefore = value;
      slopeBefore = derivative;
      t = std::isfinite(next) ? std::clamp(next, least, 10 * before) : (least + 10 * before) / 2;
    }
    ADD_FAILURE() << "no step was found";
    return t;
  }

  std::size_t history_;
  std::vector<std::pair<Vector, Vector>> pairs_;
};

TEST(Trajectory, OfLbfgsIsThatOfTheMatrix) {
  for (const Split& d : kDistributions) {
    OneLayer network(d);
    const Ref<Optimizer> optimizer = makeOptimizer("lbfgs", network.net);
    optimizer->set("iterations", Index(1));
    optimizer->set("history", Index(3));
    PlainLbfgs plain(3);
    Vector w = firstUnknowns(), g;
    for (int s = 0; s < 8; ++s) {
      const double loss = optimizer->stepWith([&] { return network.evaluate(); });
      EXPECT_NEAR(loss, plainLoss(w, g), 1e-12);
      plain.step(w);
      ASSERT_NO_FATAL_FAILURE(
          expectNear(network.unknowns(), w, 1e-12,
                     fmt::format("lbfgs on {} {} {} step {}", d.input, d.signature, d.storage, s)));
    }
  }
}

// The minimum is far from 0, so its loss is rounded where the gradient is still 1e-8.
TEST(Trajectory, LbfgsFindsAPointWithoutGradient) {
  OneLayer network(kDistributions[0]);
  const Ref<Optimizer> optimizer = makeOptimizer("lbfgs", network.net);
  optimizer->set("weight_decay", 0.01);
  optimizer->set("gradient_tolerance", 1e-13);
  optimizer->set("change_tolerance", 0.0);
  for (int s = 0; s < 5; ++s)
    optimizer->stepWith([&] { return network.evaluate(); });
  const Vector w = network.unknowns();
  Vector g;
  plainLoss(w, g);
  for (std::size_t i = 0; i < kUnknowns; ++i)
    EXPECT_NEAR(g[i] + 0.01 * w[i], 0, 1e-12);
  EXPECT_THROW(optimizer->step(), Error);
}

// 100 (b - a^2)^2 + (1 - a)^2 for the two weights (a, b) of a layer, from (-1.2, 1). The closure
// writes the gradient.
TEST(Trajectory, LbfgsFindsTheMinimumOfRosenbrock) {
  for (const double rate : {1.0, 0.05, 30.0}) {
    const Ref<Layer> layer = test::newAffine(world(), 2, 1);
    layer->set("bias", false);
    layer->setDataType(TENON_FLOAT64);
    layer->setText("storage", "sharded");
    layer->setUp(Layout({.shape = {4, 2},
                         .grid = Grid::make({world()->size()}),
                         .properties = parseProperties("S0")}));
    Parameter& weight = *layer->parameters()[0];
    fillByIndex(weight.value(), [](Index i) { return i == 0 ? -1.2 : 1.0; });
    weight.valueChanged();
    const Ref<DTensor> gradient = weight.exposeGradient();
    Vector w, slope;
    int evaluations = 0;
    const auto optimizer = makeOptimizer("lbfgs", layer);
    optimizer->set("gradient_tolerance", 1e-12);
    optimizer->set("change_tolerance", 0.0);
    optimizer->set("iterations", Index(50));
    optimizer->set("learning_rate", rate);
    optimizer->stepWith([&] {
      ++evaluations;
      w = unknownsOf(*layer);
      const double a = w[0], valley = w[1] - a * a;
      slope = {-400 * a * valley - 2 * (1 - a), 200 * valley};
      fillByIndex(*gradient, [&](Index i) { return slope[static_cast<std::size_t>(i)]; });
      return 100 * valley * valley + (1 - a) * (1 - a);
    });
    EXPECT_LE(std::hypot(slope[0], slope[1]), 1e-12) << rate;
    ASSERT_NO_FATAL_FAILURE(expectNear(w, {1, 1}, 1e-12, fmt::format("rate {}", rate)));
    EXPECT_LE(evaluations, 60) << rate;
  }
}

} // namespace
} // namespace tenon
