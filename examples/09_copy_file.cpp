// examples/09_copy_file.cpp: copies a file, and shows the progress in a second task.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>
#include <vector>

using namespace std::chrono_literals;
namespace fs = gyre::fs;

namespace {

struct progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;

  void print() const {
    const std::uint64_t percent = total == 0 ? 100 : done * 100 / total;
    const std::string bar(percent * 40 / 100, '#');
    std::fprintf(stderr, "\r[%-40s] %3u%%", bar.c_str(), static_cast<unsigned>(percent));
  }
};

gyre::task<> show(const progress& how_far) {
  for (;;) {
    how_far.print();
    co_await gyre::sleep(100ms);
  }
}

gyre::task<> copy(fs::file& from, fs::file& to, progress& how_far) {
  std::vector<std::byte> buffer(1 << 20);
  while (const std::size_t n = co_await from.read_some(buffer)) {
    co_await to.write_all(std::span<const std::byte>(buffer).first(n));
    how_far.done += n;
  }
  co_await to.sync();
}

gyre::task<int> copy_file(std::string source, std::string target) {
  auto from = co_await fs::file::open(source);
  auto to = co_await fs::file::open(target, fs::for_writing);
  const fs::status known = co_await from.stat();
  progress how_far{.total = known.size};
  // The race ends with the copy; the display is cancelled then.
  auto copying = copy(from, to, how_far);
  auto showing = show(how_far);
  co_await gyre::race(std::move(copying), std::move(showing));
  how_far.print();
  std::fprintf(stderr, "\n");
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: copy_file SOURCE TARGET\n"), 2;
  return gyre::run_main(copy_file(argv[1], argv[2]));
}
