// SPDX-License-Identifier: BSD-2-Clause
// Helpers for the tests of tenon.hpp, whose functions throw exceptions: thrown() for tenon::Error,
// isOfWrongLength() for std::length_error.
#ifndef TENON_TEST_THROWN_HPP
#define TENON_TEST_THROWN_HPP

#include "support/check.h"

#include <tenon.hpp>

#include <cstring>

// Runs `body`. Returns the code of the tenon::Error that it throws, TENON_SUCCESS if it throws
// none; `what` gets the exception's whole text.
template <class Body>
TenonErrorCode thrown(Body body, std::string* what = nullptr) {
  try {
    body();
  } catch (const tenon::Error& error) {
    CHECK(!error.message().empty());
    CHECK(std::strstr(error.what(), error.message().c_str()));
    if (what)
      *what = error.what();
    return error.code();
  }
  return TENON_SUCCESS;
}

// Whether `body` throws std::length_error, as for a list of a wrong length.
template <class Body>
bool isOfWrongLength(Body body) {
  try {
    body();
  } catch (const std::length_error&) {
    return true;
  }
  return false;
}

#endif
