// SPDX-License-Identifier: BSD-2-Clause
// Tenon's C handles as C++ values that release their reference, and its error codes as exceptions.
// Programs of users have tenon.hpp for that. The command cannot include it: it also contains
// internal modules of the library (the planner, the import of models), whose classes have the same
// names, such as tenon::Layout, and would share their symbols.
#pragma once

#include <tenon.h>
#include <tenon/ext/options.h>
#include <tenon/ext/reduction.h>

#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace tenon::tools {

struct CallError : std::runtime_error {
  CallError(TenonErrorCode failed, const std::string& message)
      : std::runtime_error(message), code(failed) {}
  TenonErrorCode code;
};

// The message of the last error of this thread. (Texts of the library are copied in two calls: the
// first returns the length, including the final '\0'.)
inline std::string lastMessage() {
  TenonInt needed = 0;
  TenonGetLastError(nullptr, nullptr, 0, &needed);
  std::string message(static_cast<std::size_t>(needed), '\0');
  TenonGetLastError(nullptr, message.data(), needed, nullptr);
  message.pop_back();
  return message;
}

// Throws the library's own message if a call has failed.
inline void require(TenonErrorCode code) {
  if (code == TENON_SUCCESS)
    return;
  throw CallError(code, std::string(TenonErrorName(code)) + ": " + lastMessage());
}

// The text that call(text, length, needed) returns, of any length.
template <class Call>
std::string textFrom(const Call& call) {
  TenonInt needed = 0;
  require(call(nullptr, 0, &needed));
  std::string text(static_cast<std::size_t>(needed), '\0');
  require(call(text.data(), needed, nullptr));
  text.pop_back();
  return text;
}

// The words of a list: wordsOf("a,b", ',') is {"a", "b"}.
inline std::vector<std::string> wordsOf(const std::string& list, char separator) {
  std::vector<std::string> words;
  std::istringstream text(list);
  for (std::string word; std::getline(text, word, separator);)
    words.push_back(word);
  return words;
}

// Information about the library and this computer, by TenonGetInfo().
inline std::string infoText(const char* what) {
  return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonGetInfo(what, text, length, needed);
  });
}

// A text about option number `option` of the library: its key, type, default or help.
inline std::string declaredText(int option, TenonOptionText which) {
  return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonOptionsGetDeclaredText(option, which, text, length, needed);
  });
}

// The value of a text option; `prefix` is "-" for an option of the program.
inline std::string textOption(const char* name, const char* prefix = "-") {
  return textFrom([&](char* text, TenonInt length, TenonInt* needed) {
    return TenonOptionsGetString(prefix, name, text, length, needed);
  });
}

inline bool flagOption(const char* name) {
  TenonBool value = TENON_FALSE;
  require(TenonOptionsGetFlag("-", name, &value));
  return value != TENON_FALSE;
}

// Owns one reference to an object of the library, and releases it with the function Destroy. out()
// is passed to the call that creates the object.
template <class H, TenonErrorCode (*Destroy)(H*)>
class Handle {
public:
  Handle() = default;
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { Destroy(&handle_); }

  operator H() const { return handle_; }
  // For the calls that accept an object of any class.
  TenonObject object() const { return reinterpret_cast<TenonObject>(handle_); }
  H* out() { return &handle_; }

private:
  H handle_ = nullptr;
};

using Partition = Handle<TenonPartition, TenonPartitionDestroy>;
using Layout = Handle<TenonLayout, TenonLayoutDestroy>;
using DTensor = Handle<TenonDTensor, TenonDTensorDestroy>;
using LinearOp = Handle<TenonLinearOp, TenonLinearOpDestroy>;
using PlacementList = Handle<TenonPlacementList, TenonPlacementListDestroy>;
using ReductionPrograms = Handle<TenonReductionPrograms, TenonReductionProgramsDestroy>;
using Layer = Handle<TenonLayer, TenonLayerDestroy>;
using Machine = Handle<TenonMachine, TenonMachineDestroy>;
using IndexMap = Handle<TenonIndexMap, TenonIndexMapDestroy>;
using Edges = Handle<TenonEdges, TenonEdgesDestroy>;
using Links = Handle<TenonLinks, TenonLinksDestroy>;

} // namespace tenon::tools
