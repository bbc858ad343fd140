// programs/common/option_checks.hpp: values of options, checked and converted; a wrong one is answered with what is expected.
#pragma once

#include <functional>
#include <string>

namespace programs {

// CLI11's own checks let "nan" pass, take "-1" for the largest number, and print bounds with all their digits.

/// A whole number, at least 1. Returns what is wrong; empty when nothing is.
[[nodiscard]] std::string check_count(const std::string& text);

/// Checks a number in [least, most]; `unit` is its plural: "seconds".
[[nodiscard]] std::function<std::string(const std::string&)> check_duration(std::string unit, double least,
                                                                            double most);

/// Converts "100", "64kb", "1.5 GB" or "4GiB", at least 1, to bytes. A kilobyte has 1024.
[[nodiscard]] std::string read_size(std::string& text);

/// The same; 0 is allowed.
[[nodiscard]] std::string read_size_or_zero(std::string& text);

}  // namespace programs
