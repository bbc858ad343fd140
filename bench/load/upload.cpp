// bench/load/upload.cpp: sends one large request body, as fast as the server takes it.
//
// upload PORT PUT|POST PATH BYTES: the body of a PUT is the file; a POST sends it as the only file of a form. The file
// repeats the same 65,521 bytes, so that a lost or moved piece shows. Waits for the answer, and prints a line of JSON.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

int connect_to(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) < 0) fail("connect");
  return fd;
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) fail("send");
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

// The same in every run: the check of the received file computes it, too.
std::string pattern() {
  std::string made(65'521, '\0');
  std::uint32_t state = 1;
  for (char& each : made) {
    state = state * 1'664'525U + 1'013'904'223U;
    each = static_cast<char>(state >> 24U);
  }
  return made;
}

double processor_seconds() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto of = [](const timeval& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
  return of(used.ru_utime) + of(used.ru_stime);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) return std::fprintf(stderr, "usage: upload PORT PUT|POST PATH BYTES\n"), 2;
  const std::string_view method = argv[2];
  const std::uint64_t size = std::strtoull(argv[4], nullptr, 10);
  std::string before;
  std::string after;
  std::string type;
  if (method == "POST") {
    before = "--limit\r\nContent-Disposition: form-data; name=\"file\"; filename=\"received\"\r\n\r\n";
    after = "\r\n--limit--\r\n";
    type = "Content-Type: multipart/form-data; boundary=limit\r\n";
  }
  const std::string head = std::string(method) + " " + argv[3] + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + type +
                           "Content-Length: " + std::to_string(before.size() + size + after.size()) + "\r\n\r\n" +
                           before;
  const std::string piece = pattern();
  std::string block;  // larger, for fewer calls
  while (block.size() < 1'000'000) block += piece;

  const int fd = connect_to(std::atoi(argv[1]));
  const auto begin = std::chrono::steady_clock::now();
  send_all(fd, head);
  for (std::uint64_t left = size; left > 0;) {
    const auto part = std::min<std::uint64_t>(left, block.size());
    send_all(fd, std::string_view(block).substr(0, static_cast<std::size_t>(part)));
    left -= part;
  }
  send_all(fd, after);
  char answer[4096];
  const ssize_t n = ::recv(fd, answer, sizeof(answer) - 1, 0);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  if (n <= 0) fail("recv");
  answer[n] = '\0';
  const std::string_view status(answer);
  if (!status.starts_with("HTTP/1.1 20") && !status.starts_with("HTTP/1.1 303")) {
    std::fprintf(stderr, "upload: refused: %s\n", answer);
    return 1;
  }
  std::printf("{\"seconds\": %.6f, \"processor\": %.6f}\n", seconds.count(), processor_seconds());
  return 0;
}
