// src/process/start_program.cpp: starts a child with redirected streams.
#include <gyre/io/io_error.hpp>
#include <gyre/io/kernel.hpp>
#include <gyre/io/pipe.hpp>

#include "child_launch.hpp"
#include "process_state.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace gyre {
namespace {

[[noreturn]] void throw_error(int error) { throw std::system_error(error, std::generic_category()); }

// Duplicates the descriptor above the three numbers that are about to be replaced.
owned_fd above_standard(int fd) {
  const int copy = io::files().fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy < 0) throw_error(errno);
  return owned_fd(copy);
}

owned_fd open_null() {
  const owned_fd null(io::files().openat(AT_FDCWD, "/dev/null", O_RDWR | O_CLOEXEC, 0));
  if (!null) throw_error(errno);
  return above_standard(null.get());
}

// A program expects standard streams that block. The descriptors of this library do not, and share that with their
// duplicates. A second open of a pipe or terminal does not share it. A socket cannot be opened again. It may become
// blocking, because reads and writes of this library say in each call that they must not wait.
owned_fd blocking_copy(int fd) {
  owned_fd copy = above_standard(fd);
  const int flags = io::files().fcntl(fd, F_GETFL, 0);
  struct stat found{};
  if (flags < 0 || (flags & O_NONBLOCK) == 0 || io::files().fstat(fd, &found) < 0) return copy;
  if (S_ISSOCK(found.st_mode)) {
    io::files().fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  } else if (S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)) {
    const int how = (flags & O_ACCMODE) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;  // the open itself must not wait
    const owned_fd second(io::files().openat(AT_FDCWD, ("/proc/self/fd/" + std::to_string(fd)).c_str(), how, 0));
    if (!second) return copy;
    io::files().fcntl(second.get(), F_SETFL, flags & ~O_NONBLOCK);
    copy = above_standard(second.get());
  }
  return copy;
}

// Returns the child's end of a stream, or none to inherit the parent's. `ours` receives the parent's end of a pipe.
owned_fd childs_end(const redirect& to, bool child_reads, owned_fd& ours) {
  switch (to.what()) {
    case redirect::kind::null:
      return open_null();
    case redirect::kind::descriptor:
      return blocking_copy(to.fd());
    case redirect::kind::pipe: {
      pipe_descriptors ends = open_pipe();
      ours = std::move(child_reads ? ends.writer : ends.reader);
      return above_standard((child_reads ? ends.reader : ends.writer).get());
    }
    default:
      return {};
  }
}

// Returns the paths at which execvp(3) would look for the program.
std::vector<std::string> paths_of(const std::string& program) {
  if (program.find('/') != std::string::npos) return {program};
  const char* const listed = std::getenv("PATH");
  const std::string_view all = listed != nullptr ? listed : "/bin:/usr/bin";
  std::vector<std::string> paths;
  for (std::size_t at = 0; at <= all.size();) {
    const std::size_t end = std::min(all.find(':', at), all.size());
    const std::string_view directory = all.substr(at, end - at);
    paths.push_back(directory.empty() ? program : std::string(directory) + '/' + program);
    at = end + 1;
  }
  return paths;
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
  for (const redirect& each : {options.standard_input, options.standard_output})
    if (each.what() == redirect::kind::output)
      throw std::invalid_argument(
          "start: redirect::to_output() is for the error stream, not for the input or the output");
  started_process started;
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> given = options.environment ? pointers(*options.environment) : std::vector<char*>();
  const std::vector<std::string> paths = paths_of(arguments.front());
  const std::vector<char*> candidates = pointers(paths);
  std::array<owned_fd, 3> ends;
  ends[0] = childs_end(options.standard_input, true, started.input);
  ends[1] = childs_end(options.standard_output, false, started.output);
  ends[2] = childs_end(options.standard_error, false, started.error);

  child_plan plan;
  for (std::size_t i = 0; i < ends.size(); ++i) plan.streams[i] = ends[i].get();
  plan.error_to_output = options.standard_error.what() == redirect::kind::output;
  plan.new_session = options.new_session;
  plan.own_group = options.process_group;
  if (!options.directory.empty()) plan.directory = options.directory.c_str();
  plan.paths = candidates.data();
  plan.arguments = argv.data();
  plan.environment = options.environment ? given.data() : environ;
  launched_child child;
  if (const int error = launch_child(plan, child); error != 0) throw_error(error);
  started.id = child.id;
  started.handle = owned_fd(child.handle);
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
