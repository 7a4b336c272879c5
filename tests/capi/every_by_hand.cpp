// SPDX-License-Identifier: BSD-2-Clause
// Uses each function of tenon.hpp that is written by hand, and instantiates its templates: loans of
// arrays, placements of the program's arrays, sessions, errors. The members that are generated from
// the C headers are used in every_member.cpp, which is generated too. The object code of both must
// refer to every function that the C headers declare; check_every_call.sh compares the symbols.
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
