// tests/http/directory_listing_test.cpp: the cost of listings in directory readings, memory and delays of other
// requests, all counted.
#include <gyre/tasks/gather.hpp>

#include "src/http/files/listing_cache.hpp"
#include "tests/http/served_tree.hpp"

#include <atomic>
#include <cstdlib>

using namespace gyre_test;

namespace {

/// Occupies both threads that read directories, until let_go().
class busy_readers {
 public:
  busy_readers() {
    for (job& each : jobs_) {
      each.run = [](gyre::io::blocking_job& j) noexcept {
        auto& own = static_cast<job&>(j);
        own.begun = true;
        own.begun.notify_all();
        own.released.wait(false);
        own.ended = true;
        own.ended.notify_all();
      };
      http::listing_cache::pool().submit(each);
    }
    for (job& each : jobs_) each.begun.wait(false);
  }
  busy_readers(const busy_readers&) = delete;
  busy_readers& operator=(const busy_readers&) = delete;
  ~busy_readers() { let_go(); }
  void let_go() {
    for (job& each : jobs_) {
      each.released = true;
      each.released.notify_all();
    }
    for (job& each : jobs_) each.ended.wait(false);
  }

 private:
  struct job : gyre::io::blocking_job {
    std::atomic<bool> begun = false;
    std::atomic<bool> released = false;
    std::atomic<bool> ended = false;
  };
  std::array<job, 2> jobs_;
};

class directory_listing_test : public served_tree {
 protected:
  using contents = http::listing_cache::contents;

  /// One call of get(). The descriptors are closed when it returns.
  gyre::task<contents> get(http::listing_cache& cache, std::string path) {
    const gyre::owned_fd root(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    const gyre::owned_fd directory(::open((root_ / path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    http::wanted_directory wanted{.tree = 1, .root = root.get(), .descriptor = directory.get(), .path = path};
    co_return co_await cache.get(std::move(wanted));
  }
  static std::vector<std::string> names_of(const contents& all) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < all->size(); ++i)
      names.emplace_back(all->name_of(all->at(i, http::listing_order::name, false)));
    return names;
  }
  template <class Body>
  void run(Body body) {
    options_.listing = true;
    run_in_memory(options_for(routes()), std::move(body));
  }
  // Some of these tests make thousands of files, so their tree is in memory.
  void SetUp() override {
    if (::access("/dev/shm", W_OK) == 0) {
      std::string place = "/dev/shm/gyre_listing_XXXXXX";
      ASSERT_NE(::mkdtemp(place.data()), nullptr);
      root_ = place;
    }
    served_tree::SetUp();
  }
  void TearDown() override { std::filesystem::remove_all(root_); }
};

}  // namespace

TEST_F(directory_listing_test, requests_for_one_directory_share_a_reading) {
  write("a");
  write("b");
  date_back(".");
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    std::vector<gyre::task<contents>> wanted;
    for (int i = 0; i < 200; ++i) wanted.push_back(get(cache, "."));
    const std::vector<contents> all = co_await gyre::gather(std::move(wanted));
    EXPECT_EQ(cache.readings(), 1U);
    for (const contents& each : all) EXPECT_EQ(each, all.front());
    EXPECT_EQ(names_of(all.front()), (std::vector<std::string>{"a", "b"}));
  });
}

TEST_F(directory_listing_test, a_directory_that_has_not_changed_is_read_once_a_second) {
  write("a");
  date_back(".");
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    for (int i = 0; i < 10; ++i) (void)co_await get(cache, ".");
    co_await gyre::sleep(500ms);  // not 999 ms: while a thread reads, virtual time advances with real time
    (void)co_await get(cache, ".");
    EXPECT_EQ(cache.readings(), 1U);
    co_await gyre::sleep(500ms);
    (void)co_await get(cache, ".");
    EXPECT_EQ(cache.readings(), 2U);
  });
}

TEST_F(directory_listing_test, a_file_that_comes_or_goes_is_seen_at_once) {
  write("a");
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    for (int i = 0; i < 20; ++i) {
      const contents one = co_await get(cache, ".");
      EXPECT_EQ(names_of(one), std::vector<std::string>{"a"});
      write("b");
      const contents two = co_await get(cache, ".");
      EXPECT_EQ(names_of(two), (std::vector<std::string>{"a", "b"}));
      std::filesystem::remove(root_ / "b");
    }
  });
}

TEST_F(directory_listing_test, a_request_behind_a_change_waits_for_a_reading_that_began_after_it) {
  write("a");
  date_back(".");
  busy_readers busy;
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    auto before = gyre::spawn(get(cache, "."));
    co_await gyre::yield();
    write("b");
    std::vector<gyre::task_handle<contents>> behind;
    for (int i = 0; i < 50; ++i) behind.push_back(gyre::spawn(get(cache, ".")));
    co_await gyre::yield();
    EXPECT_EQ(cache.readings(), 1U);
    busy.let_go();
    (void)co_await before;
    for (auto& each : behind) {
      const contents found = co_await each;
      EXPECT_EQ(names_of(found), (std::vector<std::string>{"a", "b"}));
    }
    EXPECT_EQ(cache.readings(), 2U);
  });
}

TEST_F(directory_listing_test, a_client_that_leaves_does_not_end_the_reading_that_others_wait_for) {
  write("a");
  date_back(".");
  busy_readers busy;
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    auto first = gyre::spawn(get(cache, "."));
    auto second = gyre::spawn(get(cache, "."));
    co_await gyre::yield();
    first.cancel();
    co_await first.wait();
    busy.let_go();
    const contents found = co_await second;
    EXPECT_EQ(names_of(found), std::vector<std::string>{"a"});
    EXPECT_EQ(cache.readings(), 1U);
  });
}

