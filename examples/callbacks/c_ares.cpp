// examples/callbacks/c_ares.cpp: resolves names with c-ares in tasks; gyre watches its sockets and timers.
#include <gyre/gyre.hpp>

#include <ares.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

/// A query with its own channel, so that no other call of c-ares can close a socket that a task waits for.
struct question {
  ares_channel channel = nullptr;
  bool answered = false;
  int status = ARES_SUCCESS;
  std::vector<gyre::address> found;
  question(const std::string& name, const std::string& server) {
    ares_options options{};
    options.timeout = 200;  // milliseconds; doubles with each try
    options.tries = 4;
    status = ares_init_options(&channel, &options, ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES);
    if (status == ARES_SUCCESS && !server.empty()) status = ares_set_servers_ports_csv(channel, server.c_str());
    answered = status != ARES_SUCCESS;
    const ares_addrinfo_hints hints{
        .ai_flags = 0, .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_protocol = 0};
    if (!answered) ares_getaddrinfo(channel, name.c_str(), nullptr, &hints, &on_answer, this);
  }
  ~question() { ares_destroy(channel); }  // after a cancel, this calls back for the last time
  static void on_answer(void* self, int status, int, ares_addrinfo* list) {
    auto& asked = *static_cast<question*>(self);
    asked.answered = true;
    asked.status = status;
    for (const auto* each = list == nullptr ? nullptr : list->nodes; each != nullptr; each = each->ai_next)
      asked.found.push_back(gyre::address::from_raw(each->ai_addr, each->ai_addrlen));
    ares_freeaddrinfo(list);
  }
};
struct readiness {
  ares_socket_t to_read = ARES_SOCKET_BAD;
  ares_socket_t to_write = ARES_SOCKET_BAD;
};
gyre::task<readiness> wait(readiness awaited, timeval rest) {
  const auto time = std::chrono::seconds(rest.tv_sec) + std::chrono::microseconds(rest.tv_usec);
  if (awaited.to_read != ARES_SOCKET_BAD) co_await gyre::readable(awaited.to_read);
  if (awaited.to_write != ARES_SOCKET_BAD) co_await gyre::writable(awaited.to_write);
  if (awaited.to_read == awaited.to_write) co_await gyre::sleep(time);  // no socket
  co_return awaited;
}
gyre::task<std::vector<gyre::address>> resolve(std::string name, std::string server) {
  question one(name, server);
  while (!one.answered) {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int wanted = ares_getsock(one.channel, sockets.data(), ARES_GETSOCK_MAXNUM);
    timeval longest{.tv_sec = 1, .tv_usec = 0}, time{};
    const timeval rest = *ares_timeout(one.channel, &longest, &time);
    std::vector<gyre::task<readiness>> waits;
    waits.push_back(wait({}, rest));
    for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
      if (ARES_GETSOCK_READABLE(wanted, i)) waits.push_back(wait({.to_read = sockets[i]}, rest));
      if (ARES_GETSOCK_WRITABLE(wanted, i)) waits.push_back(wait({.to_write = sockets[i]}, rest));
    }
    const auto first = co_await gyre::race(std::move(waits));  // after it returns, no task waits for a socket
    ares_process_fd(one.channel, first.value.to_read, first.value.to_write);
  }
  if (one.status != ARES_SUCCESS) throw std::runtime_error(ares_strerror(one.status));
  co_return std::move(one.found);
}

gyre::task<> show(std::string name, std::string server, int& failed) {
  std::string line = name + ":";
  try {
    auto resolving = gyre::timeout(std::chrono::seconds(1), resolve(name, server));
    const std::vector<gyre::address> found = co_await std::move(resolving);
    for (const gyre::address& each : found) line += " " + each.host();
  } catch (const std::exception& error) {
    line += std::string(" ") + error.what();
    failed = 1;
  }
  std::puts(line.c_str());
}
gyre::task<int> show_all(std::string server, std::vector<std::string> names) {
  std::vector<gyre::task<>> shown;
  int failed = 0;
  for (const std::string& each : names) shown.push_back(show(each, server, failed));
  co_await gyre::gather(std::move(shown));
  co_return failed;
}

}  // namespace

int main(int argc, char** argv) {
  const bool told = argc > 2 && std::string(argv[1]) == "--server";
  return gyre::run_main(show_all(told ? argv[2] : "", {argv + (told ? 3 : 1), argv + argc}));
}
