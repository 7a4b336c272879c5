// SPDX-License-Identifier: BSD-2-Clause
// The options database. Values come from five sources with these priorities, independent of the
// order in which the sources are read:
//   default < options file < environment TENON_OPTIONS < command line < call.
// Values are checked against the tables when they are read, and a source with an invalid option
// changes nothing. A lookup uses the most specific key: -tenon_<prefix>name, then -tenon_name. For
// example, with the command line "-tenon_backend direct -tenon_conv1_backend gemm",
// findChoice("conv1_", "backend") returns "gemm" and findChoice("conv2_", "backend") "direct".
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

// The sources above; a default has none.
enum class OptionSource { File, Environment, CommandLine, Call };

// An option that was set, and where.
struct OptionValue {
  std::string key; // as written: "-tenon_conv1_backend"
  std::string text;
  OptionSource source = OptionSource::Call;
  std::string place; // "command line", "file run.opt:3"
};

// The prefix for options of the program: getInt(kProgram, "epochs").
inline constexpr std::string_view kProgram = "-";

class OptionDatabase {
public:
  // Reads TENON_OPTIONS, the command line (without argv[0]) and the options file that one of them
  // names. Returns the words that are not options. Keys without -tenon_ are read only if they are
  // declared, unless the program owns the command line; then all must be declared.
  std::vector<std::string> load(int argc, const char* const* argv);
  void insertFile(const std::string& path);
  // Inserts the content of a file that has been read already.
  void insertFileText(std::string_view text, const std::string& path);
  // Sets one option, with the priority of a call. The key includes its dash; value is empty for a
  // flag or a word without a value.
  void set(const std::string& key, const std::optional<std::string>& value);
  void clear();

  // The value of an object's option, or nothing if the default applies. Marks the option as used.
  std::optional<OptionValue> lookup(std::string_view prefix, std::string_view name) const;
  std::optional<bool> findFlag(std::string_view prefix, std::string_view name) const;
  std::optional<Index> findInt(std::string_view prefix, std::string_view name) const;
  std::optional<std::vector<Index>> findInts(std::string_view prefix, std::string_view name) const;
  std::optional<double> findReal(std::string_view prefix, std::string_view name) const;
  // The text of an option of type String, Choice or Word (OptionSpec::Type).
  std::optional<std::string> findString(std::string_view prefix, std::string_view name) const;
  std::optional<std::string> findChoice(std::string_view prefix, std::string_view name) const;

  // The value, or else the declared default. Throws TENON_ERR_OPTION if there is neither. An option
  // whose owners declare different defaults has none: use the find functions for it.
  bool getFlag(std::string_view prefix, std::string_view name) const;
  Index getInt(std::string_view prefix, std::string_view name) const;
  std::vector<Index> getInts(std::string_view prefix, std::string_view name) const;
  double getReal(std::string_view prefix, std::string_view name) const;
  std::string getString(std::string_view prefix, std::string_view name) const;
  std::string getChoice(std::string_view prefix, std::string_view name) const;

  // Values that no lookup has read.
  std::vector<OptionValue> unused() const;
  // The probable spelling of an unused key: the nearest among the keys that were looked up and
  // whose name the key can have; "" if there is none.
  std::string nearestAsked(std::string_view key) const;
  // Registers an object whose options prefix differs from its name, for adviceOn(): users can take
  // the name for the prefix, and such an option is never read.
  void noteOtherPrefix(const std::string& name, const std::string& title,
                       const std::string& prefix) const;
  // Advice about an unused key, as the end of a sentence: it uses an object's name as a prefix, was
  // set after it had been read, or is a misspelling of another key.
  std::string adviceOn(std::string_view key) const;
  // All values, ordered by key.
  std::vector<OptionValue> values() const;
  // Help about each option whose name, owner or help contains the word: usage, help, default,
  // values and their sources.
  std::string help(std::string_view word) const;
  // Help about the options of the program, as -help prints it.
  std::string programHelp() const;

private:
  struct Entry {
    OptionValue value;
    mutable bool used = false;
  };

  void commit(const std::vector<OptionValue>& values);

  mutable std::mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_;
  // Keys that were looked up, with their names.
  mutable std::map<std::string, std::string> requested_;
  struct OtherPrefix {
    std::string title, prefix;
  };
  mutable std::map<std::string, OtherPrefix> otherPrefixes_; // by name of the object
};

// The database of the process.
OptionDatabase& options();

} // namespace tenon
