// src/io/backend_choice.cpp: chooses the backend of a process, and records why.
#include <gyre/io/backend_choice.hpp>
#include <gyre/io/backend_factory.hpp>

#include "epoll_backend.hpp"
#include "refusal_text.hpp"
#include "uring_backend.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

namespace gyre::io {
namespace {

struct findings {
  backend_choice choice;
  uring::capabilities found;
};

// The environment chooses only where the program leaves it to that.
const char* asked_by(const backend_options& options) noexcept {
  return options.kind == backend_kind::automatic ? "GYRE_BACKEND" : "the program";
}

bool is_out_of_descriptors(int error) noexcept { return error == EMFILE || error == ENFILE; }

// Writes "<prefix><failed call and reason>".
void note_refusal(backend_choice& choice, const char* prefix, const uring::refusal& refused) noexcept {
  choice.error = refused.error;
  const int length = std::snprintf(choice.reason, sizeof(choice.reason), "%s", prefix);
  describe_refusal(refused, choice.reason + length, sizeof(choice.reason) - static_cast<std::size_t>(length));
}

backend_owner try_uring(const backend_options& options, const uring::capabilities* known, uring::refusal& refused) {
  backend_owner made(new uring_backend(options, known, refused));
  return refused.error == 0 ? std::move(made) : backend_owner();
}

// Creates a backend as a loop would, and runs the self-test on it.
findings probe() noexcept {
  findings result;
  uring::refusal refused;
  try {
    const uring_backend trial(backend_options{.buffer_count = 64, .large_buffer_count = 0}, nullptr, refused);
    result.found = trial.capabilities();
  } catch (const std::bad_alloc&) {
    refused = {ENOMEM, "allocating a backend"};
  }
  if (refused.error != 0) {
    note_refusal(result.choice, "epoll: ", refused);
    return result;
  }
  result.choice.kind = backend_kind::io_uring;
  std::snprintf(
      result.choice.reason, sizeof(result.choice.reason), "io_uring: passed the self-test%s",
      result.found.multishot_receive && result.found.multishot_accept ? "" : ", without multishot operations");
  return result;
}

const findings& process_findings() noexcept {
  static const findings result = probe();
  return result;
}

std::atomic<backend_factory*> registered = nullptr;

backend_owner make_epoll(const backend_options& options, backend_choice& choice) {
  uring::refusal refused;
  backend_owner made(new epoll_backend(options, refused));
  choice.kind = backend_kind::epoll;
  if (refused.error == 0) return made;
  note_refusal(choice, "no backend: ", refused);
  return {};
}

backend_owner make_automatic(const backend_options& options, backend_choice& choice) {
  const findings& process = process_findings();
  choice = process.choice;
  uring::refusal refused;
  if (choice.kind == backend_kind::io_uring) {
    if (backend_owner made = try_uring(options, &process.found, refused)) return made;
  } else if (is_out_of_descriptors(choice.error)) {  // that was temporary, and says nothing about io_uring now
    choice = {.kind = backend_kind::io_uring, .error = 0, .reason = "io_uring: passed the self-test"};
    if (backend_owner made = try_uring(options, nullptr, refused)) return made;
  }
  // epoll needs descriptors too, and a process that lacks them should get that error.
  const bool hopeless = is_out_of_descriptors(refused.error);
  if (refused.error != 0) note_refusal(choice, hopeless ? "no backend: " : "epoll: ", refused);
  return hopeless ? backend_owner() : make_epoll(options, choice);
}

backend_owner make_uring_by_name(const backend_options& options, backend_choice& choice) {
  const findings& process = process_findings();
  const bool passed = process.choice.kind == backend_kind::io_uring;
  uring::refusal refused;
  backend_owner made = try_uring(options, passed ? &process.found : nullptr, refused);
  choice.kind = backend_kind::io_uring;
  if (made) {
    std::snprintf(choice.reason, sizeof(choice.reason), "io_uring: asked for by %s", asked_by(options));
  } else {
    char prefix[80];
    std::snprintf(prefix, sizeof(prefix), "io_uring was asked for by %s, but ", asked_by(options));
    note_refusal(choice, prefix, refused);
  }
  return made;
}

backend_owner make_epoll_by_name(const backend_options& options, backend_choice& choice) {
  std::snprintf(choice.reason, sizeof(choice.reason), "epoll: asked for by %s", asked_by(options));
  return make_epoll(options, choice);
}

constexpr backend_factory built_in[] = {{backend_kind::automatic, make_automatic},
                                        {backend_kind::io_uring, make_uring_by_name},
                                        {backend_kind::epoll, make_epoll_by_name}};

// Returns null when no backend has this name.
decltype(backend_factory::make) find_maker(backend_kind kind) noexcept {
  for (const backend_factory* each = registered.load(std::memory_order_acquire); each != nullptr; each = each->next)
    if (each->kind == kind) return each->make;
  for (const backend_factory& each : built_in)
    if (each.kind == kind) return each.make;
  return nullptr;
}

// Rejects sizes that could never work, or that have no power of two in range.
const char* wrong_size(const backend_options& options) noexcept {
  if (options.buffer_count < 1 || options.buffer_count > 32'768) return "buffer_count: expected 1 to 32768";
  if (options.buffer_size < 256 || options.buffer_size > (1U << 30U)) return "buffer_size: expected 256 bytes to 1 GiB";
  if (options.large_buffer_count > 32'768) return "large_buffer_count: expected 0 to 32768";
  if (options.large_buffer_size < 256 || options.large_buffer_size > (1U << 30U))
    return "large_buffer_size: expected 256 bytes to 1 GiB";
  if (options.submission_entries < 1 || options.submission_entries > 32'768)
    return "submission_entries: expected 1 to 32768";
  if (options.completion_entries < 1 || options.completion_entries > 65'536)
    return "completion_entries: expected 1 to 65536";
  return nullptr;
}

}  // namespace

const backend_choice& process_backend_choice() noexcept { return process_findings().choice; }

backend_owner make_backend(const backend_options& options, backend_choice& choice) {
  choice = {};
  if (const char* const wrong = wrong_size(options); wrong != nullptr) {
    choice.error = EINVAL;
    std::snprintf(choice.reason, sizeof(choice.reason), "backend_options::%s", wrong);
    return {};
  }
  backend_kind kind = options.kind;
  const char* const wish = std::getenv("GYRE_BACKEND");
  const bool obeys = kind == backend_kind::automatic && wish != nullptr && *wish != '\0';
  if (obeys) kind = backend_kind{wish};
  if (auto* const make = find_maker(kind); make != nullptr) return make(options, choice);
  choice.error = EINVAL;
  if (obeys)
    std::snprintf(choice.reason, sizeof(choice.reason), "GYRE_BACKEND=%.60s: expected auto, io_uring or epoll", wish);
  else
    std::snprintf(choice.reason, sizeof(choice.reason), "backend_options::kind: no backend \"%.*s\" is registered",
                  static_cast<int>(std::min<std::size_t>(kind.name.size(), 60)), kind.name.data());
  return {};
}

void register_backend(backend_factory& added) noexcept {
  added.next = registered.load(std::memory_order_relaxed);
  while (!registered.compare_exchange_weak(added.next, &added, std::memory_order_release, std::memory_order_relaxed)) {
  }
}

}  // namespace gyre::io
