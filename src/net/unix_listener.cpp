// src/net/unix_listener.cpp: binding to a path or an abstract name.
#include <gyre/coro/scope_exit.hpp>
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/owned_fd.hpp>
#include <gyre/net/unix_listener.hpp>

#include "last_error.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <stdexcept>
#include <string>
#include <utility>

namespace gyre {
namespace {

const sockaddr* raw(const unix_address& a) noexcept { return static_cast<const sockaddr*>(a.data()); }

// Null-terminated.
const char* path_of(const unix_address& a) noexcept { return static_cast<const sockaddr_un*>(a.data())->sun_path; }

owned_fd new_socket() {
  owned_fd socket(io::sockets().socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) throw last_error();
  return socket;
}

// The file of a socket whose server is gone refuses connections. So does a file of any other
// kind, which must not be removed.
bool is_stale(const unix_address& local) {
  struct stat found{};
  if (local.is_abstract() || io::files().fstatat(AT_FDCWD, path_of(local), &found, 0) < 0 || !S_ISSOCK(found.st_mode))
    return false;
  const owned_fd probe = new_socket();
  return io::sockets().connect(probe.get(), raw(local), local.size()) < 0 && errno == ECONNREFUSED;
}

void bind_to(const owned_fd& socket, const unix_address& local, const unix_listen_options& options) {
  // Linux gives the file the permissions of the socket, so the file never exists with others.
  if (io::files().fchmod(socket.get(), options.permissions) < 0) throw last_error();
  if (io::sockets().bind(socket.get(), raw(local), local.size()) == 0) return;
  const std::system_error failure = last_error();
  if (failure.code() != std::errc::address_in_use || !options.replace_stale || !is_stale(local)) throw failure;
  io::files().unlinkat(AT_FDCWD, path_of(local), 0);
  if (io::sockets().bind(socket.get(), raw(local), local.size()) < 0) throw last_error();
}

std::uint64_t file_number(const unix_address& local) noexcept {
  struct stat found{};
  return io::files().fstatat(AT_FDCWD, path_of(local), &found, 0) == 0 ? found.st_ino : 0;
}

}  // namespace

unix_listener unix_listener::bind(const unix_address& local, const unix_listen_options& options) {
  if (options.backlog < 0) throw std::invalid_argument("unix_listener: the backlog is negative");
  if (options.permissions > 0777) throw std::invalid_argument("unix_listener: permissions must be at most 0777");
  try {
    owned_fd socket = new_socket();
    std::string name = local.string();
    bind_to(socket, local, options);
    bool listens = false;
    const scope_exit remove_file_unless_listening([&]() noexcept {
      if (!listens && !local.is_abstract()) io::files().unlinkat(AT_FDCWD, path_of(local), 0);
    });
    if (io::sockets().listen(socket.get(), options.backlog) < 0) throw last_error();
    const std::uint64_t file = local.is_abstract() ? 0 : file_number(local);
    auto* const state = new listener_state(socket.release(), std::move(name), options.backlog);
    listens = true;
    return {*state, local, file};
  } catch (const std::system_error& error) {
    throw io_error(error.code(), "listen", local.string());
  }
}

unix_listener& unix_listener::operator=(unix_listener&& other) noexcept {
  if (this == &other) return *this;
  remove_file();
  local_ = other.local_;
  file_ = std::exchange(other.file_, 0);
  stream_listener::operator=(std::move(other));
  return *this;
}

unix_listener::~unix_listener() { remove_file(); }

void unix_listener::remove_file() noexcept {
  // Another server may have put its own file there.
  if (file_ != 0 && file_number(local_) == file_) io::files().unlinkat(AT_FDCWD, path_of(local_), 0);
}

}  // namespace gyre
