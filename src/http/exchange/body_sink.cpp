// src/http/exchange/body_sink.cpp: sinks that have to see the bytes of files and of bulk.
#include <gyre/http/body_sink.hpp>
#include <gyre/io/file_bytes.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/tasks/to_thread.hpp>

#include <algorithm>
#include <string>

namespace gyre::http {

// Reading may block.
task<> body_sink::send_file(int file, std::uint64_t offset, std::uint64_t count) {
  constexpr std::uint64_t max_piece = std::uint64_t{64} << 10U;
  std::string piece;
  while (count > 0) {
    int error = 0;
    auto read = [&] {
      piece.resize_and_overwrite(static_cast<std::size_t>(std::min(count, max_piece)), [&](char* to, std::size_t room) {
        const std::ptrdiff_t n = io::read_at(file, to, room, offset);
        if (n < 0) error = static_cast<int>(-n);
        return n < 0 ? 0 : static_cast<std::size_t>(n);
      });
    };
    co_await to_thread(io::blocking_pool::for_files(), read);
    if (error != 0) throw io_error({error, std::generic_category()}, "read", "the response's body");
    if (piece.empty()) throw io_error(std::make_error_code(std::errc::io_error), "read", "a file that became shorter");
    co_await write(piece);
    offset += piece.size();
    count -= piece.size();
  }
}

socket_state* body_sink::bulk_socket() const noexcept { return nullptr; }
task<> body_sink::write_bulk(socket_bulk& /*bulk*/) {
  throw io_error(std::make_error_code(std::errc::operation_not_supported), "write", "bulk");
  co_return;
}

}  // namespace gyre::http
