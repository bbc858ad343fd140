// src/io/pool_state.cpp: the threads of a pool, and pools across fork(2).
#include <gyre/io/kernel.hpp>

#include "pool_state.hpp"

#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/auxv.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>
#include <utility>

// The beginning of the file that contains this code, in memory. The linker knows it, with most of its scripts.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name
extern "C" [[gnu::weak, gnu::visibility("hidden")]] const ElfW(Ehdr) __ehdr_start;

namespace gyre::io {

constinit thread_local pool_state* pool_state::own_ = nullptr;
constinit thread_local std::size_t pool_state::jobs_waited_for_ = 0;

namespace {

// All pools, for the fork handlers. Never destroyed, because pools of static storage could outlive it.
struct all_pools {
  std::mutex mutex;
  pool_state* first = nullptr;
};
all_pools& pools_of_process() noexcept {
  alignas(all_pools) static std::byte room[sizeof(all_pools)];
  static auto* const all = new (room) all_pools;
  return *all;
}

// The processors on which the threads of pools may run; null means those of the thread that starts them.
struct allowed_processors {
  std::array<unsigned long, 8192 / (8 * sizeof(unsigned long))> mask{};  // Linux supports no more
  const allowed_processors* older = nullptr;
};
constinit std::atomic<const allowed_processors*> processors{nullptr};

// All that were read. Never freed, because a thread may be reading one; different ones are few.
struct known_processors {
  std::mutex mutex;
  const allowed_processors* newest = nullptr;
};
constinit known_processors known_masks;

const bool several_cores = std::thread::hardware_concurrency() > 1;

// After a wait for a job, a thread often gets the next one at once. Then polling for a moment costs less than sleeping
// and being woken. A thread that finds nothing several times stops polling, and tries again now and then.
class eagerness {
 public:
  [[nodiscard]] bool looks() noexcept {
    constexpr unsigned max_misses = 3;
    constexpr unsigned try_again = 64;
    if (!several_cores) return false;
    if (misses_ < max_misses) return true;
    ++misses_;
    return misses_ % try_again == 0;
  }
  void found(bool something) noexcept { misses_ = something ? 0 : misses_ + 1; }

 private:
  unsigned misses_ = 0;
};

// False in an executable, and in the shared library, which is linked with -z nodelete. Threads that register a
// destructor wait while another thread is in dlopen(3). There a constructor may call a function that waits for such a
// thread.
bool may_be_unloaded() noexcept {
#ifdef GYRE_SHARED
  return false;
#else
  const auto own_file = reinterpret_cast<std::uintptr_t>(&__ehdr_start);
  return own_file == 0 || own_file + __ehdr_start.e_phoff != ::getauxval(AT_PHDR);
#endif
}

void pause_processor() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

pool_state::pool_state(std::size_t limit) : max_threads(limit) {
  register_fork_handlers();
  all_pools& all = pools_of_process();
  const std::scoped_lock lock(all.mutex);
  next_pool_ = all.first;
  if (next_pool_ != nullptr) next_pool_->previous_pool_ = this;
  all.first = this;
}

pool_state::~pool_state() {
  all_pools& all = pools_of_process();
  const std::scoped_lock lock(all.mutex);
  (previous_pool_ == nullptr ? all.first : previous_pool_->next_pool_) = next_pool_;
  if (next_pool_ != nullptr) next_pool_->previous_pool_ = previous_pool_;
}

void pool_state::enqueue(blocking_job& job) noexcept {
  job.nested = is_own_thread();
  (job.nested ? nested_jobs_ : jobs_).link_last(job);
  std::atomic_ref(job.queued_in).store(this, std::memory_order_relaxed);
  ++queued;
}

void pool_state::dequeue(blocking_job& job) noexcept {
  (job.nested ? nested_jobs_ : jobs_).unlink(job);
  std::atomic_ref(job.queued_in).store(nullptr, std::memory_order_relaxed);
  --queued;
}

blocking_job* pool_state::take_job() noexcept {
  if (!may_run()) return nullptr;
  blocking_job* const job = (nested_jobs_.empty() ? jobs_ : nested_jobs_).first();
  dequeue(*job);
  return job;
}

// Polls without the lock. Returns true when there is a job, unless another thread is quicker.
bool pool_state::look_for_job() const noexcept {
  using clock = std::chrono::steady_clock;
  constexpr auto moment = std::chrono::microseconds(20);
  for (const auto end = clock::now() + moment; clock::now() < end;)
    for (int i = 0; i < 8; ++i) {
      if (queued.load(std::memory_order_relaxed) > 0) return true;
      pause_processor();
    }
  return false;
}

void pool_state::remember_processors() noexcept {
  allowed_processors now;
  if (::sched_getaffinity(0, sizeof(now.mask), reinterpret_cast<cpu_set_t*>(now.mask.data())) != 0) return;
  const std::scoped_lock lock(known_masks.mutex);
  const allowed_processors* found = known_masks.newest;
  while (found != nullptr && found->mask != now.mask) found = found->older;
  if (found == nullptr) {
    now.older = known_masks.newest;
    found = new (std::nothrow) allowed_processors(now);
    if (found == nullptr) return;
    known_masks.newest = found;
  }
  processors = found;
}

// glibc unloads no library, by dlclose(3), while a thread has to run one of the library's destructors. So a plugin that
// contains this code stays loaded while its pools have threads. This destructor is the last that such a thread runs.
class pool_state::thread_end {
 public:
  thread_end() = default;
  thread_end& operator=(thread_end&&) = delete;
  ~thread_end() { own_ = nullptr; }

