// programs/common/option_checks.hpp: checks and converts option values; error messages name the expected form.
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace programs {

class command;
class command_option;

// CLI11's own checks accept "nan", take "-1" for the largest number, and print bounds with all their digits.

/// Checks for a whole number of at least 1. Returns an error message, or an empty string when there is no error.
[[nodiscard]] std::string check_count(const std::string& text);

/// Checks a number in [least, most]; `unit` is its plural: "seconds".
[[nodiscard]] std::function<std::string(const std::string&)> check_duration(std::string unit, double min, double max);

/// Adds an option for a time, which is given in seconds and fractions of them. Its default is the value that it has.
/// Lifetime: `value` must outlive the parsing.
command_option add_seconds(command& app, const std::string& flag, std::chrono::nanoseconds& value,
                           const std::string& what);

/// Converts "100", "64kb", "1.5 GB" or "4GiB", at least 1, to bytes. A kilobyte has 1024.
[[nodiscard]] std::string read_size(std::string& text);

/// Same, but also accepts 0.
[[nodiscard]] std::string read_size_or_zero(std::string& text);

}  // namespace programs
