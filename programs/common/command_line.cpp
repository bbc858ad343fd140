// programs/common/command_line.cpp: the only file that includes CLI11.
#include "programs/common/command_line.hpp"

#include "programs/common/standard_output.hpp"

#include <gyre/io/printable.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <sstream>
#include <string_view>
#include <system_error>

namespace programs {

command_option command_option::required() {
  option_->required();
  return *this;
}

command_option command_option::excludes(command_option other) {
  option_->excludes(other.option_);
  return *this;
}

namespace {

// The values in a text. The text itself when it has no delimiter.
std::vector<std::string> values_in(const std::string& text, char delimiter) {
  if (delimiter == '\0') return {text};
  std::vector<std::string> values;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(delimiter, begin), text.size());
    if (end > begin) values.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return values;
}

}  // namespace

command_option command_option::check(const value_check& rule) { return check(rule, ""); }

command_option command_option::check(const value_check& rule, const std::string& form) {
  const auto of_each = [rule, delimiter = delimiter_](std::string& text) {
    std::string wrong;
    for (const std::string& each : values_in(text, delimiter ? *delimiter : '\0'))
      if (wrong.empty()) wrong = rule(each);
    return wrong;
  };
  option_->check(CLI::Validator(of_each, form));
  return *this;
}

command_option command_option::convert(const value_conversion& conversion, const std::string& form) {
  option_->transform(CLI::Validator(conversion, form));
  return *this;
}

command_option command_option::in_range(std::uint64_t min, std::uint64_t max) {
  const auto is_in_range = [min, max](const std::string& text) -> std::string {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end && number >= min && number <= max) return {};
    return fmt::format("expected a whole number from {} to {}, got \"{}\"", min, max, text);
  };
  return check(is_in_range, fmt::format("in [{} - {}]", min, max));
}

command_option command_option::one_of(const std::vector<std::string>& texts) {
  option_->check(CLI::IsMember(texts));
  return *this;
}

command_option command_option::existing_file() {
  return check(
      [](std::string text) {
        CLI::Validator rule = CLI::ExistingFile;
        return rule(text);
      },
      "FILE");
}

command_option command_option::existing_directory() {
  option_->check(CLI::ExistingDirectory);
  return *this;
}

command_option command_option::one_value_each() {
  option_->allow_extra_args(false);
  return *this;
}

command_option command_option::separated_by(char delimiter) {
  // Not by CLI11, which takes the next argument for a text without values, such as ",".
  *delimiter_ = delimiter;
  const auto has_value = [delimiter](const std::string& text) {
    return values_in(text, delimiter).empty() ? fmt::format("expected a value, got \"{}\"", text) : std::string();
  };
  option_->check(has_value);
  return *this;
}

command_option command_option::environment(const std::string& variable) {
  option_->envname(variable);
  return *this;
}

command_option command_option::show_default() {
  option_->capture_default_str();
  return *this;
}

command_option command_option::show_default(const std::string& text) {
  option_->default_str(text);
  return *this;
}

command_option command_option::group(const std::string& title) {
  option_->group(title);
  return *this;
}

std::string command::name() const {
  const CLI::App* const whole = app_->get_parent();
  return whole == nullptr ? app_->get_name() : whole->get_name() + " " + app_->get_name();
}

command_option command::add_option(const std::string& names, std::string& value, const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
}

command_option command::add_option(const std::string& names, std::optional<std::string>& value,
                                   const std::string& what) {
  return add_text_option(names, [&value](const std::string& given) { value = given; }, what);
}

command_option command::add_option(const std::string& names, std::vector<std::string>& value, const std::string& what) {
  const auto delimiter = std::make_shared<char>('\0');
  const auto take = [&value, delimiter](const std::vector<std::string>& texts) {
    value.clear();
    for (const std::string& each : texts) std::ranges::move(values_in(each, *delimiter), std::back_inserter(value));
  };
  return {*app_->add_option_function<std::vector<std::string>>(names, take, what), delimiter};
}

command_option command::add_option(const std::string& names, unsigned& value, const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
}

command_option command::add_option(const std::string& names, std::uint64_t& value, const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
}

command_option command::add_option(const std::string& names, std::optional<std::uint64_t>& value,
                                   const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
}

command_option command::add_option(const std::string& names, double& value, const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
}

command_option command::add_option(const std::string& names, const std::function<void(double)>& take,
                                   const std::string& what) {
  return command_option(*app_->add_option_function<double>(names, take, what));
}

