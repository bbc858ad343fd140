// examples/callbacks/hiredis.cpp: commands of hiredis awaited in tasks, many at a time over one connection.
#include <gyre/gyre.hpp>

#include <fcntl.h>
#include <hiredis/async.h>
#include <hiredis/hiredis.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using reply_callback = gyre::awaited_callback<std::string>;
/// Lifetime: must outlive the tasks that its functions return.
struct redis_connection {
  redisAsyncContext* context;  // null once hiredis has freed it
  gyre::owned_fd socket;       // a duplicate, since hiredis closes its own even while a task waits for it
  gyre::event wants_read, wants_write;
  explicit redis_connection(const gyre::address& server)
      : context(redisAsyncConnect(server.host().c_str(), server.port())),
        socket(::fcntl(context->c.fd, F_DUPFD_CLOEXEC, 0)) {
    context->ev.data = this;
    context->ev.addRead = [](void* self) { static_cast<redis_connection*>(self)->wants_read.set(); };
    context->ev.delRead = [](void* self) { static_cast<redis_connection*>(self)->wants_read.clear(); };
    context->ev.addWrite = [](void* self) { static_cast<redis_connection*>(self)->wants_write.set(); };
    context->ev.delWrite = [](void* self) { static_cast<redis_connection*>(self)->wants_write.clear(); };
    context->ev.cleanup = [](void* self) { static_cast<redis_connection*>(self)->context = nullptr; };
  }
  ~redis_connection() {
    if (context != nullptr) redisAsyncFree(context);
  }

  /// Serve the events that hiredis asks for. Both run until they are cancelled.
  gyre::task<> read() {
    for (;;) {
      co_await wants_read.wait();
      co_await gyre::readable(socket.get());
      if (context != nullptr) redisAsyncHandleRead(context);
    }
  }
  gyre::task<> write() {
    for (;;) {
      co_await wants_write.wait();
      co_await gyre::writable(socket.get());
      if (context != nullptr) redisAsyncHandleWrite(context);
    }
  }

  /// Cancel: stops waiting. hiredis cannot withdraw a command: it owns the callback until the answer comes.
  gyre::task<std::string> command(std::vector<const char*> words) {
    auto begin = [&](const reply_callback& done) {
      if (context == nullptr || context->err != 0) throw std::runtime_error("no connection");
      auto kept = std::make_unique<reply_callback>(done);
      const int count = static_cast<int>(words.size());
      if (redisAsyncCommandArgv(context, &on_reply, kept.get(), count, words.data(), nullptr) == REDIS_OK)
        (void)kept.release();
    };
    co_return co_await gyre::from_callback<std::string>(begin);
  }
  // Called once per command, with null when the connection is lost or freed.
  static void on_reply(redisAsyncContext* from, void* answer, void* kept) {
    const std::unique_ptr<reply_callback> done(static_cast<reply_callback*>(kept));
    const auto* reply = static_cast<const redisReply*>(answer);
    if (reply == nullptr || reply->type == REDIS_REPLY_ERROR)
      done->fail(std::make_exception_ptr(std::runtime_error(reply == nullptr ? from->c.errstr : reply->str)));
    else if (reply->type == REDIS_REPLY_INTEGER)
      (*done)(std::to_string(reply->integer));
    else
      (*done)(reply->str == nullptr ? "(nil)" : std::string(reply->str, reply->len));
  }
};

gyre::task<> show(redis_connection& redis, std::vector<const char*> words) {
  auto asking = gyre::timeout(std::chrono::seconds(2), redis.command(words));
  const std::string answer = co_await std::move(asking);
  std::printf("%s: %s\n", words[0], answer.c_str());
}
gyre::task<> talk(std::string server) {
  redis_connection redis{gyre::address(server)};
  auto body = [&](gyre::task_group& group) -> gyre::task<> {
    group.spawn(redis.read());
    group.spawn(redis.write());
    using words = std::vector<const char*>;
    std::vector<gyre::task<>> asked;
    for (const words& each : {words{"SET", "counter", "41"}, {"GET", "counter"}, {"INCR", "counter"}, {"PING"}})
      asked.push_back(show(redis, each));
    co_await gyre::gather(std::move(asked));
    group.cancel();
  };
  co_await gyre::task_group::scope(body);
}

}  // namespace

int main(int argc, char** argv) { return gyre::run_main(talk(argc > 1 ? argv[1] : "127.0.0.1:6379")); }
