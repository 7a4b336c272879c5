// SPDX-License-Identifier: BSD-2-Clause
// Formats the views of objects. Long lines are broken instead of truncated, after a comma, colon or
// semicolon if possible, to lose no information.
#include "sys/text/view.hpp"

#include "sys/options/options.hpp"
#include "sys/text/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tenon {

namespace {

constexpr std::size_t kColumns = 100; // the longest line that is not wrapped
constexpr std::size_t kIndent = 4;    // of the continuation of a wrapped line

constexpr OptionSpec kOptions[] = {
    {"view_detail", OptionSpec::Flag, "false",
     "print exact layouts and all settings in the views of objects"},
};
const OptionRegistration kRegistration{{"view", kOptions}};

// Position of the blank at which a long line is broken: within the limit, the last blank after a
// comma, colon or semicolon, or without one the last blank; npos if there is none.
std::size_t breakOf(const std::string& line, std::size_t indent) {
  for (const char* marks : {",:;", ""}) {
    // Not within the indentation, or the line would not become shorter.
    for (std::size_t at = kColumns; at > indent + kIndent; --at)
      if (line[at] == ' ' &&
          (!*marks || std::string_view(marks).find(line[at - 1]) != std::string_view::npos))
        return at;
  }
  return std::string::npos;
}

std::string wrappedLine(std::string line) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  std::string text;
  while (line.size() > kColumns) {
    const std::size_t at = breakOf(line, indent);
    if (at == std::string::npos)
      break;
    text += line.substr(0, at) + '\n';
    line = std::string(indent + kIndent, ' ') + line.substr(at + 1);
  }
  return text + line;
}

} // namespace

std::string headingOf(const Object& object) {
  return object.name().empty() ? object.className()
                               : fmt::format("{} \"{}\"", object.className(), object.name());
}

std::string sizeText(Index bytes) {
  constexpr Index kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
  const auto value = static_cast<double>(bytes);
  if (bytes < kKiB)
    return fmt::format("{} B", bytes);
  if (bytes < kMiB)
    return fmt::format("{:.1f} KiB", value / kKiB);
  return bytes < kGiB ? fmt::format("{:.1f} MiB", value / kMiB)
                      : fmt::format("{:.1f} GiB", value / kGiB);
}

bool viewsInDetail() {
  return options().getFlag("", "view_detail");
}

std::string wrapped(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines)
    line = wrappedLine(std::move(line));
  return joined(lines, "\n");
}

} // namespace tenon
