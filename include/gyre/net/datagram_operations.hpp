// gyre/net/datagram_operations.hpp: received datagrams, and the awaitables of datagram sockets.
#pragma once

#include <gyre/io/buffer_lease.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/net/datagram_state.hpp>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string>
#include <system_error>
#include <utility>

namespace gyre {

/// A datagram received into a buffer of the caller.
template <class Address>
struct received_datagram {
  std::size_t size = 0;            ///< bytes in the buffer
  Address from = {};               ///< the sender; empty when unnamed
  bool truncated = false;          ///< the datagram was longer than the buffer; the rest is lost
  std::uint16_t segment_size = 0;  ///< not 0: several datagrams of this size in one, the last may be shorter
};

/// A datagram in a borrowed buffer.
template <class Address>
struct datagram_lease {
  buffer_lease payload;
  Address from = {};
  bool truncated = false;          ///< the datagram was longer than a buffer of the loop; the rest is lost
  std::uint16_t segment_size = 0;  ///< as in received_datagram
};

/// The common base of sends to all kinds of addresses. Sends run one at a time, in the order in which they began.
class GYRE_API datagram_send_base : public operation<datagram_send_base, io::request> {
 public:
  datagram_send_base(datagram_send_base&&) noexcept = default;
  ~datagram_send_base() {
    if (queued_) misuse("a coroutine was destroyed in the middle of a send; cancel and await it first");
  }

  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  std::expected<std::size_t, std::error_code> take_result() const;
  [[nodiscard]] bool fully_succeeded() const noexcept { return result >= 0; }

 protected:
  datagram_send_base(datagram_state& socket, std::span<const std::byte> bytes, const void* name,
                     std::uint32_t name_length, std::uint16_t segment_size) noexcept;
  datagram_send_base(datagram_state& socket, std::span<const io::const_buffer> buffers, const void* name,
                     std::uint32_t name_length) noexcept;
  [[nodiscard]] const void* name() const noexcept { return name_length_ == 0 ? nullptr : name_; }
  [[nodiscard]] std::uint32_t name_length() const noexcept { return name_length_; }
  [[nodiscard]] const char* name_of_send() const noexcept { return name_length_ == 0 ? "send" : "send_to"; }
  [[noreturn]] void fail_with(std::error_code reason, std::string to) const;

 private:
  friend struct datagram_state;
  void set_name(const void* name, std::uint32_t size) noexcept;
  void prepare() noexcept;
  void unlink() noexcept;
  void try_again() noexcept;
  [[nodiscard]] bool room_came() noexcept;
  [[nodiscard]] std::size_t total() const noexcept;
  static void submit_first(datagram_state& socket) noexcept;

  std::span<const io::const_buffer> buffers_;  // empty when `one_` is used
  io::const_buffer one_;
  io::message message_;
  datagram_send_base* next_sender_ = nullptr;
  std::uint32_t name_length_ = 0;
  std::uint16_t segment_size_ = 0;
  bool queued_ = false;
  bool cancelled_ = false;
  alignas(8) std::byte control_[datagram_control_room];
  alignas(8) std::byte name_[max_socket_address_size];
};

/// send_to() and send().
template <class Address>
class [[nodiscard("co_await it")]] datagram_send_op : public datagram_send_base {
 public:
  template <class Bytes>
  datagram_send_op(datagram_state& socket, Bytes bytes, const Address* to, std::uint16_t segment_size) noexcept
      : datagram_send_base(socket, bytes, to == nullptr ? nullptr : to->data(), to == nullptr ? 0 : to->size(),
                           segment_size) {}
  template <class Bytes>
  datagram_send_op(datagram_state& socket, Bytes buffers, const Address* to) noexcept
      : datagram_send_base(socket, buffers, to == nullptr ? nullptr : to->data(), to == nullptr ? 0 : to->size()) {}

  std::size_t await_resume() const { return value_or_throw(*this); }
  [[noreturn]] void fail(std::error_code reason) const {
    fail_with(reason, name() == nullptr ? std::string() : Address::from_raw(name(), name_length()).string());
  }
};

/// The common base of receives into a buffer of the caller, for all kinds of addresses.
class GYRE_API datagram_receive_base : public operation<datagram_receive_base, io::request> {
 public:
  datagram_receive_base(datagram_receive_base&& from) noexcept
      : datagram_receive_base(datagram_state::of(from), from.buffer_) {}
  ~datagram_receive_base() { expect_ended(*this, "in the middle of a receive_from"); }
  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  void on_complete() noexcept;
  [[nodiscard]] bool fully_succeeded() const noexcept { return result >= 0; }

