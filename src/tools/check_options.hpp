// SPDX-License-Identifier: BSD-2-Clause
// How the library moves data is a matter of options, -tenon_conversion_... and the price of messages,
// and must not change any result: `tenon check` draws those that its caller has left open.
#pragma once

#include "tools/check_case.hpp"

namespace tenon::tools {

class ConversionOptions {
public:
  explicit ConversionOptions(TenonMemorySpace space);
  // Sets each to one of its choices.
  void draw(Case& c) const;

private:
  struct Option {
    std::string key;
    std::vector<std::string> choices;
    TenonOptionType type = TENON_OPTION_CHOICE;
  };
  void addChoices(TenonMemorySpace space);
  void addUnlessGiven(Option option);
  static void read(const Option& option);

  std::vector<Option> open_;
};

} // namespace tenon::tools
