// gyre/io/file_bytes.hpp: bytes of files, read without a loop. For authors of operations.
#pragma once

#include <gyre/attributes.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

namespace gyre::io {

/// Reads at `offset`. May wait for the disk, so call it on a thread. Returns the count, 0 at the end of the file, or
/// -errno. Thread: any.
[[nodiscard]] GYRE_API std::ptrdiff_t read_at(int file, void* into, std::size_t size, std::uint64_t offset) noexcept;

/// Reads at `offset` what is in memory, and never waits. Returns the count, or a negative number if nothing is in
/// memory or the file cannot tell. Thread: any.
[[nodiscard]] GYRE_API std::ptrdiff_t read_cached(int file, void* into, std::size_t size,
                                                  std::uint64_t offset) noexcept;

/// Appends the content of a small file that an administrator names, and returns 0 or -errno: -EFBIG when it has more
/// than `max_size` bytes. A pipe, as of `<(command)` in a shell, has 10 s for its content, and is then -ETIMEDOUT. A
/// FIFO that nobody writes to is empty. A disk that does not answer is waited for: call it before the program serves,
/// or on a thread. Thread: any. Errors: std::bad_alloc.
[[nodiscard]] GYRE_API int read_small_file(const std::string& path, std::size_t max_size, std::string& into);

/// The path of an open file, for messages. Empty if it is unknown. Thread: any.
[[nodiscard]] GYRE_API std::string path_of_file(int file);

}  // namespace gyre::io