command_option command::add_text_option(const std::string& names, const take_text& take, const std::string& what) {
  return command_option(*app_->add_option_function<std::string>(names, take, what));
}

command_option command::add_flag(const std::string& names, bool& value, const std::string& what) {
  return command_option(*app_->add_flag(names, value, what));
}

void command::add_version_flag(const std::string& names, const std::string& text) {
  app_->set_version_flag(names, text);
}

command_option command::option(const std::string& name) { return command_option(*app_->get_option(name)); }

command command::add_command(const std::string& name, const std::string& what) {
  return command(*app_->add_subcommand(name, what));
}

bool command::has_command(const std::string& name) const {
  return !app_->get_subcommands([&name](const CLI::App* each) { return each->get_name() == name; }).empty();
}

void command::require_command() { app_->require_subcommand(1); }

bool command::chosen() const { return app_->parsed(); }

void command::allow_extras() { app_->allow_extras(); }

void command::read_environment_when_chosen() {
  app_->parse_complete_callback([] {});
}

command_line::command_line(const std::string& name, const std::string& description)
    : command_line(std::make_unique<CLI::App>(description, name)) {}

command_line::command_line(std::unique_ptr<CLI::App> app) : command(*app), parser_(std::move(app)) {}

command_line::~command_line() = default;

namespace {

// A message may quote an argument with a URL, and a URL may hold a password.
std::string without_passwords(std::string text) {
  constexpr std::string_view before_authority = "://";
  for (auto colon = text.find(before_authority); colon != std::string::npos;
       colon = text.find(before_authority, colon + 1)) {
    const auto begin = colon + before_authority.size();
    const auto at = text.substr(0, text.find_first_of(" \t\n\"", begin)).rfind('@');
    if (at != std::string::npos && at >= begin) text.replace(begin, at - begin, "…");
  }
  return text;
}

bool is_given(const CLI::Option& option, std::string_view argument) {
  return std::ranges::any_of(option.get_lnames(), [argument](const std::string& name) {
    const std::string flag = "--" + name;
    return argument == flag || argument.starts_with(flag + "=");
  });
}

// The message for a bad value begins with the name of its option. If the value came from an environment variable, this
// names the variable.
void name_variable(const CLI::App& app, std::string_view message, const std::vector<std::string_view>& arguments) {
  for (const CLI::App* const each : app.get_subcommands()) name_variable(*each, message, arguments);
  for (const CLI::Option* const each : app.get_options()) {
    const std::string name = each->get_name();
    const std::string variable = each->get_envname();
    if (variable.empty() || std::getenv(variable.c_str()) == nullptr) continue;
    const bool bad = message.starts_with(name + ": ") || message.starts_with("Could not convert: " + name + " = ");
    const auto gives = [each](std::string_view argument) { return is_given(*each, argument); };
    if (bad && std::ranges::none_of(arguments, gives))
      gyre::print_diagnostic({"The value comes from ", variable, " in the environment."});
  }
}

// True when somebody asks for the help of a command, which then does not depend on the other options.
bool asks_for(const CLI::App& app, const CLI::Option* (CLI::App::*which)() const) {
  const CLI::Option* const flag = (app.*which)();
  if (flag != nullptr && flag->count() > 0) return true;
  const auto commands = app.get_subcommands();
  return std::ranges::any_of(commands, [which](const CLI::App* each) { return asks_for(*each, which); });
}

std::string version_of(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app.version() : version_of(*commands.front());
}

}  // namespace

int command_line::parse(int argc, char** argv) {
  parser_->failure_message([](const CLI::App* of, const CLI::Error& error) {
    const std::string hint = CLI::FailureMessage::simple(of, CLI::Error("", ""));  // begins with an empty line
    return gyre::printable(without_passwords(error.what())) + hint;
  });
  try {
    parser_->parse(argc, argv);
    return -1;
  } catch (const CLI::ParseError& error) {
    if (asks_for(*parser_, &CLI::App::get_help_ptr)) return print_result(parser_->help()) ? 0 : 1;
    if (asks_for(*parser_, &CLI::App::get_version_ptr)) return print_result(version_of(*parser_) + "\n") ? 0 : 1;
    std::ostringstream out;
    std::ostringstream message;
    parser_->exit(error, out, message);
    gyre::write_diagnostic(message.str());
    name_variable(*parser_, error.what(), {argv + 1, argv + argc});
    return 2;
  }
}

}  // namespace programs
