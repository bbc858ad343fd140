// src/io/io_error.cpp: the messages of failed operations.
#include <gyre/io/io_error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace gyre {
namespace {

std::string subject(std::string_view operation, std::string_view object) {
  std::string text(operation);
  if (!object.empty()) text.append(1, ' ').append(object);
  return text;
}

class category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "gyre.stream"; }
  [[nodiscard]] std::string message(int code) const override {
    switch (static_cast<stream_errc>(code)) {
      case stream_errc::end_of_stream:
        return "the peer closed the stream before all expected bytes had come";
      case stream_errc::write_cut_off:
        return "an earlier write_all was cancelled half-way; close the stream";
    }
    return "unknown stream error " + std::to_string(code);
  }
};

// Time limits set by the program, as opposed to time-outs of the network.
class limit_category final : public std::error_category {
 public:
  [[nodiscard]] const char* name() const noexcept override { return "gyre.timeout"; }
  [[nodiscard]] std::string message(int /*code*/) const override { return "the time limit has passed"; }
  [[nodiscard]] std::error_condition default_error_condition(int /*code*/) const noexcept override {
    return std::errc::timed_out;
  }
};

// "500 ms", "1.5 s": in the largest unit of at least one, to three decimal places.
std::string duration_text(std::chrono::nanoseconds duration) {
  struct unit {
    std::int64_t length;
    const char* name;
  };
  constexpr std::array<unit, 4> units = {{{1'000'000'000, " s"}, {1'000'000, " ms"}, {1'000, " us"}, {1, " ns"}}};
  const std::int64_t count = duration.count();
  const unit* chosen = units.data();
  while (count != 0 && chosen->length > count) ++chosen;
  std::string text = std::to_string(count / chosen->length);
  const std::int64_t thousandths = count % chosen->length * 1000 / chosen->length;
  if (thousandths > 0) {
    text.append(".").append(std::to_string(1000 + thousandths).substr(1));
    text.resize(text.find_last_not_of('0') + 1);
  }
  return text.append(chosen->name);
}

std::string expiry_text(std::chrono::nanoseconds limit, std::string_view subject,
                        const std::source_location& waiting_at) {
  std::string text(subject);
  text.append(": timed out");
  if (limit.count() >= 0) text.append(" after ").append(duration_text(limit));
  if (waiting_at.line() == 0) return text;
  return text.append(", waiting at ")
      .append(waiting_at.file_name())
      .append(":")
      .append(std::to_string(waiting_at.line()));
}

constexpr std::chrono::nanoseconds unknown_limit{-1};

}  // namespace

io_error::io_error(std::error_code reason, std::string_view operation, std::string_view object)
    : std::system_error(reason, subject(operation, object)) {}
io_error::~io_error() = default;

std::error_code time_limit_passed() noexcept {
  static const limit_category instance;
  return {1, instance};
}

timed_out::timed_out(std::string_view operation, std::string_view object)
    : io_error(time_limit_passed(), operation, object),
      text_(expiry_text(unknown_limit, subject(operation, object), {})) {}

timed_out::timed_out(std::chrono::nanoseconds limit, std::string_view subject, const std::source_location& waiting_at)
    : io_error(time_limit_passed(), subject, {}),
      text_(expiry_text(limit, subject, waiting_at)),
      limit_(std::max(limit, std::chrono::nanoseconds::zero())) {}

timed_out::~timed_out() = default;

void throw_timed_out(std::chrono::nanoseconds limit) {
  try {
    throw;
  } catch (const timed_out&) {
    throw;
  } catch (const std::system_error& error) {
    // what() begins with the operation and ends with the message of the code.
    std::string_view text = error.what();
    const std::string reason = ": " + error.code().message();
    if (text.ends_with(reason)) text.remove_suffix(reason.size());
    throw timed_out(limit, text);
  }
}

incomplete_transfer::incomplete_transfer(std::error_code reason, std::string_view operation, std::string_view object,
                                         std::size_t done)
    : io_error(reason, operation, object), transferred_(done) {}
incomplete_transfer::~incomplete_transfer() = default;

const std::error_category& stream_category() noexcept {
  static const category instance;
  return instance;
}

}  // namespace gyre
