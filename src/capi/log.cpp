// SPDX-License-Identifier: BSD-2-Clause
#include "sys/log.hpp"
#include "capi/arguments.hpp"
#include "sys/guard.hpp"
#include "sys/progress.hpp"

#include <tenon/log.h>

TenonErrorCode TenonLogEnable(TenonBool on) noexcept {
  return tenon::guard(__func__, [&] { tenon::logEnable(on != TENON_FALSE); });
}

TenonErrorCode TenonLogEventRegister(const char* name, int* event) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::required(event, "event") = tenon::logEvent(tenon::textOf(name, "name").c_str());
  });
}

TenonErrorCode TenonLogEventBegin(int event) noexcept {
  return tenon::guard(__func__, [&] {
    if (!tenon::logBegin(event) && tenon::logEnabled())
      throw tenon::Error(
          TENON_ERR_ARG,
          fmt::format("unknown log event {}; use a number from TenonLogEventRegister()", event));
  });
}

TenonErrorCode TenonLogEventEnd(int event) noexcept {
  return tenon::guard(__func__, [&] { tenon::logEnd(event); });
}

TenonErrorCode TenonLogFlops(double flops) noexcept {
  return tenon::guard(__func__, [&] { tenon::logFlops(flops); });
}

TenonErrorCode TenonLogStagePush(const char* name) noexcept {
  return tenon::guard(__func__, [&] { tenon::logStagePush(tenon::textOf(name, "name").c_str()); });
}

TenonErrorCode TenonLogStagePop(void) noexcept {
  return tenon::guard(__func__, [] { tenon::logStagePop(); });
}

TenonErrorCode TenonProgressShow(const char* name, TenonInt done, TenonInt total,
                                 const char* valueName, double value) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::showProgress(tenon::textOf(name, "name"), done, total, tenon::textOrEmpty(valueName),
                        value);
  });
}
