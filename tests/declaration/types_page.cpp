// SPDX-License-Identifier: BSD-2-Clause
// A program that prints doc/layer_types.md: each layer type with its settings, as the declarations
// list them. A test compares the page with this output, since a page that is written by hand
// becomes outdated.
#include "declaration/core/types.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

namespace tenon {
namespace {

const char* const kHead =
    "# Types of layers\n\n"
    "Made from the declarations of the types; `build/check/tests/declaration/types_page "
    ">doc/layer_types.md` "
    "regenerates this page.\n"
    "[Layers](layers.md) explains them, and `TenonLayerGetTypes()` lists those of a program, with "
    "the "
    "ones that it\nregisters. A setting is set by `TenonObjectSetIntegers()` and its kind, by an "
    "option `-tenon_[prefix_]name`,\nor by its key in a network file.\n\n";

std::string kindOf(const OptionSpec& spec) {
  switch (spec.type) {
  case OptionSpec::Flag:
    return "bool";
  case OptionSpec::Int:
    return "int";
  case OptionSpec::Ints:
    return "ints";
  case OptionSpec::Real:
    return "real";
  default:
    return "text";
  }
}

// A cell of a Markdown table, in which a bar must be escaped.
std::string cell(std::string text) {
  for (std::size_t at = 0; (at = text.find('|', at)) != text.npos; at += 2)
    text.insert(at, "\\");
  return text;
}

std::string row(const OptionSpec& spec) {
  const std::string range = spec.bounds.describe(),
                    choices =
                        spec.choices && *spec.choices ? fmt::format("; {}", spec.choices) : "",
                    value = !spec.defaultValue             ? "none"
                            : spec.defaultValue[0] == '\0' ? "\"\""
                                                           : spec.defaultValue;
  return fmt::format("| `{}` | {} | {} | {}{}{} |\n", spec.name, kindOf(spec), value,
                     cell(spec.help), cell(choices), range.empty() ? "" : ", " + range);
}

// Whether all types have this setting. `plain` is a type without settings of its own.
bool isCommon(const OptionSpec& spec, const Declaration& plain) {
  return std::ranges::any_of(plain.settings().entries(), [&](const Settings::Entry& entry) {
    return std::string_view(entry.spec->name) == spec.name;
  });
}

std::vector<const OptionSpec*> ownSettings(const Declaration& type, const Declaration& plain) {
  std::vector<const OptionSpec*> own;
  for (const Settings::Entry& entry : type.settings().entries())
    if (!isCommon(*entry.spec, plain))
      own.push_back(entry.spec);
  return own;
}

// "one input"; "" if the settings of the layer determine the number.
std::string inputsOf(const Declaration& declaration) {
  try {
    const int count = declaration.inputCount();
    return count < 0    ? "one or more inputs"
           : count == 1 ? "one input"
                        : fmt::format("{} inputs", count);
  } catch (const Error&) {
    return "";
  }
}

void printTable(const std::vector<const OptionSpec*>& specs) {
  std::fputs("| setting | kind | default | meaning |\n| --- | --- | --- | --- |\n", stdout);
  for (const OptionSpec* spec : specs)
    std::fputs(row(*spec).c_str(), stdout);
}

void print() {
  std::fputs(kHead, stdout);
  // tanh has only the settings that all types have.
  const auto plain = makeDeclaration("tanh");
  std::vector<const OptionSpec*> common;
  for (const Settings::Entry& entry : plain->settings().entries())
    common.push_back(entry.spec);
  std::string without, contents;
  for (const std::string& type : declarationNames())
    if (!ownSettings(*makeDeclaration(type), *plain).empty())
      contents += fmt::format(", [{0}](#{0})", type);
  contents += ", [Without settings of their own](#without-settings-of-their-own)";
  std::fputs(
      fmt::format("On this page: [All types](#all-types){}.\n\n## All types\n\n", contents).c_str(),
      stdout);
  printTable(common);
  for (const std::string& type : declarationNames()) {
    const auto declaration = makeDeclaration(type);
    const std::vector<const OptionSpec*> own = ownSettings(*declaration, *plain);
    if (own.empty()) {
      without +=
          fmt::format("{}`{}` ({})", without.empty() ? "" : ", ", type, inputsOf(*declaration));
      continue;
    }
    const std::string inputs = inputsOf(*declaration);
    const std::string what = declaration->contains() ? "A container of layers.\n\n"
                             : inputs.empty()        ? ""
                                                     : "Reads " + inputs + ".\n\n";
    std::fputs(fmt::format("\n## {}\n\n{}", type, what).c_str(), stdout);
    printTable(own);
  }
  std::fputs(fmt::format("\n## Without settings of their own\n\n{}.\n", without).c_str(), stdout);
}

} // namespace
} // namespace tenon

int main() {
  tenon::print();
  return 0;
}
