// SPDX-License-Identifier: BSD-2-Clause
/** @file
 *  @brief Part of tenon.hpp: Tenon as long as it is used. */
#ifndef TENON_CXX_SESSION_HPP
#define TENON_CXX_SESSION_HPP

#include <tenon.h>
#include <tenon/cxx/arguments.hpp>

#include <exception>

namespace tenon {

/** @brief Tenon, initialised and finalised. Errors are thrown instead of printed meanwhile. A
 *         session that is left by an exception is not finalised, since other ranks may not take
 *         part.
 *
 *  Without argc and argv, as where the command line belongs to a host program, the options are
 *  those of the environment variable TENON_OPTIONS, which can name an options file. */
class Session {
public:
  explicit Session(const Where& where = Where::current()) {
    detail::Call(where).check(TenonInitialize(nullptr, nullptr, nullptr));
    begin(where);
  }
  Session(int& argc, char**& argv, Text help = {}, const Where& where = Where::current()) {
    detail::Call(where).check(TenonInitialize(&argc, &argv, help.get()));
    begin(where);
  }
  explicit Session(MPI_Comm comm, const Where& where = Where::current()) {
    detail::Call(where).check(TenonInitializeWithComm(comm, nullptr, nullptr, nullptr));
    begin(where);
  }
  Session(MPI_Comm comm, int& argc, char**& argv, Text help = {},
          const Where& where = Where::current()) {
    detail::Call(where).check(TenonInitializeWithComm(comm, &argc, &argv, help.get()));
    begin(where);
  }
  ~Session() {
    TenonPopErrorHandler();
    if (std::uncaught_exceptions() == exceptions_)
      TenonFinalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

private:
  static void begin(const Where& where) {
    detail::Call(where).check(TenonPushErrorHandler(TenonReturnErrorHandler, nullptr));
  }

  int exceptions_ = std::uncaught_exceptions();
};

} // namespace tenon

#endif
