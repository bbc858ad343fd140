// programs/gyre/doctor.hpp: what this machine lets gyre do, and why.
#pragma once

namespace programs {

/// Prints the report on standard output. Gives the exit code: 0, also when io_uring cannot be used.
int doctor();

}  // namespace programs
