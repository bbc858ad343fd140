// examples/09_copy_file.cpp: copies a file, and shows the progress in a second task.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>

using namespace std::chrono_literals;
namespace fs = gyre::fs;

namespace {

void print(const fs::copy_progress& progress) {
  const std::uint64_t percent = progress.size == 0 ? 100 : progress.copied * 100 / progress.size;
  const std::string bar(percent * 40 / 100, '#');
  std::fprintf(stderr, "\r[%-40s] %3u%%", bar.c_str(), static_cast<unsigned>(percent));
}

gyre::task<> show(const fs::copy_progress& progress) {
  for (;;) {
    print(progress);
    co_await gyre::sleep(100ms);
  }
}

gyre::task<int> copy_file(std::string source, std::string target) {
  fs::copy_progress progress;
  // The race ends with the copy; the display is cancelled then.
  auto copying = fs::copy(source, target, {.progress = &progress});
  auto showing = show(progress);
  co_await gyre::race(std::move(copying), std::move(showing));
  print(progress);
  std::fprintf(stderr, "\n");
  co_return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: copy_file SOURCE TARGET\n"), 2;
  return gyre::run_main(copy_file(argv[1], argv[2]));
}
