// SPDX-License-Identifier: BSD-2-Clause
#include "sys/error.hpp"

namespace tenon {

const char* errorSentence(TenonErrorCode code) noexcept {
  switch (code) {
#define TENON_CASE(name, number, sentence)                                                         \
  case TENON_##name:                                                                               \
    return sentence;
    TENON_ERROR_TABLE(TENON_CASE)
#undef TENON_CASE
  default:
    return "unknown error code";
  }
}

const char* errorName(TenonErrorCode code) noexcept {
  switch (code) {
#define TENON_CASE(name, number, sentence)                                                         \
  case TENON_##name:                                                                               \
    return "TENON_" #name;
    TENON_ERROR_TABLE(TENON_CASE)
#undef TENON_CASE
  default:
    return "unknown";
  }
}

} // namespace tenon
