// SPDX-License-Identifier: BSD-2-Clause
// Reduction programs as text, such as "(1, InsideGroup, ReduceScatter), (1, Parallel(0),
// AllReduce)": describe() writes it, parseProgram() reads what users give (-tenon_reduction). The
// header has the meaning of the instructions. An error message names the byte at which the text is
// wrong.
#include "reduction/program.hpp"

#include "reduction/collective_rule.hpp"
#include "sys/errors/error.hpp"

#include <fmt/format.h>

#include <cctype>
#include <charconv>

namespace tenon {

namespace {

// The collectives that a program can contain.
constexpr CollectiveKind kCollectives[] = {CollectiveKind::AllReduce, CollectiveKind::ReduceScatter,
                                           CollectiveKind::AllGather, CollectiveKind::Reduce,
                                           CollectiveKind::Broadcast};

// Reads the words and marks of a text one after the other. Blanks before each are skipped.
class Reader {
public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool atEnd() {
    skipBlanks();
    return at_ == text_.size();
  }

  void expect(char mark) {
    skipBlanks();
    if (at_ == text_.size() || text_[at_] != mark)
      fail(at_, fmt::format("'{}'", mark));
    ++at_;
  }

  // Reads alphanumeric characters; the result is empty if there are none.
  std::string_view word() {
    skipBlanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::isalnum(static_cast<unsigned char>(text_[at_])))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // Reads the number of a level.
  int level() {
    const std::string_view digits = word();
    int value = -1;
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    if (error != std::errc() || stop != end || value < 0)
      failAt(digits, "a level's number");
    return value;
  }

  // Reports an error at the word that was read last.
  [[noreturn]] void failAt(std::string_view word, const std::string& expected) {
    fail(at_ - word.size(), expected);
  }

private:
  void skipBlanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])))
      ++at_;
  }

  [[noreturn]] void fail(std::size_t byte, const std::string& expected) {
    constexpr std::size_t kQuoted = 16; // bytes of the wrong text, enough to find it
    const std::string_view rest = text_.substr(byte, kQuoted);
    throw Error(TENON_ERR_ARG,
                fmt::format("the reduction program '{}' has {} at byte {}, where {} is expected; "
                            "write it as (slice, form, collective), ... with levels by number, "
                            "such as (1, Parallel(0), AllReduce)",
                            text_, rest.empty() ? "its end" : fmt::format("'{}'", rest), byte,
                            expected));
  }

  std::string_view text_;
  std::size_t at_ = 0; // the next byte
};

void readForm(Reader& reader, Instruction& instruction) {
  const std::string_view word = reader.word();
  if (word == "InsideGroup") {
    instruction.form = GroupForm::InsideGroup;
    return;
  }
  if (word != "Parallel" && word != "Master")
    reader.failAt(word, "InsideGroup, Parallel(level) or Master(level)");
  instruction.form = word == "Parallel" ? GroupForm::Parallel : GroupForm::Master;
  reader.expect('(');
  instruction.ancestor = reader.level();
  reader.expect(')');
}

CollectiveKind readCollective(Reader& reader) {
  const std::string_view word = reader.word();
  for (CollectiveKind kind : kCollectives)
    if (word == wordOf(kind))
      return kind;
  reader.failAt(word, "AllReduce, ReduceScatter, AllGather, Reduce or Broadcast");
}

Instruction readInstruction(Reader& reader) {
  Instruction instruction;
  reader.expect('(');
  instruction.slice = reader.level();
  reader.expect(',');
  readForm(reader, instruction);
  reader.expect(',');
  instruction.collective = readCollective(reader);
  reader.expect(')');
  return instruction;
}

} // namespace

std::string Instruction::describe() const {
  const std::string formText =
      form == GroupForm::InsideGroup
          ? "InsideGroup"
          : fmt::format("{}({})", form == GroupForm::Parallel ? "Parallel" : "Master", ancestor);
  return fmt::format("({}, {}, {})", slice, formText, wordOf(collective));
}

std::string describe(const Program& program) {
  std::string text;
  for (const Instruction& instruction : program)
    text += (text.empty() ? "" : ", ") + instruction.describe();
  return text;
}

Program parseProgram(std::string_view text) {
  Program program;
  Reader reader(text);
  // An empty text is the empty program.
  if (reader.atEnd())
    return program;
  program.push_back(readInstruction(reader));
  while (!reader.atEnd()) {
    reader.expect(',');
    program.push_back(readInstruction(reader));
  }
  return program;
}

} // namespace tenon
