// bench/load/tls_handshakes.cpp: does TLS handshakes, each with a request, and prints how many a second succeed.
//
//   tls_handshakes PORT full|resumed CONNECTIONS SECONDS
//
// A thread for each connection at a time. `resumed`: each connection resumes the session of the previous one.
#include <openssl/ssl.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace {

constexpr std::string_view request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  const linger at_once{.l_onoff = 1, .l_linger = 0};  // or the ports of this machine run out
  ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) == 0) return fd;
  ::close(fd);
  return -1;
}

struct client {
  SSL_CTX* settings;
  std::uint16_t port;
  bool resumes;
  SSL_SESSION* session = nullptr;

  // Returns whether the handshake was of the kind that is measured.
  bool once() {
    const int fd = connect_to(port);
    if (fd < 0) return false;
    SSL* const connection = SSL_new(settings);
    SSL_set_fd(connection, fd);
    SSL_set_app_data(connection, this);
    const bool can_resume = resumes && session != nullptr;
    if (can_resume) SSL_set_session(connection, session);
    bool ok =
        SSL_connect(connection) == 1 && SSL_write(connection, request.data(), static_cast<int>(request.size())) > 0;
    std::array<char, 4096> answer{};
    if (ok) ok = SSL_read(connection, answer.data(), static_cast<int>(answer.size())) > 0;  // the tickets come with it
    ok = ok && (!resumes || SSL_session_reused(connection) == 1);
    SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(connection);
    ::close(fd);
    return ok;
  }
  static int keep(SSL* connection, SSL_SESSION* fresh) {
    auto& self = *static_cast<client*>(SSL_get_app_data(connection));
    SSL_SESSION_free(self.session);
    self.session = fresh;
    return 1;
  }
};

}  // namespace

int main(int count, char** arguments) {
  if (count < 5) return 2;
  const auto port = static_cast<std::uint16_t>(std::atoi(arguments[1]));
  const bool resumes = std::strcmp(arguments[2], "resumed") == 0;
  const double seconds = std::atof(arguments[4]);
  SSL_CTX* const settings = SSL_CTX_new(TLS_client_method());
  SSL_CTX_set_session_cache_mode(settings, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
  if (resumes) SSL_CTX_sess_set_new_cb(settings, &client::keep);
  std::atomic<long> done = 0;
  std::atomic<bool> over = false;
  std::vector<std::jthread> threads;
  for (int i = 0; i < std::atoi(arguments[3]); ++i)
    threads.emplace_back([&] {
      client here{.settings = settings, .port = port, .resumes = resumes};
      while (!over)
        if (here.once()) ++done;
    });
  const auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  const long all = done;
  over = true;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
  threads.clear();
  std::printf("%.1f\n", static_cast<double>(all) / passed.count());
}
