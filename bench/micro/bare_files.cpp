// bench/micro/bare_files.cpp: the same with plain blocking calls, as the reference. Usage: bare_files FILE
#include "bench/micro/timing.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <random>
#include <vector>

namespace {

constexpr off_t file_size = 64 << 20;
constexpr std::size_t large = 65536;
constexpr std::size_t small = 4096;

void check(ssize_t result, std::size_t wanted) {
  if (result == static_cast<ssize_t>(wanted)) return;
  std::perror("bare_files");
  std::exit(1);
}

void sequential(int fd, bool writes, long n) {
  static std::vector<char> buffer(large);
  for (long i = 0; i < n; ++i) {
    if (i % (file_size / static_cast<off_t>(large)) == 0) ::lseek(fd, 0, SEEK_SET);
    check(writes ? ::write(fd, buffer.data(), large) : ::read(fd, buffer.data(), large), large);
  }
}

void random_access(int fd, bool writes, long n) {
  static std::array<char, small> buffer{};
  std::minstd_rand random(1);
  for (long i = 0; i < n; ++i) {
    const auto offset = static_cast<off_t>(random() % (file_size / small) * small);
    check(writes ? ::pwrite(fd, buffer.data(), small, offset) : ::pread(fd, buffer.data(), small, offset), small);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: bare_files FILE\n"), 2;
  const int fd = ::open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  bench::measure("write_64k", [fd](long n) { sequential(fd, true, n); });
  sequential(fd, true, file_size / static_cast<off_t>(large));
  bench::measure("read_64k", [fd](long n) { sequential(fd, false, n); });
  bench::measure("read_4k_random", [fd](long n) { random_access(fd, false, n); });
  bench::measure("write_4k_random", [fd](long n) { random_access(fd, true, n); });
  ::close(fd);
}
