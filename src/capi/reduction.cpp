// SPDX-License-Identifier: BSD-2-Clause
// TenonPlacementList, all placements of a job's process grid on the levels of a machine (which axes
// are split over nodes, sockets, ...), and TenonReductionPrograms, the programs of collectives that
// reduce over axes of one placement. Both lists are enumerated on the calling process without MPI,
// so the objects have no communicator and all calls are local. The calls are declared in
// tenon/ext/reduction.h.
#include "placement/plan_objects.hpp"

#include "capi/arguments.hpp"
#include "comm/machine_object.hpp"
#include "placement/simulation.hpp"
#include "sys/errors/guard.hpp"

#include <tenon/ext/reduction.h>

#include <algorithm>

using namespace tenon;

// The public constants are equal to the internal ones, which allows conversion by a cast.
static_assert(static_cast<int>(CollectiveKind::AllGather) == TENON_COLLECTIVE_ALL_GATHER &&
              static_cast<int>(CollectiveKind::ReduceScatter) == TENON_COLLECTIVE_REDUCE_SCATTER &&
              static_cast<int>(CollectiveKind::AllReduce) == TENON_COLLECTIVE_ALL_REDUCE &&
              static_cast<int>(CollectiveKind::Broadcast) == TENON_COLLECTIVE_BROADCAST &&
              static_cast<int>(CollectiveKind::Reduce) == TENON_COLLECTIVE_REDUCE);
static_assert(static_cast<int>(ReductionAlgorithm::Ring) == TENON_REDUCTION_RING &&
              static_cast<int>(ReductionAlgorithm::Tree) == TENON_REDUCTION_TREE &&
              static_cast<int>(ReductionAlgorithm::Direct) == TENON_REDUCTION_DIRECT);

namespace {

// Copies a list of rows to one array, row after row, since C has no lists of lists.
std::vector<Index> flat(const std::vector<std::vector<Index>>& rows) {
  std::vector<Index> values;
  for (const std::vector<Index>& row : rows)
    values.insert(values.end(), row.begin(), row.end());
  return values;
}

ReductionAlgorithm algorithmFrom(TenonReductionAlgorithm algorithm) {
  if (algorithm < TENON_REDUCTION_RING || algorithm > TENON_REDUCTION_DIRECT)
    throw Error(TENON_ERR_ARG, fmt::format("algorithm is {}; use a TENON_REDUCTION_... constant",
                                           static_cast<int>(algorithm)));
  return static_cast<ReductionAlgorithm>(algorithm);
}

} // namespace

TenonErrorCode TenonPlacementListCreate(int levels, const TenonInt system[], int axes,
                                        const TenonInt sizes[], TenonPlacementList* list) noexcept {
  return guard(__func__, [&] {
    required(list, "list");
    giveHandle(list, makeRef<PlacementList>(listOf(system, levels, "system"),
                                            listOf(sizes, axes, "sizes")));
  });
}

TenonErrorCode TenonPlacementListGetCount(TenonPlacementList list, TenonInt* count) noexcept {
  return guard(__func__, [&] { required(count, "count") = deref(list, "list").count(); });
}

TenonErrorCode TenonPlacementListGetMatrix(TenonPlacementList list, TenonInt index,
                                           TenonInt matrix[]) noexcept {
  return guard(__func__,
               [&] { copyList(flat(deref(list, "list").at(index).matrix()), matrix, "matrix"); });
}

TenonErrorCode TenonPlacementListGetHierarchy(TenonPlacementList list, TenonInt index, int axes,
                                              const int reduce[], int* levels,
                                              TenonInt hierarchy[]) noexcept {
  return guard(__func__, [&] {
    const Hierarchy levelSizes =
        deref(list, "list").at(index).reductionHierarchy(listOf(reduce, axes, "reduce"));
    required(levels, "levels");
    copyList(levelSizes, hierarchy, "hierarchy");
    *levels = static_cast<int>(levelSizes.size());
  });
}

TenonErrorCode TenonPlacementListAddReduction(TenonPlacementList list, int axes, const int reduce[],
                                              double bytes) noexcept {
  return guard(__func__,
               [&] { deref(list, "list").addReduction(listOf(reduce, axes, "reduce"), bytes); });
}

TenonErrorCode TenonPlacementListPredict(TenonPlacementList list, TenonMachine machine,
                                         TenonReductionAlgorithm algorithm, int sizeLimit,
                                         double seconds[], TenonInt* best) noexcept {
  return guard(__func__, [&] {
    required(best, "best");
    // Each reduction is predicted with its fastest program for the placement.
    const std::vector<double> times =
        deref(list, "list")
            .seconds(deref(machine, "machine").machine(), algorithmFrom(algorithm), sizeLimit);
    if (seconds)
      copyList(times, seconds, "seconds");
    *best = std::ranges::min_element(times) - times.begin();
  });
}

TenonErrorCode TenonPlacementListDestroy(TenonPlacementList* list) noexcept {
  return guard(__func__, [&] { destroy(list, "list"); });
}

TenonErrorCode TenonReductionProgramsCreate(TenonPlacementList list, TenonInt index, int axes,
                                            const int reduce[], int sizeLimit,
                                            TenonReductionPrograms* programs) noexcept {
  return guard(__func__, [&] {
    required(programs, "programs");
    giveHandle(programs, makeRef<ReductionPrograms>(deref(list, "list").at(index),
                                                    listOf(reduce, axes, "reduce"), sizeLimit));
  });
}

TenonErrorCode TenonReductionProgramsGetCount(TenonReductionPrograms programs,
                                              TenonInt* count) noexcept {
  return guard(__func__,
               [&] { required(count, "count") = deref(programs, "programs").set().count(); });
}

TenonErrorCode TenonReductionProgramsGetSize(TenonReductionPrograms programs, TenonInt index,
                                             int* steps) noexcept {
  return guard(__func__, [&] {
    required(steps, "steps") =
        static_cast<int>(deref(programs, "programs").set().program(index).size());
  });
}

TenonErrorCode TenonReductionProgramsGetText(TenonReductionPrograms programs, TenonInt index,
                                             char text[], TenonInt length,
                                             TenonInt* needed) noexcept {
  return guard(__func__, [&] {
    copyText(describe(deref(programs, "programs").set().program(index)), {text, length, needed},
             "text");
  });
}

TenonErrorCode TenonReductionProgramsPredict(TenonReductionPrograms programs, TenonMachine machine,
                                             TenonReductionAlgorithm algorithm, double bytes,
                                             double seconds[]) noexcept {
  return guard(__func__, [&] {
    const ReductionPrograms& object = deref(programs, "programs");
    const Machine& model = deref(machine, "machine").machine();
    // One simulation for all programs: it caches the traffic of instructions that they share.
    Simulation simulation(model, object.placement(), object.axes(), algorithmFrom(algorithm),
                          bytes);
    std::vector<double> times(object.set().count());
    for (std::size_t i = 0; i < times.size(); ++i)
      times[i] = simulation.seconds(object.set().program(static_cast<Index>(i)));
    copyList(times, seconds, "seconds");
  });
}

TenonErrorCode TenonReductionProgramsDestroy(TenonReductionPrograms* programs) noexcept {
  return guard(__func__, [&] { destroy(programs, "programs"); });
}
