// gyre/http/body_writer.hpp: writes a response body piece by piece.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/body_sink.hpp>
#include <gyre/loop/owner_loop.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gyre::fs {
class file;
}

namespace gyre::http {

/// Writes the body of a response. Data goes out when 16 KiB have gathered, or as soon as the task waits for something
/// else. So an event is sent when it happens, and many small pieces share one system call.
///
/// The head leaves with the first byte of the body, or when flush() or send_head() is called. An exception before that
/// becomes the answer: that of a status_error, otherwise 500. Later ones cut the response off.
///
/// Thread: that of the response. One task writes at a time.
class GYRE_API body_writer {
 public:
  static constexpr std::uint64_t any_length = ~std::uint64_t{0};
  /// The maximum number of bytes that append() lets wait for the client.
  static constexpr std::size_t max_waiting = std::size_t{64} << 10U;

  /// Lifetime: `sink` outlives this. `announced` is the length of the body.
  explicit body_writer(body_sink& sink, std::uint64_t announced = any_length) noexcept
      : sink_(&sink), announced_(announced) {
    owner_.check("make");  // from here on it belongs to this loop
  }
  body_writer& operator=(body_writer&&) = delete;

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
  [[nodiscard]] std::size_t waiting() const noexcept {
    owner_.check("waiting");
    return sink_->waiting();
  }
  /// Bytes of the body written so far.
  [[nodiscard]] std::uint64_t written() const noexcept { return written_; }

  // ---- For the code that implements a protocol, and for copies.

  /// A piece was left in the middle: the body cannot be completed.
  [[nodiscard]] bool is_cut_off() const noexcept { return cut_off_; }
  /// The socket to which write_bulk() moves bytes as they are, or null when write() has to be used.
  [[nodiscard]] socket_state* bulk_socket() const noexcept { return sink_->bulk_socket(); }
  /// Adds the piece in `bulk`. Cancel: same as write. Errors: same as write.
  [[nodiscard]] task<> write_bulk(socket_bulk& bulk);

 private:
  class piece;
  void expect_whole(const char* operation) const;
  void count(std::uint64_t bytes);

  body_sink* sink_;
  std::uint64_t written_ = 0;
  std::uint64_t announced_ = any_length;
  owner_loop_of<"a body_writer"> owner_;
  bool cut_off_ = false;
};

}  // namespace gyre::http
