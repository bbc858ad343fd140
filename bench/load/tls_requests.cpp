// bench/load/tls_requests.cpp: sends GET / on encrypted connections, and prints how many a second are answered.
//
//   tls_requests PORT CONNECTIONS SECONDS
//
// All requests are encrypted before the time begins, and the answers are counted by their records, without decrypting
// them. So one core with this program can load a server that has a core of its own.
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "tls_requests: %s\n", what);
  std::exit(1);
}

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) != 0) fail("no connection");
  return fd;
}

/// A connection whose requests are encrypted in advance.
class client {
 public:
  client(SSL_CTX* settings, std::uint16_t port, std::size_t count) : fd_(connect_to(port)) {
    SSL* const connection = SSL_new(settings);
    SSL_set_fd(connection, fd_);
    if (SSL_connect(connection) != 1) fail("no handshake");
    std::array<char, 4096> answer{};
    for (int i = 0; i < 2; ++i)  // the first answer comes with the tickets
      if (SSL_write(connection, request.data(), static_cast<int>(request.size())) <= 0 ||
          SSL_read(connection, answer.data(), static_cast<int>(answer.size())) <= 0)
        fail("no answer");
    BIO* const memory = BIO_new(BIO_s_mem());
    SSL_set0_wbio(connection, memory);
    for (std::size_t i = 0; i < count; ++i)
      if (SSL_write(connection, request.data(), static_cast<int>(request.size())) <= 0) fail("no encryption");
    char* data = nullptr;
    const long size = BIO_get_mem_data(memory, &data);
    all_.assign(data, static_cast<std::size_t>(size));
    each_ = all_.size() / count;
    ::fcntl(fd_, F_SETFL, O_NONBLOCK);
    // The connection itself is not freed: that would say goodbye.
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }

  void send() {
    if (next_ + each_ > all_.size()) fail("too few requests were prepared");
    if (::send(fd_, all_.data() + next_, each_, MSG_NOSIGNAL) != static_cast<ssize_t>(each_)) fail("cannot send");
    next_ += each_;
  }
  /// Returns whether the answer, one record, is there.
  bool receive() {
    const ssize_t got = ::recv(fd_, input_.data() + size_, input_.size() - size_, 0);
    if (got <= 0) fail("the server has closed");
    size_ += static_cast<std::size_t>(got);
    if (size_ < 5) return false;
    const std::size_t record =
        5U + static_cast<unsigned char>(input_[3]) * 256U + static_cast<unsigned char>(input_[4]);
    if (size_ < record) return false;
    if (input_[0] != 23 || size_ > record) fail("an answer of more than one record");
    size_ = 0;
    return true;
  }

 private:
  int fd_;
  std::string all_;
  std::size_t each_ = 0;
  std::size_t next_ = 0;
  std::array<char, 4096> input_{};
  std::size_t size_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const auto port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
  const auto connections = static_cast<std::size_t>(std::atoi(arguments[2]));
  const double seconds = std::atof(arguments[3]);
  constexpr double most = 400'000;  // a second
  SSL_CTX* const settings = SSL_CTX_new(TLS_client_method());
  std::vector<std::unique_ptr<client>> all;
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  for (std::size_t i = 0; i < connections; ++i) {
    const auto prepared = static_cast<std::size_t>(most * seconds / static_cast<double>(connections)) + 100;
    all.push_back(std::make_unique<client>(settings, port, prepared));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = all.back().get();
    ::epoll_ctl(poll, EPOLL_CTL_ADD, all.back()->fd(), &event);
  }
  const auto begin = std::chrono::steady_clock::now();
  const auto end = begin + std::chrono::duration<double>(seconds);
  std::printf("ready\n");  // the preparation is over
  std::fflush(stdout);
  for (const auto& each : all) each->send();
  long done = 0;
  std::array<epoll_event, 64> events{};
  while (std::chrono::steady_clock::now() < end) {
    const int ready = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 100);
    for (int i = 0; i < ready; ++i) {
      client& each = *static_cast<client*>(events.at(static_cast<std::size_t>(i)).data.ptr);
      if (!each.receive()) continue;
      ++done;
      each.send();
    }
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  std::printf("%.1f\n", static_cast<double>(done) / passed.count());
  std::fflush(stdout);
  ::_exit(0);
}
