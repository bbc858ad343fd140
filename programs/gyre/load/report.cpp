// programs/gyre/load/report.cpp: prints the results of a load.
#include "programs/gyre/load/report.hpp"

#include "programs/gyre/requests/size_text.hpp"
#include "programs/gyre/serve/json_text.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <utility>

namespace programs {
namespace {

constexpr std::array<std::pair<const char*, double>, 6> percentiles{
    {{"p50", 0.5}, {"p90", 0.9}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"p99.99", 0.9999}}};

double seconds_of(std::chrono::nanoseconds duration) { return std::chrono::duration<double>(duration).count(); }

double microseconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

std::string duration_text(std::chrono::nanoseconds duration) {
  const double microseconds = microseconds_of(duration);
  if (microseconds < 1000) return fmt::format("{:.0f} us", microseconds);
  if (microseconds < 1e6) return fmt::format("{:.2f} ms", microseconds / 1e3);
  return fmt::format("{:.2f} s", microseconds / 1e6);
}

std::string report_text(const load_plan& plan, const load_counts& counts, std::chrono::nanoseconds took) {
  const double seconds = seconds_of(took);
  const auto& latencies = counts.latencies;
  const auto rate = static_cast<double>(latencies.count()) / seconds;
  std::string text =
      fmt::format("{}: {} connection{}, {} thread{}, {:.1f} s, ", plan.url.without_fragment(), plan.connections,
                  plan.connections == 1 ? "" : "s", plan.loops, plan.loops == 1 ? "" : "s", seconds);
  text += plan.rate > 0
              ? fmt::format("{:g} requests/s wanted; latencies count from when a request was due\n", plan.rate)
              : std::string("each connection sends its next request after the response\n");
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "  responses    {}  ({:.1f}/s)\n", latencies.count(), rate);
  fmt::format_to(out, "  received     {}  ({}/s)\n", size_text(static_cast<double>(counts.received)),
                 size_text(static_cast<double>(counts.received) / seconds));
  fmt::format_to(out, "  connections  {}\n", counts.connections);
  if (latencies.count() > 0) {
    fmt::format_to(out, "  latency      shortest {}, mean {}, longest {}\n", duration_text(latencies.shortest()),
                   duration_text(latencies.mean()), duration_text(latencies.longest()));
    for (const auto& [name, share] : percentiles)
      fmt::format_to(out, "    {:<10} {}\n", name, duration_text(latencies.percentile(share)));
  }
  for (const auto& [status, count] : counts.statuses) fmt::format_to(out, "  status {}   {}\n", status, count);
  for (const auto& [error, count] : counts.errors) fmt::format_to(out, "  error        {}  {}\n", count, error);
  if (counts.unfinished > 0)
    fmt::format_to(out, "  unfinished   {}  (waited for a response when the time was over, for up to {})\n",
                   counts.unfinished, duration_text(counts.max_unfinished));
  return text;
}

std::string report_json(const load_plan& plan, const load_counts& counts, std::chrono::nanoseconds took) {
  const double seconds = seconds_of(took);
  const auto& latencies = counts.latencies;
  std::string text = "{\"url\":";
  append_json(text, plan.url.without_fragment());
  const auto out = std::back_inserter(text);
  fmt::format_to(out, ",\"connections\":{},\"threads\":{},\"seconds\":{:.6f},\"rate_wanted\":", plan.connections,
                 plan.loops, seconds);
  text += plan.rate > 0 ? fmt::format("{:g}", plan.rate) : std::string("null");
  fmt::format_to(out, ",\"responses\":{},\"rate\":{:.3f},\"bytes_received\":{},\"connections_made\":{}",
                 latencies.count(), static_cast<double>(latencies.count()) / seconds, counts.received,
                 counts.connections);
  fmt::format_to(out, ",\"unfinished\":{},\"max_unfinished_us\":{:.3f}", counts.unfinished,
                 microseconds_of(counts.max_unfinished));
  fmt::format_to(out, ",\"latency_us\":{{\"shortest\":{:.3f},\"mean\":{:.3f},\"longest\":{:.3f}",
                 microseconds_of(latencies.shortest()), microseconds_of(latencies.mean()),
                 microseconds_of(latencies.longest()));
  for (const auto& [name, share] : percentiles)
    fmt::format_to(out, ",\"{}\":{:.3f}", name, microseconds_of(latencies.percentile(share)));
  text += "},\"statuses\":{";
  const char* separator = "";
  for (const auto& [status, count] : counts.statuses)
    fmt::format_to(out, "{}\"{}\":{}", std::exchange(separator, ","), status, count);
  text += "},\"errors\":{";
  separator = "";
  for (const auto& [error, count] : counts.errors) {
    text += std::exchange(separator, ",");
    append_json(text, error);
    fmt::format_to(out, ":{}", count);
  }
  return text + "}}\n";
}

}  // namespace programs
