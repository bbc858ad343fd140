// programs/resp_server/client_connection.hpp: one client, from its first request to its end.
#pragma once

#include "programs/resp_server/command.hpp"
#include "programs/resp_server/request_batch.hpp"
#include "programs/resp_server/shard_set.hpp"
#include "programs/resp_server/write_deadline.hpp"

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <cstddef>
#include <memory>
#include <string_view>

namespace resp {

/// Serves one client until it leaves, is evicted or does not read its replies.
class client_connection : private client_account {
 public:
  /// Cancel: a reply may have been cut off. Errors: io_error from the stream.
  static gyre::task<> serve(shard& here, gyre::tcp_stream peer);

 private:
  client_connection(shard& here, gyre::tcp_stream& peer);
  ~client_connection() { here_.figures.clients -= 1; }

  // Rare coroutines are not in line: an idle connection would hold their frames in that of serve().
  void begin(gyre::buffer_lease& received);
  bool answer();
  [[gnu::noinline]] gyre::task<> answer_slowly();
  gyre::task<> answer_batch();
  std::size_t fill(request_batch& batch);
  gyre::task<> flush();
  gyre::task<> write(std::string_view bytes);
  [[gnu::noinline]] gyre::task<> say_goodbye();
  void end_after(std::string_view error);
  void append_to_partial();
  void keep_input();
  void finish();
  void note_memory();
  [[nodiscard]] std::size_t held_bytes() const noexcept { return buffers_->allocated_bytes() + batch_bytes_; }
  static void on_eviction(client_account& self) noexcept;

  shard& here_;
  gyre::tcp_stream& peer_;
  write_deadline deadline_;
  std::unique_ptr<client_buffers> buffers_;  // null when there is no unanswered input
  gyre::buffer_lease* received_ = nullptr;   // borrowed from serve(); null once the input is in buffers_->partial
  std::string_view input_;                   // unanswered, in *received_ or in buffers_->partial
  std::size_t batch_bytes_ = 0;
  bool ends_ = false;  // after the pending replies
};

}  // namespace resp
