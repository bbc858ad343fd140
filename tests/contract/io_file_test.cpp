// tests/contract/io_file_test.cpp: file requests: the ring and the threads of the pool behave the same.
#include "tests/contract/io_contract_fixture.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

namespace gyre::contract {
namespace {

/// A file request that counts its completions.
struct file_shot : io::file_request {
  int completions = 0;

  file_shot(io::opcode operation, io::descriptor& d, const void* data = nullptr, std::size_t size = 0) {
    code = operation;
    target = &d;
    address = const_cast<void*>(data);
    length = static_cast<std::uint32_t>(size);
    result = -12345;
    complete = [](io::completion& c) noexcept { ++static_cast<file_shot&>(static_cast<io::request&>(c)).completions; };
  }
  file_shot(const file_shot&) = delete;
  file_shot& operator=(const file_shot&) = delete;
};

class io_file : public io_contract {
 protected:
  void SetUp() override {
    io_contract::SetUp();
    char name[] = "/tmp/gyre_io_file_XXXXXX";
    ASSERT_NE(::mkdtemp(name), nullptr);
    root_ = name;
  }
  void TearDown() override {
    io_contract::TearDown();
    if (!root_.empty()) EXPECT_EQ(std::system(("rm -rf " + root_).c_str()), 0);
  }

  [[nodiscard]] std::string path(const char* name) const { return root_ + "/" + name; }

  int perform(file_shot& r) {
    backend->submit(r);
    EXPECT_EQ(r.where, io::phase::in_flight);
    EXPECT_EQ(r.completions, 0) << "completed inside submit";
    EXPECT_TRUE(backend.turn_until([&] { return r.completions > 0; })) << "never completed";
    EXPECT_EQ(r.completions, 1);
    EXPECT_EQ(r.where, io::phase::idle);
    EXPECT_EQ(r.target->in_flight, 0U);
    return r.result;
  }

  int open(const std::string& name, int flags) {
    file_shot r(io::opcode::open, io::working_directory(), name.c_str());
    r.flags = static_cast<std::uint32_t>(flags);
    r.mode = 0600;
    return perform(r);
  }

