// bench/micro/micro_files.cpp: reads and writes a file of 64 MiB in the page cache. Usage: micro_files FILE
#include "bench/micro/report.hpp"

#include <array>
#include <functional>
#include <random>
#include <vector>

namespace {

namespace fs = gyre::fs;
constexpr std::uint64_t file_size = 64 << 20;
constexpr std::size_t large = 65536;
constexpr std::size_t small = 4096;

gyre::task<> sequential(fs::file& file, bool writes, long n) {
  std::vector<std::byte> buffer(large);
  for (long i = 0; i < n; ++i) {
    if (static_cast<std::uint64_t>(i) % (file_size / large) == 0) file.set_position(0);
    if (writes)
      co_await file.write_all(std::span<const std::byte>(buffer));
    else
      (void)co_await file.read_exactly(std::span<std::byte>(buffer));
  }
}

gyre::task<> random_access(fs::file& file, bool writes, unsigned seed, long n) {
  std::array<std::byte, small> buffer{};
  std::minstd_rand random(seed);
  for (long i = 0; i < n; ++i) {
    const std::uint64_t offset = random() % (file_size / small) * small;
    if (writes)
      (void)co_await file.write_at(std::span<const std::byte>(buffer), offset);
    else
      (void)co_await file.read_at(std::span<std::byte>(buffer), offset);
  }
}

gyre::task<> random_by_16(fs::file& file, bool writes, long n) {
  std::vector<gyre::task<>> tasks;
  for (unsigned i = 1; i <= 16; ++i) tasks.push_back(random_access(file, writes, i, n / 16));
  (void)co_await gyre::gather(std::move(tasks));
}

gyre::task<> all(std::string path) {
  const fs::open_options both{.read = true, .write = true, .create = true};
  auto file = co_await fs::file::open(path, both);
  co_await bench::report("write_64k", sequential, std::ref(file), true);
  co_await file.resize(file_size);
  co_await sequential(file, true, file_size / large);  // brings all of it into the page cache
  co_await bench::report("read_64k", sequential, std::ref(file), false);
  co_await bench::report("read_4k_random", random_access, std::ref(file), false, 1U);
  co_await bench::report("write_4k_random", random_access, std::ref(file), true, 1U);
  co_await bench::report("read_4k_random_by_16", random_by_16, std::ref(file), false);
  co_await bench::report("write_4k_random_by_16", random_by_16, std::ref(file), true);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: micro_files FILE\n"), 2;
  return gyre::run_main(all(argv[1]));
}
