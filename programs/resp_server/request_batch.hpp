// programs/resp_server/request_batch.hpp: the requests of one read, sent to their shards, and the replies in order.
#pragma once

#include "programs/resp_server/command_spread.hpp"
#include "programs/resp_server/reply_buffer.hpp"
#include "programs/resp_server/shard_message.hpp"
#include "programs/resp_server/shard_set.hpp"

#include <gyre/loop/operation.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace resp {

class exchange_op;

/// Pipelined requests of one connection. All requests for the same shard travel in one message, and each shard executes
/// its requests in their order. Those for the shard of the connection's own loop are executed when they are added.
/// So a key sees the requests of a connection in order, and the replies keep that order.
///
/// A command with keys on several shards has a part on each. A part is executed as one command: MSET is atomic on each
/// shard, and MGET reads each shard at one moment. Other clients may see the parts at different times. When memory is
/// short, MSET is refused as a whole.
///
/// Thread: that of its loop. Lifetime: see shard_message.
class request_batch {
 public:
  request_batch(shard_set& shards, std::size_t home);

  /// `client` executes what belongs to this loop.
  void add(std::span<const std::string_view> arguments, command_spread spread, connection_state& client);
  /// True when no more requests should be added, because the replies of this loop get large.
  [[nodiscard]] bool is_full() const noexcept { return messages_[home_].is_left(); }

  /// Sends the messages that are due, and waits until all have come back.
  ///
  /// Cancel: sends nothing, or waits for all nevertheless, because other loops answer soon.
  /// Errors: std::bad_alloc of a command.
  [[nodiscard]] exchange_op exchange() noexcept;

  /// Appends replies in the order of the requests, until one is missing or `to` has more than `most` bytes. An array
  /// that is larger is appended in pieces, so that it does not exist twice. Refuses an array of more than `largest`
  /// bytes.
  /// Changes the limit of `to`: the messages have kept it.
  void join(reply_buffer& to, std::size_t most, std::size_t largest = reply_buffer::no_limit);
  [[nodiscard]] bool is_joined() const noexcept { return joined_ == plans_.size(); }
  /// The next value of an array, if join() leaves it out because it has more than `most` bytes. Otherwise empty.
  /// Lifetime: until join() is called.
  [[nodiscard]] std::string_view take_large_value(std::size_t most) noexcept;

  /// True when the next reply is missing because a part of it did not fit. Then raise_next() or refuse_next() follows.
  [[nodiscard]] bool next_overflowed() const noexcept;
  /// The size of the next reply, at most: all parts together.
  [[nodiscard]] std::size_t next_size() const noexcept;
  /// The memory that its parts need in addition.
  [[nodiscard]] std::size_t next_growth() const noexcept;
  /// Values may grow until they are read again, so the parts may take `slack` more.
  void raise_next(std::size_t slack) noexcept;
  void refuse_next();
  /// Frees the parts of large replies that have been joined.
  void release_joined() noexcept;

  struct message : shard_message {
    request_batch* batch = nullptr;
    server_state* target = nullptr;
  };
  /// The message for each shard.
  [[nodiscard]] std::span<message> messages() noexcept { return {messages_.get(), shards_->size()}; }
  void move_arguments(std::string_view from, const char* to) noexcept;
  [[nodiscard]] std::size_t allocated_bytes() const noexcept;
  void clear() noexcept;

 private:
  friend class exchange_op;
  struct plan {
    command_spread spread;
    std::uint32_t first_part;  // in parts_
    std::uint32_t parts;
    std::uint32_t first_key;  // in key_shards_
    std::uint32_t keys;
  };

  message& plan_one_part(std::size_t shard);
  void add_parts(std::span<const std::string_view> arguments, command_spread spread, bool admitted);
  [[nodiscard]] std::span<const std::uint32_t> shards_of(const plan& of) const noexcept {
    return std::span(parts_).subspan(of.first_part, of.parts);
  }
  [[nodiscard]] bool has_replies(const plan& of) const noexcept;
  // These return false when a part of the reply is left.
  bool join_one(const plan& of, reply_buffer& to, std::size_t most, std::size_t largest);
  bool join_parts(const plan& of, reply_buffer& to, std::size_t most, std::size_t largest);
  bool begin_values(const plan& of, reply_buffer& to, std::size_t most);
  bool join_values(const plan& of, reply_buffer& to, std::size_t most);
  std::string_view& part_with_value(const plan& of, std::uint32_t value) noexcept {
    return messages_[key_shards_[of.first_key + value]].part;
  }
  void send(exchange_op& waiting) noexcept;
  static void on_arrival(gyre::io::completion& item) noexcept;
  static void on_return(gyre::io::completion& item) noexcept;

  shard_set* shards_;
  std::size_t home_;
  gyre::event_loop* home_loop_ = nullptr;
  connection_state* client_ = nullptr;
  std::unique_ptr<message[]> messages_;
  std::vector<plan> plans_;
  std::vector<std::uint32_t> parts_;       // the shard of each part
  std::vector<std::uint32_t> key_shards_;  // the shard of each key whose value is to be put into order
  std::size_t joined_ = 0;
  bool in_pieces_ = false;        // a part of the next reply has been appended
  std::uint32_t next_value_ = 0;  // of that reply
  std::size_t under_way_ = 0;
  exchange_op* waiting_ = nullptr;
};

}  // namespace resp
