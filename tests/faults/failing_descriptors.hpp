// tests/faults/failing_descriptors.hpp: makes calls that create descriptors fail on demand.
#pragma once

namespace gyre_test::descriptors {

/// Makes the n-th call from now on that would create a descriptor fail with `error` (1 is the next one). Only that call
/// fails. It counts the calls of loops and their jobs, see planned_kernel.hpp. Descriptors that io_uring creates inside
/// the kernel are not counted; limit_to() affects them.
void fail_nth(long n, int error) noexcept;

/// Lets this process open `more` further descriptors at the same time. Beyond that it gets EMFILE, on io_uring as well.
/// Errors: std::runtime_error.
void limit_to(long more);

/// Ends both. Returns true when a call has failed because of fail_nth.
bool stop_failing() noexcept;

}  // namespace gyre_test::descriptors
