// tests/http/open_files_test.cpp: files that stay open between requests are served with their present contents.
#include "tests/http/served_tree.hpp"

#include <algorithm>

using namespace gyre_test;

namespace {

class open_files_test : public served_tree {
 protected:
  // "gzip text"
  static gyre::task<std::string> get_compressed(memory_server& here, std::string target) {
    auto client = here.connect();
    const http_answer answer = co_await client.ask(get_request(target, "Accept-Encoding: gzip\r\n"));
    co_return std::string(answer.field("Content-Encoding")) + " " + answer.body;
  }
  template <class Body>
  void run(Body body) {
    serve(routes(), std::move(body));
  }
  /// The number of files of the tree that this process has open, including deleted ones.
  [[nodiscard]] long open_here() const {
    const auto begin = std::filesystem::directory_iterator("/proc/self/fd");
    return std::count_if(begin, {}, [this](const auto& each) {
      std::error_code ignored;
      const std::string target = std::filesystem::read_symlink(each.path(), ignored).string();
      return target.starts_with(root_.string() + "/");
    });
  }
};

}  // namespace

TEST_F(open_files_test, a_file_stays_open_for_a_second) {
  write("a", "text");
  run([&](memory_server& here) -> gyre::task<> {
    for (int i = 0; i < 3; ++i) EXPECT_EQ(co_await text_of(here, "/a"), "200 text");
    EXPECT_EQ(open_here(), 1);
    co_await gyre::sleep(900ms);
    EXPECT_EQ(open_here(), 1);
    co_await gyre::sleep(101ms);
    EXPECT_EQ(open_here(), 0);
    EXPECT_EQ(co_await text_of(here, "/a"), "200 text");
  });
  EXPECT_EQ(open_here(), 0);
}

TEST_F(open_files_test, nothing_stays_open_when_that_is_not_wanted) {
  write("a", "text");
  options_.keep_open = false;
  run([&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/a"), "200 text");
    EXPECT_EQ(open_here(), 0);
  });
}

TEST_F(open_files_test, a_write_into_a_file_is_seen_at_once) {
  write("a", "before");
  run([&](memory_server& here) -> gyre::task<> {
    const http_answer before = co_await here.get("/a");
    write("a", "and after");
    const http_answer after = co_await here.get("/a");
    EXPECT_EQ(after.body, "and after");
    EXPECT_NE(after.field("ETag"), before.field("ETag"));
  });
}

TEST_F(open_files_test, a_file_that_may_change_within_the_tick_of_its_time_has_a_weak_tag) {
  write("a", "one");
  run([&](memory_server& here) -> gyre::task<> {
    const auto time = std::filesystem::last_write_time(root_ / "a");
    const http_answer first = co_await here.get("/a");
    const std::string tag(first.field("ETag"));
    EXPECT_TRUE(tag.starts_with("W/\"")) << tag;
    write("a", "two");  // the same size, within the same tick
    std::filesystem::last_write_time(root_ / "a", time);
    auto client = here.connect();
    const http_answer whole =
        co_await client.ask("GET /a HTTP/1.1\r\nHost: a\r\nRange: bytes=1-\r\nIf-Range: " + tag + "\r\n\r\n");
    EXPECT_EQ(whole.status, 200);
    EXPECT_EQ(whole.body, "two");
    const http_answer refused = co_await client.ask("GET /a HTTP/1.1\r\nHost: a\r\nIf-Match: " + tag + "\r\n\r\n");
    EXPECT_EQ(refused.status, 412);
  });
}

TEST_F(open_files_test, a_weak_tag_is_not_that_of_the_file_when_it_has_settled) {
  write("a", "one");
  run([&](memory_server& here) -> gyre::task<> {
    date_back("a", 1900ms);
    const http_answer first = co_await here.get("/a");
    std::string strong(first.field("ETag"));  // weak, unless this machine is slow
    while (strong.starts_with("W/")) {
      const http_answer later = co_await here.get("/a");
      strong = later.field("ETag");
    }
    EXPECT_EQ(open_here(), 1);
    auto client = here.connect();
    const http_answer again =
        co_await client.ask(get_request("/a", "If-None-Match: " + std::string(first.field("ETag")) + "\r\n"));
    EXPECT_EQ(again.status, first.field("ETag").starts_with("W/") ? 200 : 304);
    const http_answer part = co_await client.ask(get_request("/a", "Range: bytes=1-\r\nIf-Range: " + strong + "\r\n"));
    EXPECT_EQ(part.status, 206);
  });
}

