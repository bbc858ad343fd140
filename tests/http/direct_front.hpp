// tests/http/direct_front.hpp: gives requests in text to an application without a server, for the variant
// GYRE_TEST_DIRECT of the tests: the exchange of each request is direct, and its answer becomes text again.
#pragma once

#include <gyre/gyre.hpp>
#include <gyre/http.hpp>
#include <gyre/testing/http_direct.hpp>

#include "tests/support/error_of.hpp"

#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gyre_test {

namespace http = gyre::http;

/// True in the variant of the tests whose applications have no server.
[[nodiscard]] inline bool directly() {
  static const bool wanted = std::getenv("GYRE_TEST_DIRECT") != nullptr;
  return wanted;
}

/// The number of exchanges that were direct so far.
inline int direct_exchanges = 0;

/// One connection of a client. A test that depends on more of HTTP/1.1 than this understands is in direct_variant.cpp.
class direct_front {
 public:
  /// Counts itself in `open`, while it lives.
  static gyre::task<> serve(std::shared_ptr<gyre::testing::http_direct_application> app, gyre::memory_stream stream,
                            std::shared_ptr<std::size_t> open = std::make_shared<std::size_t>(0)) {
    ++*open;
    const gyre::scope_exit at_end([&open]() noexcept { --*open; });
    direct_front here(*app, std::move(stream));
    auto both = [&here](gyre::task_group& group) -> gyre::task<> {
      group.spawn(here.read());
      for (bool goes_on = true; goes_on;) goes_on = co_await here.answer_next();
      group.cancel();
    };
    co_await gyre::task_group::scope(both);
    auto ending = here.stream_.shutdown_write();
    (void)co_await gyre::as_expected(std::move(ending));
  }

 private:
  using part = gyre::testing::http_direct_part;
  using exchange = gyre::testing::http_direct_exchange;
  static constexpr std::size_t max_ahead = 65'536;
  static constexpr std::chrono::seconds idle_limit{75};  // as that of a server by default
  static constexpr std::chrono::seconds rest_limit{30};  // of a body that nobody reads

  direct_front(gyre::testing::http_direct_application& app, gyre::memory_stream stream)
      : app_(app), stream_(std::move(stream)) {}

  // ---- From the client.

  gyre::task<> read() {
    std::array<std::byte, 16'384> buffer;
    while (!ended_) {
      auto reading = stream_.read_some(buffer);
      const auto size = co_await gyre::as_expected(std::move(reading));
      if (size) received_.append(reinterpret_cast<const char*>(buffer.data()), *size);
      was_reset_ = !size;
      ended_ = !size || *size == 0;
      changed_.set();
      while (received_.size() >= max_ahead && !ended_) {
        room_.clear();
        co_await room_.wait();
      }
    }
  }
  /// Returns false at the end.
  gyre::task<bool> more() {
    if (ended_) co_return false;
    changed_.clear();
    co_await changed_.wait();
    co_return true;
  }
  void use(std::size_t bytes) {
    received_.erase(0, bytes);
    room_.set();
  }

  gyre::task<bool> answer_next() {
    http::head_parser parser(http::head_parser::kind::request);
    while (parser.parse(received_) == http::parse_state::incomplete) {
      auto waiting = gyre::timeout(idle_limit, more());
      const auto goes_on = co_await gyre::as_expected(std::move(waiting));
      if (!goes_on || !*goes_on) co_return false;
    }
    framing_ = {};
    http::parse_error error = parser.error();
    if (error == http::parse_error::none) error = http::understand_request(parser, framing_);
    if (error != http::parse_error::none) {
      const std::string status = std::to_string(http::status_for(error));
      co_await write("HTTP/1.1 " + status + " Refused\r\nConnection: close\r\n\r\n");
      co_return false;
    }
    gyre::testing::http_direct_request request{
        .method = std::string(parser.method()),
        .target = std::string(parser.target()),
        .streams = framing_.body != http::body_kind::none,
        .version = parser.minor_version() == 0 ? http::version::http_1_0 : http::version::http_1_1};
    for (const http::field& each : parser.fields())
      if (!http::equal_ignoring_case(each.name, "Transfer-Encoding"))
        request.fields.emplace_back(each.name, each.value);
    is_head_ = request.method == "HEAD";
    is_old_ = request.version == http::version::http_1_0;
    use(parser.size());
    body_.begin(framing_);
    request.body = arrived_body();
    co_return co_await answer(std::move(request));
  }

