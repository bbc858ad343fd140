// programs/resp_server/client_connection.hpp: one client, from its first request to its end.
#pragma once

#include "programs/resp_server/client_memory.hpp"
#include "programs/resp_server/command_spread.hpp"
#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/request_batch.hpp"
#include "programs/resp_server/request_parser.hpp"
#include "programs/resp_server/server_state.hpp"
#include "programs/resp_server/write_deadline.hpp"

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/net/tcp_stream.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace resp {

/// Serves one client until it leaves, is evicted or does not read its replies.
class client_connection : private client_account {
 public:
  client_connection(server_state& server, gyre::tcp_stream peer) noexcept;
  client_connection(const client_connection&) = delete;
  client_connection& operator=(const client_connection&) = delete;
  ~client_connection();

  /// Cancel: a reply may have been cut off. Errors: io_error from the stream.
  gyre::task<> run();

 private:
  static constexpr std::size_t flush_above = shard_message::stop_above;
  // The reply of a command that changes something must always fit; otherwise the command would be executed but not
  // answered.
  static constexpr std::size_t min_reply_limit = shard_message::min_limit;

  gyre::task<> serve();
  gyre::task<> answer_all();
  gyre::task<> answer_on_shards();
  gyre::task<> answer_batch();
  gyre::task<> exchange(request_batch& batch);
  gyre::task<> answer_large(request_batch& batch);
  gyre::task<> ask_every_shard(command_spread spread);
  gyre::task<> report_figures();
  gyre::task<> execute_on_every_shard(std::vector<reply_buffer>& parts);
  gyre::task<bool> collect_keys(std::vector<reply_buffer>& parts);
  gyre::task<> send_keys(std::vector<reply_buffer>& parts);
  std::size_t fill(request_batch& batch);
  void keep_batch(request_batch& batch);
  gyre::task<> finish_command();
  gyre::task<> work_off();
  gyre::task<> flush();
  gyre::task<> write(std::string_view bytes);
  gyre::task<bool> wait_for_room(std::size_t bytes);
  gyre::task<> keep_received();
  gyre::task<> say_goodbye();
  void refuse_request();
  void keep_request();
  void keep_rest();
  void release_received() noexcept;
  void note_memory();
  void set_reply_limit() noexcept;
  [[nodiscard]] std::size_t reply_limit() const noexcept;
  [[nodiscard]] std::size_t max_reply_size() const noexcept;
  [[nodiscard]] std::size_t left_bytes() const noexcept;
  [[nodiscard]] std::size_t request_bytes() const noexcept;
  [[nodiscard]] std::size_t held_bytes() const noexcept { return request_bytes() + reply_.capacity(); }
  static void end(client_account& self) noexcept;

  server_state& server_;
  gyre::tcp_stream peer_;
  write_deadline deadline_;
  connection_state connection_;
  request_parser parser_;
  gyre::buffer_lease* received_ = nullptr;  // borrowed from serve(); null once the input is in partial_
  std::string partial_;                     // the beginning of a request whose end has not arrived
  std::string_view input_;                  // unanswered input, in *received_ or in partial_
  reply_buffer reply_;
  // Memory of a batch, or of parts of a reply. Large parts are counted before the shards are asked for them, because
  // other connections may look for room meanwhile.
  std::size_t shard_bytes_ = 0;
};

}  // namespace resp
