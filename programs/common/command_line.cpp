// programs/common/command_line.cpp: the only file that includes CLI11.
#include "programs/common/command_line.hpp"

#include "programs/common/standard_output.hpp"

#include <gyre/io/printable.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace programs {

command_option command_option::required() {
  option_->required();
  return *this;
}

command_option command_option::excludes(command_option other) {
  option_->excludes(other.option_);
  return *this;
}

command_option command_option::check(const value_check& rule) {
  option_->check(rule);
  return *this;
}

command_option command_option::convert(const value_conversion& conversion, const std::string& form) {
  option_->transform(CLI::Validator(conversion, form));
  return *this;
}

command_option command_option::in_range(std::uint64_t least, std::uint64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

command_option command_option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

command_option command_option::one_of(const std::vector<std::string>& texts) {
  option_->check(CLI::IsMember(texts));
  return *this;
}

command_option command_option::existing_file() {
  option_->check(CLI::ExistingFile);
  return *this;
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
  option_->delimiter(delimiter);
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

std::string command::name() const { return app_->get_name(); }

command_option command::add_option(const std::string& names, std::string& value, const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
}

command_option command::add_option(const std::string& names, std::optional<std::string>& value,
                                   const std::string& what) {
  return add_text_option(names, [&value](const std::string& given) { value = given; }, what);
}

command_option command::add_option(const std::string& names, std::vector<std::string>& value, const std::string& what) {
  return command_option(*app_->add_option(names, value, what));
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

// The message for a bad value names its flag. If the value came from an environment variable, this names the variable.
void name_variable(const CLI::App& app, std::string_view message, const std::vector<std::string_view>& arguments) {
  for (const CLI::App* const each : app.get_subcommands()) name_variable(*each, message, arguments);
  for (const CLI::Option* const each : app.get_options()) {
    const std::string flag = each->get_name();
    const std::string variable = each->get_envname();
    const auto is_given = [&](std::string_view text) { return text == flag || text.starts_with(flag + "="); };
    const auto at = message.find(flag);
    if (variable.empty() || std::getenv(variable.c_str()) == nullptr || at == std::string_view::npos) continue;
    if (const auto behind = at + flag.size(); behind < message.size() && message[behind] == '-') continue;
    if (std::none_of(arguments.begin(), arguments.end(), is_given))
      gyre::print_diagnostic({"The value comes from ", variable, " in the environment."});
  }
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
    std::ostringstream out;
    std::ostringstream message;
    if (parser_->exit(error, out, message) == 0) return print_result(out.str()) ? 0 : 1;
    gyre::write_diagnostic(message.str());
    name_variable(*parser_, error.what(), {argv + 1, argv + argc});
    return 2;
  }
}

}  // namespace programs
