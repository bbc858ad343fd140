// src/io/io_error.cpp: the words of a failed operation.
#include <gyre/io/io_error.hpp>

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

}  // namespace

io_error::io_error(std::error_code reason, std::string_view operation, std::string_view object)
    : std::system_error(reason, subject(operation, object)) {}
io_error::~io_error() = default;

timed_out::timed_out(std::string_view operation, std::string_view object)
    : io_error(std::make_error_code(std::errc::timed_out), operation, object) {}
timed_out::~timed_out() = default;

incomplete_transfer::incomplete_transfer(std::error_code reason, std::string_view operation, std::string_view object,
                                         std::size_t done)
    : io_error(reason, operation, object), transferred_(done) {}
incomplete_transfer::~incomplete_transfer() = default;

const std::error_category& stream_category() noexcept {
  static const category instance;
  return instance;
}

}  // namespace gyre
