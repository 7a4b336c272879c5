// SPDX-License-Identifier: BSD-2-Clause
// Checks that a call throws a tenon::Error of a code whose text contains all the given parts.
#pragma once

#include "sys/errors/error.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>

template <class Call>
void expectError(TenonErrorCode code, std::initializer_list<const char*> parts, Call&& call) {
  try {
    std::forward<Call>(call)();
  } catch (const tenon::Error& error) {
    EXPECT_EQ(error.code(), code) << error.text();
    for (const char* part : parts)
      EXPECT_NE(error.text().find(part), std::string::npos)
          << "'" << part << "' is missing in: " << error.text();
    return;
  }
  ADD_FAILURE() << "no error; expected " << tenon::errorName(code);
}
