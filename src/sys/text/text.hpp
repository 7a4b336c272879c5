// SPDX-License-Identifier: BSD-2-Clause
// Words and sizes in messages: the nearest word, lists, counts with nouns; and arithmetic on sizes
// with overflow checks.
#pragma once

#include "sys/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// Edit (Levenshtein) distance: the minimum number of insertions, deletions and replacements of one
// character that turn a into b.
int editDistance(std::string_view a, std::string_view b);
// The word nearest to this one, the first of several; "" if the list is empty.
std::string nearest(std::string_view word, const std::vector<std::string>& words);
// The words as one text: "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");
// The text in lower case (ASCII only).
std::string lowered(std::string_view text);
// A count with its noun: "1 axis", "3 axes". The default plural adds an s.
std::string counted(Index count, std::string_view noun, std::string_view plural = {});
// The pieces between separators, including empty ones; nothing for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

// Sums, differences and products of sizes from users, which throw TENON_ERR_SHAPE on overflow.
// `what` names the result in the message: "... is 3 x 6148914691236517206, which no 64-bit integer
// holds".
[[noreturn]] void refuseSize(const char* what, Index a, const char* sign, Index b);

inline Index checkedSum(Index a, Index b, const char* what) {
  Index sum = 0;
  if (__builtin_add_overflow(a, b, &sum))
    refuseSize(what, a, "+", b);
  return sum;
}

inline Index checkedDifference(Index a, Index b, const char* what) {
  Index difference = 0;
  if (__builtin_sub_overflow(a, b, &difference))
    refuseSize(what, a, "-", b);
  return difference;
}

inline Index checkedProduct(Index a, Index b, const char* what) {
  Index product = 0;
  if (__builtin_mul_overflow(a, b, &product))
    refuseSize(what, a, "x", b);
  return product;
}

} // namespace tenon
