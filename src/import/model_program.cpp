// SPDX-License-Identifier: BSD-2-Clause
// The line of the model's source behind an operation, from the stack that PyTorch stores. Of the
// files in the stack that are no part of PyTorch it is the innermost.
#include "import/model_program.hpp"

#include "sys/text/text.hpp"

namespace tenon {

std::string sourceLine(const std::string& stack) {
  std::string found;
  const std::vector<std::string> lines = split(stack, '\n');
  const auto trimmed = [](const std::string& line) {
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == line.npos ? std::string() : line.substr(begin);
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string line = trimmed(lines[i]);
    const std::size_t quote = line.find('"'), end = line.find('"', quote + 1);
    if (!line.starts_with("File \"") || end == line.npos || line.find("site-packages") != line.npos)
      continue;
    const std::string path = line.substr(quote + 1, end - quote - 1);
    found = path.substr(path.rfind('/') + 1) + line.substr(end + 1);
    if (i + 1 < lines.size() && !trimmed(lines[i + 1]).starts_with("File"))
      found += ": " + trimmed(lines[i + 1]);
  }
  return found;
}

} // namespace tenon
