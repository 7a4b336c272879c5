// SPDX-License-Identifier: BSD-2-Clause
// Selects the first engine of a graph with allowed arithmetic, and executes its plan. If a plan
// fails at its first run, the plan of the next engine replaces it.
#include "kernels/cuda/dnn_plan.hpp"

#include "kernels/cuda/dnn_staging.hpp"
#include "kernels/movement/block_copy.hpp"
#include "sys/device.hpp"
#include "sys/memory/memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>

namespace tenon::cuda {

namespace {

Index numberOf(const Descriptor& from, cudnnBackendAttributeName_t name) {
  Index value = 0, count = 0;
  checkDnn(dnn().cudnnBackendGetAttribute(from.get(), name, CUDNN_TYPE_INT64, 1, &count, &value),
           "cudnnBackendGetAttribute");
  return value;
}

// The descriptors that an attribute contains; cuDNN does not report their type.
std::vector<Descriptor> partsOf(const Descriptor& from, cudnnBackendAttributeName_t name,
                                cudnnBackendDescriptorType_t type) {
  const auto get = [&](Index requested, void* values) {
    Index count = 0;
    checkDnn(dnn().cudnnBackendGetAttribute(from.get(), name, CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                            requested, &count, values),
             "cudnnBackendGetAttribute");
    return count;
  };
  // The library fills in existing descriptors, so their number is queried first.
  const Index count = get(0, nullptr);
  std::vector<Descriptor> parts;
  std::vector<cudnnBackendDescriptor_t> handles;
  for (Index i = 0; i < count; ++i)
    handles.push_back(parts.emplace_back(type).get());
  parts.erase(parts.begin() + std::min(count, get(count, handles.data())), parts.end());
  return parts;
}

// Configurations of engines, in increasing order of the library's time estimate.
std::vector<Descriptor> configurations(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph)
      .set(CUDNN_ATTR_ENGINEHEUR_MODE, CUDNN_TYPE_HEUR_MODE, 1, &mode)
      .finalize("the heuristics");
  return partsOf(heuristics, CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
}

// The engine number of a configuration, or -1 if any of its numerical notes is not allowed.
Index allowedEngine(const Descriptor& configuration, const ConvolutionGraph& graph) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  cudnnBackendDescriptor_t handle = engine.get();
  Index count = 0;
  checkDnn(dnn().cudnnBackendGetAttribute(configuration.get(), CUDNN_ATTR_ENGINECFG_ENGINE,
                                          CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &count, &handle),
           "cudnnBackendGetAttribute");
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes{};
  checkDnn(dnn().cudnnBackendGetAttribute(engine.get(), CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                          CUDNN_TYPE_NUMERICAL_NOTE, Index(notes.size()), &count,
                                          notes.data()),
           "cudnnBackendGetAttribute");
  const std::span noted(notes.data(), std::min(static_cast<std::size_t>(count), notes.size()));
  const auto isAllowed = [&](cudnnBackendNumericalNote_t note) { return allows(graph, note); };
  return std::ranges::all_of(noted, isAllowed) ? numberOf(engine, CUDNN_ATTR_ENGINE_GLOBAL_INDEX)
                                               : -1;
}

// The plan of a configuration, or nothing if the library cannot run it on this device, which only
// this call reveals.
std::optional<Descriptor> finishedPlan(const Descriptor& configuration) {
  Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
  const cudnnHandle_t handle = planningHandle();
  plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, CUDNN_TYPE_HANDLE, 1, &handle)
      .set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
  const cudnnStatus_t status = dnn().cudnnBackendFinalize(plan.get());
  if (isDnnOutOfMemory(status))
    checkDnn(status, "a plan");
  if (status != CUDNN_STATUS_SUCCESS)
    return std::nullopt;
  return plan;
}

// The configurations of a heuristic mode. If the first mode fails for a reason other than memory,
// the list is empty and the caller continues with the fallback mode.
std::vector<Descriptor> configurationsOf(const Descriptor& graph, cudnnBackendHeurMode_t mode) {
  try {
    return configurations(graph, mode);
  } catch (const Error& error) {
    if (mode == CUDNN_HEUR_MODE_FALLBACK || error.code() == TENON_ERR_MEMORY)
      throw;
    return {};
  }
}

} // namespace