 protected:
  datagram_receive_base(datagram_state& socket, std::span<std::byte> buffer) noexcept;
  std::expected<std::size_t, std::error_code> take_size() const;
  [[nodiscard]] std::span<const std::byte> name() const noexcept { return {name_, name_length_}; }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }
  [[nodiscard]] std::uint16_t segment_size() const noexcept { return segment_size_; }

 private:
  void prepare() noexcept;
  void absorb_message() noexcept;
  [[nodiscard]] bool take_arrival() noexcept;
  void on_arrival() noexcept;

  std::span<std::byte> buffer_;
  io::const_buffer piece_;
  io::message message_;
  std::uint32_t name_length_ = 0;
  std::uint16_t segment_size_ = 0;
  bool truncated_ = false;
  bool cancelled_ = false;
  alignas(8) std::byte control_[datagram_control_room];
  alignas(8) std::byte name_[max_socket_address_size];
};

/// receive_from().
template <class Address>
class [[nodiscard("co_await it")]] datagram_receive_op : public datagram_receive_base {
 public:
  datagram_receive_op(datagram_state& socket, std::span<std::byte> buffer) noexcept
      : datagram_receive_base(socket, buffer) {}
  std::expected<received_datagram<Address>, std::error_code> take_result() const {
    const auto size = take_size();
    if (!size) return std::unexpected(size.error());
    const auto from = Address::from_raw(name().data(), static_cast<std::uint32_t>(name().size()));
    return received_datagram<Address>(*size, from, truncated(), segment_size());
  }
  received_datagram<Address> await_resume() const { return value_or_throw(*this); }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "receive_from", {}); }
};

/// The common base of receives that lend a buffer, for all kinds of addresses.
class GYRE_API datagram_lease_base : public operation<datagram_lease_base> {
 public:
  datagram_lease_base(datagram_lease_base&& from) noexcept : datagram_lease_base(*from.socket_) {}
  ~datagram_lease_base();
  bool try_now() noexcept;
  void start() noexcept;
  void on_cancel() noexcept;
  [[nodiscard]] bool fully_succeeded() const noexcept { return buffer_ != io::buffer_pool::none; }

 protected:
  explicit datagram_lease_base(datagram_state& socket) noexcept : socket_(&socket) {}
  /// Returns an error as a value; null means that there is a datagram.
  [[nodiscard]] std::error_code take_failure();
  [[nodiscard]] datagram_state& socket() const noexcept { return *socket_; }
  [[nodiscard]] std::uint32_t take_buffer() noexcept { return std::exchange(buffer_, io::buffer_pool::none); }
  [[nodiscard]] io::message_view view() const noexcept { return socket_->arrival(buffer_); }

 private:
  [[nodiscard]] bool take_arrival() noexcept;
  void on_arrival() noexcept;
  void on_cancelled() noexcept;

  datagram_state* socket_;
  std::uint32_t buffer_ = io::buffer_pool::none;
  int failure_ = 0;
};

/// The size of the datagrams that the kernel has combined, from control data. 0 means a single datagram.
[[nodiscard]] GYRE_API std::uint16_t coalesced_segment_size(std::span<const std::byte> control) noexcept;
/// Whether the flags of a message mark it as truncated.
[[nodiscard]] GYRE_API bool was_truncated(std::uint32_t flags) noexcept;

/// receive().
template <class Address>
class [[nodiscard("co_await it")]] datagram_lease_op : public datagram_lease_base {
 public:
  explicit datagram_lease_op(datagram_state& socket) noexcept : datagram_lease_base(socket) {}
  std::expected<datagram_lease<Address>, std::error_code> take_result() {
    if (const std::error_code failure = take_failure()) return std::unexpected(failure);
    const io::message_view message = view();
    const auto from = Address::from_raw(message.name.data(), static_cast<std::uint32_t>(message.name.size()));
    return datagram_lease<Address>(buffer_lease(socket().pool(), take_buffer(), message.payload), from,
                                   was_truncated(message.flags), coalesced_segment_size(message.control));
  }
  datagram_lease<Address> await_resume() { return value_or_throw(*this); }
  [[noreturn]] void fail(std::error_code reason) const { throw io_error(reason, "receive", {}); }
};

}  // namespace gyre
