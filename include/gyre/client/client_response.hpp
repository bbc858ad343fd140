// gyre/client/client_response.hpp: a response as a client sees it.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/client/url.hpp>
#include <gyre/coro/owned.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/http/field.hpp>
#include <gyre/http/json_format.hpp>
#include <gyre/stream/any_stream.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre {
template <class T>
class task_handle;
}

namespace gyre::http {

class body_writer;
class client_exchange;

/// The body of a response, read as it arrives. The server waits while nobody reads.
///
/// A compressed body is decompressed: see client_options::decompress.
/// Errors, of all functions here: client_error cut_off, bad_response, bad_coding, decompression_limit; timed_out;
/// io_error of the connection. A body that is complete stays complete, whatever happens to the connection later.
/// Lifetime: refers to its client_response. Thread: same. One task reads at a time.
class GYRE_API client_body {
 public:
  /// Returns the next piece. Empty at the end of the body.
  ///
  /// Lifetime: the piece is valid until the next call. Cancel: nothing is lost. Errors: see client_body.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::string_view> receive();
  /// Copies the bytes that have arrived, at least one. Returns 0 at the end of the body.
  ///
  /// Lifetime: `buffer` stays valid until the await returns. Cancel: nothing is lost. Errors: see client_body.
  [[nodiscard]] task<std::size_t> read_some(std::span<std::byte> buffer);
  /// Writes the rest of the body to the response of a server. Returns the number of bytes. While several streams of the
  /// loop move bulk, the kernel moves it from socket to socket through pipes, if neither side is encrypted, in chunks,
  /// or compressed by this program.
  ///
  /// Lifetime: `to` must outlive the await. Cancel: bytes that were received and not written are lost, 1 MiB at most;
  /// the response is cut off. Errors: see client_body; as body_writer::write. has_failed() tells which side it was.
  /// Let the exception leave the function that writes the response, or a part of the body may look like the whole.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::uint64_t> copy_to(body_writer& to);
  /// The announced length. Nothing for a compressed or chunked body, or one that the end of the connection ends.
  [[nodiscard]] std::optional<std::uint64_t> length() const noexcept;
  /// True for a compressed body that the client decompresses. A body with a coding that it did not ask for or does not
  /// know, or with several codings, is read as it was sent.
  [[nodiscard]] bool is_decompressed() const noexcept;
  /// Looks at the bytes that have arrived but were not read yet, and consumes nothing. A proxy calls this before it
  /// passes on the head. Errors: client_error bad_response when their chunks are malformed.
  void check_arrived() const;
  /// Bytes read so far.
  [[nodiscard]] std::uint64_t received() const noexcept;
  /// True when nothing is left to read.
  [[nodiscard]] bool at_end() const noexcept;
  /// True once a read has failed: the rest of the body is lost.
  [[nodiscard]] bool has_failed() const noexcept;
  /// The fields after a chunked body that has been read to its end. Lifetime: same as the response.
  [[nodiscard]] std::vector<http::field> trailers() const;

  explicit client_body(client_exchange& of) noexcept : exchange_(&of) {}

 private:
  client_exchange* exchange_;
};

/// A response whose head has arrived.
///
/// Its connection goes back to the client when the body has been read to its end. A response that is destroyed earlier
/// drops up to 64 KiB of the body that have arrived; if that was not all, the connection is closed.
/// Lifetime: every view stays valid until the response is destroyed. It may outlive the client, but not the loop.
/// Thread: that of its client.
class GYRE_API client_response {
 public:
  client_response() noexcept = default;

  [[nodiscard]] int status() const noexcept;
  /// True for 200 to 299.
  [[nodiscard]] bool ok() const noexcept { return status() >= 200 && status() < 300; }
  /// As the server has sent it; may be empty.
  [[nodiscard]] std::string_view reason() const noexcept;
  [[nodiscard]] std::span<const http::field> fields() const noexcept;
  /// The value of the first field with this name, or empty when there is none.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;
  /// The URL that has answered: after redirects, not the one that was asked for.
  [[nodiscard]] const http::url& url() const noexcept;
  /// True when the request went over a connection that had carried another one.
  [[nodiscard]] bool reused_connection() const noexcept;

  [[nodiscard]] client_body body() const noexcept { return client_body(open()); }

  /// Reads the rest of the body, at most as many bytes as the client's limit.
  ///
  /// Cancel: the part that has been read is lost. Errors: client_error body_too_large; see client_body.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::string> read_all();
  /// The same with a limit of its own.
  ///
  /// Cancel: same. Errors: same.
  [[nodiscard]] task<std::string> read_all(std::uint64_t limit);

  /// Reads the rest of the body as a value of the program. See json_format.
  ///
  /// Cancel: same as read_all. Errors: same as read_all; the exceptions of
  /// json_format<T>::read.
  template <json_readable T>
  [[nodiscard]] task<T> json() {
    const std::string text = co_await read_all();
    co_return json_format<T>::read(text);
  }

  /// Writes the rest of the body to a file, which is created or replaced. Returns the number of bytes. `progress`, when
  /// it is given, is called after each piece with the number of bytes so far.
  ///
  /// Lifetime: `progress` stays valid until the await returns. Cancel: a part of the file stays. Errors: io_error of
  /// the file; see client_body.
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::uint64_t> save_to(std::string path) {
    return save(std::move(path), nullptr, nullptr);
  }
  template <class Progress>
    requires requires(Progress& p, std::uint64_t bytes) { p(bytes); }
  [[nodiscard]] GYRE_CORO_WRAPPER task<std::uint64_t> save_to(std::string path, Progress& progress) {
    return save(std::move(path), [](void* p, std::uint64_t bytes) { (*static_cast<Progress*>(p))(bytes); }, &progress);
  }

  /// The task that still sends the body of the request, after client_request::full_duplex; empty when none does. The
  /// body of the response ends only when this task has ended, as after any early response; its errors include those of
  /// the task, too. A response that is destroyed before cancels the task, and does not wait for it.
  ///
  /// Lifetime: the source of the request's body, and what it refers to, stay valid until the task has ended. In a
  /// handler, that is what request::adopt is for. Elsewhere: cancel the task, and await `wait()` of the handle.
  [[nodiscard]] task_handle<void> sending() const noexcept;

  /// Takes the connection over after status 101, the agreement to client_request::upgrade. Bytes of the new protocol
  /// that came with the head are read first. The limits of the client no longer apply, and the connection no longer
  /// counts among those of its origin. A response that is destroyed before closes the connection. Stops the program
  /// with a message when the status is not 101, and when it is called twice.
  [[nodiscard]] any_stream take_stream();

  /// False for a response that was moved from.
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(exchange_); }

  /// For client_request.
  explicit client_response(client_exchange& answered) noexcept : exchange_(answered) {}

 private:
  static void release(client_exchange* used) noexcept;
  [[nodiscard]] client_exchange& open() const noexcept;
  task<std::uint64_t> save(std::string path, void (*progress)(void*, std::uint64_t), void* argument);

  owned<client_exchange*, &release> exchange_;
};

}  // namespace gyre::http
