// src/process/run_process.cpp: runs a child process as one function call.
#include <gyre/process/run_process.hpp>

#include <utility>

namespace gyre {

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
