// tests/contract/io_same_results_test.cpp: the same script gives the same results, in the same words, on each backend.
#include "tests/contract/io_contract_fixture.hpp"

#include <string>

namespace gyre::contract {
namespace {

/// Runs a script and records every result.
class scribe {
 public:
  explicit scribe(io::backend_kind kind) : backend_(kind) {}

  void perform(const char* what, one_shot& r) {
    ++r.submissions;
    backend_->submit(r);
    EXPECT_TRUE(backend_.turn_until([&] { return r.done(); })) << what;
    note(what, r.result);
  }
  void note(const std::string& what, long value) { text_ += what + " " + std::to_string(value) + "\n"; }
  void note(const std::string& what, const std::string& value) { text_ += what + " " + value + "\n"; }

  turning_backend& backend() { return backend_; }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  turning_backend backend_;
  std::string text_;
};

/// Performs each operation in turn, on a connection that is open, half-closed and then closed.
void conversation(scribe& s, connection c, bool ends_with_reset) {
  endpoint ours(s.backend(), std::move(c.ours));
  std::string buffer(8, '.');
  const auto receive = [&](const char* what) {
    one_shot r(io::opcode::receive_into, ours, buffer.data(), buffer.size());
    s.perform(what, r);
    s.note(what, buffer.substr(0, static_cast<std::size_t>(std::max(0, r.result))));
  };
  const auto other = [&](const char* what, io::opcode code) {
    one_shot r(code, ours, "abc", 3);
    s.perform(what, r);
  };
  say(c.peer, "0123456789");
  other("readable", io::opcode::wait_readable);
  receive("a full buffer");
  receive("the rest");
  other("send", io::opcode::send);
  other("writable", io::opcode::wait_writable);
  s.note("peer heard", received_by(c.peer));
  say(c.peer, "tail");
  if (ends_with_reset)
    reset(c.peer);
  else
    ::shutdown(c.peer.get(), SHUT_WR);
  receive("the tail");
  receive("the end");
  receive("the end again");
  other("readable at the end", io::opcode::wait_readable);
  other("send after the end", io::opcode::send);
  other("accept of a connection", io::opcode::accept);
  if (!ends_with_reset) s.note("peer heard", received_by(c.peer));
}

void multishots(scribe& s, connection c, bool ends_with_reset) {
  receiver m(s.backend(), io::opcode::receive_many, std::move(c));
  say(m.peer, random_bytes(3'000, 61));
  m.submit();
  EXPECT_TRUE(s.backend().turn_until([&] { return m.bytes.size() == 3'000; }));
  for (std::size_t size : m.sizes) s.note("received", static_cast<long>(size));
  say(m.peer, "tail");
  if (ends_with_reset)
    reset(m.peer);
  else
    m.peer.close();
  EXPECT_TRUE(s.backend().turn_until([&] { return m.ended(); }));
  s.note("received in all", static_cast<long>(m.bytes.size()));
  s.note("ended with", m.last_result);
}

void full_socket(scribe& s) {
  connection c = unix_connection();
  const int size = 8'192;
  ::setsockopt(c.ours.get(), SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
  endpoint ours(s.backend(), std::move(c.ours));
  const std::string bytes = random_bytes(1 << 18, 62);
  for (std::size_t sent = 0; sent < bytes.size();) {
    one_shot r(io::opcode::send, ours, bytes.data() + sent, bytes.size() - sent);
    s.perform("sent", r);
    if (r.result <= 0) return;
    sent += static_cast<std::size_t>(r.result);
    const auto count = static_cast<std::size_t>(r.result);
    EXPECT_TRUE(received_by(c.peer) == bytes.substr(sent - count, count));
  }
}

void failures(scribe& s) {
  const tcp_server server;
  endpoint fresh(s.backend(), new_socket(AF_INET));
  io::descriptor closed{.fd = -1};
  char buffer[8];
  for (io::descriptor* d : {static_cast<io::descriptor*>(&fresh), &closed})
    for (const io::opcode code : {io::opcode::accept, io::opcode::receive_into, io::opcode::send}) {
      one_shot r(code, *d, buffer, sizeof(buffer));
      s.perform(d == &fresh ? "unconnected" : "closed", r);
    }
  endpoint no_socket(s.backend(), owned_fd(checked(::open("/dev/null", O_RDWR | O_CLOEXEC), "open")));
  one_shot accepting(io::opcode::accept, no_socket);
  s.perform("accept of no socket", accepting);
  one_shot sending(io::opcode::send, no_socket, buffer, sizeof(buffer));
  s.perform("send of no socket", sending);
  one_shot connecting(io::opcode::connect, no_socket, &server.address, sizeof(server.address));
  s.perform("connect of no socket", connecting);
}

std::string played_on(io::backend_kind kind) {
  scribe s(kind);
  if (!s.backend()) return {};
  conversation(s, tcp_connection(), false);
  conversation(s, tcp_connection(), true);
  conversation(s, unix_connection(), false);
  multishots(s, tcp_connection(), false);
  multishots(s, tcp_connection(), true);
  multishots(s, unix_connection(), false);
  full_socket(s);
  failures(s);
  EXPECT_EQ(s.backend()->in_flight(), 0U);
  return s.text();
}

TEST(io_same_results, come_from_both_backends) {
  const std::string reason = why_not(io::backend_kind::io_uring);
  if (!reason.empty()) GTEST_SKIP() << "no io_uring here: " << reason;
  EXPECT_EQ(played_on(io::backend_kind::io_uring), played_on(io::backend_kind::epoll));
}

}  // namespace
}  // namespace gyre::contract
