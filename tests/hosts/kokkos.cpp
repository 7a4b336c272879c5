// SPDX-License-Identifier: BSD-2-Clause
// tenon/hosts/kokkos.hpp with views of Kokkos in host memory, in the order of C and of Fortran.
#include "hosts/host_arrays.hpp"

#include <Kokkos_Core.hpp>

#include <tenon/hosts/kokkos.hpp>

namespace {

template <class Layout>
void views() {
  const Kokkos::View<double***, Layout> view("field", hosts::kChannels, hosts::kHigh, hosts::kWide);
  hosts::checkInPlace(
      view,
      [](tenon::DTensor& x, const auto& a, tenon::Ints low, tenon::Ints high) {
        return tenon::placeView(x, a, low, high);
      },
      [&](TenonInt c, TenonInt j, TenonInt i) {
        return view(std::size_t(c), std::size_t(j), std::size_t(i));
      });
}

} // namespace

int main(int argc, char** argv) {
  const tenon::Session session(argc, argv);
  Kokkos::initialize();
  views<Kokkos::LayoutRight>();
  views<Kokkos::LayoutLeft>();
  Kokkos::finalize();
}
