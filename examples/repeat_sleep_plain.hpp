// examples/repeat_sleep_plain.hpp: shared code of the two servers on plain blocking sockets.
#pragma once

#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

namespace plain {

/// Listens, and keeps a list of the open connections. At SIGINT or SIGTERM it ends each of
/// them after the request in progress.
class listener {
 public:
  explicit listener(const std::string& where) {
    sigemptyset(&signals_);
    for (const int number : {SIGINT, SIGTERM}) sigaddset(&signals_, number);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);  // later threads inherit this
    const std::size_t colon = where.rfind(':');
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_PASSIVE;
    addrinfo* found = nullptr;
    if (colon == std::string::npos ||
        ::getaddrinfo(where.substr(0, colon).c_str(), where.substr(colon + 1).c_str(), &hints, &found) != 0)
      throw std::runtime_error(where + " is not an address");
    const int on = 1;
    socket_ = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const bool listens = ::bind(socket_, found->ai_addr, found->ai_addrlen) == 0 && ::listen(socket_, SOMAXCONN) == 0;
    ::freeaddrinfo(found);
    if (!listens) throw std::runtime_error("cannot listen on " + where);
    std::thread([this] { stop_at_signal(); }).detach();
  }

  /// Returns the next connection, or -1 at the end. The caller closes it.
  int accept() {
    while (true) {
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (enter(peer)) return peer;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));  // out of descriptors, or the client has left already
    }
  }
  void close(int peer) {
    const std::scoped_lock lock(mutex_);
    open_.erase(peer);
    ::close(peer);
    closed_.notify_all();
  }
  void wait_until_all_are_closed() {
    std::unique_lock lock(mutex_);
    closed_.wait(lock, [this] { return open_.empty(); });
  }
  [[nodiscard]] bool stopping() {
    const std::scoped_lock lock(mutex_);
    return stopping_;
  }
  /// "127.0.0.1:34567", with the port that the kernel chose.
  [[nodiscard]] std::string where() const {
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    char host[NI_MAXHOST], port[NI_MAXSERV];
    ::getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host, sizeof host, port, sizeof port,
                  NI_NUMERICHOST | NI_NUMERICSERV);
    return std::string(host) + ':' + port;
  }

 private:
  bool enter(int peer) {
    const std::scoped_lock lock(mutex_);
    if (peer >= 0) open_.insert(peer);
    if (peer >= 0 && stopping_) ::shutdown(peer, SHUT_RD);
    return peer >= 0 || stopping_;
  }
  void stop_at_signal() {
    int number = 0;
    sigwait(&signals_, &number);
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
    ::shutdown(socket_, SHUT_RDWR);                          // accept() fails
    for (const int peer : open_) ::shutdown(peer, SHUT_RD);  // recv() returns the bytes that have come, then the end
  }

  sigset_t signals_;
  int socket_ = -1;
  std::mutex mutex_;
  std::condition_variable closed_;
  std::set<int> open_;
  bool stopping_ = false;
};

struct answer {
  int status;
  std::string text;
};

/// Returns the text after "name=" in a query.
inline std::string_view parameter(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.starts_with(name) && part.substr(name.size()).starts_with('=')) return part.substr(name.size() + 1);
  }
  return {};
}

/// Parses text that is a number from 0 to `most` and nothing else.
template <class T>
std::optional<T> number(std::string_view text, T max) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value <= max)) return std::nullopt;
  return value;
}

/// Returns the answer for a target, after the delay that it asks for.
inline answer answer_to(std::string_view target) {
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark), query = target.substr(std::min(mark + 1, target.size()));
  if (path == "/repeat") {
    const auto count = number(parameter(query, "count"), 10'000'000);
    if (!count) return {400, "count is a number up to 10000000\n"};
    return {200, std::string(static_cast<std::size_t>(*count), 'x')};
  }
  if (path == "/sleep") {
    const std::string_view text = parameter(query, "ms");
    const auto ms = number(text, 60'000.0);
    if (!ms) return {400, "ms is a number up to 60000\n"};
    std::this_thread::sleep_for(std::chrono::duration<double, std::milli>(*ms));
    return {200, "slept " + std::string(text) + " ms\n"};
  }
  return {404, "there is /repeat?count=N and /sleep?ms=X\n"};
}

/// True if the head has a line "\r\nname:" that contains `word`. All in lower case.
inline bool has_field(std::string_view head, std::string_view name, std::string_view word = {}) {
  const std::size_t line = head.find("\r\n" + std::string(name) + ':');
  return line != head.npos && head.substr(line + 2, head.find("\r\n", line + 2) - line - 2).find(word) != head.npos;
}

/// Removes the next head from `received` and returns it, with the line end of its last field.
/// Returns nothing when none comes.
inline std::optional<std::string> next_head(int peer, std::string& received) {
  for (;;) {
    const std::size_t end = received.find("\r\n\r\n");
    if (end != std::string::npos) {
      std::string head = received.substr(0, end + 2);
      received.erase(0, end + 4);
      return head;
    }
    char buffer[4096];
    const ssize_t n = received.size() < 32'768 ? ::recv(peer, buffer, sizeof buffer, 0) : 0;
    if (n <= 0) return std::nullopt;
    received.append(buffer, static_cast<std::size_t>(n));
  }
}

inline bool send_all(int peer, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Answers the requests of a connection in order, until the client leaves or is silent for five seconds.
inline void serve(listener& from, int peer) {
  const timeval patience{5, 0};
  for (const int option : {SO_RCVTIMEO, SO_SNDTIMEO})
    ::setsockopt(peer, SOL_SOCKET, option, &patience, sizeof patience);
  std::string received;
  for (bool keep = true; keep;) {
    std::optional<std::string> head = next_head(peer, received);
    if (!head) break;
    const std::string line = head->substr(0, head->find('\r'));
    const std::size_t version = line.rfind(" HTTP/1.");
    answer a{400, "this is not a request\n"};
    if (version != std::string::npos)
      a = line.starts_with("GET ") && version > 4 ? answer_to(std::string_view(line).substr(4, version - 4))
                                                  : answer{404, "there is only GET\n"};
    std::ranges::transform(*head, head->begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const bool has_body = has_field(*head, "content-length") || has_field(*head, "transfer-encoding");
    keep = line.ends_with(" HTTP/1.1") && !has_field(*head, "connection", "close") && !has_body && !from.stopping();
    std::string out = "HTTP/1.1 " + std::to_string(a.status) + (a.status == 200 ? " OK" : " Error");
    out += "\r\nContent-Type: text/plain\r\nContent-Length: " + std::to_string(a.text.size());
    out += keep ? "\r\n\r\n" : "\r\nConnection: close\r\n\r\n";
    if (!send_all(peer, out + a.text)) break;
  }
  from.close(peer);
}

}  // namespace plain
