// SPDX-License-Identifier: BSD-2-Clause
// Reads the place of a kernel off a declaration and a form, and asks the kernels of a form for
// their memory. A plan asks for ranks that do not run here; the kernels are then made for arrays of
// another rank, which costs index lists but no tensors.
#include "declaration/kernel/kernel_place.hpp"

#include <algorithm>

namespace tenon {

KernelPlace::KernelPlace(const Declaration& declaration, const Form& formOfLayer,
                         const MapList& listOfForm, int numberInList, int atRank,
                         KernelContextPtr atContext)
    : form(formOfLayer), list(listOfForm), number(numberInList), rank(atRank),
      type(declaration.value<std::string>("data_type") == "float64" ? TENON_FLOAT64
                                                                    : TENON_FLOAT32),
      context(std::move(atContext)),
      backend(parseBackend(declaration.value<std::string>("backend"))) {}

const Map& KernelPlace::map() const {
  return *std::ranges::find_if(list.maps(), [&](const Map& map) {
    return map.kind == Map::Kind::Kernel && map.object == number;
  });
}

Backend KernelPlace::resolvedBackend() const {
  return visitFloating(type,
                       [&]<class T>(T) { return resolveBackend<T>(backend, context->space()); });
}

std::optional<KernelBytes> kernelBytes(const Declaration& declaration, const Form& form, int rank,
                                       const KernelContextPtr& context) {
  const MapList list = declaration.maps(form, declaration.storageLayouts(form));
  const ScratchCount count(*context);
  KernelBytes bytes;
  for (int k = 0; k < static_cast<int>(list.kernels().size()); ++k) {
    const auto kernel = declaration.makeKernel({declaration, form, list, k, rank, context});
    if (!kernel)
      return std::nullopt;
    bytes.own += kernel->bytes();
  }
  bytes.scratch = count.bytes();
  return bytes;
}

} // namespace tenon
