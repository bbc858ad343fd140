// gyre/process/run_process.hpp: a program run to its end.
#pragma once

#include <gyre/process/process.hpp>

#include <string>
#include <vector>

namespace gyre {

/// Starts a program, writes `input` to it, and gives what it said and how it ended. The streams that `options` leaves to
/// be inherited are pipes here.
///
///   const auto listed = co_await gyre::run_process({"ls", "-l"});
///
/// `options` limits the time (`time_limit`, `pipe_limit`) and can kill what the program has started (`process_group`), too: at a
/// time-out, at a cancel, and when the program has ended.
///
/// Cancel: the program is killed.
/// Errors: same as process::start and communicate. A program that fails is no error: see `status`.
[[nodiscard]] GYRE_API task<process_result> run_process(std::vector<std::string> arguments, process_options options,
                                                        std::string input = {});
/// The same without options: an overload, for g++ 12 destroys defaults of this kind twice in a co_await.
/// Cancel: same. Errors: same.
[[nodiscard]] GYRE_API task<process_result> run_process(std::vector<std::string> arguments);

}  // namespace gyre