TEST_F(directory_listing_test, a_server_that_ends_does_not_wait_for_readings_that_have_not_begun) {
  write("a");
  busy_readers busy;
  run_virtual([&]() -> gyre::task<> {
    auto cache = std::make_unique<http::listing_cache>();
    auto wanted = gyre::spawn(get(*cache, "."));
    co_await gyre::yield();
    wanted.cancel();
    co_await wanted.wait();
    cache.reset();
  });
}

TEST_F(directory_listing_test, equal_contents_are_in_memory_once_and_only_while_they_are_used) {
  for (int i = 0; i < 100; ++i) write("file" + std::to_string(i));
  date_back(".");
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    std::vector<contents> kept;
    for (int i = 0; i < 5; ++i) {
      kept.push_back(co_await get(cache, "."));
      co_await gyre::sleep(2s);
    }
    EXPECT_EQ(cache.readings(), 5U);
    for (const contents& each : kept) EXPECT_EQ(each, kept.front());
    EXPECT_EQ(cache.memory(), kept.front()->memory());
    kept.clear();
    EXPECT_EQ(cache.memory(), 0U);
  });
}

TEST_F(directory_listing_test, a_listing_of_many_long_names_has_a_bound) {
  const std::string ampersands(200, '&');
  for (int i = 0; i < 20'010; ++i) write(ampersands + std::to_string(i));
  date_back(".");
  run_virtual([&]() -> gyre::task<> {
    http::listing_cache cache;
    const contents found = co_await get(cache, ".");
    EXPECT_EQ(found->size(), 20'000U);
    EXPECT_TRUE(found->more());
    EXPECT_LT(found->memory(), 20'000U * 512);
  });
}

TEST_F(directory_listing_test, an_answer_says_that_its_listing_is_truncated) {
  for (int i = 0; i < 20'001; ++i) write("many/" + std::to_string(i));
  write("few/a");
  run([&](memory_server& here) -> gyre::task<> {
    const http_answer many = co_await here.get("/many/");
    EXPECT_EQ(many.field("X-Listing-Truncated"), "true");
    const http_answer few = co_await here.get("/few/");
    EXPECT_EQ(few.field("X-Listing-Truncated"), "");
  });
}

TEST_F(directory_listing_test, a_file_is_opened_while_the_threads_that_list_are_busy) {
  write("listed/a");
  write("file", "text");
  busy_readers busy;
  run([&](memory_server& here) -> gyre::task<> {
    auto waiting = here.connect();
    co_await waiting.send("GET /listed/ HTTP/1.1\r\nHost: a\r\n\r\n");
    const http_answer file = co_await here.get("/file");
    EXPECT_EQ(file.body, "text");
    EXPECT_EQ(waiting.received(), "");
    busy.let_go();
    const http_answer listing = co_await waiting.answer();
    EXPECT_EQ(listing.status, 200);
  });
}

TEST_F(directory_listing_test, a_long_listing_is_complete_and_in_order) {
  for (int i = 0; i < 3000; ++i)
    write("name" + std::to_string(10'000 + i), std::string(static_cast<std::size_t>(i) % 7, 'x'));
  write("directory/x");
  run([&](memory_server& here) -> gyre::task<> {
    const http_answer page = co_await here.get("/");
    EXPECT_EQ(page.field("Transfer-Encoding"), "chunked");
    EXPECT_EQ(page.field("X-Content-Type-Options"), "nosniff");
    EXPECT_TRUE(page.body.starts_with("<!doctype html>"));
    EXPECT_TRUE(page.body.ends_with("</body></html>\n"));
    std::size_t at = page.body.find("\"./directory/\"");
    EXPECT_NE(at, std::string::npos);
    for (int i = 0; i < 3000 && at != std::string::npos; ++i)
      at = page.body.find("\"./name" + std::to_string(10'000 + i) + "\"", at);
    EXPECT_NE(at, std::string::npos);
    const http_answer backwards = co_await here.get("/?order=desc");
    EXPECT_LT(backwards.body.find("name12999"), backwards.body.find("name10000"));
    EXPECT_LT(backwards.body.find("\"./directory/\""), backwards.body.find("name12999"));
  });
}

TEST_F(directory_listing_test, head_of_a_long_listing_writes_nothing_and_the_connection_goes_on) {
  for (int i = 0; i < 100; ++i) write("name" + std::to_string(i));
  run([&](memory_server& here) -> gyre::task<> {
    auto client = here.connect();
    for (int i = 0; i < 2; ++i) {
      const http_answer answer = co_await client.ask("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD");
      EXPECT_EQ(answer.status, 200);
      EXPECT_EQ(answer.field("Content-Type"), "text/html; charset=utf-8");
    }
  });
}

TEST_F(directory_listing_test, names_are_shown_without_what_acts_on_the_display) {
  write("a\u202egpj.exe");
  write("b\x1b[2J");
  run([&](memory_server& here) -> gyre::task<> {
    const http_answer page = co_await here.get("/");
    EXPECT_NE(page.body.find("href=\"./a%E2%80%AEgpj.exe\">a\\u202egpj.exe</a>"), std::string::npos);
    EXPECT_NE(page.body.find("href=\"./b%1B%5B2J\">b\\x1b[2J</a>"), std::string::npos);
  });
}

TEST_F(directory_listing_test, a_path_whose_name_fills_more_than_a_piece_is_listed) {
  std::string path;
  for (int i = 0; i < 15; ++i) path += std::string(255, '&') + "/";
  write(path + "x");
  run([&](memory_server& here) -> gyre::task<> {
    const http_answer page = co_await here.get("/" + path);
    EXPECT_EQ(page.status, 200);
    EXPECT_NE(page.body.find("\"./x\""), std::string::npos);
  });
}
