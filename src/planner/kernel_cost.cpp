// SPDX-License-Identifier: BSD-2-Clause
#include "planner/kernel_cost.hpp"

#include "declaration/kernel_cells.hpp"

namespace tenon {

namespace {

KernelCost costAt(int position, const Declaration& layer, const Form& form, bool hasCotangent,
                  Index cellBytes, const KernelRates& rates) {
  const Work work = layer.work(form, position);
  const KernelCells cells = kernelCells(form, position);
  const double each = double(cellBytes);
  KernelCost cost;
  cost.apply = {.flops = work.forward,
                .bytes = each * (cells.inputs + cells.parameters + cells.output)};
  if (hasCotangent || !form.parameters.empty())
    cost.adjoint = {.flops = work.adjointParameters + (hasCotangent ? work.adjoint : 0),
                    .bytes = each * (cells.output + cells.inputs + cells.parameters +
                                     (hasCotangent ? cells.inputs + cells.parameters : 0))};
  cost.applySeconds = rates.seconds(layer.type(), KernelPass::Apply, cellBytes, cost.apply);
  cost.adjointSeconds = rates.seconds(layer.type(), KernelPass::Adjoint, cellBytes, cost.adjoint);
  return cost;
}

} // namespace

KernelCost kernelCost(const Declaration& layer, const Form& form, bool hasCotangent,
                      Index cellBytes, const KernelRates& rates, Looks looks) {
  KernelCost most;
  for (int position : positionsLookedAt(form.output.mesh(), looks)) {
    const KernelCost cost = costAt(position, layer, form, hasCotangent, cellBytes, rates);
    if (cost.applySeconds > most.applySeconds) {
      most.apply = cost.apply;
      most.applySeconds = cost.applySeconds;
    }
    if (cost.adjointSeconds > most.adjointSeconds) {
      most.adjoint = cost.adjoint;
      most.adjointSeconds = cost.adjointSeconds;
    }
  }
  return most;
}

} // namespace tenon
