// SPDX-License-Identifier: BSD-2-Clause
#include "tools/indexes.hpp"

#include "tools/handles.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

using tenon::tools::declaredText;

namespace {

struct Option {
  std::string owner, key, values, defaultValue, help;
};

// A bar would end the cell.
std::string cell(const std::string& text) {
  std::string made;
  for (const char c : text) {
    if (c == '|')
      made += '\\';
    made += c;
  }
  return made;
}

std::string valuesOf(TenonOptionType type, const std::string& choices) {
  switch (type) {
  case TENON_OPTION_FLAG:
    return "true or false";
  case TENON_OPTION_INT:
    return "integer";
  case TENON_OPTION_REAL:
    return "real number";
  case TENON_OPTION_CHOICE:
    return choices;
  case TENON_OPTION_WORD:
    return "word or nothing";
  default:
    return "text";
  }
}

// By owner, and in the order of the owner's table.
std::vector<Option> declaredOptions() {
  int count = 0;
  TenonCallAbort(TenonOptionsGetDeclaredCount(&count));
  std::vector<Option> options;
  for (int i = 0; i < count; ++i) {
    TenonOptionType type;
    TenonCallAbort(TenonOptionsGetDeclaredType(i, &type));
    const auto text = [&](TenonOptionText which) { return declaredText(i, which); };
    options.push_back({text(TENON_OPTION_TEXT_OWNER), text(TENON_OPTION_TEXT_KEY),
                       valuesOf(type, text(TENON_OPTION_TEXT_CHOICES)),
                       text(TENON_OPTION_TEXT_DEFAULT), text(TENON_OPTION_TEXT_HELP)});
  }
  std::stable_sort(options.begin(), options.end(),
                   [](const Option& a, const Option& b) { return a.owner < b.owner; });
  return options;
}

const char* kindOf(int code) {
  if (code == TENON_SUCCESS)
    return "";
  if (code == TENON_ERR_INTERNAL)
    return "a fault of Tenon";
  return code < TENON_ERR_MEMORY ? "a mistake in the call" : "a failing resource";
}

} // namespace

void printOptionIndex() {
  std::printf(
      "# Options\n\n"
      "Each may be written with an object's prefix after `-tenon_`, and then holds for that "
      "object alone.\nPrinted by `tenon options`.\n");
  std::string owner;
  for (const Option& option : declaredOptions()) {
    if (option.owner != owner)
      std::printf("\n## %s\n\n| option | value | default | meaning |\n| --- | --- | --- | --- |\n",
                  option.owner.c_str());
    owner = option.owner;
    std::printf("| `%s` | %s | %s | %s |\n", option.key.c_str(), cell(option.values).c_str(),
                cell(option.defaultValue).c_str(), cell(option.help).c_str());
  }
}

void printErrorIndex() {
  std::printf("# Error codes\n\nPrinted by `tenon errors`.\n\n"
              "| code | number | meaning | kind |\n| --- | --- | --- | --- |\n");
#define PRINT_ROW(name, number, sentence)                                                          \
  std::printf("| `TENON_" #name "` | %d | %s | %s |\n", number, sentence, kindOf(number));
  TENON_ERROR_TABLE(PRINT_ROW)
#undef PRINT_ROW
}
