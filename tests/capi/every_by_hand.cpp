// SPDX-License-Identifier: BSD-2-Clause
// What tenon.hpp has of the C interface by hand, used once: loans, placements, sessions, errors.
// The functions of C that are called here and in every_member.cpp are all that the headers declare.
#include <tenon.hpp>

namespace tenon {

template class Loan<double>;
template class Loan<const double>;
template class DeviceLoan<double>;
template class DeviceLoan<const double>;

namespace every {

void place(DTensor& x, double* field) {
  const Placement placed = x.place(field);
}
Placement placeConstant(DTensor& x, const double* field) {
  return x.place(field);
}
Placement placeArrays(DTensor& x, double* u, double* v) {
  return x.placeArrays<double>(1, {u, v});
}
Placement placeConstantArrays(DTensor& x, const double* u, const double* v) {
  return x.placeArrays<const double>(1, {u, v});
}
Placement placeConstantComponents(DTensor& x, const double* u, const double* v) {
  return x.placeComponents<const double>(1, {u, v}, {{}, {{}, {0, 0, 1}, {0, 0, 2}}});
}
Placement placeComponents(DTensor& x, double* u, double* v) {
  return x.placeComponents<double>(1, {u, v}, {{}, {{}, {0, 0, 1}, {0, 0, 2}}});
}
Layer layerOfType(MPI_Comm comm) {
  return Layer(comm, "tanh");
}
void session(int argc, char** argv) {
  const Session onAll(argc, argv);
  const Session onSome(MPI_COMM_SELF);
  pushErrorHandler(TenonPrintErrorHandler);
}
void fail(const std::string& message) {
  raiseError(TENON_ERR_ARG, message);
}

} // namespace every

} // namespace tenon
