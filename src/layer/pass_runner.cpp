// SPDX-License-Identifier: BSD-2-Clause
#include "layer/pass_runner.hpp"

#include "dtensor/arithmetic.hpp"
#include "linop/conversion.hpp"
#include "sys/log.hpp"

#include <algorithm>
#include <array>

namespace tenon {

namespace {

template <class F>
void compute(F&& f) {
  static const int event = logEvent("LocalKernel");
  const LogScope scope(event);
  f();
}

class Run {
public:
  Run(const BoundMaps& maps, const Pass& pass, DTensor* const* tensors, const PassPoint& point,
      AdjointReductions* reductions)
      : maps_(maps), pass_(pass), tensors_(tensors), point_(point), reductions_(reductions) {}

  void all() {
    std::size_t s = 0;
    if (StepWatch* watch = maps_.watch())
      watch->begins(maps_.list(), pass_);
    if (reductions_)
      reductions_->begins(maps_, pass_);
    try {
      for (; s < pass_.steps.size(); ++s) {
        logged(pass_.steps[s]);
        if (reductions_)
          reductions_->ran(s);
      }
    } catch (...) {
      endBegunBefore(s);
      throw;
    }
    if (reductions_)
      reductions_->ends();
  }

private:
  using Several = std::array<DTensor*, MapList::kMostInputs>;

  const Map& mapOf(const Step& step) const { return maps_.list().maps()[step.map]; }
  DTensor* at(ValueId v) const { return v == kNoValue ? nullptr : tensors_[v]; }
  std::span<DTensor* const> at(const std::vector<ValueId>& values, Several& several) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      several[i] = at(values[i]);
    return {several.data(), values.size()};
  }
  // The same, of tensors that are read.
  static Inputs asInputs(std::span<DTensor* const> tensors) {
    return {const_cast<const DTensor* const*>(tensors.data()), tensors.size()};
  }

  // Each node has a row in the log.
  void logged(const Step& step) {
    if (step.map < 0)
      return one(step);
    const LogScope scope(maps_.event(mapOf(step)));
    one(step);
    if (StepWatch* watch = maps_.watch(); watch && logEnabled())
      watch->ran(maps_.list(), step, logOpenScope());
  }
  void one(const Step& step) {
    switch (step.what) {
    case Do::Begin:
      return begin(step);
    case Do::End:
      return end(step);
    case Do::Apply:
      return apply(step);
    case Do::Copy:
      if (at(step.reads[0]) != at(step.writes[0]))
        copyLocal(*at(step.reads[0]), *at(step.writes[0]));
      return;
    case Do::Add:
      return axpby(1, *at(step.reads[0]), 1, *at(step.writes[0]));
    case Do::Zero:
      return scaleArray(0, *at(step.writes[0]));
    default:
      return compute([&] { kernel(step, mapOf(step)); });
    }
  }

  void begin(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source)
      return pass_.ofTangents ? maps_.source(map.object).beginTangent()
                              : maps_.source(map.object).begin();
    maps_.op(map.object).start(actionOf(step));
  }
  void end(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source)
      return pass_.ofTangents ? maps_.source(map.object).endTangent()
                              : maps_.source(map.object).end();
    maps_.op(map.object).finish();
  }
  void apply(const Step& step) {
    const Map& map = mapOf(step);
    if (map.kind == Map::Kind::Source) {
      begin(step);
      return end(step);
    }
    LinearOp& op = maps_.op(map.object);
    const Action action = actionOf(step);
    if (maps_.list().operators()[map.object].kind == OperatorKind::Maximum)
      static_cast<Conversion&>(op).applyMax(*action.x, *action.y);
    else if (step.adjoint)
      op.applyAdjoint(1, *action.x, action.beta, *action.y);
    else
      op.apply(1, *action.x, action.beta, *action.y);
  }
  Action actionOf(const Step& step) const {
    return {step.adjoint ? Sense::Adjoint : Sense::Forward, 1, at(step.reads[0]),
            step.adds ? 1. : 0., at(step.writes[0])};
  }

  void kernel(const Step& step, const Map& map) {
    const BoundKernel& bound = maps_.kernel(map.object);
    LocalKernel& kernel = *bound.kernel;
    Several several, kept;
    if (step.what == Do::Forward)
      return kernel.forwardMany(asInputs(at(step.reads, several)), *bound.uses, *at(step.writes[0]),
                                workspaceOf(step));
    const KernelEntry& entry = maps_.list().kernels()[map.object];
    KernelPoint point;
    point.workspace = workspaceOf(step);
    point.adds = step.adds;
    if (entry.keepsInputs) {
      for (std::size_t i = 0; i < map.x.size(); ++i)
        kept[i] = point_.tensors[map.x[i]];
      point.inputs = asInputs({kept.data(), map.x.size()});
      point.x = kept[0];
    }
    if (entry.keepsOutput)
      point.y = point_.tensors[map.y];
    if (step.what == Do::Tangent)
      kernel.tangentMany(point, asInputs(at(step.reads, several)), *bound.uses,
                         *at(step.writes[0]));
    else if (step.what == Do::Adjoint) {
      if (entry.gradients == Gradients::Within)
        bound.changeGradients();
      kernel.adjointMany(point, *at(step.reads[0]), *bound.uses, at(step.writes, several));
    } else if (bound.wantsGradients()) {
      bound.changeGradients();
      kernel.adjointParameters(point, *at(step.reads[0]), *bound.uses);
    }
  }
  Buffer* workspaceOf(const Step& step) const {
    return point_.workspaces ? point_.workspaces + step.map : nullptr;
  }

  void endBegunBefore(std::size_t failed) noexcept {
    const auto begin = pass_.steps.begin(), here = begin + static_cast<std::ptrdiff_t>(failed);
    for (auto step = here + 1; step < pass_.steps.end(); ++step) {
      if (step->what != Do::End || std::none_of(begin, here, [&](const Step& other) {
            return other.what == Do::Begin && other.map == step->map;
          }))
        continue;
      finally([&] { end(*step); });
    }
    if (reductions_)
      finally([&] { reductions_->ends(); });
  }
  // The first error is the one to tell.
  template <class F>
  static void finally(F&& f) noexcept {
    try {
      f();
    } catch (...) {
    }
  }

  const BoundMaps& maps_;
  const Pass& pass_;
  DTensor* const* tensors_;
  const PassPoint& point_;
  AdjointReductions* reductions_;
};

} // namespace

void runPass(const BoundMaps& maps, const Pass& pass, DTensor* const* tensors,
             const PassPoint& point, AdjointReductions* reductions) {
  Run(maps, pass, tensors, point, reductions).all();
}

} // namespace tenon
