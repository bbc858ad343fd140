// src/testing/http_mock_server.cpp: a real server on connections in memory. Bytes of the test's own replace what it
// writes.
#include <gyre/http/server.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/sync/event.hpp>
#include <gyre/tasks/spawn.hpp>
#include <gyre/testing/http_mock_server.hpp>

#include <deque>
#include <memory>
#include <optional>

namespace gyre::testing {
namespace {

struct scripted_reply {
  std::optional<http::response> answer = {};
  std::string bytes = {};  // otherwise
  http_mock_server::then after = http_mock_server::then::stay_open;
  bool stalls = false;
};

}  // namespace

struct http_mock_state {
  http::handler routes;
  std::deque<scripted_reply> script;
  std::vector<http_mock_request> requests;
  int connections = 0;
  int refusals = 0;
  std::size_t open = 0;  // connections
  event none_open;
  bool in_use = true;  // the mock server exists

  void release() noexcept {
    if (open > 0) return;
    none_open.set();
    if (!in_use) delete this;
  }
};

namespace {

/// One accepted connection.
struct link {
  link(http_mock_state& of, std::string asked_for) : mock(of), origin(std::move(asked_for)) {
    number = ++mock.connections;
    ++mock.open;
    mock.none_open.clear();
  }
  link& operator=(link&&) = delete;
  ~link() {
    --mock.open;
    mock.release();
  }

  http_mock_state& mock;
  std::string origin;
  int number = 0;
  std::optional<scripted_reply> instead;  // of what the server writes next
};

/// The server's end of a connection.
class scripted_stream {
 public:
  scripted_stream(memory_stream stream, link& connection) : stream_(std::move(stream)), link_(&connection) {}

  GYRE_CORO_WRAPPER task<std::size_t> read_some(std::span<std::byte> buffer) { return stream_.read_some(buffer); }
  task<> write_all(std::span<const std::byte> bytes) {
    if (!link_->instead) {
      (void)co_await stream_.write_all(bytes);
      co_return;
    }
    const scripted_reply reply = std::move(*link_->instead);
    link_->instead.reset();
    (void)co_await stream_.write_all(std::as_bytes(std::span(reply.bytes)));
    if (reply.after == http_mock_server::then::reset) stream_.abort();
  }
  GYRE_CORO_WRAPPER task<> shutdown_write() { return stream_.shutdown_write(); }
  void abort() noexcept { stream_.abort(); }

 private:
  memory_stream stream_;
  link* link_;
};

http_mock_request received(const http::request& request, const link& from) {
  http_mock_request made{.origin = from.origin,
                         .method = std::string(request.method()),
                         .target = std::string(request.target()),
                         .connection = from.number};
  for (const http::field& each : request.fields()) made.fields.emplace_back(each.name, each.value);
  return made;
}

task<http::response> answer(link& from, http::request& request) {
  http_mock_state& mock = from.mock;
  const std::size_t index = mock.requests.size();
  mock.requests.push_back(received(request, from));
  if (mock.script.empty() && mock.routes) co_return co_await mock.routes(request);
  if (mock.script.empty())
    co_return http::response::error(501, "http_mock_server: there is no reply for " + std::string(request.method()) +
                                             " " + std::string(request.target()));
  scripted_reply reply = std::move(mock.script.front());
  mock.script.pop_front();
  std::string body = co_await request.body().read_all();
  mock.requests[index].body = std::move(body);
  if (reply.answer) co_return std::move(*reply.answer);
  if (reply.stalls) {
    event never;
    co_await never.wait();
  }
  http::response replaced = http::response::no_content();
  if (reply.after != http_mock_server::then::stay_open) replaced.close_connection();
  from.instead = std::move(reply);
  co_return replaced;
}

task<> serve(std::unique_ptr<link> connection, memory_stream stream) {
  http::server_options options;
  options.listen.clear();
  options.observe_stop = false;
  options.routes = [&from = *connection](http::request& request) -> task<http::response> {
    co_return co_await answer(from, request);
  };
  http::server server(std::move(options));
  co_await server.serve_connection(any_stream(scripted_stream(std::move(stream), *connection)));
}

}  // namespace

std::string_view http_mock_request::field(std::string_view name) const noexcept {
  for (const auto& [each, value] : fields)
    if (http::equal_ignoring_case(each, name)) return value;
  return {};
}

task<any_stream> http_mock_connector::connect(std::string origin) const {
  if (state_->refusals > 0) {
    --state_->refusals;
    throw io_error(std::make_error_code(std::errc::connection_refused), "connect", origin);
  }
  memory_pair pair;
  auto accepted = std::make_unique<link>(*state_, std::move(origin));
  spawn(serve(std::move(accepted), std::move(pair.second)), {.name = "http_mock_server"}).detach();
  co_return any_stream(std::move(pair.first));
}

http_mock_server::http_mock_server() : http_mock_server(http::handler()) {}
http_mock_server::http_mock_server(http::handler routes) : state_(new http_mock_state()) {
  state_->routes = std::move(routes);
  state_->none_open.set();
}
http_mock_server::~http_mock_server() {
  state_->in_use = false;
  state_->release();
}

http_mock_server& http_mock_server::reply(http::response answer) {
  state_->script.push_back({.answer = std::move(answer)});
  return *this;
}

http_mock_server& http_mock_server::reply(int status, std::string_view text) {
  return reply(http::response::text(text).set_status(status));
}

http_mock_server& http_mock_server::reply_bytes(std::string bytes, then after) {
  state_->script.push_back({.bytes = std::move(bytes), .after = after});
  return *this;
}

http_mock_server& http_mock_server::stall() {
  state_->script.push_back({.stalls = true});
  return *this;
}

http_mock_server& http_mock_server::refuse() {
  ++state_->refusals;
  return *this;
}

task<> http_mock_server::closed() { co_await state_->none_open.wait(); }

const std::vector<http_mock_request>& http_mock_server::requests() const noexcept { return state_->requests; }
int http_mock_server::connections() const noexcept { return state_->connections; }
std::size_t http_mock_server::replies_left() const noexcept { return state_->script.size(); }

}  // namespace gyre::testing
