// tests/compile_fail/as_expected_of_an_lvalue.cpp: the operation is moved into the await.
// expect: use as_expected(std::move(op))
#include <gyre/loop/as_expected.hpp>
#include <gyre/net/tcp_stream.hpp>

gyre::task<> caller(gyre::tcp_stream& peer) {
  auto op = peer.receive();
  (void)co_await gyre::as_expected(op);
}
