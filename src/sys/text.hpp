// SPDX-License-Identifier: BSD-2-Clause
// Small questions about words, for messages that say what was probably meant.
#pragma once

#include "sys/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace tenon {

// The least number of insertions, deletions and replacements of one character that turn a into b.
int editDistance(std::string_view a, std::string_view b);
// The first of the words at the least distance; "" if there are none.
std::string nearest(std::string_view word, const std::vector<std::string>& words);
// "a, b, c".
std::string joined(const std::vector<std::string>& words, std::string_view separator = ", ");
std::string lowered(std::string_view text);
// "1 axis", "3 axes": the plural is the noun with an s unless it is given.
std::string counted(Index count, std::string_view noun, std::string_view plural = {});
// The pieces between separators, empty ones included; none for an empty text.
std::vector<std::string> split(std::string_view text, char separator);

} // namespace tenon
