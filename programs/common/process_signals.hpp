// programs/common/process_signals.hpp: signals that must not end a program.
#pragma once

namespace programs {

/// The first call of every program. Ignores SIGPIPE: a write whose reader is gone fails. Holds SIGHUP back.
void begin_process() noexcept;

/// SIGHUP acts again; one that has come meanwhile acts now. A server that reloads its certificates calls this when it
/// handles the signal: SIGHUP during its start would end it. Others call this at once.
void release_hang_up() noexcept;

}  // namespace programs
