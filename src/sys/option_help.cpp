// SPDX-License-Identifier: BSD-2-Clause
// The text of -tenon_help: the declared options grouped by owner, with default, values and sources.
#include "sys/options.hpp"
#include "sys/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

bool contains(const std::string& text, const std::string& loweredWord) {
  return lowered(text).find(loweredWord) != std::string::npos;
}

bool isAbout(const OptionDeclaration& declared, const std::string& loweredWord) {
  return contains(declared.name, loweredWord) || contains(declared.owner, loweredWord) ||
         contains(declared.help, loweredWord);
}

bool concerns(const OptionValue& value, const OptionDeclaration& declared) {
  const auto meant = declarationsOf(value.key);
  return std::find(meant.begin(), meant.end(), &declared) != meant.end();
}

std::string helpOf(const OptionDeclaration& declared, const std::vector<OptionValue>& values) {
  std::string text = fmt::format("  {}\n      {} (default: {})\n", declared.usage(), declared.help,
                                 declared.defaultValue.empty() ? "none" : declared.defaultValue);
  for (const auto& value : values)
    if (concerns(value, declared))
      text += fmt::format("      now: {} {} ({})\n", value.key, value.text, value.place);
  return text;
}

} // namespace

std::string OptionDatabase::programHelp() const {
  const auto given = values();
  std::string text;
  for (const auto* one : optionDeclarations())
    if (one->isProgram)
      text += helpOf(*one, given);
  return text + "The options of Tenon are listed by -tenon_help, those about a word by "
                "-tenon_help word.\n";
}

std::string OptionDatabase::help(std::string_view word) const {
  auto declared = optionDeclarations();
  const std::string loweredWord = lowered(word);
  std::erase_if(declared, [&](const auto* one) { return !isAbout(*one, loweredWord); });
  if (declared.empty())
    return fmt::format("No option contains '{}'.\n", word);
  std::stable_sort(declared.begin(), declared.end(), [](const auto* a, const auto* b) {
    if (a->isProgram != b->isProgram)
      return a->isProgram;
    return a->owner < b->owner;
  });
  const auto given = values();
  std::string text;
  std::string owner;
  for (const auto* one : declared) {
    if (one->owner != owner)
      text += one->owner + "\n";
    owner = one->owner;
    text += helpOf(*one, given);
  }
  return text;
}

} // namespace tenon
