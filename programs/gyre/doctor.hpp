// programs/gyre/doctor.hpp: reports what gyre can use on this machine, and why.
#pragma once

namespace programs {

/// Prints the report to standard output. Returns the exit code: 0, even if io_uring is unavailable.
int doctor();

}  // namespace programs
