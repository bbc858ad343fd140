// bench/load/transfer.cpp: moves large amounts over HTTP/1.1, as origin and as client, with a thread per connection.
//
// transfer origin                                 listens, and prints where
// transfer get|put PORT BYTES CONNECTIONS         moves BYTES on each connection, and prints one line of JSON
// transfer get-check|put-check PORT BYTES CONNECTIONS
//
// The origin answers `GET /BYTES` with so many bytes, and `PUT /` with the number that it has received. It sends pages
// of a file in memory, and both sides let the kernel drop what they receive, so that neither is the limit.
//
// The check modes are slower. The sender makes 64-bit words that depend on their position, and both sides compute a
// checksum of all of them, which the origin reports to `GET /checksum/NAME`. A byte that is lost, doubled, changed or
// moved gives another one.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include "checksum.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t piece_size = std::size_t{1} << 20U;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

// One direction of a connection.
struct channel {
  int fd;
  bool checked;
  checksum sum{};
  std::string ahead{};  // received after a head

  void send_text(std::string_view text) {
    while (!text.empty()) {
      const ssize_t n = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) fail("send");
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  void send_body(std::uint64_t size, int file) {
    std::vector<std::uint64_t> words(checked ? piece_size / 32 : 0);
    for (std::uint64_t sent = 0; sent < size;) {
      if (!checked) {
        off_t offset = 0;
        const ssize_t n = ::sendfile(fd, file, &offset, std::min<std::uint64_t>(size - sent, piece_size));
        if (n <= 0) fail("sendfile");
        sent += static_cast<std::uint64_t>(n);
        continue;
      }
      for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_at(sent / 8 + i);
      const auto n = std::min<std::uint64_t>(size - sent, words.size() * 8);
      const auto* bytes = reinterpret_cast<const char*>(words.data());
      sum.add(bytes, n);
      send_text({bytes, n});
      sent += n;
    }
  }

  void receive_body(std::uint64_t size) {
    std::vector<char> buffer(checked ? piece_size / 4 : 0);
    std::uint64_t received = std::min<std::uint64_t>(size, ahead.size());
    if (checked) sum.add(ahead.data(), received);
    ahead.erase(0, received);
    while (received < size) {
      const auto most = std::min<std::uint64_t>(size - received, checked ? buffer.size() : piece_size);
      const ssize_t n = ::recv(fd, checked ? buffer.data() : nullptr, most, checked ? 0 : MSG_TRUNC);
      if (n <= 0) fail("recv: the connection ended early");
      if (checked) sum.add(buffer.data(), static_cast<std::size_t>(n));
      received += static_cast<std::uint64_t>(n);
    }
  }

  // Returns an empty text at the end of the stream.
  std::string receive_head() {
    for (;;) {
      if (const std::size_t end = ahead.find("\r\n\r\n"); end != std::string::npos) {
        std::string head = ahead.substr(0, end + 4);
        ahead.erase(0, end + 4);
        return head;
      }
      char buffer[4096];
      const ssize_t n = ::recv(fd, buffer, sizeof(buffer), 0);
      if (n == 0 && ahead.empty()) return {};
      if (n <= 0) fail("recv: no head");
      ahead.append(buffer, static_cast<std::size_t>(n));
    }
  }

  std::string receive_text(std::uint64_t size) {
    while (ahead.size() < size) {
      char byte = 0;
      if (::recv(fd, &byte, 1, 0) <= 0) fail("recv: no text");
      ahead += byte;
    }
    std::string text = ahead.substr(0, size);
    ahead.erase(0, size);
    return text;
  }
};

// Returns what follows `name`, which is in lower case, up to the end of the line.
std::string value_in(std::string_view head, std::string_view name) {
  std::string lower(head);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::size_t at = lower.find(name);
  return at == std::string::npos ? "" : lower.substr(at + name.size(), lower.find('\r', at) - at - name.size());
}

std::uint64_t length_in(std::string_view head) {
  return std::strtoull(value_in(head, "content-length: ").c_str(), nullptr, 10);
}

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

std::string answer(std::string_view text) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(text.size()) + "\r\n\r\n" + std::string(text);
}

std::mutex sums_lock;
std::condition_variable sum_is_there;
std::map<std::string, std::string, std::less<>> sums;

