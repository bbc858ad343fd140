// programs/common/command_line.hpp: the options and commands of a program, without the headers of CLI11.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace programs {

// CLI11 takes ten seconds to compile, so only command_line.cpp includes it. The names of an option have CLI11's form:
// "-o,--output" for an option, "URL" for a positional argument, "--on,!--off" for a flag and its opposite.

/// Checks the text of a value. Returns an error message, or an empty string when there is no error.
using value_check = std::function<std::string(const std::string&)>;
/// Same, and replaces a text in the user's form by one that the option's type can be read from.
using value_conversion = std::function<std::string(std::string&)>;

/// A handle to one option. Its functions return the handle itself. Lifetime: the command_line must outlive its use.
class command_option {
 public:
  explicit command_option(CLI::Option& option) noexcept : option_(&option) {}
  /// For a list whose texts `delimiter` separates; '\0' for one value each.
  command_option(CLI::Option& option, std::shared_ptr<char> delimiter) noexcept
      : option_(&option), delimiter_(std::move(delimiter)) {}

  command_option required();
  /// Only one of the two options may be given.
  command_option excludes(command_option other);

  /// Checks each value of a list.
  command_option check(const value_check& rule);
  /// Converts the text before the checks see it. The help shows `form`, such as "SIZE", as part of the option's type.
  command_option convert(const value_conversion& conversion, const std::string& form);
  /// Accepts whole numbers from `least` to `most`.
  command_option in_range(std::uint64_t min, std::uint64_t max);
  /// Accepts these texts. The help lists them.
  command_option one_of(const std::vector<std::string>& texts);
  command_option existing_file();
  command_option existing_directory();

  /// Each value of a list needs the name of the option before it. The next argument may then be a positional one.
  command_option one_value_each();
  /// Splits a text at this character into the values of a list, at least one.
  command_option separated_by(char delimiter);
  /// Reads the value from this environment variable when the command line does not give it.
  command_option environment(const std::string& variable);

  /// The help shows the current value as the default.
  command_option show_default();
  /// The help shows `text` as the default.
  command_option show_default(const std::string& text);
  /// The help lists the option under this title.
  command_option group(const std::string& title);

 private:
  command_option check(const value_check& rule, const std::string& form);
  CLI::Option* option_;
  std::shared_ptr<char> delimiter_;
};

/// A handle to a program's options, or to those of one of its commands. `what` is the description in the help.
/// Lifetime: the command_line must outlive its use. The values must outlive the parsing.
class command {
 public:
  explicit command(CLI::App& app) noexcept : app_(&app) {}

  /// "gyre serve"
  [[nodiscard]] std::string name() const;

  command_option add_option(const std::string& names, std::string& value, const std::string& what);
  /// An empty text is a value, too: nothing is left only when the option is not given.
  command_option add_option(const std::string& names, std::optional<std::string>& value, const std::string& what);
  command_option add_option(const std::string& names, std::vector<std::string>& value, const std::string& what);
  command_option add_option(const std::string& names, unsigned& value, const std::string& what);
  command_option add_option(const std::string& names, std::uint64_t& value, const std::string& what);
  command_option add_option(const std::string& names, std::optional<std::uint64_t>& value, const std::string& what);
  command_option add_option(const std::string& names, double& value, const std::string& what);
  /// Calls `take` with the number that is given.
  command_option add_option(const std::string& names, const std::function<void(double)>& take, const std::string& what);
  /// Adds an option that takes one of these names for a value. The help shows the name of the current value as the
  /// default.
  template <typename Value>
  command_option add_choice(const std::string& names, Value& value, std::vector<std::pair<std::string, Value>> choices,
                            const std::string& what);
  command_option add_flag(const std::string& names, bool& value, const std::string& what);
  /// Adds a flag that prints `text` and ends the program.
  void add_version_flag(const std::string& names, const std::string& text);
  /// Finds an option that was added. Errors: CLI::OptionNotFound.
  [[nodiscard]] command_option option(const std::string& name);

  /// Adds a command: a word, with options of its own.
  [[nodiscard]] command add_command(const std::string& name, const std::string& what);
  [[nodiscard]] bool has_command(const std::string& name) const;
  /// Requires that the command line names exactly one of the commands.
  void require_command();
  /// True after a parse that met this command.
  [[nodiscard]] bool chosen() const;

  /// Ignores arguments that no option takes.
  void allow_extras();
  /// Reads the environment variables of this command only when the command line names it.
  void read_environment_when_chosen();

 private:
  using take_text = std::function<void(const std::string&)>;
  command_option add_text_option(const std::string& names, const take_text& take, const std::string& what);

  CLI::App* app_;
};

/// The command line of a program.
class command_line final : public command {
 public:
  command_line(const std::string& name, const std::string& description);
  ~command_line();
  command_line& operator=(command_line&&) = delete;

  /// Parses the arguments. Returns -1 to continue, otherwise the exit code: 0 after --help and --version, whatever the
  /// other arguments and the environment are; 2 after bad arguments, which are named on standard error.
  [[nodiscard]] int parse(int argc, char** argv);

 private:
  explicit command_line(std::unique_ptr<CLI::App> app);

  std::unique_ptr<CLI::App> parser_;
};

template <typename Value>
command_option command::add_choice(const std::string& names, Value& value,
                                   std::vector<std::pair<std::string, Value>> choices, const std::string& what) {
  std::vector<std::string> texts;
  std::string current;
  for (const auto& [text, each] : choices) {
    texts.push_back(text);
    if (each == value) current = text;
  }
  const auto choose = [&value, choices = std::move(choices)](const std::string& given) {
    for (const auto& [text, each] : choices)
      if (text == given) value = each;
  };
  return add_text_option(names, choose, what).one_of(texts).show_default(current);
}

}  // namespace programs
