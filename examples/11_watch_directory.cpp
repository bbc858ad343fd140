// examples/11_watch_directory.cpp: prints changes in directories until it is interrupted.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

const char* word_for(gyre::fs::change_kind kind) {
  switch (kind) {
    case gyre::fs::change_kind::created:
      return "created";
    case gyre::fs::change_kind::written:
      return "written";
    case gyre::fs::change_kind::removed:
      return "removed";
    case gyre::fs::change_kind::ended:
      return "no longer watched";
    case gyre::fs::change_kind::lost:
      break;
  }
  return "some changes were lost";
}

gyre::task<> watch(std::vector<std::string> directories) {
  gyre::fs::watcher watcher;
  for (const std::string& each : directories) co_await watcher.watch(each);
  std::fprintf(stderr, "watching %zu directories\n", directories.size());
  for (;;) {
    const auto changes = co_await watcher.read_some();
    for (const gyre::fs::change& each : changes)
      std::printf("%s/%s%s: %s\n", each.directory.c_str(), each.name.c_str(), each.is_directory ? "/" : "",
                  word_for(each.kind));
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "usage: watch_directory DIRECTORY...\n"), 2;
  return gyre::run_main(watch({argv + 1, argv + argc}));
}