void serve_all(int fd, int file) {
  channel peer{.fd = fd, .checked = false};
  for (std::string head = peer.receive_head(); !head.empty(); head = peer.receive_head()) {
    constexpr std::string_view ask = "GET /checksum/";
    if (head.starts_with(ask)) {
      const std::string name = head.substr(ask.size(), head.find(" HTTP") - ask.size());
      std::unique_lock lock(sums_lock);
      sum_is_there.wait(lock, [&] { return sums.contains(name); });  // the other connection may have to come to its end
      peer.send_text(answer(sums[name]));
      continue;
    }
    const std::string name = value_in(head, "x-check: ");
    peer.checked = !name.empty();
    peer.sum = {};
    const bool get = head.starts_with("GET /");
    const std::uint64_t size = get ? std::strtoull(head.c_str() + 5, nullptr, 10) : length_in(head);
    if (get) {
      peer.send_text("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n\r\n");
      peer.send_body(size, file);
    } else {
      peer.receive_body(size);
    }
    if (peer.checked) {
      const std::lock_guard lock(sums_lock);
      sums[name] = peer.sum.text();
      sum_is_there.notify_all();
    }
    if (!get) peer.send_text(answer(std::to_string(size)));
  }
}

void serve(int fd, int file) {
  try {
    serve_all(fd, file);
  } catch (const std::exception&) {  // the client or the proxy has left
  }
  ::close(fd);
}

int run_origin(int file) {
  const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) < 0 || ::listen(listener, 1024) < 0) fail("listen");
  ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
  std::printf("listening on 127.0.0.1:%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  for (;;) {
    const int fd = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) fail("accept");
    std::thread(serve, fd, file).detach();
  }
}

// Returns false when the checksums differ.
bool move_once(int port, bool get, const std::string& name, std::uint64_t size, int file) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (fd < 0 || ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) < 0) fail("connect");
  channel peer{.fd = fd, .checked = !name.empty()};
  const auto request = [&](const std::string& line, std::uint64_t length) {
    peer.send_text(line + " HTTP/1.1\r\nHost: origin\r\n" + (name.empty() ? "" : "X-Check: " + name + "\r\n") +
                   "Content-Length: " + std::to_string(length) + "\r\n\r\n");
  };
  const auto response = [&] {
    const std::string head = peer.receive_head();
    if (head.starts_with("HTTP/1.1 200")) return length_in(head);
    throw std::runtime_error("not what was expected: " + head);
  };
  if (get) {
    request("GET /" + std::to_string(size), 0);
    if (response() != size) fail("length");
    peer.receive_body(size);
  } else {
    request("PUT /", size);
    peer.send_body(size, file);
    if (peer.receive_text(response()) != std::to_string(size)) fail("length");
  }
  bool same = true;
  if (!name.empty()) {
    const std::string ours = peer.sum.text();
    request("GET /checksum/" + name, 0);
    const std::string theirs = peer.receive_text(response());
    std::printf("%llu bytes, checksum here %s, at the origin %s\n", static_cast<unsigned long long>(size), ours.c_str(),
                theirs.c_str());
    same = ours == theirs;
  }
  ::close(fd);
  return same;
}

}  // namespace

int main(int argc, char** argv) {
  const int file = ::memfd_create("transfer", MFD_CLOEXEC);
  const std::vector<char> page(piece_size, 'x');
  if (file < 0 || ::write(file, page.data(), page.size()) != static_cast<ssize_t>(page.size())) fail("memfd");
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (mode == "origin" && argc == 2) return run_origin(file);
  const bool check = mode.ends_with("-check");
  const std::string_view verb = mode.substr(0, 3);
  if (argc != 5 || (verb != "get" && verb != "put")) {
    std::fprintf(stderr, "usage: transfer origin | get[-check]|put[-check] PORT BYTES CONNECTIONS\n");
    return 2;
  }
  const std::uint64_t size = std::strtoull(argv[3], nullptr, 10);
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> all;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < std::atoi(argv[4]); ++i)
    all.emplace_back([&, i] {
      const std::string name = check ? std::to_string(::getpid()) + "-" + std::to_string(i) : "";
      try {
        wrong += !move_once(std::atoi(argv[2]), verb == "get", name, size, file);
      } catch (const std::exception& error) {
        std::fprintf(stderr, "transfer: %s\n", error.what());
        ++wrong;
      }
    });
  for (std::thread& each : all) each.join();
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  std::printf("{\"bytes\": %llu, \"seconds\": %.6f}\n", static_cast<unsigned long long>(size * all.size()),
              taken.count());
  return wrong == 0 ? 0 : 1;
}