// Enumerates the plans that a graph allows one by one, since each takes long to create.
struct PlanList {
  // Calls visit(plan) for plans of engines with wants(engine), until it returns true.
  template <class Wants, class Visit>
  static void visit(const ConvolutionGraph& graph, const Wants& wants, const Visit& visit) {
    const Descriptor described = graphDescriptor(graph);
    int position = 0;
    for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
      for (const Descriptor& configuration : configurationsOf(described, mode)) {
        const Index engine = allowedEngine(configuration, graph);
        position += engine >= 0 ? 1 : 0;
        if (engine < 0 || !wants(engine))
          continue;
        std::optional<Descriptor> plan = finishedPlan(configuration);
        if (!plan)
          continue;
        const Index bytes = numberOf(*plan, CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
        if (visit(ConvolutionPlan(std::move(*plan), bytes, position, engine)))
          return;
      }
  }
  template <class Visit>
  static void visit(const ConvolutionGraph& graph, const Visit& visit) {
    PlanList::visit(
        graph, [](Index) { return true; }, visit);
  }
};

namespace {

std::string describe(const ArrayBox& box) {
  return fmt::format("[{}]", fmt::join(box.extent, ","));
}

Error noPlan(const ConvolutionGraph& g) {
  constexpr const char* kEpilogues[] = {"", " and a bias", ", a bias and a rectifier"};
  return {TENON_ERR_SUPPORT,
          fmt::format("cuDNN has no engine for {}{} in {} with x {}, w {}, y {}, stride [{}] and "
                      "dilation [{}] that {}{}; use backend 'gemm'",
                      textOf(g.kind), kEpilogues[static_cast<int>(g.epilogue)],
                      g.type == CUDNN_DATA_DOUBLE ? "float64" : "float32", describe(g.x),
                      describe(g.w), describe(g.y), fmt::join(g.stride, ","),
                      fmt::join(g.dilation, ","),
                      g.mayBeNondeterministic ? "keeps the precision" : "gives the same bits twice",
                      g.mayUseTf32 || g.type == CUDNN_DATA_DOUBLE ? "" : " without TF32")};
}

} // namespace

ConvolutionPlan::ConvolutionPlan(const ConvolutionGraph& graph)
    : plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  PlanList::visit(graph, [&](ConvolutionPlan plan) {
    if (engine_ < 0 || plan.workspaceBytes() < workspaceBytes_)
      *this = std::move(plan);
    return workspaceBytes_ <= kEnoughWorkspace;
  });
  if (engine_ < 0)
    throw noPlan(graph);
}

std::vector<ConvolutionPlanPtr> allPlans(const ConvolutionGraph& graph) {
  std::vector<ConvolutionPlanPtr> plans;
  PlanList::visit(graph, [&](ConvolutionPlan plan) {
    plans.push_back(std::make_shared<const ConvolutionPlan>(std::move(plan)));
    return false;
  });
  return plans;
}

namespace {

// Cache of the plans in use. The key is the graph and the position of the plan's engine.
struct KnownPlans {
  std::mutex mutex;
  std::map<std::pair<ConvolutionGraph, std::size_t>, std::weak_ptr<const ConvolutionPlan>> plans;

  // The cached plan, or the result of make() if the plan is not in use.
  template <class Make>
  ConvolutionPlanPtr get(const ConvolutionGraph& graph, std::size_t engine, Make make) {
    const std::scoped_lock lock(mutex);
    if (auto cached = plans[{graph, engine}].lock())
      return cached;
    std::erase_if(plans, [](const auto& entry) { return entry.second.expired(); });
    ConvolutionPlanPtr plan = make();
    plans[{graph, engine}] = plan;
    return plan;
  }
};

KnownPlans& knownPlans() {
  static KnownPlans known;
  return known;
}

// The next plan of the list with no larger workspace (the workspace is already allocated), or NULL.
// If the failed plan was the first, its replacement becomes the graph's plan for later requests.
ConvolutionPlanPtr planInPlaceOf(const ConvolutionPlan& failed, const ConvolutionGraph& graph) {
  for (const auto& plan : allPlans(graph))
    if (plan->position() > failed.position() && plan->workspaceBytes() <= failed.workspaceBytes()) {
      const std::scoped_lock lock(knownPlans().mutex);
      auto& first = knownPlans().plans[{graph, 0}];
      if (first.lock().get() == &failed)
        first = plan;
      return plan;
    }
  return nullptr;
}

// Whether memory ran out, for example memory for the code of the plan's kernels, which CUDA loads
// at the first launch.
bool isOutOfMemoryForKernels(cudnnStatus_t status) {
  return isDnnOutOfMemory(status) || status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER ||
         status == CUDNN_STATUS_EXECUTION_FAILED_CUDART;
}

// Whether cuDNN does not support this plan on this device or could not launch it, in which case
// another plan can succeed.
bool isPlansFault(cudnnStatus_t status) {
  return CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED ||
         CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_EXECUTION_FAILED;
}

} // namespace

