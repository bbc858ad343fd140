// packaging/conan/test_package/client.cpp: a program that uses an installed gyre::client.
#include <gyre/client.hpp>
#include <gyre/gyre.hpp>
#include <gyre/version.hpp>

#include <cstdio>

gyre::task<std::size_t> answer() {
  gyre::http::client client;
  const auto refused = co_await gyre::as_expected(client.get("http://127.0.0.1:1/"));
  co_return refused ? 0U : 42U + client.counts().in_use;
}

int main() {
  std::printf("gyre %s: %zu\n", gyre::version_string, gyre::run(answer()));
  return 0;
}
