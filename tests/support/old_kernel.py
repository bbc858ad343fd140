"""Runs a program as if on Linux 4.8, which came out in 2016: python3 old_kernel.py PROGRAM [ARGUMENT...]

A seccomp filter answers calls and options that came later the way such a kernel does. It cannot show what changed
inside of a call that had its form already.
"""

import ctypes
import errno
import os
import struct
import sys

# Numbers of x86-64.
GETSOCKOPT, SETSOCKOPT, MADVISE, PRCTL, WAITID, GETRANDOM, MEMBARRIER = 55, 54, 28, 157, 247, 318, 324
PREADV2, PWRITEV2 = 327, 328
FIRST_NEW_CALL = 329  # statx, io_uring_setup, openat2, close_range, clone3, pidfd_open, faccessat2, epoll_pwait2, ...
X86_64 = 0xC000003E

# Per call: which argument counts, the first value that is new, the answer; and another argument that must be equal.
NEW_VALUES = (
    (PREADV2, 5, 8, errno.EOPNOTSUPP, None),  # RWF_NOWAIT and later flags
    (PWRITEV2, 5, 8, errno.EOPNOTSUPP, None),
    *((call, 2, first, errno.ENOPROTOOPT, (1, level))
      for call in (SETSOCKOPT, GETSOCKOPT)
      for level, first in ((1, 55),     # SO_ZEROCOPY, SO_PREFER_BUSY_POLL, ...
                           (6, 30),     # TCP_FASTOPEN_CONNECT, TCP_ULP, ...
                           (17, 103))),  # UDP_SEGMENT, UDP_GRO
    (MADVISE, 2, 18, errno.EINVAL, None),    # MADV_WIPEONFORK, ...
    (PRCTL, 0, 48, errno.EINVAL, None),      # PR_CAP_AMBIENT is 47
    (WAITID, 0, 3, errno.EINVAL, None),      # P_PIDFD
    (GETRANDOM, 2, 4, errno.EINVAL, None),   # GRND_INSECURE
    (MEMBARRIER, 0, 2, errno.EINVAL, None),  # the expedited commands
)

LOAD, IF_EQUAL, IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # of classic BPF
ALLOW, FAIL_WITH = 0x7FFF0000, 0x00050000


def argument(index):
    """The offset of the lower half of an argument in struct seccomp_data."""
    return 16 + 8 * index


def new_value(call, index, first, error, same):
    """The instructions for one line of NEW_VALUES. They end with the number of the call loaded again."""
    test = [(LOAD, 0, 0, argument(index)), (IF_AT_LEAST, 0, 1, first), (RETURN, 0, 0, FAIL_WITH | error)]
    if same:
        test = [(LOAD, 0, 0, argument(same[0])), (IF_EQUAL, 0, len(test), same[1]), *test]
    return [(IF_EQUAL, 0, len(test), call), *test, (LOAD, 0, 0, 0)]


def instructions():
    yield from ((LOAD, 0, 0, 4), (IF_EQUAL, 1, 0, X86_64), (RETURN, 0, 0, ALLOW))
    yield from ((LOAD, 0, 0, 0), (IF_AT_LEAST, 0, 1, FIRST_NEW_CALL), (RETURN, 0, 0, FAIL_WITH | errno.ENOSYS))
    for each in NEW_VALUES:
        yield from new_value(*each)
    yield RETURN, 0, 0, ALLOW


def become_old():
    """Filters the calls of this process and of all that it starts, for ever."""
    code = [struct.pack("HBBI", *each) for each in instructions()]
    text = ctypes.create_string_buffer(b"".join(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    if libc.prctl(22, 2, struct.pack("HxxxxxxP", len(code), ctypes.addressof(text))) != 0:  # PR_SET_SECCOMP
        raise OSError(ctypes.get_errno(), "seccomp")


if __name__ == "__main__":
    become_old()
    os.execvp(sys.argv[1], sys.argv[1:])
