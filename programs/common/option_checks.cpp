// programs/common/option_checks.cpp: checks and converts option values.
#include "programs/common/option_checks.hpp"

#include "programs/common/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <utility>

namespace programs {

std::string check_count(const std::string& text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number > 0) return {};
  return fmt::format("expected a whole number, at least 1, got \"{}\"", text);
}

std::function<std::string(const std::string&)> check_duration(std::string unit, double min, double max) {
  return [unit = std::move(unit), min, max](const std::string& text) -> std::string {
    double number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc() && rest == end && number >= min && number <= max) return {};
    return fmt::format("expected {}, from {} to {:.0f}, got \"{}\"", unit, min, max, text);
  };
}

command_option add_seconds(command& app, const std::string& flag, std::chrono::nanoseconds& value,
                           const std::string& what) {
  command_option option = app.add_option(
      flag,
      [&value](double given) {
        value = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(given));
      },
      fmt::format("{}, in seconds", what));
  option.check(check_duration("seconds", 0.001, 1e6));
  if (value != std::chrono::nanoseconds::max())
    option.show_default(fmt::format("{:g}", std::chrono::duration<double>(value).count()));
  return option;
}

namespace {

// In lower case, without white space around it.
std::string plain_unit(std::string_view text) {
  constexpr std::string_view space = " \t\n\v\f\r";
  text.remove_prefix(std::min(text.find_first_not_of(space), text.size()));
  std::string unit(text.substr(0, text.find_last_not_of(space) + 1));
  for (char& each : unit)
    if (each >= 'A' && each <= 'Z') each = static_cast<char>(each - 'A' + 'a');
  return unit;
}

}  // namespace

std::string read_size(std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  std::string unit = plain_unit({rest, end});
  if (unit.ends_with('b')) unit.pop_back();
  if (unit.size() == 2 && unit.ends_with('i')) unit.pop_back();
  constexpr std::string_view units = "kmgtpe";
  const std::size_t power = unit.empty() ? 0 : units.find(unit) + 1;
  const double bytes = number * std::pow(1024.0, static_cast<double>(power));
  if (error != std::errc() || unit.size() > 1 || (power == 0 && !unit.empty()) || !(bytes >= 1 && bytes < 1e18))
    return fmt::format("expected a size such as 500mb or 4gb, got \"{}\"", text);
  text = fmt::format("{}", static_cast<std::uint64_t>(bytes));
  return {};
}

std::string read_size_or_zero(std::string& text) { return text == "0" ? std::string() : read_size(text); }

}  // namespace programs
