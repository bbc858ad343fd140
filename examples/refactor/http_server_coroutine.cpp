// examples/refactor/http_server_coroutine.cpp: http_server_callback with a task for each connection and no callbacks.
#include "http_files.hpp"

#include <gyre/gyre.hpp>

#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

namespace {

using http_files::answer;
using http_files::answer_to;
using http_files::settings;

/// Reads until the head of a request is in `received`, and returns its size. Returns 0 when the peer has finished or
/// the server stops, and nothing when the head is too long.
gyre::task<std::optional<std::size_t>> read_head(gyre::tcp_stream& peer, std::string& received) {
  constexpr std::string_view mark = "\r\n\r\n";
  if (received.empty() && !co_await peer.next_or_stop()) co_return 0;
  for (std::size_t searched = 0;;) {
    const std::size_t end = received.find(mark, searched);
    if (end != std::string::npos) co_return end + mark.size();
    const std::size_t size = received.size();
    if (size == http_files::max_head_size) co_return std::nullopt;
    searched = size - std::min(size, mark.size() - 1);
    received.resize(http_files::max_head_size);
    const std::size_t n = co_await peer.read_some(std::span(received).subspan(size));
    received.resize(size + n);
    if (n == 0) co_return 0;
  }
}

gyre::task<> discard(gyre::tcp_stream& peer) {
  std::array<char, 4096> discarded;
  while (co_await peer.read_some(discarded) != 0) {
  }
}

gyre::task<> answer_requests(gyre::tcp_stream& peer, const settings& chosen) {
  std::string received;
  for (bool keep_alive = true; keep_alive;) {
    const auto size = co_await gyre::timeout(chosen.patience, read_head(peer, received));
    if (size == 0) co_return;
    answer reply = size ? answer_to(received.substr(0, *size), chosen.root) : answer(400, false);
    received.erase(0, size.value_or(0));
    for (auto piece = reply.next_piece(); !piece.empty(); piece = reply.next_piece())
      co_await gyre::timeout(chosen.patience, peer.write_all(piece));
    keep_alive = reply.keep_alive();
  }
  // Closing with unread bytes would reset the connection, and the answer could get lost.
  co_await peer.shutdown_write();
  co_await gyre::timeout(chosen.patience, discard(peer));
}

gyre::task<> serve(const settings& chosen) {
  auto listener = gyre::tcp_listener::bind(chosen.where());
  std::fprintf(stderr, "serving on http://%s\n", listener.local_address().string().c_str());
  const auto session = [&](gyre::tcp_stream peer) -> gyre::task<> {
    try {
      co_await answer_requests(peer, chosen);
    } catch (const gyre::timed_out&) {  // it took too long: nothing to report
    }
  };
  co_await listener.serve(session, {.drain = settings::drain});
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const auto chosen = http_files::read_arguments(std::span(arguments, static_cast<std::size_t>(count)));
    if (!chosen) {
      std::fprintf(stderr, "usage: http_server_coroutine [--root DIR] [--listen HOST:PORT] [--idle SECONDS]\n");
      return 2;
    }
    return gyre::run_main(serve(*chosen));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
