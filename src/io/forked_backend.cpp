// src/io/forked_backend.cpp: the backend, in a forked child, of a loop that belongs to the parent process.
#include <gyre/io/backend_choice.hpp>
#include <gyre/io/printable.hpp>

#include <cerrno>
#include <cstdlib>

namespace gyre::io {
namespace {

[[noreturn]] void stop_forked_child() noexcept {
  print_diagnostic(
      {"gyre: a forked child uses the event loop of its parent; give it a loop of its own with gyre::run, or exec a "
       "program (processes: gyre::process)"});
  std::abort();
}

class backend_of_parent final : public backend {
 public:
  backend_of_parent() : backend({.count = 1, .size = 4096}, {.count = 0, .size = 1}) {}

  void submit(request& /*r*/) noexcept override { stop_forked_child(); }
  void cancel(request& /*r*/) noexcept override {}
  void wait(monotonic_time /*deadline*/, ready_list& /*ready*/) noexcept override { stop_forked_child(); }
  int pollable() noexcept override { return -EOPNOTSUPP; }
  monotonic_time prepare_wait(monotonic_time /*deadline*/, ready_list& /*ready*/) noexcept override {
    stop_forked_child();
  }
  void wake() noexcept override {}
  void attach(descriptor& /*d*/) noexcept override {}
  void detach(descriptor& d) noexcept override { d.attached = false; }
  [[nodiscard]] std::string_view name() const noexcept override { return "none"; }
  [[nodiscard]] std::uint64_t system_calls() const noexcept override { return 0; }
};

}  // namespace

backend& forked_backend() {
  static backend& instance = *new backend_of_parent;
  return instance;
}

}  // namespace gyre::io
