// programs/gyre/load/report.hpp: the results of a load, for people and for programs.
#pragma once

#include "programs/gyre/load/counts.hpp"
#include "programs/gyre/load/plan.hpp"

#include <chrono>
#include <string>

namespace programs {

/// Several lines.
[[nodiscard]] std::string report_text(const load_plan& plan, const load_counts& counts, std::chrono::nanoseconds took);
/// One object on one line. Latencies are in microseconds.
[[nodiscard]] std::string report_json(const load_plan& plan, const load_counts& counts, std::chrono::nanoseconds took);
/// "850 us", "1.20 ms", "3.40 s"
[[nodiscard]] std::string duration_text(std::chrono::nanoseconds duration);

}  // namespace programs
