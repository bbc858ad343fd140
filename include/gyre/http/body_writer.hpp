// gyre/http/body_writer.hpp: writes a response body piece by piece.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gyre {
class socket_bulk;
struct socket_state;
}  // namespace gyre

namespace gyre::fs {
class file;
}

namespace gyre::http {

class client_exchange;
class message_output;

/// Transforms a body while it is written, for example compresses it. For authors of middleware.
struct body_filter {
  virtual ~body_filter() = default;
  /// Cancel: as body_writer, here and below. Errors: as body_writer.
  virtual task<> write(std::string_view piece) = 0;
  virtual void append(std::string_view piece) = 0;
  virtual task<> flush() = 0;
  /// Same as body_writer::send_head(). A filter passes it to the next writer. Defaults to a no-op.
  virtual void send_head() {}
  /// Same as body_writer::add_trailer(), whose checks have been made. A filter passes it to the next writer. Defaults
  /// to dropping the field.
  virtual void add_trailer(std::string_view /*name*/, std::string_view /*value*/) {}
  /// Same as body_writer::waiting(). A filter asks the next writer and adds the bytes it keeps itself. Defaults to 0:
  /// not known.
  [[nodiscard]] virtual std::size_t waiting() const noexcept { return 0; }
};

/// Writes the body of a response. Data goes out when 16 KiB have gathered, or as soon as the task waits for something
/// else. So an event is sent when it happens, and many small pieces share one system call.
///
/// The head leaves with the first byte of the body, or when flush() or send_head() is called. An exception before that
/// becomes the answer: that of a status_error, otherwise 500. Later ones cut the response off.
///
/// A response to HEAD accepts everything and sends nothing. Thread: that of the response. One task writes at a time.
class GYRE_API body_writer {
 public:
  static constexpr std::uint64_t any_length = ~std::uint64_t{0};
  /// The maximum number of bytes that append() lets wait for the client.
  static constexpr std::size_t max_waiting = std::size_t{64} << 10U;

  explicit body_writer(message_output& output) noexcept : output_(&output) {}
  /// Writes through `filter`, which outlives this. `announced` is the length of the body.
  explicit body_writer(body_filter& filter, std::uint64_t announced = any_length) noexcept
      : filter_(&filter), announced_(announced) {}

  /// Adds to the body. Waits while the client does not accept earlier data. An empty piece adds nothing, and fails when
  /// the connection is known to be broken.
  ///
  /// Lifetime: `piece` stays valid until the await returns. Cancel: the response is cut off, and the connection closed.
  /// Errors: io_error of the connection; std::logic_error when the body exceeds the announced length.
  [[nodiscard]] task<> write(std::string_view piece);

  /// Adds a small piece without waiting, such as a keep-alive or an end marker. Must not be called while another call
  /// is awaited.
  ///
  /// Errors: std::logic_error when the body exceeds the announced length; io_error with std::errc::no_buffer_space when
  /// `max_waiting` bytes are already waiting. Nothing is added then: await flush() first. A broken connection is
  /// reported by the next write or flush.
  void append(std::string_view piece);

  /// Adds a part of a file. It is not copied through this program if the connection supports that.
  ///
  /// Lifetime: `file` stays open until the await returns. Cancel: same as write. Errors: same as write; io_error when
  /// the file cannot be read, or has become shorter.
  [[nodiscard]] task<> send_file(const fs::file& file, std::uint64_t offset, std::uint64_t count);
  /// The same for a descriptor. Cancel: as above. Errors: as above.
  [[nodiscard]] task<> send_file(int file, std::uint64_t offset, std::uint64_t count);

  /// Lets the head leave before the first byte of the body, which may take long to come. It is sent as soon as the task
  /// waits for something else. A no-op after the head. Errors: std::bad_alloc.
  void send_head();

  /// Returns when everything written has been handed to the kernel, and the head in any case.
  ///
  /// Cancel: same as write. Errors: same as write.
  [[nodiscard]] task<> flush();

  /// Adds a field that follows the body, such as a checksum of it. Dropped unless the body is sent in chunks: to a
  /// client of HTTP/1.0, and when the length of the body was announced.
  ///
  /// Errors: std::invalid_argument for a name for which may_be_trailer() is false, or that is no token, or a value that
  /// is no field value.
  void add_trailer(std::string_view name, std::string_view value);

  /// Bytes that the connection has not accepted yet, framing included.
  [[nodiscard]] std::size_t waiting() const noexcept;
  /// Bytes of the body written so far.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

 private:
  friend class response_sender;
  friend class client_exchange;  // passes bodies on
  enum class form : std::uint8_t { chunked, plain, discarded };
  void count(std::uint64_t bytes);
  void expect_whole(const char* operation) const;
  // The socket to which write_bulk() moves pieces, or null when write() has to be used.
  [[nodiscard]] socket_state* bulk_target() const noexcept;
  void release_head();
  // The same as write().
  task<> write_bulk(socket_bulk& bulk);
  task<> filter_file(int file, std::uint64_t offset, std::uint64_t count);

  message_output* output_ = nullptr;
  body_filter* filter_ = nullptr;  // used instead of the output
  std::uint64_t written_ = 0;
  std::uint64_t announced_ = any_length;
  std::string_view head_;  // of the response, until it is released
  std::string trailers_;   // "Name: value\r\n" each
  form form_ = form::chunked;
  bool cut_off_ = false;  // a piece was left in the middle: nothing may follow
};

}  // namespace gyre::http
