// programs/resp_server/server.cpp: serves RESP requests over TCP.
#include "programs/resp_server/server.hpp"

#include "programs/resp_server/commands.hpp"

#include <gyre/loop/sleep.hpp>
#include <gyre/loop/yield.hpp>

#include <algorithm>
#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace resp {
namespace {

unix_ms wall_clock() noexcept {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &t);  // a tick old at most, at a quarter of the price
  return unix_ms{t.tv_sec} * 1000 + t.tv_nsec / 1'000'000;
}

// Reply buffers are lent for the time between reading a request and having written its reply, so that idle
// connections hold none and busy ones share the one that is in the cache.
class reply_buffers {
 public:
  reply_buffer take() {
    if (free_.empty()) return reply_buffer();
    reply_buffer buffer = std::move(free_.back());
    free_.pop_back();
    return buffer;
  }
  void give_back(reply_buffer&& buffer) {
    constexpr std::size_t most = 64;
    constexpr std::size_t largest = std::size_t{256} << 10U;
    buffer.clear(largest);
    if (free_.size() < most) free_.push_back(std::move(buffer));
  }

 private:
  std::vector<reply_buffer> free_;
};

class server {
 public:
  explicit server(const resp_server_options& options) : options_(options), keys_(options.keys) {}

  gyre::task<> run() {
    auto listener = gyre::tcp_listener::bind(options_.server.listen);
    info_.started_at = wall_clock();
    info_.port = listener.local_address().port();
    programs::announce(listener);
    auto expiry = gyre::spawn(remove_expired(), {.name = "expiry"});
    auto serve_one = [this] GYRE_CORO_WRAPPER(gyre::tcp_stream peer) { return serve_client(std::move(peer)); };
    co_await listener.serve(serve_one, options_.server.serve());
    expiry.cancel();
    co_await gyre::shield(expiry.wait());  // it uses this object
  }

 private:
  // Keys that nobody asks for again must not stay for ever.
  gyre::task<> remove_expired() {
    using namespace std::chrono_literals;
    constexpr std::size_t budget = 1000;
    for (;;) {
      co_await gyre::sleep(100ms);
      while (keys_.expire_some(wall_clock(), budget) == budget) co_await gyre::yield();
    }
  }

  gyre::task<> serve_client(gyre::tcp_stream peer) {
    struct counted {
      server_info& info;
      explicit counted(server_info& i) : info(i) {
        ++info.connected_clients;
        ++info.connections_received;
      }
      counted(const counted&) = delete;
      ~counted() { --info.connected_clients; }
    } const client(info_);
    connection_state connection{.server = info_, .id = info_.connections_received};
    request_parser parser(options_.limits);
    std::string partial;  // the beginning of a request whose end has not arrived

    while (gyre::buffer_lease received = co_await peer.receive()) {
      std::string_view input = received.text();
      if (!partial.empty()) {
        // Once, to what the request announces; but who announces much gets the memory only as it sends.
        constexpr std::size_t most_at_once = std::size_t{1} << 20U;
        if (partial.capacity() < parser.bytes_needed())
          partial.reserve(std::min(parser.bytes_needed(), partial.size() * 2 + most_at_once));
        partial.append(input);
        received.release();
        input = partial;
      }
      reply_buffer reply = buffers_.take();
      const std::string_view rest = co_await answer_all(peer, parser, input, connection, reply);
      if (!reply.empty()) co_await peer.write_all(reply.view());
      const bool close = connection.close_after_reply || reply.overflowed();
      buffers_.give_back(std::move(reply));
      if (close) {
        co_await finish(peer);
        break;
      }
      keep(partial, input, rest);
    }
  }

  // Leaves in `partial` what is left of `input`, which may be `partial` itself. An idle connection keeps no large
  // buffer.
  static void keep(std::string& partial, std::string_view input, std::string_view rest) {
    constexpr std::size_t largest_kept = std::size_t{64} << 10U;
    if (input.data() != partial.data())
      partial.assign(rest);
    else if (rest.empty() && partial.capacity() > largest_kept)
      std::string().swap(partial);
    else
      partial.erase(0, partial.size() - rest.size());
  }

  // Closing with input unread would reset the connection, and the client might never see our last words.
  gyre::task<> finish(gyre::tcp_stream& peer) {
    using namespace std::chrono_literals;
    co_await peer.shutdown_write();
    auto discard = [&]() -> gyre::task<> {
      while (co_await peer.receive()) {
      }
    };
    try {
      co_await gyre::timeout(2s, discard);
    } catch (const gyre::timed_out&) {  // it had its chance
    }
  }

  // Runs every complete request of `input`; gives what is left. Replies are written out here only when they get large.
  gyre::task<std::string_view> answer_all(gyre::tcp_stream& peer, request_parser& parser, std::string_view input,
                                          connection_state& connection, reply_buffer& reply) {
    constexpr std::size_t flush_above = std::size_t{64} << 10U;
    const unix_ms now = wall_clock();
    while (!input.empty() && !connection.close_after_reply && !reply.overflowed()) {
      const parse_result parsed = parser.parse(input);
      if (parsed.status == parse_status::command) execute(parser.arguments(), keys_, now, reply, connection);
      if (parsed.status == parse_status::error) reply_protocol_error(parser.error(), reply, connection);
      input.remove_prefix(parsed.consumed);
      if (parsed.status == parse_status::need_more) break;
      if (reply.size() > flush_above) {
        co_await peer.write_all(reply.view());
        reply.clear();
      }
    }
    co_return input;
  }

  resp_server_options options_;
  keyspace keys_;
  server_info info_;
  reply_buffers buffers_;
};

}  // namespace

gyre::task<> serve(resp_server_options options) {
  server here(options);
  co_await here.run();
}

}  // namespace resp
