// src/http/http1_connection/message_output.hpp: bytes that a connection is about to send.
#pragma once

#include <gyre/coro/frame_pool.hpp>
#include <gyre/coro/task.hpp>
#include <gyre/io/bulk_size.hpp>
#include <gyre/io/completion.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/task_group.hpp>

#include "transport/transport.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace gyre::http {

/// The next step of a connection. It decides whether the bytes that were gathered leave now.
enum class upcoming : std::uint8_t {
  more_output,         // they leave once 16 KiB have gathered
  waiting_for_client,  // they leave now
  waiting_for_handler  // code of the program runs, and may take long: they leave when its task waits
};

/// Gathers small pieces, so that a batch of responses goes out in one write. Large pieces
/// are written from where they are.
///
/// This class alone decides when the gathered bytes leave. A response does not wait because the next one takes long.
/// While a handler runs or a body is produced, a child task sends the bytes that the connection does not take at once.
/// Errors: after the first error, everything is dropped. A cancelled write counts as an error: the bytes after it
/// would be taken for the rest of it.
class message_output {
 public:
  static constexpr std::size_t max_gathered = std::size_t{16} << 10U;
  // A larger range is written in pieces of this size.
  static constexpr std::size_t piece = io::bulk_size;

  explicit message_output(std::chrono::nanoseconds limit) noexcept : limit_(limit) {}
  message_output(const message_output&) = delete;
  message_output& operator=(const message_output&) = delete;
  ~message_output();

  /// Starts serving a connection; nothing of the previous connection is left.
  void attach(transport& to) noexcept;
  /// The connection is over: cancels a scheduled flush.
  void detach() noexcept;

  /// The buffer to append to. Call `settle` after that.
  [[nodiscard]] std::string& buffer() noexcept { return buffer_; }

  /// Sends the gathered bytes if it is time for that and the connection takes them. Returns false when the caller has
  /// to await flush(): for the rest, or for the report of a failure.
  [[nodiscard]] bool settle(upcoming next) {
    if (next == upcoming::more_output) return buffer_.size() < max_gathered;
    if (next == upcoming::waiting_for_handler) return buffer_.empty() || send_when_waiting();
    send_now(write_hint::waits_for_rest);
    return buffer_.empty() && !failed();
  }
  /// Waits until the connection has taken everything.
  task<std::error_code> flush();
  /// Appends bytes that are worth to be copied. Returns false for others, and when too many have gathered.
  [[nodiscard]] bool append(std::string_view bytes) {
    if (bytes.size() > max_gathered || buffer_.size() + bytes.size() > 2 * max_gathered) return false;
    buffer_.append(bytes);
    return true;
  }
  /// Appends a part of a small file that the kernel has in memory. Returns false when it has to be sent.
  [[nodiscard]] bool append_file(int file, std::uint64_t offset, std::uint64_t count);
  /// Sends the buffer, then `bytes` from where they are, of any size.
  task<std::error_code> write(std::string_view bytes);
  /// Sends the buffer, then a part of a file. Returns `done` only if all of it was sent. Errors: io_error when the file
  /// cannot be read or has become shorter. Such a failure is the file's fault, not the client's.
  task<std::error_code> send_file(int file, std::uint64_t offset, std::uint64_t count);

  /// The socket to which write_bulk() moves pieces, or null when write() has to be used.
  [[nodiscard]] socket_state* bulk_target() const noexcept { return failed() ? nullptr : transport_->bulk_socket(); }
  /// Sends the buffer, then the piece of a socket_bulk to bulk_target().
  task<std::error_code> write_bulk(socket_bulk& bulk);

  /// Sends the bytes that the connection takes without waiting.
  void push() noexcept { send_now(write_hint::more_follows); }

  [[nodiscard]] bool has_unsent() const noexcept { return !buffer_.empty(); }
  /// Bytes that the connection has not taken.
  [[nodiscard]] std::size_t waiting() const noexcept { return buffer_.size() + in_background_; }
  /// The reason why everything is dropped, or none.
  [[nodiscard]] std::error_code error() const noexcept { return error_; }
  [[nodiscard]] bool failed() const noexcept { return static_cast<bool>(error_); }
  /// True if the file caused the failure, not the client.
  [[nodiscard]] bool file_failed() const noexcept { return file_failed_; }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

  class background_sending;

 private:
  // While it is in the ready queue, it must outlive the connection.
  struct flusher : io::completion {
    static void* operator new(std::size_t size) { return frame_pool::allocate(size); }
    static void operator delete(void* memory, std::size_t size) noexcept { frame_pool::deallocate(memory, size); }
    message_output* output;
  };
  [[noreturn]] void fail_file(int file, std::error_code reason);
  // A broken connection is recorded, and every later write fails.
  void send_now(write_hint hint) noexcept;
  // Returns false when neither the transport nor a child task takes the bytes: a caller that can wait flushes then.
  [[nodiscard]] bool send_when_waiting();
  void begin_background() noexcept;
  task<> send_in_background();
  task<> background_ended();
  [[nodiscard]] bool had_its_share(std::uint64_t bytes) noexcept;
  static void flush_now(io::completion& c) noexcept;
  // A transfer counts as failed until it has ended. So a cancelled one has failed, and
  // meanwhile nobody touches the buffer.
  void begin_transfer() noexcept { error_ = std::make_error_code(std::errc::operation_canceled); }
  void end_transfer(std::error_code outcome, std::uint64_t bytes) noexcept {
    error_ = outcome;
    if (!outcome) sent_ += bytes;
  }

  transport* transport_ = nullptr;
  std::chrono::nanoseconds limit_;
  std::string buffer_;
  flusher* scheduled_ = nullptr;
  std::error_code error_;
  bool file_failed_ = false;
  std::uint64_t sent_ = 0;
  std::uint64_t since_others_ran_ = 0;
  background_sending* background_ = nullptr;
  std::size_t in_background_ = 0;  // bytes that the child task is writing
  event background_ended_;
};

/// Owns the child task. `all_ended` and then `close` are called before it is destroyed. They nest: the innermost one
/// starts the next child.
class message_output::background_sending : public child_tasks {
 public:
  background_sending(task_context& task, message_output& output) noexcept
      : child_tasks(task, [](child_tasks&, task_state&) noexcept {}),
        output_(output),
        outer_(std::exchange(output.background_, this)) {}
  background_sending(const background_sending&) = delete;
  background_sending& operator=(const background_sending&) = delete;
  ~background_sending() { output_.background_ = outer_; }
  using child_tasks::close;

 private:
  message_output& output_;
  background_sending* const outer_;
};

}  // namespace gyre::http
