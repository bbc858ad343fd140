// gyre/http/body_writer.hpp: what a response that is made piece by piece is written to.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::fs {
class file;
}

namespace gyre::http {

class message_output;

/// Changes a body on its way, as compression does. For authors of middleware.
struct body_filter {
  virtual ~body_filter() = default;
  /// Cancel: as body_writer, here and below. Errors: as body_writer.
  virtual task<> write(std::string_view piece) = 0;
  virtual void append(std::string_view piece) = 0;
  virtual task<> flush() = 0;
  /// As body_writer. A filter asks the writer behind it, and adds what it keeps itself. Defaults to 0: not known.
  [[nodiscard]] virtual std::size_t waiting() const noexcept { return 0; }
};

/// Writes the body of a response. What is written goes out when 16 KiB have gathered, or as soon as the task waits for
/// something else; so that an event is sent when it happens, and many small pieces in one system call.
///
/// A response to HEAD takes everything and sends nothing. Thread: that of the response. One task writes at a time.
class GYRE_API body_writer {
 public:
  static constexpr std::uint64_t any_length = ~std::uint64_t{0};
  /// Bytes that may wait for the client while something is added without awaiting.
  static constexpr std::size_t waiting_at_most = std::size_t{64} << 10U;

  explicit body_writer(message_output& output) noexcept : output_(&output) {}
  /// What is written goes through `filter`, which outlives this. `announced`: how long the body will be.
  explicit body_writer(body_filter& filter, std::uint64_t announced = any_length) noexcept
      : filter_(&filter), announced_(announced) {}

  /// Adds to the body; waits while the client does not take what was written before. An empty piece adds nothing, and fails
  /// when the connection is known to be broken.
  ///
  /// Lifetime: `piece` stays valid until the await returns. Cancel: the response is cut off, and the connection closed.
  /// Errors: io_error of the connection; std::logic_error when it is more than the announced length.
  [[nodiscard]] task<> write(std::string_view piece);

  /// Adds something small without waiting: a sign of life, the end of something. Not while another call is awaited.
  ///
  /// Errors: std::logic_error as write; io_error with std::errc::no_buffer_space, and nothing is added, when
  /// `waiting_at_most` bytes wait already: await flush() before adding more. A broken connection is reported by the next
  /// write or flush.
  void append(std::string_view piece);

  /// Adds a part of a file, without copying it through this program where the connection can do that.
  ///
  /// Lifetime: `file` stays open until the await returns. Cancel: as write. Errors: as write; io_error when the file
  /// cannot be read, or has become shorter.
  [[nodiscard]] task<> send_file(const fs::file& file, std::uint64_t offset, std::uint64_t count);
  /// The same for a descriptor. Cancel: as above. Errors: as above.
  [[nodiscard]] task<> send_file(int file, std::uint64_t offset, std::uint64_t count);

  /// Returns when everything written has been handed to the kernel.
  ///
  /// Cancel: as write. Errors: as write.
  [[nodiscard]] task<> flush();

  /// Bytes, with the frames around them, that the connection has not taken yet.
  [[nodiscard]] std::size_t waiting() const noexcept;
  /// Bytes of the body so far.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

 private:
  friend class response_sender;
  enum class form : std::uint8_t { chunked, plain, discarded };
  void count(std::uint64_t bytes);
  task<> filter_file(int file, std::uint64_t offset, std::uint64_t count);

  message_output* output_ = nullptr;
  body_filter* filter_ = nullptr;  // instead of the output
  std::uint64_t written_ = 0;
  std::uint64_t announced_ = any_length;
  form form_ = form::chunked;
};

}  // namespace gyre::http
