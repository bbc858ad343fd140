// examples/refactor/echo_server_blocking.cpp: an echo server with a thread for each connection.
#include "plain_sockets.hpp"

#include <array>
#include <condition_variable>
#include <cstdio>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace {

using namespace std::chrono_literals;

void echo(const plain::stream& peer) {
  std::array<char, 16384> buffer;
  while (const auto n = peer.read_some(buffer))          // 0 is the end of the stream
    peer.write_all(std::string_view(buffer.data(), n));  // errors throw std::system_error
}

/// The connections and their threads. The main thread uses the list to end them.
class connections {
 public:
  void serve(plain::stream peer) {
    const std::scoped_lock lock(mutex_);
    const auto place = open_.insert(open_.end(), std::move(peer));
    try {
      std::thread([this, place] { run(place); }).detach();
    } catch (const std::system_error& error) {  // no more threads: this client is refused
      std::fprintf(stderr, "error: %s\n", error.what());
      open_.erase(place);
    }
  }
  /// Each connection sees the end of its stream after the bytes that had arrived. After the limit it is cut off.
  void drain(std::chrono::seconds limit) {
    std::unique_lock lock(mutex_);
    for (const plain::stream& peer : open_) peer.shutdown_read();
    const auto none = [this] { return open_.empty(); };
    if (closed_.wait_for(lock, limit, none)) return;
    for (const plain::stream& peer : open_) peer.shutdown_both();
    closed_.wait(lock, none);
  }

 private:
  void run(std::list<plain::stream>::iterator place) {
    try {
      echo(*place);
    } catch (const std::system_error& error) {  // a failure of one peer must not affect the others
      const bool left = error.code() == std::errc::connection_reset || error.code() == std::errc::broken_pipe;
      if (!left) std::fprintf(stderr, "error: %s\n", error.what());
    }
    const std::scoped_lock lock(mutex_);
    open_.erase(place);
    closed_.notify_all();  // while locked: once it is unlocked, the main thread may leave
  }

  std::mutex mutex_;
  std::condition_variable closed_;
  std::list<plain::stream> open_;
};

void serve(const std::string& where) {
  connections open;
  {
    const plain::listener listener(where);
    std::fprintf(stderr, "echoing on %s\n", listener.local_address().c_str());
    while (auto peer = listener.accept()) open.serve(*std::move(peer));
  }
  open.drain(10s);
}

}  // namespace

int main(int count, char** arguments) {
  const bool has_address = count == 3 && std::string_view(arguments[1]) == "--listen";
  if (count != 1 && !has_address) {
    std::fprintf(stderr, "usage: echo_server_blocking [--listen HOST:PORT]\n");
    return 2;
  }
  ::signal(SIGPIPE, SIG_IGN);
  try {
    serve(has_address ? arguments[2] : "127.0.0.1:8888");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
