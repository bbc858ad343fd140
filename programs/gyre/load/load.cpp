// programs/gyre/load/load.cpp: runs a load on every loop, shows its progress, and prints the results.
#include "programs/gyre/load/load.hpp"

#include "programs/common/server_options.hpp"
#include "programs/common/standard_output.hpp"
#include "programs/gyre/load/loop_load.hpp"
#include "programs/gyre/load/report.hpp"
#include "programs/gyre/requests/request_options.hpp"

#include <gyre/gyre.hpp>
#include <gyre/io/printable.hpp>
#include <gyre/tls/stream.hpp>

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace programs {
namespace {

using namespace std::chrono_literals;

/// The load on all loops. Each part belongs to its loop.
class whole_load {
 public:
  explicit whole_load(const load_plan& plan) : plan_(plan), parts_(plan.loops), began_(gyre::now()) {}

  /// Runs until the plan is fulfilled, its time is over, or the program is asked to stop.
  gyre::task<> run() {
    auto here = [this]() -> gyre::task<> { co_await run_here(); };
    auto on_all_loops = [&here]() -> gyre::task<> { co_await gyre::for_each_loop(here); };
    auto time_over = [this]() -> gyre::task<> { co_await gyre::sleep_until(began_ + plan_.duration + grace()); };
    auto asked_to_stop = []() -> gyre::task<> { co_await gyre::stop_requested(); };
    auto progress = gyre::spawn(show_progress());
    co_await gyre::race(on_all_loops(), time_over(), asked_to_stop());
    took_ = gyre::now() - began_;
    progress.cancel();
    co_await progress.wait();
  }

  [[nodiscard]] std::chrono::nanoseconds took() const noexcept { return took_; }
  [[nodiscard]] load_counts counts() const {
    load_counts all;
    for (const auto& each : parts_)
      if (each) all.add(each->counts());
    return all;
  }

 private:
  // At a fixed rate, requests in flight at the end get the per-request limit to finish.
  [[nodiscard]] std::chrono::nanoseconds grace() const noexcept { return plan_.rate > 0 ? plan_.limit : 0ns; }

  gyre::task<> run_here() {
    const std::size_t index = gyre::event_loop::current().index();
    parts_[index] = std::make_unique<loop_load>(plan_, index, began_);
    co_await parts_[index]->run();
  }

  gyre::task<> show_progress() {
    if (::isatty(STDERR_FILENO) != 1) co_return;
    const gyre::scope_exit end_of_line([] { gyre::write_diagnostic("\r\033[K"); });
    for (int second = 1;; ++second) {
      co_await gyre::sleep_until(began_ + std::chrono::seconds(second));
      auto take = [this] {
        auto& part = parts_[gyre::event_loop::current().index()];
        return part ? std::make_unique<latency_histogram>(part->take_recent()) : std::make_unique<latency_histogram>();
      };
      latency_histogram recent;
      for (const auto& each : co_await gyre::for_each_loop(take)) recent.add(*each);
      gyre::write_diagnostic(fmt::format("\r\033[K{:4} s  {:>9} responses/s  p50 {}  p99 {}", second, recent.count(),
                                         duration_text(recent.percentile(0.5)),
                                         duration_text(recent.percentile(0.99))));
    }
  }

  const load_plan& plan_;
  std::vector<std::unique_ptr<loop_load>> parts_;
  gyre::time_point began_;
  std::chrono::nanoseconds took_{};
};

// Finds the address once, and tells at once when nobody answers there, or the handshake fails.
gyre::task<> meet_server(load_plan& plan) {
  auto connecting = gyre::tcp_stream::connect(fmt::format(
      "{}:{}", plan.url.host().contains(':') ? fmt::format("[{}]", plan.url.host()) : std::string(plan.url.host()),
      plan.url.port()));
  auto first = co_await gyre::timeout(plan.limit, std::move(connecting));
  plan.server = first.peer_address();
  if (!plan.encryption) co_return;
  auto shaking = gyre::tls::connect(std::move(first), std::string(plan.url.host()), *plan.encryption);
  (void)co_await gyre::timeout(plan.limit, std::move(shaking));
}

gyre::task<int> run_load(load_plan& plan, bool json) {
  try {
    co_await meet_server(plan);
  } catch (const gyre::timed_out&) {
    gyre::print_diagnostic(
        {"gyre load: ", plan.url.without_fragment(), ": timed out while connecting (see --timeout)"});
    co_return 1;
  } catch (const std::exception& error) {
    gyre::print_diagnostic({"gyre load: ", plan.url.without_fragment(), ": ", explain(error)});
    co_return 1;
  }
  whole_load all(plan);
  co_await all.run();
  const load_counts counts = all.counts();
  const bool printed =
      print_result(json ? report_json(plan, counts, all.took()) : report_text(plan, counts, all.took()));
  co_return printed&& counts.latencies.count() > 0 && counts.failed() == 0 ? 0 : 1;
}

}  // namespace

int load(const load_settings& settings) {
  try {
    load_plan plan(settings);
    gyre::run_options options = run_with(settings.backend);
    options.threads = plan.loops;
    return gyre::run_main(run_load(plan, settings.json), options);
  } catch (const std::exception& error) {
    gyre::print_diagnostic({"gyre load: ", error.what()});
    return 1;
  }
}

}  // namespace programs
