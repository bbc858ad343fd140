// tests/tls/peer.cpp: a client for tests with the servers of others: sends a line, and prints what comes back.
//
//   tls_peer HOST:PORT NAME AUTHORITIES [again]
//
// `again` does that twice, and prints on standard error whether the second connection has resumed the session.
#include <gyre/gyre.hpp>
#include <gyre/tls.hpp>

#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string content_of(const char* file) {
  std::ifstream input(file);
  return {std::istreambuf_iterator<char>(input), std::istreambuf_iterator<char>()};
}

gyre::task<> talk(std::string where, std::string name, gyre::tls::client_config trusts) {
  auto below = co_await gyre::tcp_stream::connect(where);
  auto stream = co_await gyre::tls::connect(std::move(below), std::move(name), trusts);
  co_await stream.write_all("GET / HTTP/1.0\r\nHost: localhost\r\n\r\n");
  std::array<char, 4096> buffer{};
  while (const std::size_t n = co_await stream.read_some(std::span<char>(buffer)))
    std::fwrite(buffer.data(), 1, n, stdout);
  co_await stream.shutdown_write();
  std::fprintf(stderr, "%s, %s\n", stream.resumed() ? "resumed" : "anew",
               stream.protocol_version() == gyre::tls::version::tls_1_3 ? "1.3" : "1.2");
}

gyre::task<> run(std::string where, std::string name, std::string authorities, bool again) {
  const gyre::tls::client_config trusts({.authorities = std::move(authorities)});
  co_await talk(where, name, trusts);
  if (again) co_await talk(where, name, trusts);
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  try {
    gyre::run(run(arguments[1], arguments[2], content_of(arguments[3]), count > 4));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
