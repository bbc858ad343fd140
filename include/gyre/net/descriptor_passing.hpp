// gyre/net/descriptor_passing.hpp: received descriptors, and the awaitables that pass them over a Unix socket.
#pragma once

#include <gyre/io/owned_fd.hpp>
#include <gyre/net/socket_operations.hpp>

#include <cstddef>
#include <expected>
#include <span>
#include <system_error>
#include <vector>

namespace gyre {

/// The maximum number of descriptors in one message: SCM_MAX_FD of the kernel.
inline constexpr std::size_t max_passed_descriptors = 253;

/// Room for a control message with that many descriptors: see cmsg(3).
inline constexpr std::size_t passed_descriptors_room = 16 + (max_passed_descriptors * sizeof(int) + 7) / 8 * 8;

/// send_descriptors().
class GYRE_API [[nodiscard("co_await it")]] send_descriptors_op : public socket_write_base {
 public:
  send_descriptors_op(socket_state& socket, std::span<const std::byte> bytes,
                      std::span<const int> descriptors) noexcept;

 private:
  friend class socket_write_base;
  void point_at_rest() noexcept;

  std::span<const std::byte> bytes_;
  std::span<const int> descriptors_;
  io::message message_;
  io::const_buffer rest_;
  alignas(8) std::byte control_[passed_descriptors_room];
};

/// Received bytes and descriptors. The descriptors are close-on-exec.
struct received_descriptors {
  std::size_t size = 0;  ///< bytes in the buffer; 0 at the end of the stream
  std::vector<owned_fd> descriptors = {};
};

/// receive_descriptors().
class GYRE_API [[nodiscard("co_await it")]] receive_descriptors_op
    : public operation<receive_descriptors_op, io::request> {
 public:
  receive_descriptors_op(socket_state& socket, std::span<std::byte> buffer) noexcept;
  receive_descriptors_op(receive_descriptors_op&& from) noexcept
      : receive_descriptors_op(socket_state::of(from), from.buffer_) {}
  ~receive_descriptors_op();

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept { event_loop::current().backend().cancel(*this); }
  void on_complete() noexcept;
  std::expected<received_descriptors, std::error_code> take_result();
  [[noreturn]] void fail(std::error_code reason) const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return result > 0; }

 private:
  void prepare() noexcept;
  template <class F>
  void for_each_descriptor(F f) const noexcept;
  [[nodiscard]] std::vector<owned_fd> take_descriptors();

  std::span<std::byte> buffer_;
  io::const_buffer piece_;
  io::message message_;
  bool holds_descriptors_ = false;  // in the control buffer
  alignas(8) std::byte control_[passed_descriptors_room];
};

}  // namespace gyre
