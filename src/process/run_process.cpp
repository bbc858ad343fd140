// src/process/run_process.cpp: feeding a child and listening to it at the same time.
#include <gyre/io/io_error.hpp>
#include <gyre/process/run_process.hpp>
#include <gyre/tasks/gather.hpp>

#include <span>
#include <system_error>
#include <utility>

namespace gyre {
namespace {

task<> feed(fs::file& input, std::string_view text) {
  if (!input.is_open()) co_return;
  try {
    co_await input.write_all(text);
  } catch (const io_error& error) {
    if (error.code() != std::errc::broken_pipe) throw;  // it has read as much as it wanted
  }
  co_await input.close();
}

task<> collect(fs::file& from, std::string& all, std::size_t limit) {
  constexpr std::size_t piece = 65536;
  while (from.is_open()) {
    const std::size_t had = all.size();
    all.resize(had + piece);
    const std::span<char> room(all.data() + had, piece);
    const std::size_t size = co_await from.read_some(room);
    all.resize(had + size);
    if (size == 0) co_return;
    if (all.size() > limit) throw io_error(std::make_error_code(std::errc::file_too_large), "communicate", from.path());
  }
}

}  // namespace

task<process_result> process::communicate(std::string text, std::size_t limit) {
  process_result result;
  co_await gather(feed(input(), text), collect(output(), result.output, limit), collect(error(), result.error, limit));
  result.status = co_await wait();
  co_return result;
}

task<process_result> run_process(std::vector<std::string> arguments, process_options options, std::string input) {
  for (redirect* each : {&options.standard_input, &options.standard_output, &options.standard_error})
    if (each->what() == redirect::kind::inherit) *each = redirect::pipe();
  process child = process::start(arguments, options);
  co_return co_await child.communicate(std::move(input));
}

task<process_result> run_process(std::vector<std::string> arguments) {
  process_options options;
  co_return co_await run_process(std::move(arguments), std::move(options));
}

}  // namespace gyre
