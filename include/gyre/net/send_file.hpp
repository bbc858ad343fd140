// gyre/net/send_file.hpp: the awaitable that sends a file over a connected socket. For authors of operations.
#pragma once

#include <gyre/io/file_request.hpp>
#include <gyre/net/socket_operations.hpp>

#include <cstddef>
#include <cstdint>

namespace gyre {

/// send_file(): sends the cached part of the file at once. For the rest a thread of the pool makes the calls, which
/// wait for the disk. The socket is non-blocking: when it is full, this waits as any write does.
class GYRE_API [[nodiscard("co_await it")]] send_file_op : public socket_write_base {
 public:
  send_file_op(socket_state& socket, int file, std::uint64_t offset, std::size_t count) noexcept
      : socket_write_base(socket, write_kind::file, count), offset_(offset), file_(file) {}
  // Only before the operation has begun, when its arguments are all that has to be moved.
  send_file_op(send_file_op&& from) noexcept
      : send_file_op(socket_state::of(from), from.file_, from.offset_, from.total_) {}
  ~send_file_op();

 private:
  friend class socket_write_base;
  struct call : io::file_request {
    send_file_op* op = nullptr;
    void on_complete() noexcept { op->call_ended(result); }
  };
  enum class progress : std::uint8_t { finished, socket_full, not_in_memory };
  [[nodiscard]] progress send_what_is_in_memory() noexcept;
  [[nodiscard]] bool try_file_now() noexcept { return (last_ = send_what_is_in_memory()) == progress::finished; }
  void send_rest() noexcept;
  void cancel_call() noexcept;
  void prepare_call(std::size_t max) noexcept;
  void call_in_thread() noexcept;
  void wait_for_room() noexcept;
  void call_ended(int sent) noexcept;
  void on_room() noexcept;
  [[nodiscard]] bool is_in_memory() const noexcept;

  std::uint64_t offset_;
  int file_;
  progress last_ = progress::not_in_memory;  // found by the last attempt
  call call_;
};

}  // namespace gyre
