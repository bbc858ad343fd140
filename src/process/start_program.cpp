// src/process/start_program.cpp: posix_spawn with the streams where they are wanted.
#include <gyre/io/io_error.hpp>
#include <gyre/io/pipe.hpp>

#include "process_state.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace gyre {
namespace {

[[noreturn]] void throw_error(int error) { throw std::system_error(error, std::generic_category()); }
void check(int error) {
  if (error != 0) throw_error(error);
}

class file_actions {
 public:
  file_actions() { check(::posix_spawn_file_actions_init(&actions_)); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;
  ~file_actions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void put(int from, int to) { check(::posix_spawn_file_actions_adddup2(&actions_, from, to)); }
  void change_directory(const std::string& to) { check(::posix_spawn_file_actions_addchdir_np(&actions_, to.c_str())); }
  void close_the_rest() { check(::posix_spawn_file_actions_addclosefrom_np(&actions_, 3)); }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const noexcept { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

class attributes {
 public:
  explicit attributes(bool new_session) {
    check(::posix_spawnattr_init(&attributes_));
    // Signals as a program expects them, whatever this one has blocked or ignored.
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (new_session) flags |= POSIX_SPAWN_SETSID;
    ::posix_spawnattr_setflags(&attributes_, static_cast<short>(flags));
  }
  attributes(const attributes&) = delete;
  attributes& operator=(const attributes&) = delete;
  ~attributes() { ::posix_spawnattr_destroy(&attributes_); }
  [[nodiscard]] const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

// Out of the way of the three numbers that are about to be replaced.
owned_fd above_standard(int fd) {
  const int copy = ::fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) throw_error(errno);
  return owned_fd(copy);
}

owned_fd open_null() {
  const owned_fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) throw_error(errno);
  return above_standard(null.get());
}

// The child's end of a stream, or none to inherit ours; `ours` becomes our end of a pipe.
owned_fd childs_end(const redirect& to, bool child_reads, owned_fd& ours) {
  switch (to.what()) {
    case redirect::kind::null:
      return open_null();
    case redirect::kind::descriptor:
      return above_standard(to.fd());
    case redirect::kind::pipe: {
      pipe_descriptors ends = open_pipe();
      ours = std::move(child_reads ? ends.writer : ends.reader);
      return above_standard((child_reads ? ends.reader : ends.writer).get());
    }
    default:
      return {};
  }
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> all;
  all.reserve(strings.size() + 1);
  for (const std::string& each : strings) {
    if (each.find('\0') != std::string::npos) throw_error(EINVAL);
    all.push_back(const_cast<char*>(each.c_str()));
  }
  all.push_back(nullptr);
  return all;
}

started_process start(const std::vector<std::string>& arguments, const process_options& options) {
  if (arguments.empty() || arguments.front().empty() || options.directory.find('\0') != std::string::npos)
    throw_error(EINVAL);
  started_process started;
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> given = options.environment ? pointers(*options.environment) : std::vector<char*>();
  std::array<owned_fd, 3> ends;
  ends[0] = childs_end(options.standard_input, true, started.input);
  ends[1] = childs_end(options.standard_output, false, started.output);
  ends[2] = childs_end(options.standard_error, false, started.error);

  file_actions actions;
  for (int number = 0; number < 3; ++number)
    if (const owned_fd& end = ends[static_cast<std::size_t>(number)]; end) actions.put(end.get(), number);
  if (options.standard_error.what() == redirect::kind::output) actions.put(STDOUT_FILENO, STDERR_FILENO);
  actions.close_the_rest();
  if (!options.directory.empty()) actions.change_directory(options.directory);
  const attributes how(options.new_session);
  char* const* const environment = options.environment ? given.data() : environ;
  check(::posix_spawnp(&started.id, argv[0], actions.get(), how.get(), argv.data(), environment));

  started.handle = owned_fd(static_cast<int>(::syscall(SYS_pidfd_open, started.id, 0)));
  if (!started.handle) {
    const int error = errno;
    ::kill(started.id, SIGKILL);
    ::waitpid(started.id, nullptr, 0);
    throw_error(error);
  }
  return started;
}

}  // namespace

started_process start_program(const std::vector<std::string>& arguments, const process_options& options) {
  try {
    return start(arguments, options);
  } catch (const std::system_error& error) {
    std::string what = arguments.empty() ? "nothing" : arguments.front();
    if (!options.directory.empty()) what += " in " + options.directory;
    throw io_error(error.code(), "start", what);
  }
}

std::vector<std::string> environment_with(const std::vector<std::string>& additions) {
  std::vector<std::string> all;
  const auto name = [](std::string_view entry) { return entry.substr(0, entry.find('=')); };
  for (char* const* each = environ; *each != nullptr; ++each) {
    const auto replaces = [&](const std::string& addition) { return name(addition) == name(*each); };
    if (std::none_of(additions.begin(), additions.end(), replaces)) all.emplace_back(*each);
  }
  all.insert(all.end(), additions.begin(), additions.end());
  return all;
}

}  // namespace gyre