std::vector<ConvolutionPlanPtr> plansOfEngines(const ConvolutionGraph& graph,
                                               std::size_t maxPlans) {
  std::vector<ConvolutionPlanPtr> plans{planOf(graph)};
  const auto isNew = [&](Index engine) {
    return std::ranges::none_of(plans, [&](const auto& plan) { return plan->engine() == engine; });
  };
  if (plans.size() < maxPlans)
    PlanList::visit(graph, isNew, [&](ConvolutionPlan plan) {
      if (plan.workspaceBytes() <= kEnoughWorkspace)
        plans.push_back(knownPlans().get(graph, plans.size(), [&] {
          return std::make_shared<const ConvolutionPlan>(std::move(plan));
        }));
      return plans.size() >= maxPlans;
    });
  return plans;
}

ConvolutionPlanPtr planOf(const ConvolutionGraph& graph) {
  return knownPlans().get(graph, 0, [&] { return std::make_shared<const ConvolutionPlan>(graph); });
}

ConvolutionRun::ConvolutionRun(const ConvolutionGraph& graph)
    : tight_{.graph = graph, .plan = planOf(graph)} {
  if (graph.staging != Staging::None || graph.alignment <= bytesOfElement(graph))
    return;
  loose_ = tight_;
  loose_->graph->alignment = 0;
  loose_->plan = planOf(*loose_->graph);
}

Index ConvolutionRun::workspaceBytes() const noexcept {
  const auto bytes = [](const Prepared& p) { return p.plan ? p.plan->workspaceBytes() : 0; };
  if (!tight_.graph || tight_.graph->staging == Staging::None)
    return std::max(bytes(tight_), loose_ ? bytes(*loose_) : 0);
  return roundedUp(bytes(tight_), kAlignment) + stagedBytes(*tight_.graph);
}

void ConvolutionRun::run(KernelContext& context, const void* x, const void* w, const void* y,
                         void* workspace, const void* bias) {
  if (tight_.graph && tight_.graph->staging != Staging::None)
    runStaged(context, {x, w, y, bias}, static_cast<std::byte*>(workspace));
  else
    execute(context, {x, w, y, bias, workspace});
}

// The copies follow the plan's own workspace.
void ConvolutionRun::runStaged(KernelContext& context, const std::array<const void*, 4>& arrays,
                               std::byte* workspace) {
  const ConvolutionGraph& g = graph();
  const ArrayBox* const boxes[] = {&g.x, &g.w, &g.y};
  const std::size_t written = g.kind == ConvolutionKind::AdjointData      ? 0
                              : g.kind == ConvolutionKind::AdjointWeights ? 1
                                                                          : 2;
  std::byte* copies[4] = {};
  std::byte* next = workspace + roundedUp(plan().workspaceBytes(), kAlignment);
  for (std::size_t k = 0; k < 3; ++k) {
    copies[k] = std::exchange(next, next + bytesOfCopy(g, boxes[k]->extent));
    if (k != written)
      stage(context, g.staging, *boxes[k], arrays[k], copies[k]);
  }
  if (arrays[3]) {
    copies[3] = next;
    arrayCombine(context, Combine::Copy, g.y.extent[1], static_cast<const float*>(arrays[3]),
                 reinterpret_cast<float*>(next));
  }
  execute(context, {copies[0], copies[1], copies[2], copies[3], workspace});
  unstage(context, g.staging, *boxes[written], copies[written], g.beta != 0,
          const_cast<void*>(arrays[written]));
}

void ConvolutionRun::execute(KernelContext& context, const std::array<const void*, 5>& arrays) {
  const auto [x, w, y, bias, workspace] = arrays;
  DeviceHandles& handles = handlesOf(context);
  // The argument list is rebuilt only if an address has changed.
  if (arrays != arrays_) {
    std::vector<Index> numbers{kX, kW, kY};
    if (bias)
      numbers.push_back(kBias);
    Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
    pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, numbers)
        .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, CUDNN_TYPE_VOID_PTR, numbers.size(),
             arrays.data())
        .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, CUDNN_TYPE_VOID_PTR, 1, &arrays[4])
        .finalize("the list of a plan's arrays");
    pack_ = std::move(pack);
    arrays_ = arrays;
  }
  const bool areAligned = std::ranges::all_of(std::array{x, w, y, bias}, [&](const void* array) {
    return !loose_ ||
           reinterpret_cast<std::uintptr_t>(array) % std::uintptr_t(graph().alignment) == 0;
  });
  Prepared& chosen = areAligned ? tight_ : *loose_;
  const auto call = [&] {
    return retryOutOfMemory(handles.stream(), isOutOfMemoryForKernels, [&] {
      return dnn().cudnnBackendExecute(handles.dnn(), chosen.plan->get(), pack_.get());
    });
  };
  cudnnStatus_t status = call();
  if (chosen.mayReplace && chosen.graph && isPlansFault(status))
    if (auto next = planInPlaceOf(*chosen.plan, *chosen.graph)) {
      chosen.plan = std::move(next);
      status = call();
    }
  checkDnn(status, "cudnnBackendExecute");
  chosen.mayReplace = false;
}

} // namespace tenon::cuda
