// SPDX-License-Identifier: BSD-2-Clause
// The log of events and stages, progress lines, output handlers, and TenonWriteFile(). These calls
// are local and do not require an initialised library: a program can log, and redirect the output,
// before TenonInitialize(). The calls are declared in tenon/log.h and tenon/output.h.
#include "sys/log/log.hpp"

#include "capi/arguments.hpp"
#include "sys/errors/guard.hpp"
#include "sys/files/json_text.hpp"
#include "sys/files/part_file.hpp"
#include "sys/log/progress.hpp"
#include "sys/text/output.hpp"

#include <tenon/log.h>
#include <tenon/output.h>

namespace {

// Wraps a user's handler; NULL restores the default, stdout or stderr.
tenon::TextSink sinkOf(TenonTextHandler handler, void* context) {
  if (!handler)
    return {};
  return [handler, context](std::string_view text) {
    handler(text.data(), static_cast<int>(text.size()), context);
  };
}

} // namespace

TenonErrorCode TenonSetOutputHandler(TenonTextHandler handler, void* context) noexcept {
  return tenon::guard(__func__, [&] { tenon::setOutputSink(sinkOf(handler, context)); });
}

TenonErrorCode TenonSetErrorOutputHandler(TenonTextHandler handler, void* context) noexcept {
  return tenon::guard(__func__, [&] { tenon::setErrorSink(sinkOf(handler, context)); });
}

TenonErrorCode TenonWriteFile(const char* path, const char* text, TenonInt length) noexcept {
  return tenon::guard(__func__, [&] {
    if (length < 0)
      throw tenon::Error(TENON_ERR_ARG,
                         fmt::format("length is {}; expected 0 or more bytes", length));
    // The text is written to a temporary file in the same directory, which commit() renames, so a
    // reader never sees an incomplete file.
    tenon::NewFile file(tenon::textOf(path, "path"));
    if (length > 0)
      file.write({&tenon::required(text, "text"), static_cast<std::size_t>(length)});
    file.commit();
  });
}

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
    // The number is checked only while the log is on: the call must be cheap when it is off.
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

TenonErrorCode TenonLogGetWork(double* seconds, double* flops, TenonInt* messages,
                               TenonInt* bytes) noexcept {
  return tenon::guard(__func__, [&] {
    const tenon::ScopeTotals work = tenon::logTotalsOfOpenScope();
    if (seconds)
      *seconds = work.seconds;
    if (flops)
      *flops = work.flops;
    if (messages)
      *messages = work.messages;
    if (bytes)
      *bytes = work.bytes;
  });
}

TenonErrorCode TenonLogGetRecords(char text[], TenonInt length, TenonInt* needed) noexcept {
  return tenon::guard(__func__, [&] {
    tenon::Json records = tenon::Json::array();
    for (const tenon::EventRecord& record : tenon::logSnapshot())
      records.push_back({{"stage", record.stage},
                         {"event", record.event},
                         {"count", record.count},
                         {"time", record.time},
                         {"self_time", record.selfTime},
                         {"flops", record.flops},
                         {"messages", record.messages},
                         {"bytes", record.bytes}});
    tenon::copyText(records.dump(), {text, length, needed}, "text");
  });
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
