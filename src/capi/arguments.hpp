// SPDX-License-Identifier: BSD-2-Clause
// Checked copies of C arguments: lists and texts in, texts out.
#pragma once

#include "capi/handle.hpp"
#include "geometry/boundary.hpp"
#include "geometry/box.hpp"
#include "sys/memory/memory.hpp"

#include <tenon/layout.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace tenon {

// A copy of `count` values at `values`, which may be NULL only if there are none.
template <class T>
std::vector<T> listOf(const T* values, int count, const char* name) {
  if (count < 0)
    throw Error(TENON_ERR_ARG, fmt::format("the length of {} is {}; it must be >= 0", name, count));
  if (!values && count > 0)
    throw Error(TENON_ERR_NULL, fmt::format("{} is NULL; pass an array of length {}", name, count));
  return std::vector<T>(values, values + count);
}

inline std::string textOf(const char* text, const char* name) {
  if (!text)
    throw Error(TENON_ERR_NULL, fmt::format("{} is NULL; pass a string", name));
  return text;
}

inline std::string textOrEmpty(const char* text) {
  return text ? text : "";
}

// The buffer into which a call copies a text. A caller leaves the buffer NULL to ask for the size alone, and `needed` NULL
// if he does not want to know it.
struct TextBuffer {
  char* text;
  TenonInt length;
  TenonInt* needed;
};

// Copies a text into the buffer, with its terminating zero.
inline void copyText(const std::string& text, const TextBuffer& buffer, const char* name) {
  const auto needed = static_cast<TenonInt>(text.size()) + 1;
  if (buffer.needed)
    *buffer.needed = needed;
  else
    required(buffer.text, name);
  if (!buffer.text)
    return;
  if (buffer.length < needed)
    throw Error(TENON_ERR_ARG,
                fmt::format("{} has a length of {} characters, but {} are needed; call with NULL "
                            "for {} to get the number",
                            name, buffer.length, needed, name));
  std::memcpy(buffer.text, text.c_str(), text.size() + 1);
}

// The same where a call returns more than the text, so that neither the buffer nor the size need be
// asked for.
inline void copyTextIfWanted(const std::string& text, const TextBuffer& buffer, const char* name) {
  if (buffer.text || buffer.needed)
    copyText(text, buffer, name);
}

static_assert(static_cast<int>(Boundary::None) == TENON_BOUNDARY_NONE &&
              static_cast<int>(Boundary::Zero) == TENON_BOUNDARY_ZERO &&
              static_cast<int>(Boundary::Periodic) == TENON_BOUNDARY_PERIODIC &&
              static_cast<int>(Boundary::Reflect) == TENON_BOUNDARY_REFLECT &&
              static_cast<int>(Boundary::Replicate) == TENON_BOUNDARY_REPLICATE &&
              static_cast<int>(Boundary::Values) == TENON_BOUNDARY_VALUES);

inline Boundary boundaryOf(TenonBoundary mode, const std::string& name) {
  if (mode < TENON_BOUNDARY_NONE || mode > TENON_BOUNDARY_VALUES)
    throw Error(TENON_ERR_ARG, fmt::format("{} is {}; use a TENON_BOUNDARY_... constant", name,
                                           static_cast<int>(mode)));
  return static_cast<Boundary>(mode);
}

inline Space spaceOf(TenonMemorySpace space) {
  if (space != TENON_MEMORY_HOST && space != TENON_MEMORY_DEVICE)
    throw Error(TENON_ERR_ARG, fmt::format("space is {}; use TENON_MEMORY_HOST or "
                                           "TENON_MEMORY_DEVICE",
                                           static_cast<int>(space)));
  return space == TENON_MEMORY_HOST ? Space::Host : Space::Device;
}

template <class T>
void copyList(const std::vector<T>& values, T* target, const char* name) {
  if (!values.empty())
    std::copy(values.begin(), values.end(), &required(target, name));
}

inline void copyBox(const Box& box, TenonInt* low, TenonInt* high) {
  required(low, "low");
  required(high, "high");
  for (std::size_t d = 0; d < box.size(); ++d) {
    low[d] = box[d].begin;
    high[d] = box[d].end;
  }
}

// Copies numbers into an array of this length; an array that is NULL receives nothing.
inline void copyUpTo(const std::vector<Index>& found, TenonInt length, TenonInt* values,
                     const std::string& what) {
  if (!values)
    return;
  if (length < static_cast<TenonInt>(found.size()))
    throw Error(TENON_ERR_ARG, fmt::format("{} has {} values, but length is {}; pass a longer "
                                           "array",
                                           what, found.size(), length));
  std::copy(found.begin(), found.end(), values);
}

} // namespace tenon
