// src/io/kernel.cpp: the real kernel.
#include <gyre/io/kernel.hpp>

#include "pool_state.hpp"
#include "real_file_calls.hpp"
#include "real_socket_calls.hpp"

#include <sys/random.h>

#include <ctime>

namespace gyre::io {
namespace {

constinit const kernel operating_system{
    .sockets = real_socket_calls,
    .files = real_file_calls,
    .clock_gettime = ::clock_gettime,
    .getrandom = ::getrandom,
    .submit_job = submit_to_threads,
    .withdraw_job = withdraw_from_threads,
};

}  // namespace

const kernel& kernel::real() noexcept { return operating_system; }

constinit thread_local const kernel* kernel::here_ = &operating_system;

kernel_scope::kernel_scope(const kernel& used) noexcept : before_(kernel::here_) { kernel::here_ = &used; }
kernel_scope::~kernel_scope() { kernel::here_ = before_; }

}  // namespace gyre::io
