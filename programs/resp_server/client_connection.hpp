// programs/resp_server/client_connection.hpp: one client, from its first request to its end.
#pragma once

#include "programs/resp_server/client_memory.hpp"
#include "programs/resp_server/connection_state.hpp"
#include "programs/resp_server/keyspace.hpp"
#include "programs/resp_server/reply_buffers.hpp"
#include "programs/resp_server/request_parser.hpp"
#include "programs/resp_server/server_limits.hpp"
#include "programs/resp_server/write_deadline.hpp"

#include <gyre/coro/task.hpp>
#include <gyre/io/buffer_lease.hpp>
#include <gyre/net/tcp_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/sync/mutex.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace resp {

/// State shared by all connections.
struct server_state {
  explicit server_state(const server_limits& most, const keyspace_options& options)
      : limits(most), keys(options), memory(most.all_clients) {
    info.clients = &memory;
    info.reply_limit = most.output_buffer;
  }

  server_limits limits;
  keyspace keys;
  server_info info;
  reply_buffers buffers;
  client_memory memory;
  gyre::event memory_freed;  // set and cleared at once when an evicted client has released its memory
  gyre::mutex long_command;  // held by the command in progress: one step per turn, for all clients together
};

/// The time as seen by commands.
[[nodiscard]] unix_ms wall_clock() noexcept;

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
  gyre::task<> serve();
  gyre::task<> answer_all();
  gyre::task<> finish_command();
  gyre::task<> work_off();
  gyre::task<> flush();
  gyre::task<bool> wait_for_room(std::size_t bytes);
  gyre::task<> keep_received();
  gyre::task<> say_goodbye();
  void refuse_request();
  void keep_request();
  void keep_rest();
  void release_received() noexcept;
  void note_memory();
  void set_reply_limit() noexcept;
  [[nodiscard]] std::size_t request_bytes() const noexcept;
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
};

}  // namespace resp
