// SPDX-License-Identifier: BSD-2-Clause
// Runs comparisons and selections over arrays, on the host or the device. A relation and its mirror
// image share a functor: a < b is computed as b > a.
#include "kernels/elementwise/selection.hpp"

#include "kernels/functors/selection.hpp"
#include "kernels/walks/each.hpp"

namespace tenon {

template <class T>
void compareElements(KernelContext& context, Relation relation, Index n, const T* a, const T* b,
                     T* y) {
  using namespace functors;
  switch (relation) {
  case Relation::Greater:
    return eachElement(context, n, 1, CompareElements<IsGreater, T>{a, b, y});
  case Relation::Less:
    return eachElement(context, n, 1, CompareElements<IsGreater, T>{b, a, y});
  case Relation::GreaterOrEqual:
    return eachElement(context, n, 1, CompareElements<IsGreaterOrEqual, T>{a, b, y});
  case Relation::LessOrEqual:
    return eachElement(context, n, 1, CompareElements<IsGreaterOrEqual, T>{b, a, y});
  case Relation::Equal:
    return eachElement(context, n, 1, CompareElements<IsEqual, T>{a, b, y});
  case Relation::NotEqual:
    return eachElement(context, n, 1, CompareElements<IsNotEqual, T>{a, b, y});
  }
}

template <class T>
void selectElements(KernelContext& context, Index n, const T* mask, const T* a, const T* b, T* y,
                    double otherwise) {
  eachElement(context, n, 1, functors::SelectElements<T>{mask, a, b, y, otherwise});
}

#define TENON_INSTANTIATE(T)                                                                       \
  template void compareElements<T>(KernelContext&, Relation, Index, const T*, const T*, T*);       \
  template void selectElements<T>(KernelContext&, Index, const T*, const T*, const T*, T*, double);
TENON_INSTANTIATE(float)
TENON_INSTANTIATE(double)
#undef TENON_INSTANTIATE

} // namespace tenon
