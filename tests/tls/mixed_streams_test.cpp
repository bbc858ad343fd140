// tests/tls/mixed_streams_test.cpp: random conversations over encrypted streams; each byte is verified.
#include <gyre/testing/cancel_at_every_await.hpp>

#include "tests/support/seeds.hpp"
#include "tests/tls/conversation.hpp"
#include "tests/tls/gated_ends.hpp"

#include <array>
#include <vector>

using namespace gyre_test;

// The server's gate closes at random, and tasks of both ends are cancelled at random. What arrives is a beginning of
// what was written, and all of it when a write has reported success.
TEST(tls_stream, conversations_with_gates_and_cancels_at_random_lose_no_byte) {
  for_each_seed(40, [](unsigned seed) {
    gyre::run([seed]() -> gyre::task<> {
      choices choose(seed);
      gated_ends between;
      std::string received;
      const auto listen = [&]() -> gyre::task<> {
        auto stream = co_await between.connect();
        choices pick(seed + 1);
        std::vector<char> buffer(30'000);
        try {
          for (;;) {
            const std::span<char> part = std::span(buffer).first(pick.size_up_to(buffer.size()));
            if (pick.one_in(5)) co_await stream.write_all(std::string(pick.size_up_to(2'000), 'x'));
            auto attempt = gyre::timeout(std::chrono::microseconds(pick.below(100)), stream.read_some(part));
            const auto n = co_await gyre::as_expected(std::move(attempt));
            if (n && *n == 0) co_return;
            if (n) received.append(part.data(), *n);
            if (!n && n.error() != std::errc::timed_out) co_return;
          }
        } catch (const gyre::io_error&) {  // the server has left
        }
      };
      auto client = gyre::spawn(listen);
      auto server = co_await between.accept();
      std::string sent;   // by writes that have reported success
      std::string begun;  // and by the one that was cut off
      const auto write = [&]() -> gyre::task<> {
        choices pick(seed + 2);
        for (int n = 0; n < 20; ++n) {
          const std::string text = random_text(pick.size_up_to(50'000), seed + static_cast<unsigned>(n));
          begun = sent + text;
          co_await server.write_all(std::string_view(text));
          sent += text;
        }
      };
      const auto read = [&]() -> gyre::task<> {
        std::array<char, 500> buffer{};
        while (co_await server.read_some(std::span<char>(buffer)) > 0) {
        }
      };
      auto writer = gyre::spawn(write);
      auto reader = gyre::spawn(read);
      for (int n = 0; n < 40 && !writer.done(); ++n) {
        if (choose.one_in(2))
          between.gate.clear();
        else
          between.gate.set();
        co_await gyre::sleep(std::chrono::microseconds(choose.below(200)));
        if (choose.one_in(4)) {  // a cancelled read does not end the writing
          reader.cancel();
          co_await reader.wait();
          reader = gyre::spawn(read);
        }
        if (choose.one_in(60)) writer.cancel();
      }
      between.gate.set();
      co_await writer.wait();
      const bool whole = !writer.state().failure();
      if (whole) co_await server.shutdown_write();
      reader.cancel();
      co_await reader.wait();
      server = tls::stream();
      co_await client.wait();
      EXPECT_TRUE(begun.starts_with(received));
      EXPECT_TRUE(received.starts_with(sent) || !whole) << received.size() << " of " << sent.size();
      EXPECT_TRUE(whole || writer.state().was_cancelled());
    });
  });
}

// Writers, readers, small and large pieces, both directions, pipes of any size: every byte arrives in order.
TEST(tls_stream, conversations_at_random_lose_no_byte) {
  for_each_seed(40, [](unsigned seed) {
    gyre::run([seed]() -> gyre::task<> {
      choices choose(seed);
      tls_pair pair = co_await shake_hands(server_with_certificate(), client_that_trusts(), "server.test",
                                           choose.between(1, 100'000));
      const std::array<std::string, 2> texts{random_text(choose.size_up_to(300'000), seed),
                                             random_text(choose.size_up_to(300'000), seed + 1)};
      auto write = [&](tls::stream& to, const std::string& text, unsigned own) -> gyre::task<> {
        choices pick(own);
        for (std::string_view rest = text; !rest.empty();) {
          const std::size_t size = std::min(rest.size(), pick.size_up_to(200'000));
          co_await to.write_all(rest.substr(0, size));
          rest.remove_prefix(size);
          if (pick.one_in(3)) co_await gyre::yield();
        }
        co_await to.shutdown_write();
      };
      auto read = [&](tls::stream& from, unsigned own) -> gyre::task<std::string> {
        choices pick(own);
        std::string all;
        std::vector<char> buffer(100'000);
        for (;;) {
          const std::span<char> part = std::span(buffer).first(pick.size_up_to(buffer.size()));
          if (pick.one_in(6)) {  // neither does a wait for the next message
            auto waiting = gyre::timeout(std::chrono::microseconds(pick.below(50)), from.next_or_stop());
            const auto more = co_await gyre::as_expected(std::move(waiting));
            if (more && !*more) break;
          }
          if (pick.one_in(4)) {  // a read that is cancelled loses nothing
            auto attempt = gyre::timeout(std::chrono::microseconds(pick.below(50)), from.read_some(part));
            const auto n = co_await gyre::as_expected(std::move(attempt));
            if (!n) continue;
            if (*n == 0) break;
            all.append(part.data(), *n);
            continue;
          }
          const std::size_t n = co_await from.read_some(part);
          if (n == 0) break;
          all.append(part.data(), n);
        }
        co_return all;
      };
      auto all = gyre::gather(write(pair.client, texts[0], seed + 10), write(pair.server, texts[1], seed + 11),
                              read(pair.client, seed + 12), read(pair.server, seed + 13));
      const auto got = co_await std::move(all);
      EXPECT_TRUE(got.get<2>() == texts[1]);
      EXPECT_TRUE(got.get<3>() == texts[0]);
    });
  });
}
