// SPDX-License-Identifier: BSD-2-Clause
#include "sys/output.hpp"

#include "capi/arguments.hpp"
#include "sys/guard.hpp"
#include "sys/new_file.hpp"

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

TenonErrorCode TenonWriteFile(const char* path, const char* text, TenonInt length) noexcept {
  return tenon::guard(__func__, [&] {
    if (length < 0)
      throw tenon::Error(TENON_ERR_ARG,
                         fmt::format("length is {}; expected 0 or more bytes", length));
    tenon::NewFile file(tenon::textOf(path, "path"));
    if (length > 0)
      file.write({&tenon::required(text, "text"), static_cast<std::size_t>(length)});
    file.commit();
  });
}
