// tests/support/planned_backend.hpp: a third backend, which counts, delays and fails requests and calls by a plan.
#pragma once

#include <gyre/io/backend_choice.hpp>
#include <gyre/io/backend_factory.hpp>
#include <gyre/io/kernel_scope.hpp>

#include "src/io/epoll_backend.hpp"
#include "src/io/uring_backend.hpp"
#include "tests/support/planned_kernel.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace gyre_test {

/// The plan for requests with this code. One that fails does so without reaching the kernel.
inline planned_call& planned_request(gyre::io::opcode code) noexcept {
  using gyre::io::opcode;
  constexpr int codes = static_cast<int>(opcode::raw) + 1;
  static planned_call* const plans = [] {
    auto* const all = static_cast<planned_call*>(std::malloc(codes * sizeof(planned_call)));  // for ever
    for (int i = 0; i < codes; ++i) new (&all[i]) planned_call("a request");
    return all;
  }();
  return plans[static_cast<int>(code)];
}

/// A real backend on the planned kernel. A request waits here first when its plan says so; at most eight at a time.
template <class Real>
class planned_backend final : public Real {
 public:
  using Real::Real;

  void submit(gyre::io::request& r) noexcept override {
    planned_call& plan = planned_request(r.code);
    const unsigned waits = plan.waits();
    const int error = plan.begin();
    if (error == 0 && waits == 0) return Real::submit(r);
    const auto free = std::find_if(kept_.begin(), kept_.end(), [](const kept& k) { return k.held == nullptr; });
    if (free == kept_.end()) {
      std::fputs("the plan keeps more requests back at the same time than there is room for\n", stderr);
      std::abort();
    }
    r.where = gyre::io::phase::in_flight;
    r.cancel_requested = false;
    ++this->in_flight_;
    ++r.target->in_flight;
    *free = {&r, error, waits};
    ++count_;
  }

  void cancel(gyre::io::request& r) noexcept override {
    for (kept& each : kept_)
      if (each.held == &r) {
        each = {&r, each.error != 0 ? each.error : ECANCELED, 0};
        return;
      }
    Real::cancel(r);
  }

  void wait(gyre::io::monotonic_time deadline, gyre::io::ready_list& ready) noexcept override {
    Real::wait(count_ > 0 ? gyre::io::do_not_wait : deadline, ready);
    go_on(ready);
  }

  gyre::io::monotonic_time prepare_wait(gyre::io::monotonic_time deadline,
                                        gyre::io::ready_list& ready) noexcept override {
    const bool something = count_ > 0;
    const gyre::io::monotonic_time until = Real::prepare_wait(deadline, ready);
    go_on(ready);
    return something ? gyre::io::do_not_wait : until;
  }

 private:
  struct kept {
    gyre::io::request* held = nullptr;
    int error = 0;
    unsigned waits = 0;
  };

  void go_on(gyre::io::ready_list& ready) noexcept {
    for (kept& each : kept_) {
      if (each.held == nullptr || (each.waits > 0 && --each.waits > 0)) continue;
      gyre::io::request& r = *std::exchange(each.held, nullptr);
      --count_;
      --this->in_flight_;
      --r.target->in_flight;
      r.where = gyre::io::phase::idle;
      each.error == 0 ? Real::submit(r) : fail(r, -each.error, ready);
    }
  }

  static void fail(gyre::io::request& r, int result, gyre::io::ready_list& ready) noexcept {
    r.result = result;
    if (!gyre::io::is_multishot(r.code)) return ready.push_back(r);
    auto& m = static_cast<gyre::io::multishot&>(r);
    m.deliver(m, result, gyre::io::multishot::no_buffer);
    if (!std::exchange(m.listed, true)) ready.push_back(m);
  }

  std::array<kept, 8> kept_;
  unsigned count_ = 0;
};

/// The result of the self-test of io_uring in this process.
inline const gyre::uring::capabilities& ring_features() {
  static const gyre::uring::capabilities found = [] {
    gyre::uring::refusal refused;
    return gyre::io::uring_backend({.buffer_count = 64, .large_buffer_count = 0}, nullptr, refused).capabilities();
  }();
  return found;
}

inline constexpr gyre::io::backend_kind planned_uring{"planned_io_uring"};
inline constexpr gyre::io::backend_kind planned_epoll{"planned_epoll"};

template <class Real, class... Arguments>
gyre::io::backend_owner make_planned(gyre::io::backend_kind kind, gyre::io::backend_choice& choice,
                                     const Arguments&... arguments) {
  const gyre::io::kernel_scope used(planned_kernel::instance());
  gyre::uring::refusal refused;
  gyre::io::backend_owner made(new planned_backend<Real>(arguments..., refused));
  choice.kind = kind;
  choice.error = refused.error;
  std::snprintf(choice.reason, sizeof(choice.reason), "%s: %s", refused.error == 0 ? "planned" : refused.step,
                refused.error == 0 ? "for a test" : std::strerror(refused.error));
  return refused.error == 0 ? std::move(made) : gyre::io::backend_owner();
}

/// Registers both kinds, before main begins.
inline const bool planned_backends_registered = [] {
  using namespace gyre::io;
  (void)planned_request(opcode::raw);
  static backend_factory factories[] = {{planned_uring,
                                         [](const backend_options& options, backend_choice& choice) {
                                           return make_planned<uring_backend>(planned_uring, choice, options,
                                                                              &ring_features());
                                         }},
                                        {planned_epoll, [](const backend_options& options, backend_choice& choice) {
                                           return make_planned<epoll_backend>(planned_epoll, choice, options);
                                         }}};
  for (backend_factory& each : factories) register_backend(each);
  return true;
}();

/// The planned form of the backend that GYRE_BACKEND names, or that this machine would use.
inline gyre::io::backend_kind planned_kind() {
  const char* const wish = std::getenv("GYRE_BACKEND");
  const bool epoll = wish != nullptr && std::string_view(wish) == "epoll";
  const bool uring = gyre::io::process_backend_choice().kind == gyre::io::backend_kind::io_uring;
  return epoll || !uring ? planned_epoll : planned_uring;
}

}  // namespace gyre_test
