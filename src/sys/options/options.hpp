// SPDX-License-Identifier: BSD-2-Clause
// The options database. Values come from five sources, the later in this list outranking the
// earlier, whatever the order in which they were read:
//   default < options file < environment TENON_OPTIONS < command line < call.
// A value is checked against the tables when it comes in, and a source with one bad option changes
// nothing. A look-up takes the most specific key: -tenon_<prefix>name, then -tenon_name.
#pragma once

#include "sys/options/option_tables.hpp"
#include "sys/types.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon {

enum class OptionSource { File, Environment, CommandLine, Call };

struct OptionValue {
  std::string key; // as written: "-tenon_conv1_backend"
  std::string text;
  OptionSource source = OptionSource::Call;
  std::string place; // "command line", "file run.opt:3"
};

// The prefix under which a program's own options are looked up: getInt(kProgram, "epochs").
inline constexpr std::string_view kProgram = "-";

class OptionDatabase {
public:
  // Reads TENON_OPTIONS, the command line (argv[0] is skipped) and the options file that one of
  // them names. Returns the words that are not options. Keys that do not begin with -tenon_ are
  // read only if they are declared, unless the program owns the command line: then all must be.
  std::vector<std::string> load(int argc, const char* const* argv);
  void insertFile(const std::string& path);
  // Inserts the content of a file, which is at hand.
  void insertFileText(std::string_view text, const std::string& path);
  // Sets one option, as by a call: the key with its dash, and no value for a flag or a word that
  // stands alone.
  void set(const std::string& key, const std::optional<std::string>& value);
  void clear();

  // The value given for an object's option; none if the default holds. Counts as use.
  std::optional<OptionValue> lookup(std::string_view prefix, std::string_view name) const;
  std::optional<bool> findFlag(std::string_view prefix, std::string_view name) const;
  std::optional<Index> findInt(std::string_view prefix, std::string_view name) const;
  std::optional<std::vector<Index>> findInts(std::string_view prefix, std::string_view name) const;
  std::optional<double> findReal(std::string_view prefix, std::string_view name) const;
  // For the types String, Choice and Word.
  std::optional<std::string> findString(std::string_view prefix, std::string_view name) const;
  std::optional<std::string> findChoice(std::string_view prefix, std::string_view name) const;

  // The value, or else the default of the table; TENON_ERR_OPTION where there is neither. An option
  // whose owners declare different defaults has no default of its own: use find for it.
  bool getFlag(std::string_view prefix, std::string_view name) const;
  Index getInt(std::string_view prefix, std::string_view name) const;
  std::vector<Index> getInts(std::string_view prefix, std::string_view name) const;
  double getReal(std::string_view prefix, std::string_view name) const;
  std::string getString(std::string_view prefix, std::string_view name) const;
  std::string getChoice(std::string_view prefix, std::string_view name) const;

  // Values that no look-up has asked for.
  std::vector<OptionValue> unused() const;
  // What was probably meant by an unused key: the nearest of the keys that were looked up and whose
  // name the key can have; "" if there is none.
  std::string nearestAsked(std::string_view key) const;
  // An object that reads its options under a prefix other than its name, which a user may take for
  // one.
  void noteReader(const std::string& name, const std::string& title,
                  const std::string& prefix) const;
  // What to do about an unused key, as the end of a sentence: it has an object's name where a
  // prefix belongs, or another key was probably meant.
  std::string adviceOn(std::string_view key) const;
  // All values, by key.
  std::vector<OptionValue> values() const;
  // Each option whose name, owner or help contains the word: usage, help, default, values, sources.
  std::string help(std::string_view word) const;
  // The help of the options of the program, as -help prints it.
  std::string programHelp() const;

private:
  struct Entry {
    OptionValue value;
    mutable bool used = false;
  };

  void commit(const std::vector<OptionValue>& values);

  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  mutable std::map<std::string, std::string> requested_; // keys looked up, and their names
  struct Reader {
    std::string title, prefix;
  };
  mutable std::map<std::string, Reader> readers_; // by name
};

// The database of the process.
OptionDatabase& options();

} // namespace tenon
