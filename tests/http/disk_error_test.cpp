// tests/http/disk_error_test.cpp: files that fail to be read completely while they are sent to a client.
#include <gyre/http/compress.hpp>

#include "tests/http/served_tree.hpp"
#include "tests/http/socket_server.hpp"
#include "tests/support/broken_file.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace gyre_test;
using http::response;

namespace {

constexpr std::size_t file_size = 3'000'000;
constexpr std::size_t good_size = std::size_t{1} << 20U;

/// No two pages are the same.
std::string numbers(std::size_t count) {
  std::string text;
  while (text.size() < count) text += std::to_string(text.size()) + '\n';
  text.resize(count);
  return text;
}

std::vector<std::string> open_descriptors() {
  std::vector<std::string> names;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;  // the error of the iterator
    const auto target = std::filesystem::read_symlink(each.path(), gone);
    if (!gone) names.push_back(target.string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A directory with a large file, one that needs no system call of its own, and one that never fails.
class disk_error : public served_tree {
 protected:
  disk_error() {
    served_tree::SetUp();
    write("large.txt", contents_);
    write("small.txt", contents_.substr(0, 5000));
    write("whole.txt", "whole");
  }
  [[nodiscard]] std::string path(const std::string& name) const { return root_ / name; }
  [[nodiscard]] http::handler files(bool compressed = false) const {
    http::router routes;
    if (compressed) routes.use(http::compress());
    routes.get("/{path...}", http::static_files(root_.string(), {.keep_open = false}));
    return routes;
  }
  [[nodiscard]] std::string send_file_failure(const std::string& name) const {
    return "send_file " + path(name) + ": Input/output error";
  }

  /// Requests a file whose reads fail from `from` on, and returns what arrived. Requests of another connection before
  /// and after are answered, and no descriptor or connection is left over.
  std::string ask(const std::string& name, std::uint64_t from, const std::string& fields, const std::string& failure,
                  bool compressed = false) {
    std::string arrived;
    exchange_log heard;
    http::server_options options = options_for(files(compressed));
    options.observer = &heard;
    run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
      reports loud;
      auto bystander = co_await here.connect();
      (void)co_await bystander.ask("GET /whole.txt HTTP/1.1\r\nHost: a\r\n\r\n");
      const auto descriptors = open_descriptors();
      {
        auto client = co_await here.connect();
        const broken_file disk(path(name), from);
        co_await client.send("GET /" + name + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n");
        arrived = co_await client.rest();
        EXPECT_TRUE(client.was_reset());
        EXPECT_GT(disk.failures(), 0);
      }
      EXPECT_EQ(loud.texts, (std::vector<std::string>{failure}));
      const auto whole = co_await bystander.ask("GET /whole.txt HTTP/1.1\r\nHost: a\r\n\r\n");
      EXPECT_EQ(whole.body, "whole");
      const auto repaired = co_await here.get("/" + name);
      EXPECT_TRUE(repaired.body == contents_.substr(0, name == "large.txt" ? file_size : 5000));
      EXPECT_EQ(heard.complete, (std::vector<bool>{true, false, true, true}));
      for (int i = 0; i < 10'000 && open_descriptors() != descriptors; ++i) co_await gyre::sleep(1ms);
      EXPECT_EQ(here.server().connections(), 1U);
      EXPECT_EQ(open_descriptors(), descriptors);
    });
    return arrived;
  }

  /// The body that arrived before the cut-off has to be a prefix of the file.
  void expect_beginning_of_file(const std::string& arrived, std::size_t most) const {
    const std::size_t head = arrived.find("\r\n\r\n");
    if (head == std::string::npos) return;  // the reset has discarded it
    const std::string body = arrived.substr(head + 4);
    EXPECT_LE(body.size(), most);
    EXPECT_TRUE(body == contents_.substr(0, body.size()));
  }

  std::string contents_ = numbers(file_size);
};

/// Memory of two pages, whose file has one. The kernel can read it through /proc/self/mem up to the second page. An
/// unmapped page would not do, because other threads could map something there.
class half_mapped {
 public:
  half_mapped() {
    const int file = ::memfd_create("gyre test", MFD_CLOEXEC);
    EXPECT_EQ(::ftruncate(file, page), 0);
    memory_ = ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    ::close(file);
    std::fill_n(static_cast<char*>(memory_), page, 'm');
  }
  half_mapped(const half_mapped&) = delete;
  half_mapped& operator=(const half_mapped&) = delete;
  ~half_mapped() { ::munmap(memory_, 2 * page); }
  [[nodiscard]] std::uint64_t offset() const noexcept { return reinterpret_cast<std::uintptr_t>(memory_); }

  static constexpr std::size_t page = 4096;

 private:
  void* memory_ = nullptr;
};

constexpr std::string_view memory_failure = "read_at /proc/self/mem: Input/output error";

}  // namespace

TEST_F(disk_error, in_the_middle_of_a_file_that_is_in_memory_cuts_the_answer_off_and_is_reported) {
  const std::string arrived = ask("large.txt", good_size, "", send_file_failure("large.txt"));
  expect_beginning_of_file(arrived, good_size);
}

TEST_F(disk_error, in_the_middle_of_a_file_that_is_on_the_disk_cuts_the_answer_off_and_is_reported) {
  forget_cached(path("large.txt"));
  const std::string arrived = ask("large.txt", good_size, "", send_file_failure("large.txt"));
  expect_beginning_of_file(arrived, good_size);
}

TEST_F(disk_error, at_the_first_byte_of_a_file_is_no_answer) {
  const std::string arrived = ask("large.txt", 0, "", send_file_failure("large.txt"));
  expect_beginning_of_file(arrived, 0);
}

TEST_F(disk_error, at_the_first_byte_of_a_small_file_is_no_answer) {
  const std::string arrived = ask("small.txt", 0, "", send_file_failure("small.txt"));
  expect_beginning_of_file(arrived, 0);
}

TEST_F(disk_error, in_the_middle_of_a_small_file_is_no_answer_that_looks_whole) {
  const std::string arrived = ask("small.txt", 4096, "", send_file_failure("small.txt"));
  expect_beginning_of_file(arrived, 4096);
}

TEST_F(disk_error, in_one_of_several_ranges_cuts_the_answer_off) {
  const std::string arrived =
      ask("large.txt", good_size, "Range: bytes=0-9,2000000-2000009\r\n", send_file_failure("large.txt"));
  EXPECT_EQ(arrived.find(contents_.substr(2'000'000, 10)), std::string::npos);
}

TEST_F(disk_error, below_a_compressed_answer_leaves_it_without_its_end) {
  const std::string arrived =
      ask("large.txt", good_size, "Accept-Encoding: gzip\r\n", "read the response's body: Input/output error", true);
  EXPECT_EQ(arrived.find("\r\n0\r\n\r\n"), std::string::npos);
}

TEST_F(disk_error, over_a_stream_that_is_no_socket_cuts_the_answer_off_and_is_reported) {
  for (const auto& [name, from] : {std::pair("large.txt", good_size), std::pair("small.txt", std::size_t{0})}) {
    exchange_log heard;
    http::server_options options = options_for(files());
    options.observer = &heard;
    run_virtual([&]() -> gyre::task<> {
      reports loud;
      memory_server server(std::move(options));
      auto client = server.connect();
      const broken_file disk(path(name), from);
      co_await client.send("GET /" + std::string(name) + " HTTP/1.1\r\nHost: a\r\n\r\n");
      const std::string arrived = co_await client.rest();
      expect_beginning_of_file(arrived, from);
      EXPECT_EQ(loud.texts, (std::vector<std::string>{send_file_failure(name)}));
      EXPECT_EQ(heard.complete, (std::vector<bool>{false}));
    });
  }
}

TEST_F(disk_error, a_file_that_became_shorter_is_reported) {
  exchange_log heard;
  http::server_options options = options_for([this](http::request&) -> gyre::task<response> {
    auto file = co_await gyre::fs::file::open(path("small.txt"));
    co_return response::file(std::move(file), 0, file_size, "text/plain");
  });
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    reports loud;
    auto client = co_await here.connect();
    co_await client.send(hello_request);
    const std::string arrived = co_await client.rest();
    expect_beginning_of_file(arrived, 5000);
    EXPECT_TRUE(client.was_reset());
    EXPECT_EQ(loud.texts, (std::vector<std::string>{"send_file " + path("small.txt") +
                                                    ", which became shorter: Input/output error"}));
    EXPECT_EQ(heard.complete, (std::vector<bool>{false}));
  });
}

