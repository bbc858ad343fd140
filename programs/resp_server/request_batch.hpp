// programs/resp_server/request_batch.hpp: the requests of one read, sent to their shards, and the replies in order.
#pragma once

#include "programs/resp_server/shard_message.hpp"

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
/// its requests in their order. So a key sees the requests of a connection in order, and the replies keep that order.
///
/// A command with several keys has a part for each of them, on its shard. Each shard executes its parts together,
/// unless their replies get large. Other clients may see the parts of different shards at different times.
///
/// Thread: that of its loop. Lifetime: see shard_message.
class request_batch {
 public:
  request_batch(shard_set& shards, std::size_t home);

  void add(const command& what, std::span<const std::string_view> arguments);

  /// Sends the messages that are due, and waits until all have come back. Executes the one for this loop at once.
  ///
  /// Cancel: sends nothing, or waits for all nevertheless, because other loops answer soon. Errors: std::bad_alloc of a
  /// command.
  [[nodiscard]] exchange_op exchange() noexcept;

  /// Appends replies in the order of the requests, as long as `to` then has at most max_pending_replies bytes. Returns
  /// true when all have been appended; otherwise, next() has the next one, or does not have it yet.
  bool join(reply_buffer& to);
  [[nodiscard]] shard_message& next() noexcept { return messages_[parts_[next_].value]; }
  void skip() noexcept { messages_[parts_[next_++].value].drop_reply(); }

  [[nodiscard]] std::size_t allocated_bytes() const noexcept;
  void clear() noexcept;

 private:
  friend class exchange_op;

  struct message : shard_message {
    request_batch* batch = nullptr;
    std::uint32_t shard = 0;
  };
  struct part {
    enum class kind : std::uint8_t { reply, number, pair, array, sum, pairs };
    kind what;
    std::uint32_t value;  // of a reply, number or pair: the shard; of an array: the number of its elements
  };

  void send(exchange_op& waiting) noexcept;
  static void on_arrival(gyre::io::completion& item) noexcept;
  static void on_return(gyre::io::completion& item) noexcept;

  shard_set* shards_;
  std::size_t home_;
  gyre::event_loop* home_loop_ = nullptr;
  std::unique_ptr<message[]> messages_;  // one for each shard
  std::vector<part> parts_;
  std::size_t next_ = 0;  // the part that is joined next
  std::int64_t sum_ = 0;  // of the numbers joined so far
  std::size_t under_way_ = 0;
  exchange_op* waiting_ = nullptr;
};

/// The operation of request_batch::exchange().
class [[nodiscard("co_await it")]] exchange_op : public gyre::operation<exchange_op> {
 public:
  explicit exchange_op(request_batch& batch) noexcept : batch_(&batch) {}

  bool try_now() noexcept;
  void start() noexcept { batch_->send(*this); }
  void on_cancel() noexcept {}  // the messages refer to the batch
  void await_resume();

 private:
  request_batch* batch_;
};

inline exchange_op request_batch::exchange() noexcept { return exchange_op(*this); }

}  // namespace resp
