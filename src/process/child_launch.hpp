// src/process/child_launch.hpp: starts a copy of this process that becomes another program.
#pragma once

namespace gyre {

/// How the child becomes the program. It shares the memory of the parent, which waits meanwhile.
struct child_plan {
  int streams[3] = {-1, -1, -1};  ///< descriptors above 2 that become the standard streams; -1: inherited
  bool error_to_output = false;
  bool new_session = false;
  bool own_group = false;
  const char* directory = nullptr;  ///< null: the parent's
  char* const* paths = nullptr;     ///< paths of the program to try in order; ends with null
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
};

struct launched_child {
  int id = -1;
  int handle = -1;  ///< a pidfd, owned by the caller
};

/// Starts a child, and returns when it has become the program. The descriptor comes with the child
/// (CLONE_PIDFD). So it refers to this child only, even if the child has ended already and was reaped by other
/// code, or by the kernel because SIGCHLD is ignored. Needs Linux 5.4, and none of the system calls that old
/// seccomp profiles refuse (clone3, pidfd_open).
///
/// Returns 0 or an errno. After an error no child is left. Thread: any.
[[nodiscard]] int launch_child(const child_plan& plan, launched_child& child) noexcept;

}  // namespace gyre