TEST_F(disk_error, a_client_that_leaves_in_the_middle_of_a_file_is_not_reported) {
  exchange_log heard;
  http::server_options options = options_for(files());
  options.observer = &heard;
  run_on_sockets(std::move(options), [&](socket_server& here) -> gyre::task<> {
    reports loud;
    {
      auto client = co_await here.connect();
      co_await client.send("GET /large.txt HTTP/1.1\r\nHost: a\r\n\r\n");
      (void)co_await client.receive();
      reset(client);
    }
    while (here.server().connections() > 0) co_await gyre::sleep(1ms);
    EXPECT_EQ(loud.texts, std::vector<std::string>());
  });
}

TEST_F(disk_error, an_error_below_a_body_that_a_handler_reads_cuts_it_off_and_is_reported) {
  const half_mapped memory;
  exchange_log heard;
  http::server_options options = options_for([&](http::request&) {
    auto produce = [&](http::body_writer& out) -> gyre::task<> {
      auto file = co_await gyre::fs::file::open("/proc/self/mem");
      std::string piece(1024, '\0');
      for (std::uint64_t at = memory.offset();; at += piece.size()) {
        const std::size_t n = co_await file.read_at(piece, at);
        co_await out.write(std::string_view(piece).substr(0, n));
      }
    };
    return response::stream(produce, "text/plain");
  });
  options.observer = &heard;
  run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
    reports loud;
    auto client = here.connect();
    co_await client.send(hello_request);
    const std::string arrived = co_await client.rest();
    EXPECT_TRUE(client.was_reset());
    EXPECT_EQ(arrived.find("\r\n0\r\n\r\n"), std::string::npos);
    EXPECT_EQ(loud.texts, (std::vector<std::string>{std::string(memory_failure)}));
    EXPECT_EQ(heard.complete, (std::vector<bool>{false}));
  });
}

