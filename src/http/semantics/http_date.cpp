// src/http/semantics/http_date.cpp: the proleptic Gregorian calendar, and the three formats of HTTP dates.
#include <gyre/http/characters.hpp>
#include <gyre/http/http_date.hpp>

#include <algorithm>

namespace gyre::http {
namespace {

constexpr std::string_view days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr std::string_view long_days[] = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"};
constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::int64_t seconds_a_day = 86'400;

struct civil {
  std::int64_t year = 0;
  int month = 1;  // 1-12
  int day = 1;
};

// Days since 1970-01-01. Years begin in March here, so that a leap day is the last day of its year.
std::int64_t days_from(civil date) noexcept {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = (year >= 0 ? year : year - 399) / 400;
  const std::int64_t year_of_era = year - era * 400;
  const std::int64_t day_of_year = (153 * ((date.month + 9) % 12) + 2) / 5 + date.day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

civil date_of(std::int64_t days_since) noexcept {
  const std::int64_t shifted = days_since + 719'468;
  const std::int64_t era = (shifted >= 0 ? shifted : shifted - 146'096) / 146'097;
  const std::int64_t day_of_era = shifted - era * 146'097;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  civil date;
  date.day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  date.month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  date.year = year_of_era + era * 400 + (date.month <= 2 ? 1 : 0);
  return date;
}

bool exists(civil date) noexcept {
  if (date.day < 1 || date.day > 31) return false;
  const civil back = date_of(days_from(date));
  return back.month == date.month;  // a day past the end of the month falls into the next month
}

// Reads text from the front. The first mismatch makes all further reads fail.
class reader {
 public:
  explicit reader(std::string_view text) noexcept : rest_(text) {}

  void expect(std::string_view text) noexcept {
    ok_ = ok_ && rest_.starts_with(text);
    if (ok_) rest_.remove_prefix(text.size());
  }
  /// Reads a number of so many digits after `before`.
  int number(std::string_view before, std::size_t digits) noexcept {
    expect(before);
    ok_ = ok_ && rest_.size() >= digits;
    int value = 0;
    for (std::size_t i = 0; ok_ && i < digits; ++i) {
      ok_ = is_digit(rest_[i]);
      value = value * 10 + (rest_[i] - '0');
    }
    if (ok_) rest_.remove_prefix(digits);
    return value;
  }
  template <std::size_t N>
  int word(std::string_view before, const std::string_view (&words)[N]) noexcept {
    expect(before);
    for (std::size_t i = 0; ok_ && i < N; ++i)
      if (rest_.starts_with(words[i])) {
        rest_.remove_prefix(words[i].size());
        return static_cast<int>(i);
      }
    ok_ = false;
    return 0;
  }
  [[nodiscard]] bool next_is(char c) const noexcept { return !rest_.empty() && rest_.front() == c; }
  [[nodiscard]] bool finished() const noexcept { return ok_ && rest_.empty(); }
  [[nodiscard]] bool ok() const noexcept { return ok_; }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

struct clock_time {
  int hour = 0;
  int minute = 0;
  int second = 0;
};

clock_time read_time(reader& in) noexcept {
  clock_time t;
  t.hour = in.number(" ", 2);
  t.minute = in.number(":", 2);
  t.second = in.number(":", 2);
  return t;
}

std::optional<unix_seconds> assemble(const reader& in, civil date, clock_time t) noexcept {
  // A leap second counts as the first second of the next minute: this clock has none.
  if (!in.finished() || !exists(date) || t.hour > 23 || t.minute > 59 || t.second > 60) return std::nullopt;
  return days_from(date) * seconds_a_day + std::int64_t{t.hour} * 3600 + std::int64_t{t.minute} * 60 + t.second;
}

// Sun, 06 Nov 1994 08:49:37 GMT
std::optional<unix_seconds> parse_fixed(std::string_view text) noexcept {
  reader in(text);
  civil date;
  (void)in.word("", days);
  date.day = in.number(", ", 2);
  date.month = in.word(" ", months) + 1;
  date.year = in.number(" ", 4);
  const clock_time t = read_time(in);
  in.expect(" GMT");
  return assemble(in, date, t);
}

// Sunday, 06-Nov-94 08:49:37 GMT
std::optional<unix_seconds> parse_rfc850(std::string_view text, unix_seconds now) noexcept {
  reader in(text);
  civil date;
  (void)in.word("", long_days);
  date.day = in.number(", ", 2);
  date.month = in.word("-", months) + 1;
  date.year = in.number("-", 2);
  const clock_time t = read_time(in);
  in.expect(" GMT");
  const std::int64_t present = date_of(now / seconds_a_day).year;
  date.year += present / 100 * 100;
  if (date.year > present + 50) date.year -= 100;
  return assemble(in, date, t);
}

// Sun Nov  6 08:49:37 1994
std::optional<unix_seconds> parse_asctime(std::string_view text) noexcept {
  reader in(text);
  civil date;
  (void)in.word("", days);
  date.month = in.word(" ", months) + 1;
  in.expect(" ");
  date.day = in.next_is(' ') ? in.number(" ", 1) : in.number("", 2);
  const clock_time t = read_time(in);
  date.year = in.number(" ", 4);
  return assemble(in, date, t);
}

}  // namespace

std::array<char, 29> format_date(unix_seconds when) noexcept {
  constexpr unix_seconds first = -62'167'219'200;  // year 0
  constexpr unix_seconds last = 253'402'300'799;   // year 9999
  when = std::clamp(when, first, last);
  std::int64_t day = when / seconds_a_day;
  std::int64_t second = when % seconds_a_day;
  if (second < 0) {
    second += seconds_a_day;
    --day;
  }
  const civil date = date_of(day);
  std::array<char, 29> text{};
  char* out = text.data();
  const auto put = [&out](std::string_view part) { out = std::copy(part.begin(), part.end(), out); };
  const auto number = [&](std::string_view before, std::int64_t value, int digits) {
    put(before);
    for (int i = digits - 1; i >= 0; --i, value /= 10) out[i] = static_cast<char>('0' + value % 10);
    out += digits;
  };
  put(days[((day % 7) + 11) % 7]);  // 1970-01-01 was a Thursday
  number(", ", date.day, 2);
  put(" ");
  put(months[date.month - 1]);
  number(" ", date.year, 4);
  number(" ", second / 3600, 2);
  number(":", second / 60 % 60, 2);
  number(":", second % 60, 2);
  put(" GMT");
  return text;
}

std::optional<unix_seconds> parse_date(std::string_view text, unix_seconds now) noexcept {
  if (const auto fixed = parse_fixed(text)) return fixed;
  if (const auto old = parse_rfc850(text, now)) return old;
  return parse_asctime(text);
}

std::string_view date_cache::text(unix_seconds now) noexcept {
  if (now != second_) {
    second_ = now;
    text_ = format_date(now);
  }
  return {text_.data(), text_.size()};
}

}  // namespace gyre::http
