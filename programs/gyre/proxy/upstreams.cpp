// programs/gyre/proxy/upstreams.cpp: chooses servers, and leaves out those that fail.
#include "programs/gyre/proxy/upstreams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace programs {

upstreams::upstreams(std::span<const gyre::http::url> urls, std::span<upstream_counts> counts, const policy& chosen)
    : urls_(urls), counts_(counts), policy_(chosen), servers_(urls.size()), random_(std::random_device{}()) {
  candidates_.reserve(urls.size());
  for (upstream_counts& each : counts_) ++each.loops_up;
}

upstreams::~upstreams() {
  for (std::size_t i = 0; i < servers_.size(); ++i) count_up(i, false);
}

void upstreams::count_up(std::size_t number, bool up) noexcept {
  if (std::exchange(servers_[number].counted_up, up) != up) counts_[number].loops_up += up ? 1 : -1;
}

std::size_t upstreams::choose(std::span<const std::size_t> tried) {
  const gyre::time_point now = gyre::now();
  for (const bool only_up : {true, false}) {
    candidates_.clear();
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      const bool up = is_up(servers_[i], now);
      count_up(i, up);
      if ((up || !only_up) && std::ranges::find(tried, i) == tried.end()) candidates_.push_back(i);
    }
    if (!candidates_.empty()) return pick(candidates_);
  }
  return none;
}

std::size_t upstreams::pick(std::span<const std::size_t> from) {
  const auto running = [this](std::size_t number) { return servers_[number].running; };
  const auto any = [&] { return from[random_() % from.size()]; };
  switch (policy_.how) {
    case balance::two_choices: {
      const std::size_t first = any();
      const std::size_t second = any();
      return running(second) < running(first) ? second : first;
    }
    case balance::least_connections: {
      const std::size_t begin = next_++ % from.size();  // ties rotate
      std::size_t best = from[begin];
      for (std::size_t i = 1; i < from.size(); ++i) {
        const std::size_t each = from[(begin + i) % from.size()];
        if (running(each) < running(best)) best = each;
      }
      return best;
    }
    case balance::round_robin:
      break;
  }
  return from[next_++ % from.size()];
}

void upstreams::note_success(std::size_t number) noexcept {
  servers_[number].failures = 0;
  servers_[number].paused_until = {};
}

void upstreams::note_failure(std::size_t number) noexcept {
  ++counts_[number].failures;
  server& failed = servers_[number];
  if (++failed.failures < policy_.max_failures) return;
  const gyre::time_point now = gyre::now();
  if (failed.paused_until <= now) ++failed.pauses;
  failed.paused_until = now + policy_.pause;
  failed.failures = policy_.max_failures - 1;  // after the pause, one more failure is enough
}

bool upstreams::set_healthy(std::size_t number, bool healthy) noexcept {
  servers_[number].healthy = healthy;
  if (healthy) note_success(number);
  count_up(number, is_up(servers_[number], gyre::now()));
  return counts_[number].healthy.exchange(healthy) != healthy;
}

upstreams::use::use(upstreams& of, std::size_t number) noexcept
    : of_(&of), number_(number), pauses_(of.servers_[number].pauses) {
  ++of_->servers_[number_].running;
  ++of_->counts_[number_].running;
  ++of_->counts_[number_].requests;
}

upstreams::use::use(use&& other) noexcept
    : of_(std::exchange(other.of_, nullptr)), number_(other.number_), pauses_(other.pauses_), failed_(other.failed_) {}

upstreams::use& upstreams::use::operator=(use&& other) noexcept {
  end();
  of_ = std::exchange(other.of_, nullptr);
  number_ = other.number_;
  pauses_ = other.pauses_;
  failed_ = other.failed_;
  return *this;
}

void upstreams::use::end() noexcept {
  if (of_ == nullptr) return;
  --of_->servers_[number_].running;
  --of_->counts_[number_].running;
  of_ = nullptr;
}

std::string upstream_metrics(std::span<const gyre::http::url> urls, std::span<const upstream_counts> counts) {
  std::string text;
  const auto add = [&](const char* name, const char* kind, const char* help, auto value_of) {
    fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
    for (std::size_t i = 0; i < urls.size(); ++i)
      fmt::format_to(std::back_inserter(text), "{}{{server=\"{}\"}} {}\n", name, urls[i].origin(), value_of(counts[i]));
  };
  add("gyre_proxy_requests_total", "counter", "Requests sent to the server, retries included.",
      [](const upstream_counts& c) { return c.requests.load(); });
  add("gyre_proxy_failures_total", "counter", "Requests that the server has not answered.",
      [](const upstream_counts& c) { return c.failures.load(); });
  add("gyre_proxy_retries_total", "counter", "Requests that were sent to another server after this one.",
      [](const upstream_counts& c) { return c.retries.load(); });
  add("gyre_proxy_running", "gauge", "Requests that the server works on.",
      [](const upstream_counts& c) { return c.running.load(); });
  add("gyre_proxy_up", "gauge", "The number of loops that send requests to the server.",
      [](const upstream_counts& c) { return c.loops_up.load(); });
  return text;
}

}  // namespace programs
