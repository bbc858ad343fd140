// src/client/cookie_date.cpp: finds a time, a day, a month and a year, in any order.
#include "cookie_date.hpp"

#include <gyre/http/characters.hpp>
#include <gyre/http/field.hpp>

#include <array>
#include <chrono>

namespace gyre::http {
namespace {

bool is_delimiter(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte == 0x09 || (byte >= 0x20 && byte <= 0x2f) || (byte >= 0x3b && byte <= 0x40) ||
         (byte >= 0x5b && byte <= 0x60) || (byte >= 0x7b && byte <= 0x7e);
}

// Removes a number of `least` to `most` digits. Returns -1 when there is none, or a longer one.
int take_number(std::string_view& text, std::size_t min_digits, std::size_t max_digits) noexcept {
  int value = 0;
  std::size_t count = 0;
  while (count < text.size() && count <= max_digits && is_digit(text[count])) {
    value = value * 10 + (text[count] - '0');
    ++count;
  }
  if (count < min_digits || count > max_digits) return -1;
  text.remove_prefix(count);
  return value;
}

struct parts {
  int hour = -1, minute = -1, second = -1, day = -1, month = -1, year = -1;

  bool take_time(std::string_view token) noexcept {
    int all[3];
    for (int i = 0; i < 3; ++i) {
      all[i] = take_number(token, 1, 2);
      if (all[i] < 0 || (i < 2 && !token.starts_with(':'))) return false;
      if (i < 2) token.remove_prefix(1);
    }
    if (!token.empty() && is_digit(token.front())) return false;
    hour = all[0];
    minute = all[1];
    second = all[2];
    return true;
  }
  bool take_month(std::string_view token) noexcept {
    constexpr std::array<std::string_view, 12> names{"jan", "feb", "mar", "apr", "may", "jun",
                                                     "jul", "aug", "sep", "oct", "nov", "dec"};
    for (std::size_t i = 0; i < names.size(); ++i)
      if (equal_ignoring_case(token.substr(0, 3), names[i])) {
        month = static_cast<int>(i) + 1;
        return true;
      }
    return false;
  }
  void see(std::string_view token) noexcept {
    if (hour < 0 && take_time(token)) return;
    if (day < 0) {
      std::string_view rest = token;
      day = take_number(rest, 1, 2);
      if (day >= 0) return;
    }
    if (month < 0 && take_month(token)) return;
    if (year < 0) year = take_number(token, 2, 4);
  }
};

}  // namespace

std::optional<unix_seconds> parse_cookie_date(std::string_view text) noexcept {
  parts found;
  while (!text.empty()) {
    std::size_t size = 0;
    while (size < text.size() && !is_delimiter(text[size])) ++size;
    if (size > 0) found.see(text.substr(0, size));
    text.remove_prefix(size == text.size() ? size : size + 1);
  }
  if (found.year >= 70 && found.year <= 99) found.year += 1900;
  if (found.year >= 0 && found.year <= 69) found.year += 2000;
  const std::chrono::year_month_day date{std::chrono::year(found.year),
                                         std::chrono::month(static_cast<unsigned>(found.month)),
                                         std::chrono::day(static_cast<unsigned>(found.day))};
  if (found.hour < 0 || found.day < 1 || found.month < 0 || found.year < 1601 || !date.ok()) return std::nullopt;
  if (found.hour > 23 || found.minute > 59 || found.second > 59) return std::nullopt;
  const auto time = std::chrono::sys_days(date).time_since_epoch() + std::chrono::hours(found.hour) +
                    std::chrono::minutes(found.minute) + std::chrono::seconds(found.second);
  return std::chrono::duration_cast<std::chrono::seconds>(time).count();
}

}  // namespace gyre::http
