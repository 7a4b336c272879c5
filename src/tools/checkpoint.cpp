// SPDX-License-Identifier: BSD-2-Clause
// tenon checkpoint FILE ...: prints the contents of checkpoint files, and verifies their digests.
// The library lists a file as JSON (TenonCheckpointGetContents()), which is printed here as lines.
// runCheckpoint() is declared in commands.hpp.
#include "sys/errors/error.hpp"
#include "sys/files/json_tree.hpp"
#include "sys/text/plain_text.hpp"
#include "sys/text/view.hpp"
#include "tools/commands.hpp"
#include "tools/handles.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace tenon::tools {

namespace {

constexpr std::size_t kLongText = 60; // longer texts are left to h5dump

// A value of the program, or a number of the state. JSON has no numbers that are not finite.
std::string valueText(const JsonNode& value) {
  switch (value.kind) {
  case JsonNode::Kind::Integer:
    return fmt::format("{}", value.integer);
  case JsonNode::Kind::Real:
    // Numbers of the state have 64 bits without a sign. Those beyond the range of an Index are
    // parsed as real numbers, which also have their digits as text.
    return value.text.empty() ? fmt::format("{}", value.real) : value.text;
  case JsonNode::Kind::Text:
    return fmt::format("\"{}\"", value.text);
  default:
    return "not finite";
  }
}

const JsonNode& memberOf(const JsonNode& object, const char* key) {
  const auto found = std::ranges::find(object.keys, key);
  return object.items.at(static_cast<std::size_t>(found - object.keys.begin()));
}

void printNumbers(const JsonNode& object) {
  for (std::size_t i = 0; i < object.keys.size(); ++i)
    fmt::print("  {} = {}\n", printable(object.keys[i]), printable(valueText(object.items[i])));
}

// Prints the datasets, and returns those whose digest is wrong.
std::vector<std::string> printDatasets(const JsonNode& datasets) {
  std::vector<std::string> damaged;
  std::size_t width = 0;
  for (const JsonNode& entry : datasets.items)
    width = std::max(width, memberOf(entry, "path").text.size());
  for (const JsonNode& entry : datasets.items) {
    const std::string &path = memberOf(entry, "path").text, &type = memberOf(entry, "type").text;
    std::vector<Index> shape;
    Index bytes = type == "float32" || type == "int32" ? 4 : 8; // of an element
    for (const JsonNode& extent : memberOf(entry, "shape").items) {
      shape.push_back(extent.integer);
      bytes *= extent.integer;
    }
    const bool isRight = memberOf(entry, "digest").text == "right";
    fmt::print("  {:{}}  {} [{}], {}, digest {}\n", path, width, type, fmt::join(shape, ","),
               sizeText(bytes), isRight ? "right" : "WRONG");
    if (!isRight)
      damaged.push_back(path);
  }
  return damaged;
}

// Prints a file, and returns those of its datasets whose digest is wrong.
std::vector<std::string> printFile(const std::string& path) {
  const std::string text = textFrom([&](char* buffer, TenonInt length, TenonInt* needed) {
    return TenonCheckpointGetContents(path.c_str(), TENON_TRUE, buffer, length, needed);
  });
  const JsonNode file = parseJson(text, path);
  const Index ranks = memberOf(file, "ranks").integer;
  fmt::print("checkpoint '{}': format {}, written {} by {} on {}\n", printable(path),
             memberOf(file, "format").integer, memberOf(file, "created").text,
             memberOf(file, "writer").text, counted(ranks, "rank"));
  printNumbers(memberOf(file, "values"));
  for (const JsonNode& entry : memberOf(file, "texts").items)
    if (const std::string& words = memberOf(entry, "text").text; words.size() <= kLongText)
      fmt::print("  {}: {} {}\n", memberOf(entry, "path").text, memberOf(entry, "name").text,
                 printable(words));
  printNumbers(memberOf(file, "numbers"));
  return printDatasets(memberOf(file, "datasets"));
}

} // namespace

int runCheckpoint(int argc, char** argv) {
  if (argc == 3 && asksHelp(argv[2])) {
    std::printf("usage: tenon checkpoint FILE ...\n\nPrints the contents of checkpoint files and "
                "verifies their digests,\nwithout MPI.\n");
    return 0;
  }
  if (argc < 3 || isOption(argv[2])) {
    printError("tenon checkpoint: pass the path of one or more checkpoint files\n");
    return kExitUsage;
  }
  // The library would print its message and stack; here a message is one line, and the next file
  // follows.
  TenonPushErrorHandler(TenonReturnErrorHandler, nullptr);
  int status = 0;
  for (int i = 2; i < argc; ++i) {
    std::string message;
    try {
      const std::vector<std::string> damaged = printFile(argv[i]);
      // The contents are printed before the error, since they show which datasets are undamaged.
      if (!damaged.empty())
        message = fmt::format("file '{}' is damaged: the digest is wrong of {}", argv[i],
                              fmt::join(damaged, ", "));
    } catch (const CallError&) {
      message = lastMessage();
    } catch (const Error& error) {
      message = error.text();
    }
    if (message.empty())
      continue;
    // Otherwise the message could precede the output for earlier files.
    std::fflush(stdout);
    printError(fmt::format("tenon checkpoint: {}\n", message));
    status = kExitFailed;
  }
  TenonPopErrorHandler();
  return status;
}

} // namespace tenon::tools
