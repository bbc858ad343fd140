// gyre/process/run_process.hpp: runs a program to its end.
#pragma once

#include <gyre/process/process.hpp>

#include <string>
#include <vector>

namespace gyre {

/// Starts a program, writes `input` to it, and returns its output and its status. Streams that `options` leaves
/// inherited are pipes here.
///
///   const std::vector<std::string> command{"ls", "-l"};  // g++ 12 refuses a list in the call: see docs/compilers.md
///   const auto listed = co_await gyre::run_process(command);
///
/// `options` can limit the time (`time_limit`, `pipe_limit`). With `process_group`, all processes that the program has
/// started are killed, too: at a time-out, at a cancel, and when the program has ended.
///
/// Cancel: the program is killed.
/// Errors: same as process::start and communicate. A program that fails is not an error: see `status`.
[[nodiscard]] GYRE_API task<process_result> run_process(std::vector<std::string> arguments, process_options options,
                                                        std::string input = {});
/// The same without options. An overload, because g++ 12 destroys default arguments of this kind twice in a co_await.
/// Cancel: same. Errors: same.
[[nodiscard]] GYRE_API task<process_result> run_process(std::vector<std::string> arguments);

}  // namespace gyre
