// SPDX-License-Identifier: BSD-2-Clause
#include "sys/output.hpp"

#include "sys/guard.hpp"

#include <tenon/output.h>

namespace {

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