TEST_F(open_files_test, a_file_that_is_replaced_is_seen_at_once) {
  write("a", "before");
  write("new", "and after");
  run([&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/a"), "200 before");
    std::filesystem::rename(root_ / "new", root_ / "a");
    EXPECT_EQ(co_await text_of(here, "/a"), "200 and after");
  });
}

TEST_F(open_files_test, a_file_that_is_removed_is_gone_at_once) {
  write("a", "text");
  run([&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/a"), "200 text");
    std::filesystem::remove(root_ / "a");
    EXPECT_EQ(co_await text_of(here, "/a"), "404");
  });
}

TEST_F(open_files_test, a_path_that_leads_elsewhere_is_seen_after_a_second) {
  write("one/a", "1");
  write("two/a", "2");
  std::filesystem::create_directory_symlink("one", root_ / "link");
  run([&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/link/a"), "200 1");
    std::filesystem::remove(root_ / "link");
    std::filesystem::create_directory_symlink("two", root_ / "link");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await text_of(here, "/link/a"), "200 2");
  });
}

TEST_F(open_files_test, no_more_than_128_stay_open) {
  for (int i = 0; i < 140; ++i) write("f" + std::to_string(i), std::to_string(i));
  run([&](memory_server& here) -> gyre::task<> {
    for (int i = 0; i < 140; ++i)
      EXPECT_EQ(co_await text_of(here, "/f" + std::to_string(i)), "200 " + std::to_string(i));
    EXPECT_EQ(open_here(), 128);
    EXPECT_EQ(co_await text_of(here, "/f0"), "200 0");
    EXPECT_EQ(co_await text_of(here, "/f139"), "200 139");
  });
}

TEST_F(open_files_test, two_trees_do_not_mix) {
  write("one/a", "1");
  write("two/a", "2");
  http::router routes;
  routes.get("/one/{path...}", http::static_files((root_ / "one").string()));
  routes.get("/two/{path...}", http::static_files((root_ / "two").string()));
  serve(std::move(routes), [](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await text_of(here, "/one/a"), "200 1");
    EXPECT_EQ(co_await text_of(here, "/two/a"), "200 2");
    EXPECT_EQ(co_await text_of(here, "/one/a"), "200 1");
  });
}

TEST_F(open_files_test, a_file_that_is_being_sent_is_sent_to_its_end_after_its_second) {
  const std::string text(8'000'000, 'x');
  write("large", text);
  run([&](memory_server& here) -> gyre::task<> {
    auto slow = here.connect();
    co_await slow.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
    co_await slow.shutdown_write();  // this does not mean that the client has left
    co_await gyre::sleep(3s);
    EXPECT_EQ(open_here(), 1);  // the response has it open
    const http_answer answer = co_await slow.answer();
    EXPECT_EQ(answer.body.size(), text.size());
    EXPECT_EQ(answer.body, text);
  });
}

TEST_F(open_files_test, several_ranges_are_sent_to_their_end_to_a_client_that_has_nothing_more_to_ask) {
  write("large", std::string(8'000'000, 'x'));
  run([&](memory_server& here) -> gyre::task<> {
    auto slow = here.connect();
    co_await slow.send("GET /large HTTP/1.1\r\nHost: a\r\nRange: bytes=0-3999999,4000001-7999999\r\n\r\n");
    co_await slow.shutdown_write();
    co_await gyre::sleep(3s);
    const http_answer answer = co_await slow.answer();
    EXPECT_EQ(answer.status, 206);
    EXPECT_EQ(std::count(answer.body.begin(), answer.body.end(), 'x'), 7'999'999);
  });
}