TEST_F(disk_error, an_error_before_there_is_an_answer_becomes_500) {
  const half_mapped memory;
  http::server_options options = options_for([&](http::request&) -> gyre::task<response> {
    auto file = co_await gyre::fs::file::open("/proc/self/mem");
    std::string piece(1024, '\0');
    (void)co_await file.read_at(piece, memory.offset() + half_mapped::page);
    co_return response::text(std::move(piece));
  });
  run_in_memory(std::move(options), [&](memory_server& here) -> gyre::task<> {
    reports loud;
    const auto answer = co_await here.get("/");
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, "Internal Server Error\n");
    EXPECT_EQ(loud.texts, (std::vector<std::string>{std::string(memory_failure)}));
  });
}

TEST_F(disk_error, an_error_in_the_middle_of_a_file_over_a_stream_cuts_the_answer_off) {
  const half_mapped memory;
  run_virtual([&]() -> gyre::task<> {
    reports loud;
    memory_server server(options_for([&](http::request&) -> gyre::task<response> {
      auto file = co_await gyre::fs::file::open("/proc/self/mem");
      co_return response::file(std::move(file), memory.offset(), 2 * half_mapped::page, "text/plain");
    }));
    auto client = server.connect();
    co_await client.send(hello_request);
    const std::string arrived = co_await client.rest();
    EXPECT_TRUE(arrived.ends_with("\r\n\r\n" + std::string(half_mapped::page, 'm')));
    EXPECT_EQ(loud.texts.size(), 1U);
    EXPECT_TRUE(loud.texts.at(0).starts_with("send_file /proc/") &&
                loud.texts.at(0).ends_with("/mem: Input/output error"))
        << loud.texts.at(0);
  });
}