  static void of_this_thread() noexcept {
    thread_local const thread_end last;
    (void)last;
  }
};

void pool_state::run_jobs() noexcept {
  own_ = this;
  if (may_be_unloaded()) thread_end::of_this_thread();
  if (const allowed_processors* const allowed = processors)
    (void)::sched_setaffinity(0, sizeof(allowed->mask), reinterpret_cast<const cpu_set_t*>(allowed->mask.data()));
  std::unique_lock lock(mutex);
  work_until_idle_for_long(lock);
  --threads;
  const std::optional<pthread_t> before = std::exchange(unjoined_, ::pthread_self());
  ended.notify_all();
  if (joiners_ > 0) work.notify_all();  // this thread may have taken the last job, and all others end now, too
  lock.unlock();
  if (before) ::pthread_join(*before, nullptr);
}

void pool_state::work_until_idle_for_long(std::unique_lock<std::mutex>& lock) noexcept {
  constexpr auto patience = std::chrono::seconds(10);
  eagerness eager;
  for (;;) {
    if (blocking_job* const job = take_job()) {
      ++running;
      lock.unlock();
      {
        const kernel_scope of_submitter(*job->calls);
        job->run(*job);  // may free the job
      }
      lock.lock();
      --running;
      continue;
    }
    if (must_end()) return;
    if (looking == 0 && queued == 0 && eager.looks()) {
      ++looking;
      lock.unlock();
      eager.found(look_for_job());
      lock.lock();
      --looking;
      if (may_run()) continue;
    }
    ++idle;
    const bool woken = work.wait_for(lock, patience, [this] { return may_run() || must_end(); });
    --idle;
    if (!woken && joiners_ == 0) return;
  }
}

void pool_state::join() noexcept {
  std::unique_lock lock(mutex);
  ++joiners_;
  work.notify_all();
  ended.wait(lock, [this] { return threads == 0 && !joining_; });
  --joiners_;
  const std::optional<pthread_t> last = std::exchange(unjoined_, std::nullopt);
  if (!last) return;
  joining_ = true;
  lock.unlock();
  ::pthread_join(*last, nullptr);
  lock.lock();
  joining_ = false;
  ended.notify_all();
}

void pool_state::join_without_waiting() noexcept {
  const std::unique_lock lock(mutex, std::try_to_lock);
  if (lock && unjoined_ && ::pthread_tryjoin_np(*unjoined_, nullptr) == 0) unjoined_.reset();
}

bool pool_state::start_thread() noexcept {
  // Signals are for the threads that run loops.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto run = [](void* pool) -> void* {
    static_cast<pool_state*>(pool)->run_jobs();
    return nullptr;
  };
  pthread_t ignored{};  // the thread itself says who it is when it ends
  const bool started = ::pthread_create(&ignored, nullptr, run, this) == 0;
  if (started) ++threads;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

// Without memory for the handlers, a forked child would wait for threads that do not exist in it. The first pool is
// made before main begins, so that no thread can fork while the handlers are registered.
void pool_state::register_fork_handlers() noexcept {
  static const int registered = ::pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  (void)registered;
}

void pool_state::before_fork() noexcept {
  all_pools& all = pools_of_process();
  all.mutex.lock();
  for (pool_state* each = all.first; each != nullptr; each = each->next_pool_) each->mutex.lock();
}

void pool_state::after_fork_in_parent() noexcept {
  all_pools& all = pools_of_process();
  for (pool_state* each = all.first; each != nullptr; each = each->next_pool_) each->mutex.unlock();
  all.mutex.unlock();
}

void pool_state::after_fork_in_child() noexcept {
  all_pools& all = pools_of_process();
  for (pool_state* each = all.first; each != nullptr; each = each->next_pool_) each->begin_anew();
  all.mutex.unlock();
}

// In the child, with the lock held. The condition variables may still count threads of the parent as waiters. So they
// are constructed anew, and the old ones are not destroyed.
void pool_state::begin_anew() noexcept {
  while (blocking_job* const job = (nested_jobs_.empty() ? jobs_ : nested_jobs_).first()) dequeue(*job);
  const bool forked_by_own_thread = is_own_thread();
  threads = running = forked_by_own_thread ? 1 : 0;
  waiting_for_own = forked_by_own_thread && jobs_waited_for_ > 0 ? 1 : 0;
  idle = looking = joiners_ = 0;
  joining_ = false;
  unjoined_.reset();  // a thread of the parent
  new (&work) std::condition_variable;
  new (&ended) std::condition_variable;
  mutex.unlock();
}

}  // namespace gyre::io