TEST_F(open_files_test, conditions_ranges_and_head_are_answered_from_an_open_file) {
  write("a", "0123456789");
  date_back("a", 1h);
  run([&](memory_server& here) -> gyre::task<> {
    const http_answer first = co_await here.get("/a");
    auto client = here.connect();
    const std::string tag(first.field("ETag"));
    const http_answer known = co_await client.ask(get_request("/a", "If-None-Match: " + tag + "\r\n"));
    EXPECT_EQ(known.status, 304);
    const http_answer part = co_await client.ask(get_request("/a", "Range: bytes=2-4\r\n"));
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body, "234");
  });
}

TEST_F(open_files_test, the_observer_hears_of_each_small_file_of_a_batch) {
  write("a", "0123456789");
  write("b", std::string(12'000, 'b'));
  exchange_log heard;
  http::router routes;
  routes.get("/{path...}", http::static_files(root_.string(), options_));
  http::server_options all = options_for(std::move(routes));
  all.observer = &heard;
  run_client(std::move(all), [&](memory_client& client) -> gyre::task<> {
    for (int round = 0; round < 2; ++round) {  // in the second one, the files are open
      co_await client.send(get_request("/a") + "HEAD /a HTTP/1.1\r\nHost: a\r\n\r\n" + get_request("/b") +
                           get_request("/b") + get_request("/a", "Range: bytes=2-4\r\n"));
      const http_answer first = co_await client.answer();
      EXPECT_EQ(first.body, "0123456789");
      const http_answer head = co_await client.answer("HEAD");
      EXPECT_EQ(head.field("Content-Length"), "10");
      for (int i = 0; i < 2; ++i) {
        const http_answer large = co_await client.answer();
        EXPECT_EQ(large.body, std::string(12'000, 'b'));
      }
      const http_answer part = co_await client.answer();
      EXPECT_EQ(part.body, "234");
    }
  });
  EXPECT_EQ(heard.targets, (std::vector<std::string>{"/a", "/a", "/b", "/b", "/a", "/a", "/a", "/b", "/b", "/a"}));
  EXPECT_EQ(heard.statuses, (std::vector<int>{200, 200, 200, 200, 206, 200, 200, 200, 200, 206}));
  EXPECT_EQ(heard.bytes, (std::vector<std::uint64_t>{10, 0, 12'000, 12'000, 3, 10, 0, 12'000, 12'000, 3}));
  EXPECT_EQ(heard.complete, std::vector<bool>(10, true));
}

TEST_F(open_files_test, a_compressed_neighbour_is_kept_open_beside_the_file) {
  write("a.txt", "plain text");
  write("a.txt.gz", "not really");
  run([&](memory_server& here) -> gyre::task<> {
    for (int i = 0; i < 2; ++i) EXPECT_EQ(co_await get_compressed(here, "/a.txt"), "gzip not really");
    EXPECT_EQ(open_here(), 2);
    EXPECT_EQ(co_await text_of(here, "/a.txt"), "200 plain text");
    EXPECT_EQ(co_await get_compressed(here, "/a.txt"), "gzip not really");
  });
}

TEST_F(open_files_test, a_compressed_neighbour_that_is_new_is_seen_after_a_second) {
  write("a.txt", "plain text");
  run([&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await get_compressed(here, "/a.txt"), " plain text");
    write("a.txt.gz", "not really");
    co_await gyre::sleep(1001ms);
    EXPECT_EQ(co_await get_compressed(here, "/a.txt"), "gzip not really");
  });
}

TEST_F(open_files_test, a_compressed_neighbour_that_is_removed_is_gone_at_once) {
  write("a.txt", "plain text");
  write("a.txt.gz", "not really");
  run([&](memory_server& here) -> gyre::task<> {
    EXPECT_EQ(co_await get_compressed(here, "/a.txt"), "gzip not really");
    std::filesystem::remove(root_ / "a.txt.gz");
    EXPECT_EQ(co_await get_compressed(here, "/a.txt"), " plain text");
  });
}
