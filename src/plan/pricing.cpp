// SPDX-License-Identifier: BSD-2-Clause
#include "plan/pricing.hpp"

#include "geometry/holding.hpp"
#include "machine/price.hpp"

namespace tenon {

double secondsOfMove(const Layout& from, const Layout& to, bool adjoint, const OwnRates& rates,
                     Index cellBytes) {
  if (sameHolding(from, to))
    return 0;
  const double there = priceOfMove(from, to, cellBytes, rates.links, Looks::Sampled).seconds;
  return adjoint
             ? there + priceOfMove(to.dual(), from.dual(), cellBytes, rates.links, Looks::Sampled)
                           .seconds
             : there;
}

PricedNetwork priceOfNetwork(const std::vector<UnfoldedNode>& nodes,
                             const std::vector<std::string>& signatures, const Layout& input,
                             const OwnRates& rates, Index cellBytes) {
  PricedNetwork priced;
  double& seconds = priced.seconds;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Declaration& declaration = nodes[n].layer->declaration();
    Layouts inputs;
    for (int read : nodes[n].reads)
      inputs.push_back(read < 0 ? input : priced.forms[read].output);
    const Form& form =
        priced.forms.emplace_back(declaration.form(inputs, {.letters = signatures[n]}));
    bool readsOthers = false; // whose cotangents are wanted
    for (std::size_t i = 0; i < form.uses.size(); ++i) {
      const bool isOther = nodes[n].reads[i] >= 0;
      readsOthers |= isOther;
      seconds += secondsOfMove(inputs[i], form.uses[i], isOther, rates, cellBytes);
    }
    for (const ParameterForm& parameter : form.parameters)
      seconds += secondsOfMove(parameter.use.dual(), parameter.use, false, rates, cellBytes);
    const KernelCost kernels = kernelCost(declaration, form, readsOthers, cellBytes, rates.kernels);
    seconds += kernels.applySeconds + kernels.adjointSeconds;
  }
  return priced;
}

} // namespace tenon
