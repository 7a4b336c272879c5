// SPDX-License-Identifier: BSD-2-Clause
// What messages about a program say. sourceLine() finds the line of the model's source that an
// operation comes from, in the stack trace that PyTorch stores. It is the innermost frame whose
// file is not part of PyTorch or of another installed package.
#include "import/model_program.hpp"

#include "sys/text/text.hpp"

namespace tenon {

const char* adviceOnTest(ModelProgram::Format format) {
  return format == ModelProgram::Format::Ann
             ? "the variables x_test and y_test in the file, an input and its output, would be one"
             : "share/tenon/export_torch.py writes one into the file";
}

std::string sourceLine(const std::string& stack) {
  std::string result;
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
    result = path.substr(path.rfind('/') + 1) + line.substr(end + 1);
    if (i + 1 < lines.size() && !trimmed(lines[i + 1]).starts_with("File"))
      result += ": " + trimmed(lines[i + 1]);
  }
  return result;
}

} // namespace tenon
