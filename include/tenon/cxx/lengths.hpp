// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: how many entries the lists of an object have. */
#ifndef TENON_CXX_LENGTHS_HPP
#define TENON_CXX_LENGTHS_HPP

#include <tenon/cxx/generated/object.hpp>

namespace tenon {

namespace detail {

inline std::size_t dimensionsOf(TenonLayout layout, const Where& where) {
  int count = 0;
  Call(where).check(TenonLayoutGetDim(layout, &count));
  return size(count);
}
inline std::size_t dimensionsOf(TenonDTensor x, const Where& where) {
  Handle<TenonLayout> layout;
  Call(where).check(TenonDTensorGetLayout(x, layout.out()));
  return dimensionsOf(layout.get(), where);
}
// As many as the kernel has.
inline std::size_t spatialOf(TenonLayer layer, const Where& where) {
  TenonInt count = 0;
  Call(where).check(
      TenonObjectGetIntegers(reinterpret_cast<TenonObject>(layer), "kernel", 0, nullptr, &count));
  return size(count);
}
inline std::size_t axesOf(TenonPartition partition, const Where& where) {
  int count = 0;
  Call(where).check(TenonPartitionGetAxes(partition, &count));
  return size(count);
}
inline std::size_t devicesOf(TenonMachine machine, const Where& where) {
  TenonInt count = 0;
  Call(where).check(TenonMachineGetCounts(machine, nullptr, nullptr, &count));
  return size(count);
}
inline std::size_t countOf(TenonReductionPrograms programs, const Where& where) {
  TenonInt count = 0;
  Call(where).check(TenonReductionProgramsGetCount(programs, &count));
  return size(count);
}
// Those of all groups of a step.
inline std::size_t devicesOf(TenonReductionPrograms programs, TenonInt index, int step,
                             const Where& where) {
  TenonCollective collective{};
  int groups = 0, members = 0;
  Call(where).check(
      TenonReductionProgramsGetStep(programs, index, step, &collective, &groups, &members));
  return size(groups) * size(members);
}

} // namespace detail

} // namespace tenon

#endif