  std::string root_;
};

INSTANTIATE_TEST_SUITE_P(backends, io_file, every_backend, backend_name);

TEST_P(io_file, open_gives_a_descriptor_that_children_do_not_get) {
  const int fd = open(path("a"), O_RDWR | O_CREAT);
  ASSERT_GE(fd, 0);
  EXPECT_NE(::fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
  io::descriptor d{.fd = fd};
  file_shot close(io::opcode::close, d);
  EXPECT_EQ(perform(close), 0);
  EXPECT_LT(::fcntl(fd, F_GETFD), 0);
  file_shot again(io::opcode::close, d);
  EXPECT_EQ(perform(again), -EBADF);
}

TEST_P(io_file, errors_are_the_same) {
  EXPECT_EQ(open(path("missing"), O_RDONLY), -ENOENT);
  EXPECT_EQ(open(root_, O_WRONLY), -EISDIR);
  EXPECT_EQ(open("", O_RDONLY), -ENOENT);
  EXPECT_EQ(open(std::string(5'000, 'x'), O_RDONLY), -ENAMETOOLONG);
  io::descriptor none{.fd = 987};
  std::array<char, 8> buffer{};
  for (const io::opcode code : {io::opcode::read, io::opcode::write, io::opcode::sync, io::opcode::close,
                                io::opcode::resize, io::opcode::read_directory}) {
    file_shot r(code, none, buffer.data(), buffer.size());
    r.offset = 0;
    EXPECT_EQ(perform(r), -EBADF) << static_cast<int>(code);
  }
}

TEST_P(io_file, reads_and_writes_at_offsets_and_at_the_position) {
  io::descriptor d{.fd = open(path("a"), O_RDWR | O_CREAT)};
  ASSERT_GE(d.fd, 0);
  file_shot write(io::opcode::write, d, "0123456789", 10);
  EXPECT_EQ(perform(write), 10);
  EXPECT_EQ(::lseek(d.fd, 0, SEEK_CUR), 10);
  file_shot write_at(io::opcode::write, d, "xy", 2);
  write_at.offset = 3;
  EXPECT_EQ(perform(write_at), 2);
  EXPECT_EQ(::lseek(d.fd, 0, SEEK_CUR), 10);
  std::array<char, 8> buffer{};
  file_shot read_at(io::opcode::read, d, buffer.data(), buffer.size());
  read_at.offset = 4;
  EXPECT_EQ(perform(read_at), 6);
  EXPECT_EQ(std::string(buffer.data(), 6), "y56789");
  file_shot at_end(io::opcode::read, d, buffer.data(), buffer.size());
  EXPECT_EQ(perform(at_end), 0);
  ::lseek(d.fd, 1, SEEK_SET);
  const std::array<io::mutable_buffer, 2> two{{{buffer.data(), 2}, {buffer.data() + 4, 3}}};
  file_shot read_two(io::opcode::read_vector, d, two.data(), two.size());
  EXPECT_EQ(perform(read_two), 5);
  EXPECT_EQ(std::string(buffer.data(), 2) + std::string(buffer.data() + 4, 3), "12xy5");
  EXPECT_EQ(::lseek(d.fd, 0, SEEK_CUR), 6);
  const std::array<io::const_buffer, 2> out{{{"ab", 2}, {"c", 1}}};
  file_shot write_two(io::opcode::write_vector, d, out.data(), out.size());
  EXPECT_EQ(perform(write_two), 3);
  EXPECT_EQ(::lseek(d.fd, 0, SEEK_CUR), 9);
  ::close(d.fd);
}

TEST_P(io_file, a_non_blocking_file_is_read_all_the_same) {
  // For some of these, the ring gives up at once instead of waiting.
  for (const char* name : {"/proc/self/status", "/proc/version", "/sys/kernel/mm/transparent_hugepage/enabled"}) {
    io::descriptor d{.fd = open(name, O_RDONLY | O_NONBLOCK)};
    if (d.fd == -ENOENT) continue;
    ASSERT_GE(d.fd, 0) << name;
    std::array<char, 64> buffer{};
    file_shot read(io::opcode::read, d, buffer.data(), buffer.size());
    EXPECT_GT(perform(read), 0) << name;
    ::close(d.fd);
  }
}

TEST_P(io_file, paths_are_made_renamed_and_removed) {
  io::descriptor& here = io::working_directory();
  const std::string a = path("a");
  const std::string b = path("b");
  file_shot make(io::opcode::make_directory, here, a.c_str());
  make.mode = 0700;
  EXPECT_EQ(perform(make), 0);
  file_shot rename(io::opcode::rename, here, a.c_str());
  rename.second = const_cast<char*>(b.c_str());
  EXPECT_EQ(perform(rename), 0);
  file_shot unlink(io::opcode::remove, here, b.c_str());
  EXPECT_EQ(perform(unlink), -EISDIR);
  file_shot remove(io::opcode::remove, here, b.c_str());
  remove.flags = AT_REMOVEDIR;
  EXPECT_EQ(perform(remove), 0);
  file_shot link(io::opcode::make_symlink, here, "nowhere");
  link.second = const_cast<char*>(a.c_str());
  EXPECT_EQ(perform(link), 0);
  struct statx found{};
  file_shot stat(io::opcode::stat, here, a.c_str());
  stat.second = &found;
  EXPECT_EQ(perform(stat), -ENOENT);
  file_shot stat_link(io::opcode::stat, here, a.c_str());
  stat_link.second = &found;
  stat_link.flags = AT_SYMLINK_NOFOLLOW;
  EXPECT_EQ(perform(stat_link), 0);
  EXPECT_TRUE(S_ISLNK(found.stx_mode));
  EXPECT_EQ(found.stx_size, 7U);
}

TEST_P(io_file, sync_and_resize) {
  io::descriptor d{.fd = open(path("a"), O_RDWR | O_CREAT)};
  file_shot resize(io::opcode::resize, d);
  resize.offset = 123'456;
  EXPECT_EQ(perform(resize), 0);
  file_shot sync(io::opcode::sync, d);
  EXPECT_EQ(perform(sync), 0);
  file_shot sync_data(io::opcode::sync, d);
  sync_data.flags = 1;
  EXPECT_EQ(perform(sync_data), 0);
  struct stat found{};
  EXPECT_EQ(::fstat(d.fd, &found), 0);
  EXPECT_EQ(found.st_size, 123'456);
  ::close(d.fd);
}

TEST_P(io_file, a_cancelled_request_completes_once_with_its_result_or_without) {
  for (int turns = 0; turns < 4; ++turns) {
    for (const io::opcode code : {io::opcode::open, io::opcode::resize, io::opcode::write}) {
      const std::string name = path("a");
      io::descriptor d{.fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
      const bool opens = code == io::opcode::open;
      file_shot r(code, opens ? io::working_directory() : d, name.c_str(), opens ? 0 : 3);
      r.flags = O_RDWR | O_CREAT;
      if (code == io::opcode::resize) r.offset = 3;
      backend->submit(r);
      for (int i = 0; i < turns; ++i) backend.turn();
      backend->cancel(r);
      backend->cancel(r);
      ASSERT_TRUE(backend.turn_until([&] { return r.completions > 0; }));
      backend.settle();
      EXPECT_EQ(r.completions, 1);
      if (r.result != -ECANCELED) EXPECT_GE(r.result, 0);
      if (opens && r.result >= 0) ::close(r.result);
      backend->cancel(r);  // too late, nothing happens
      backend.settle();
      EXPECT_EQ(r.completions, 1);
      ::close(d.fd);
    }
  }
}

TEST_P(io_file, a_wait_for_a_slow_file_sleeps) {
  io::descriptor d{.fd = open(path("a"), O_RDWR | O_CREAT)};
  const std::string bytes(8U << 20U, 'x');
  file_shot write(io::opcode::write, d, bytes.data(), bytes.size());
  EXPECT_EQ(perform(write), static_cast<int>(bytes.size()));
  file_shot sync(io::opcode::sync, d);
  backend->submit(sync);
  const std::uint64_t before = backend->system_calls();
  ASSERT_TRUE(backend.turn_until([&] { return sync.completions > 0; }));
  EXPECT_LT(backend->system_calls() - before, 10U);
  ::close(d.fd);
}

TEST_P(io_file, a_cancel_that_comes_too_late_does_not_make_the_loop_spin) {
  io::descriptor d{.fd = open(path("a"), O_RDWR | O_CREAT)};
  const std::string bytes(16U << 20U, 'x');
  file_shot write(io::opcode::write, d, bytes.data(), bytes.size());
  EXPECT_EQ(perform(write), static_cast<int>(bytes.size()));
  file_shot sync(io::opcode::sync, d);
  backend->submit(sync);
  backend.turn(now() + milliseconds);
  backend->cancel(sync);
  const std::uint64_t before = backend->system_calls();
  ASSERT_TRUE(backend.turn_until([&] { return sync.completions > 0; }));
  EXPECT_LT(backend->system_calls() - before, 10U);
  EXPECT_TRUE(sync.result == 0 || sync.result == -ECANCELED) << sync.result;
  ::close(d.fd);
}

TEST_P(io_file, many_at_once_all_complete) {
  io::descriptor d{.fd = open(path("a"), O_RDWR | O_CREAT)};
  std::vector<std::optional<file_shot>> all(300);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const io::opcode code = i % 3 == 0 ? io::opcode::resize : i % 3 == 1 ? io::opcode::write : io::opcode::read;
    auto& r = all[i].emplace(code, d, root_.data(), 5);
    r.offset = 100;
    if (code == io::opcode::read) r.address = &r.mode;
    if (code == io::opcode::read) r.length = 4;
    backend->submit(r);
  }
  EXPECT_EQ(backend->in_flight(), all.size());
  EXPECT_TRUE(backend.turn_until([&] { return backend->in_flight() == 0; }));
  backend.settle();
  for (const auto& each : all) {
    EXPECT_EQ(each->completions, 1);
    EXPECT_GE(each->result, 0);
  }
  ::close(d.fd);
}

TEST_P(io_file, a_backend_that_ends_waits_for_what_is_under_way) {
  const std::size_t runs = 20;
  for (std::size_t i = 0; i < runs; ++i) {
    if (i > 0) begin();
    const std::string name = path("a");
    io::descriptor d{.fd = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
    file_shot resize(io::opcode::resize, d);
    resize.offset = 3;
    file_shot opened(io::opcode::open, io::working_directory(), name.c_str());
    file_shot sync(io::opcode::sync, d);
    backend->submit(resize);
    backend->submit(opened);
    backend->submit(sync);
    if (i % 2 == 1) backend.collect();
    backend.destroy();
    if (i % 2 == 0) {
      for (const file_shot* each : {&resize, &opened, &sync}) {
        EXPECT_EQ(each->where, io::phase::idle);
        EXPECT_EQ(each->completions, 0);
      }
      EXPECT_EQ(opened.result, -ECANCELED);
    } else if (opened.result >= 0) {
      ::close(opened.result);
    }
    EXPECT_EQ(d.in_flight, 0U);
    backend.run_ready();  // the completions that had been handed out
    ::close(d.fd);
  }
}

}  // namespace
}  // namespace gyre::contract
