// tests/http/compress_streams_test.cpp: pieces, events and files that are compressed on their way.
#include "decoding.hpp"
#include "tests/http/compressible_text.hpp"
#include "tests/http/served_tree.hpp"
#include "tests/http/socket_server.hpp"

#include <string>
#include <string_view>

using namespace gyre_test;
using gyre::task;

namespace {

std::string coded_request(const std::string& target, std::string_view coding) {
  return get_request(target, "Accept-Encoding: " + std::string(coding) + "\r\n");
}

/// Each event must arrive before the handler is allowed to make the next one.
template <class Client>
task<> expect_events_when_they_happen(Client& client, std::string coding, gyre::event& go_on) {
  co_await client.send("GET / HTTP/1.0\r\nHost: a\r\nAccept-Encoding: " + coding + "\r\n\r\n");
  const auto arrived = [&] {
    const std::size_t head = client.received().find("\r\n\r\n");
    return head == std::string::npos ? decoded{} : decode(coding, client.received().substr(head + 4));
  };
  std::string expected;
  for (int i = 0; i < 3; ++i) {
    expected += "tick " + std::to_string(i) + "\ntock\n";
    bool more = true;
    while (more && arrived().text.size() < expected.size()) more = co_await client.receive();
    EXPECT_EQ(arrived().text, expected) << coding;
    EXPECT_FALSE(arrived().failed) << coding;
    go_on.set();
  }
  const std::string received = co_await client.rest();
  const auto all = decode(coding, received.substr(received.find("\r\n\r\n") + 4));
  EXPECT_TRUE(all.ended) << coding;
  EXPECT_EQ(all.text, expected);
}

class compressed_files : public served_tree {
 protected:
  [[nodiscard]] http::router routes() const override {
    http::router all;
    all.use(http::compress());
    all.get("/{path...}", http::static_files(root_.string()));
    return all;
  }
};

}  // namespace

TEST(compressed_stream, an_event_arrives_when_it_happens) {
  for (const std::string_view coding : http::available_codings()) {
    for (const bool appends : {false, true}) {
      gyre::event go_on;
      const auto tick = [&](http::body_writer& out) -> task<> {
        for (int i = 0; i < 3; ++i) {
          const std::string text = "tick " + std::to_string(i) + "\n";
          if (appends)
            out.append(text);
          else
            co_await out.write(text);
          out.append("tock\n");
          co_await go_on.wait();
          go_on.clear();
        }
      };
      for (const bool in_memory : connections_in_memory())
        run_with_client(in_memory, options_for(compressed_stream(tick)), [&](auto&, auto& client) -> task<> {
          co_await expect_events_when_they_happen(client, std::string(coding), go_on);
        });
    }
  }
}

TEST(compressed_stream, a_producer_that_flushes_is_heard_at_once) {
  const auto write = [](http::body_writer& out) -> task<> {
    co_await out.write(page);
    co_await out.flush();
    co_await out.flush();
    out.append("the end");
  };
  run_in_memory(options_for(compressed_stream(write)), [](memory_server& here) -> task<> {
    for (const std::string_view coding : http::available_codings()) {
      auto client = here.connect();
      const auto answer = co_await client.ask(coded_request("/", coding));
      EXPECT_EQ(decode(coding, answer.body).text, page + "the end") << coding;
    }
  });
}

TEST_F(compressed_files, files_are_compressed_on_their_way) {
  write("book.txt", book);
  for (const std::string_view coding : http::available_codings()) {
    const auto answer = get("/book.txt", {{"Accept-Encoding", std::string(coding)}});
    EXPECT_EQ(answer.field("Content-Encoding"), coding);
    EXPECT_TRUE(answer.field("ETag").starts_with("W/\""));
    EXPECT_EQ(decode(coding, answer.body).text, book) << coding;
    const auto again = get(
        "/book.txt", {{"Accept-Encoding", std::string(coding)}, {"If-None-Match", std::string(answer.field("ETag"))}});
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.field("ETag"), answer.field("ETag"));
  }
  const auto part = get("/book.txt", {{"Range", "bytes=1-4"}, {"Accept-Encoding", "gzip, br, zstd"}});
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, book.substr(1, 4));
}

TEST_F(compressed_files, a_file_is_sent_to_its_end_to_a_client_that_has_nothing_more_to_ask) {
  const std::string noise = make_noise(8'000'000);  // more than the buffers hold, even compressed
  write("noise.txt", noise);
  run_in_memory(options_for(routes()), [&](memory_server& here) -> task<> {
    const std::string coding(http::available_codings().front());
    auto slow = here.connect();
    co_await slow.send(coded_request("/noise.txt", coding));
    co_await slow.shutdown_write();
    co_await gyre::sleep(3s);
    const http_answer answer = co_await slow.answer();
    EXPECT_EQ(answer.field("Content-Encoding"), coding);
    EXPECT_TRUE(decode(coding, answer.body).text == noise);
  });
}
