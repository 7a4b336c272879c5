// SPDX-License-Identifier: BSD-2-Clause
// What a body throws, for the tests of tenon.hpp.
#ifndef TENON_TEST_THROWN_HPP
#define TENON_TEST_THROWN_HPP

#include "support/check.h"

#include <tenon.hpp>

#include <cstring>

// The code of what the body throws, and what the exception says.
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

// Whether a list of the body has not the length that it needs.
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
