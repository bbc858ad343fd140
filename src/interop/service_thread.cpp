// src/interop/service_thread.cpp: a thread that receives no signals.
#include <gyre/interop/service_thread.hpp>

#include <signal.h>

#include <exception>
#include <memory>
#include <thread>

namespace gyre {

struct service_thread::state {
  std::thread thread;
};

service_thread::service_thread(void (*function)(void*), void* argument) : state_(nullptr) {
  auto made = std::make_unique<state>();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::exception_ptr failure;
  try {
    made->thread = std::thread(function, argument);
  } catch (...) {
    failure = std::current_exception();
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (failure) std::rethrow_exception(failure);
  state_ = made.release();
}

service_thread::~service_thread() {
  join();
  delete state_;
}

void service_thread::join() noexcept {
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace gyre
