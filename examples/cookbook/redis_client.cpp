// examples/cookbook/redis_client.cpp: a client of Redis over a stream. Commands of all tasks share one connection.
//
//   redis_client 127.0.0.1:6379
#include <gyre/gyre.hpp>

#include <charconv>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

struct redis_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A reply of RESP2. A missing value has no text.
struct reply {
  std::optional<std::string> text;
  std::vector<reply> items = {};
};

/// Sends commands and receives their replies in the same order, so a command does not wait for the reply of the
/// previous one. Lifetime: await close() before it is destroyed.
class redis_client {
 public:
  explicit redis_client(gyre::stream_connection opened) : connection_(std::move(opened)) {
    receiving_.spawn(receive());
  }

  /// Cancel: the command was sent; its reply is dropped. Errors: redis_error; io_error of the connection.
  gyre::task<reply> command(std::vector<std::string> words) {
    if (failure_) std::rethrow_exception(failure_);
    std::string request = "*" + std::to_string(words.size()) + "\r\n";
    for (const std::string& each : words) request += "$" + std::to_string(each.size()) + "\r\n" + each + "\r\n";
    gyre::promise<reply> answered;
    gyre::future<reply> answer = answered.get_future();
    waiting_.push(std::move(answered));  // before the first await, to keep the order of the requests
    connection_.writer.write(request);
    co_await connection_.writer.drain();
    co_return co_await answer;
  }

  gyre::task<> close() {
    receiving_.cancel();
    co_await receiving_.join();
  }

 private:
  struct line_of_promises {
    std::vector<gyre::promise<reply>> all;
    std::size_t first = 0;
    void push(gyre::promise<reply> next) { all.push_back(std::move(next)); }
    gyre::promise<reply> pop() {
      gyre::promise<reply> next = std::move(all[first++]);
      if (first == all.size()) {
        all.clear();
        first = 0;
      }
      return next;
    }
    [[nodiscard]] bool empty() const { return first == all.size(); }
  };

  gyre::task<> receive() {
    try {
      for (;;) {
        std::exception_ptr refused;
        reply next;
        try {
          next = co_await read_reply(0);
        } catch (const redis_error&) {  // of this command only
          refused = std::current_exception();
        }
        if (waiting_.empty()) throw std::runtime_error("a reply without a command");
        gyre::promise<reply> answered = waiting_.pop();
        if (refused) {
          answered.set_exception(refused);
        } else {
          answered.set_value(std::move(next));
        }
      }
    } catch (const std::exception&) {
      failure_ = std::current_exception();
      while (!waiting_.empty()) waiting_.pop().set_exception(failure_);
    }
  }

  gyre::task<reply> read_reply(int depth) {
    if (depth > 8) throw std::runtime_error("a reply is nested too deeply");
    const auto line = co_await connection_.reader.read_line(1024);
    if (!line || line->empty()) throw std::runtime_error("the server has closed the connection");
    const std::string_view rest = std::string_view(*line).substr(1);
    switch (line->front()) {
      case '+':
      case ':':
        co_return reply{.text = std::string(rest)};
      case '-':
        throw redis_error(std::string(rest));
      case '$': {
        const std::ptrdiff_t size = number(rest, std::ptrdiff_t{512} << 20U);
        if (size < 0) co_return reply{};
        std::string text = co_await connection_.reader.read_exactly(static_cast<std::size_t>(size) + 2);
        text.resize(static_cast<std::size_t>(size));
        co_return reply{.text = std::move(text)};
      }
      case '*': {
        const std::ptrdiff_t count = number(rest, 1'000'000);
        reply list;
        for (std::ptrdiff_t i = 0; i < count; ++i) list.items.push_back(co_await read_reply(depth + 1));
        co_return list;
      }
      default:
        throw std::runtime_error("a reply of an unknown kind");
    }
  }

  static std::ptrdiff_t number(std::string_view text, std::ptrdiff_t max) {
    std::ptrdiff_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < -1 || value > max)
      throw std::runtime_error("a reply with a malformed length");
    return value;
  }

  gyre::stream_connection connection_;
  line_of_promises waiting_;
  std::exception_ptr failure_;
  gyre::async_scope receiving_;
};

gyre::task<> count(redis_client& redis) {
  for (int i = 0; i < 100; ++i) {
    const std::vector<std::string> words{"INCR", "visits"};
    (void)co_await redis.command(words);
  }
}

gyre::task<> talk(redis_client& redis) {
  const std::vector<std::string> set{"SET", "greeting", "hello\r\nworld"};
  const reply stored = co_await redis.command(set);
  const std::vector<std::string> get{"MGET", "greeting", "missing"};
  const reply values = co_await redis.command(get);
  std::printf("%s %zu %d\n", stored.text.value_or("").c_str(), values.items.at(0).text.value_or("").size(),
              static_cast<int>(values.items.at(1).text.has_value()));
  auto both = gyre::gather(count(redis), count(redis));  // 200 commands over one connection
  co_await std::move(both);
  const std::vector<std::string> visits{"GET", "visits"};
  const reply counted = co_await redis.command(visits);
  std::printf("%s visits\n", counted.text.value_or("").c_str());
  const std::vector<std::string> wrong{"INCR", "greeting"};
  try {
    (void)co_await redis.command(wrong);
  } catch (const redis_error& refused) {
    std::printf("%s\n", refused.what());
  }
}

gyre::task<> program(std::string where) {
  auto opening = gyre::open_connection(where);
  redis_client redis(co_await std::move(opening));
  const auto outcome = co_await gyre::as_result(talk(redis));
  co_await gyre::shield(redis.close());
  if (!outcome) std::rethrow_exception(outcome.error());
}

}  // namespace

int main(int count, char** arguments) { return gyre::run_main(program(count > 1 ? arguments[1] : "127.0.0.1:6379")); }