  gyre::task<bool> answer(gyre::testing::http_direct_request request) {
    ++direct_exchanges;
    exchange here = app_.begin(std::move(request));
    body_done_ = false;
    bool complete = false;
    auto both = [&](gyre::task_group& group) -> gyre::task<> {
      group.spawn(feed(here));
      complete = co_await pass_on(here);
      if (!complete) co_await handler_ended(here);
      auto rest = gyre::timeout(rest_limit, body_came());
      if (complete) (void)co_await gyre::as_expected(std::move(rest));
      group.cancel();
    };
    co_await gyre::task_group::scope(both);
    co_return complete&& body_done_&& framing_.keep_alive && !closes_;
  }

  gyre::task<> body_came() {
    while (!body_done_ && !ended_) co_await more();
  }
  std::string arrived_body() {
    std::string all;
    while (!received_.empty() && !body_.at_end() && body_.error() == http::parse_error::none) {
      std::string_view rest = received_;
      all += body_.take(rest);
      use(received_.size() - rest.size());
    }
    return all;
  }
  /// The rest of the body of the request, then the end of the client.
  gyre::task<> feed(exchange& to) {
    while (!body_.at_end() && body_.error() == http::parse_error::none) {
      if (received_.empty()) {
        const bool goes_on = co_await more();
        if (!goes_on) break;
      }
      const std::string piece = arrived_body();
      if (!piece.empty()) co_await to.send(piece);
    }
    if (body_.at_end()) {
      std::vector<std::pair<std::string, std::string>> trailers;
      for (const http::field& each : body_.trailers()) trailers.emplace_back(each.name, each.value);
      to.finish(std::move(trailers));
      body_done_ = true;
      changed_.set();
      for (bool goes_on = true; goes_on;) goes_on = co_await more();
    }
    if (was_reset_)
      to.reset();
    else
      to.close_sending();
  }

  // ---- To the client.

  /// Returns true for a complete answer.
  gyre::task<bool> pass_on(exchange& from) {
    try {
      for (;;) {
        part next = co_await from.receive();
        const std::string text = text_of(next);
        co_await write(text);
        if (next.kind == part::part::end) co_return true;
      }
    } catch (const gyre::io_error& error) {
      if (error.code() != make_error_code(gyre::stream_errc::end_of_stream)) stream_.abort();
    } catch (const std::logic_error&) {  // another protocol
      stream_.abort();
    }
    co_return false;
  }

  static gyre::task<> handler_ended(exchange& left) {
    left.reset();
    auto nothing = left.receive();
    (void)co_await error_of(std::move(nothing));
  }

  std::string text_of(const part& next) {
    std::string text;
    http::head_writer out(text);
    switch (next.kind) {
      case part::part::interim:
        out.status_line(next.status);
        write_fields(out, next);
        out.end();
        break;
      case part::part::head:
        out.status_line(next.status);
        write_fields(out, next);
        write_framing(out, next);
        out.end();
        break;
      case part::part::body:
        if (is_chunked_) out.chunk_begin(next.bytes.size());
        text += next.bytes;
        if (is_chunked_) out.chunk_end();
        break;
      case part::part::end:
        if (!is_chunked_ || is_head_) break;
        text += "0\r\n";
        write_fields(out, next);
        out.end();
        break;
    }
    return text;
  }
  void write_framing(http::head_writer& out, const part& head) {
    bool has_length = false;
    for (const auto& [name, value] : head.fields)
      has_length = has_length || http::equal_ignoring_case(name, "Content-Length");
    const bool is_open = !has_length && head.status != 204 && head.status != 304;
    is_chunked_ = is_open && !is_old_;
    closes_ = is_open && is_old_;
    if (is_chunked_) out.field("Transfer-Encoding", "chunked");
    if (closes_ || !framing_.keep_alive)
      out.field("Connection", "close");
    else if (is_old_)
      out.field("Connection", "keep-alive");
  }
  static void write_fields(http::head_writer& out, const part& of) {
    for (const auto& [name, value] : of.fields) out.field(name, value);
  }

  gyre::task<> write(std::string text) {
    if (!text.empty()) (void)co_await stream_.write_all(std::as_bytes(std::span(text)));
  }

  gyre::testing::http_direct_application& app_;
  gyre::memory_stream stream_;
  std::string received_;
  gyre::event changed_;
  gyre::event room_;
  http::framing framing_;
  http::body_decoder body_;
  bool ended_ = false;
  bool was_reset_ = false;
  bool body_done_ = false;
  bool is_head_ = false;
  bool is_old_ = false;
  bool is_chunked_ = false;
  bool closes_ = false;
};

}  // namespace gyre_test
