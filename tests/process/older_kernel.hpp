// tests/process/older_kernel.hpp: kernels and sandboxes that cannot signal the group of a descriptor.
#pragma once

#include "tests/process/children.hpp"
#include "tests/support/denied_call.hpp"

#include <cstddef>
#include <cstdint>

namespace gyre_test {

/// The kernel's answer to PIDFD_SIGNAL_PROCESS_GROUP.
enum class kernel : std::uint8_t { newest, before_6_9, refuses_eperm, refuses_enosys };

inline const char* name_of(kernel which) {
  constexpr const char* names[] = {"this_kernel", "an_older_kernel", "a_filter_with_EPERM", "a_filter_with_ENOSYS"};
  return names[static_cast<std::size_t>(which)];
}

/// From now on, this process behaves as on such a kernel.
inline void become_old(kernel wanted) {
  if (wanted == kernel::refuses_eperm) return deny_call(SYS_pidfd_send_signal, EPERM);
  if (wanted == kernel::refuses_enosys) return deny_call(SYS_pidfd_send_signal, ENOSYS);
  constexpr unsigned flags = offsetof(seccomp_data, args) + 3 * sizeof(seccomp_data::args[0]);
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_send_signal, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, flags),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{.len = 6, .filter = program};
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  if (::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) throw std::runtime_error("seccomp");
}

}  // namespace gyre_test
