// SPDX-License-Identifier: BSD-2-Clause
#include "tools/check_options.hpp"

namespace tenon::tools {

namespace {

constexpr const char kStart[] = "-tenon_", kOwner[] = "conversion_";

// Without what not every machine has, and "auto" takes where it is there, and what the device has not.
std::vector<std::string> choicesOf(int option, TenonMemorySpace space) {
  std::vector<std::string> words = wordsOf(declaredText(option, TENON_OPTION_TEXT_CHOICES), '|');
  std::erase(words, "shared");
  if (space == TENON_MEMORY_DEVICE)
    std::erase(words, "datatypes");
  return words;
}

} // namespace

ConversionOptions::ConversionOptions(TenonMemorySpace space) {
  addChoices(space);
  // With slow messages few of them and an overlapped halo pay.
  addUnlessGiven({"-tenon_machine_latency", {"1e-6", "1"}, TENON_OPTION_REAL});
  // With 0 every part of shared memory is read where it lies.
  addUnlessGiven({"-tenon_conversion_pack_limit", {"0", "8192"}, TENON_OPTION_INT});
}

void ConversionOptions::addUnlessGiven(Option option) {
  TenonBool isGiven = TENON_FALSE;
  require(TenonOptionsHas("", option.key.c_str() + sizeof kStart - 1, &isGiven));
  if (!isGiven)
    open_.push_back(std::move(option));
}

void ConversionOptions::addChoices(TenonMemorySpace space) {
  int count = 0;
  require(TenonOptionsGetDeclaredCount(&count));
  for (int i = 0; i < count; ++i) {
    TenonOptionType type;
    require(TenonOptionsGetDeclaredType(i, &type));
    const std::string name = declaredText(i, TENON_OPTION_TEXT_KEY);
    if (type == TENON_OPTION_CHOICE && name.starts_with(std::string(kStart) + kOwner))
      addUnlessGiven({name, choicesOf(i, space)});
  }
}

// So that a case without conversions is no reason to report it as unused.
void ConversionOptions::read(const Option& option) {
  const char* name = option.key.c_str() + sizeof kStart - 1;
  double real = 0;
  TenonInt number = 0;
  if (option.type == TENON_OPTION_REAL)
    require(TenonOptionsGetReal("", name, &real));
  else if (option.type == TENON_OPTION_INT)
    require(TenonOptionsGetInt("", name, &number));
  else
    textOption(name, "");
}

void ConversionOptions::draw(Case& c) const {
  for (const Option& option : open_) {
    const std::string choice = c.draw.of(option.choices);
    require(TenonOptionsSet(option.key.c_str(), choice.c_str()));
    read(option);
    c.text += " " + option.key + " " + choice;
  }
}

} // namespace tenon::tools
