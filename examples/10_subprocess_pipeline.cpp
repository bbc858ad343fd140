// examples/10_subprocess_pipeline.cpp: the most frequent words of the standard input: tr | sort | uniq -c | sort -rn.
#include <gyre/gyre.hpp>

#include <cstdio>
#include <string>
#include <vector>

namespace {

using command = std::vector<std::string>;

/// Starts the commands as a pipeline: each reads the output of its predecessor. The caller writes to the
/// first one and reads from the last.
std::vector<gyre::process> start_pipeline(const std::vector<command>& commands) {
  std::vector<gyre::process> children;
  gyre::owned_fd previous;
  for (const command& each : commands) {
    gyre::process_options options;
    if (previous) options.standard_input = gyre::redirect::descriptor(previous.get());
    gyre::pipe_descriptors next;
    if (&each == &commands.back()) {
      options.standard_output = gyre::redirect::pipe();
    } else {
      next = gyre::open_pipe();
      options.standard_output = gyre::redirect::descriptor(next.writer.get());
    }
    children.push_back(gyre::process::start(each, options));
    previous = std::move(next.reader);  // our copies close here, so that each child sees the end of its input
  }
  return children;
}

gyre::task<int> count_words(std::size_t max_lines) {
  const std::vector<command> commands{{"tr", "-cs", "[:alnum:]", "\\n"}, {"sort"}, {"uniq", "-c"}, {"sort", "-rn"}};
  std::vector<gyre::process> children = start_pipeline(commands);
  gyre::stream_reader words{gyre::any_stream(std::move(children.back().output()))};
  for (std::size_t i = 0; i < max_lines; ++i) {
    const auto line = co_await words.read_line();
    if (!line) break;
    std::printf("%s\n", line->c_str());
  }
  while (!words.at_eof()) (void)co_await words.read();
  int failed = 0;
  for (gyre::process& each : children) {
    const gyre::exit_status status = co_await each.wait();
    if (!status.success()) ++failed;
  }
  co_return failed == 0 ? 0 : 1;
}

}  // namespace

int main() { return gyre::run_main(count_words(3)); }
