// SPDX-License-Identifier: BSD-2-Clause
// Operations and bytes of a layer's kernels, and their seconds by a machine's rates. The slowest
// process is found for Apply and for the adjoint separately: on uneven parts they need not be the
// same, and each pass ends when its own slowest has ended.
#include "planner/prices/kernel_cost.hpp"

#include "declaration/core/kernel_maps.hpp"

#include <algorithm>

namespace tenon {

namespace {

// The rows that loops go through. Pooling has no operations, so it is counted by the elements that
// its windows read.
double rowsOf(const Box& output, const KernelWork& work) {
  const double length = output.empty() ? 1 : double(std::max<Index>(1, output.back().size()));
  return (work.flops > 0 ? work.flops : work.columns) / length;
}

KernelCost costAt(int position, const Declaration& layer, const Form& form, bool hasCotangent,
                  Index elementBytes, const KernelRates& rates) {
  const Work work = layer.work(form, position);
  const KernelElements elements = kernelElements(form, position);
  const double each = double(elementBytes);
  const Box output = form.output.box(position);
  // The gradients of the parameters and the cotangent of the input are a product each, and each
  // gathers the columns.
  const int products = (form.parameters.empty() ? 0 : 1) + (hasCotangent ? 1 : 0);
  KernelCost cost;
  cost.apply = {.flops = work.forward,
                .bytes = each * (elements.inputs + elements.parameters + elements.output),
                .columns = work.columns};
  cost.apply.rows = rowsOf(output, cost.apply);
  // Both products read the output's cotangent and the inputs, and write the parameters' gradients;
  // for the inputs' cotangents the parameters are read and the inputs written besides. A layer that
  // needs neither has no adjoint.
  if (products > 0) {
    cost.adjoint = {.pass = hasCotangent ? KernelPass::Adjoint : KernelPass::Parameters,
                    .flops = work.adjointParameters + (hasCotangent ? work.adjoint : 0),
                    .bytes = each * (elements.output + elements.inputs + elements.parameters +
                                     (hasCotangent ? elements.inputs + elements.parameters : 0)),
                    .columns = products * work.columns};
    cost.adjoint.rows = rowsOf(output, cost.adjoint);
  }
  const std::string kind = layer.kernelKind();
  cost.applySeconds = rates.seconds(kind, elementBytes, cost.apply);
  cost.adjointSeconds = rates.seconds(kind, elementBytes, cost.adjoint);
  return cost;
}

} // namespace

KernelCost kernelCost(const Declaration& layer, const Form& form, bool hasCotangent,
                      Index elementBytes, const KernelRates& rates, Looks looks) {
  KernelCost most;
  for (int position : positionsLookedAt(form.output.grid(), looks)) {
    const KernelCost cost = costAt(position, layer, form, hasCotangent, elementBytes, rates);
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
