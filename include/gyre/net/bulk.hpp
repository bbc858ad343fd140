// gyre/net/bulk.hpp: moves bulk from socket to socket, where possible without copying it. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/io/pipe_pool.hpp>
#include <gyre/net/socket_operations.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <system_error>
#include <utility>

namespace gyre {

class socket_bulk;

/// socket_bulk::receive(): waits until the socket is readable, and takes a piece from it. Only then does it need a pipe
/// or a buffer. The piece is empty when the caller is to go on with receive().
class GYRE_API [[nodiscard("co_await it")]] socket_bulk_receive_op
    : public operation<socket_bulk_receive_op, io::request> {
 public:
  explicit socket_bulk_receive_op(socket_bulk& bulk) noexcept;
  socket_bulk_receive_op(socket_bulk_receive_op&&) noexcept = default;
  ~socket_bulk_receive_op() { expect_ended(*this, "in the middle of a receive"); }

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  std::size_t await_resume();
  std::expected<std::size_t, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept;

 private:
  friend struct socket_state;
  void wait_for_bytes() noexcept;
  [[nodiscard]] bool take_piece() noexcept;

  socket_bulk* bulk_;
  int error_ = 0;  // errno
  bool cancelled_ = false;
};

/// socket_bulk::write(): writes the whole piece.
class GYRE_API [[nodiscard("co_await it")]] socket_bulk_write_op : public socket_write_base {
 public:
  explicit socket_bulk_write_op(socket_bulk& bulk) noexcept;

 private:
  friend class socket_write_base;
  [[nodiscard]] bool drain_now() noexcept;
  void wait_for_room() noexcept;
  void on_room() noexcept;

  io::pipe_pool::pipe* pipe_;
};

/// One direction of a relay between two sockets. While several streams of the loop move bulk, each piece goes through a
/// pipe of the loop, or through a large buffer when no pipe is free or the loop has small transfers to serve.
///
/// Thread: belongs to the loop of both sockets. Overlap: one reader of `from`, as always; each piece is one write to
/// `to`, which others may write to as well.
class GYRE_API socket_bulk {
 public:
  socket_bulk(socket_state& from, socket_state& to) noexcept : from_(&from), to_(&to) {}
  ~socket_bulk() {
    drop_piece();
    end();
  }
  socket_bulk& operator=(socket_bulk&&) = delete;

  /// True if a piece of this size makes a stream bulk, see begins_with().
  [[nodiscard]] static bool is_bulk(std::size_t size) noexcept { return size >= performer().buffers().large_size(); }

  /// Counts a piece that the caller has received in the ordinary way. Returns true when the caller should receive the
  /// next pieces here, until `receive` returns 0.
  [[nodiscard]] bool begins_with(std::size_t size) noexcept;

  /// Receives a piece of at most `max` bytes, which must not be 0. Returns its size, or 0 when the caller should go on
  /// in the ordinary way.
  ///
  /// Cancel: nothing is consumed. Errors: same as receive().
  [[nodiscard]] socket_bulk_receive_op receive(std::uint64_t max = ~std::uint64_t{0}) noexcept {
    max_ = max;
    return socket_bulk_receive_op(*this);
  }
  /// The size of the piece that was received last, until the next one is asked for.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Writes the piece.
  ///
  /// Cancel: same as write_all; what was not written of the piece is lost. Errors: same as write_all.
  [[nodiscard]] socket_bulk_write_op write() noexcept { return socket_bulk_write_op(*this); }

 private:
  friend class socket_bulk_receive_op;
  friend class socket_bulk_write_op;
  [[nodiscard]] static io::backend& performer() noexcept { return event_loop::current().backend(); }
  [[nodiscard]] bool goes_on() const noexcept { return active_ && performer().pipes().worth_it(); }
  [[nodiscard]] int take_piece() noexcept;
  [[nodiscard]] int fill_buffer(io::descriptor& source) noexcept;
  void drop_piece() noexcept;
  void note_size(std::size_t size) noexcept;
  void end() noexcept;

  socket_state* from_;
  socket_state* to_;
  io::pipe_pool::pipe* pipe_ = nullptr;  // the piece is in this, or in `buffer_`
  buffer_lease buffer_;
  std::uint64_t max_ = 0;  // of the next piece
  std::uint32_t size_ = 0;
  std::uint8_t small_ = 0;  // pieces in a row
  bool active_ = false;     // counted by the pool
};

/// Found by copy(), which does not know sockets.
[[nodiscard]] inline socket_bulk bulk_between(socket_state& from, socket_state& to) noexcept { return {from, to}; }

}  // namespace gyre
