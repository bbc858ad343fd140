"""gyre doctor: its report on this machine, and on one that refuses io_uring."""

import ctypes
import errno
import os
import resource
import socket
import struct
import unittest

from support import BIN, run

# System call numbers of x86-64. Elsewhere the filter would deny other calls.
NUMBER = {"io_uring_setup": 425, "io_uring_enter": 426}


def deny(call, error):
    """For preexec_fn: a seccomp filter with which a system call fails."""
    number = NUMBER[call]

    def load():
        filters = b"".join(struct.pack("HBBI", *each) for each in (
            (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | error), (0x06, 0, 0, 0x7FFF0000)))
        program = ctypes.create_string_buffer(filters)
        libc = ctypes.CDLL(None, use_errno=True)
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        fprog = struct.pack("HxxxxxxP", 4, ctypes.addressof(program))
        if libc.prctl(22, 2, fprog) != 0:  # PR_SET_SECCOMP, SECCOMP_MODE_FILTER
            os._exit(99)

    return load


def limit(what, value):
    """For preexec_fn: a resource limit."""
    return lambda: resource.setrlimit(what, (value, value))


class Doctor(unittest.TestCase):
    def doctor(self, prepare=None, **environment):
        """Returns the exit code, and the output as a dictionary."""
        variables = {k: v for k, v in os.environ.items() if k not in ("GYRE_BACKEND", "GYRE_THREADS")} | environment
        done = run(BIN / "gyre", "doctor", env=variables, preexec_fn=prepare)
        self.assertEqual(done.stderr, b"")
        lines = dict(line.split(":", 1) for line in done.stdout.decode().splitlines())
        return done.returncode, {name: value.strip() for name, value in lines.items()}

    def works_here(self):
        return self.doctor()[1]["backend"] == "io_uring"

    def test_it_names_the_machine_the_limits_and_the_backend(self):
        code, said = self.doctor()
        self.assertEqual(code, 0)
        self.assertEqual(list(said), ["gyre", "kernel", "cores", "sysctl", "seccomp", "locked memory", "descriptors",
                                      "io_uring features", "kernel TLS", "GYRE_BACKEND", "backend", "reason"])
        self.assertIn(os.uname().release, said["kernel"])
        self.assertRegex(said["cores"], rf"^\d+ usable: the affinity mask allows {len(os.sched_getaffinity(0))}, ")
        self.assertIn("kernel.io_uring_disabled", said["sysctl"])
        self.assertIn(said["backend"], ("io_uring", "epoll"))
        self.assertEqual(said["GYRE_BACKEND"], "not set (auto)")

    def test_it_tells_whether_the_kernel_encrypts_files_and_why(self):
        with socket.socket() as probe:
            try:
                probe.setsockopt(socket.IPPROTO_TCP, 31, b"tls")  # TCP_ULP
                offered = True
            except OSError as error:
                offered = error.errno != errno.ENOENT
        said = self.doctor()[1]["kernel TLS"]
        self.assertEqual(said != 'not used: this kernel has no module "tls", or no AES-GCM', offered, said)
        self.assertEqual(self.doctor(GYRE_KERNEL_TLS="off")[1]["kernel TLS"], "not used: GYRE_KERNEL_TLS=off")
        code, said = self.doctor(GYRE_KERNEL_TLS="maybe")
        self.assertEqual((code, said["kernel TLS"]), (1, "GYRE_KERNEL_TLS=maybe: expected auto, on or off"))

    def test_it_tells_which_backend_was_asked_for_and_by_whom(self):
        code, said = self.doctor(GYRE_BACKEND="epoll")
        self.assertEqual((code, said["backend"], said["reason"]), (0, "epoll", "epoll: asked for by GYRE_BACKEND"))
        if self.works_here():
            code, said = self.doctor(GYRE_BACKEND="io_uring")
            self.assertEqual((code, said["backend"], said["reason"]),
                             (0, "io_uring", "io_uring: asked for by GYRE_BACKEND"))

    def test_a_wrong_word_in_the_environment_is_an_error(self):
        code, said = self.doctor(GYRE_BACKEND="fast")
        self.assertEqual((code, said["backend"]), (1, "none"))
        self.assertEqual(said["reason"], "GYRE_BACKEND=fast: expected auto, io_uring or epoll")

    def test_it_counts_the_cores_of_the_affinity_mask(self):
        one = min(os.sched_getaffinity(0))
        _, said = self.doctor(lambda: os.sched_setaffinity(0, {one}))
        self.assertRegex(said["cores"], "^1 usable: the affinity mask allows 1, ")

    def test_the_number_of_cores_can_be_set_in_the_environment(self):
        code, said = self.doctor(GYRE_THREADS="12")
        self.assertEqual(code, 0)
        self.assertRegex(said["cores"], r"^12 usable \(set by GYRE_THREADS\): the affinity mask allows \d+, ")
        code, said = self.doctor(GYRE_THREADS="many")
        self.assertEqual(code, 1)
        self.assertRegex(said["cores"], "^GYRE_THREADS=many: expected a number from 1 to 1024; ")

    def test_the_limits_are_those_of_this_process(self):
        _, said = self.doctor(limit(resource.RLIMIT_NOFILE, 123))
        self.assertEqual(said["descriptors"], "123 files (hard limit 123 files)")
        _, said = self.doctor(limit(resource.RLIMIT_MEMLOCK, 65536))
        self.assertEqual(said["locked memory"], "65536 bytes (hard limit 65536 bytes)")

    @unittest.skipUnless(os.uname().machine == "x86_64", "the filter's numbers are those of x86-64")
    def test_under_a_seccomp_filter_it_names_the_filter_and_the_remedy(self):
        code, said = self.doctor(deny("io_uring_setup", errno.EPERM))
        self.assertEqual((code, said["backend"]), (0, "epoll"))
        self.assertEqual(said["seccomp"], "mode 2: a filter is active, and io_uring was denied")
        self.assertEqual(said["io_uring features"], "none: io_uring_setup failed: Operation not permitted")
        self.assertRegex(said["reason"], "^epoll: io_uring_setup failed with EPERM: a seccomp filter denies it; allow ")

    @unittest.skipUnless(os.uname().machine == "x86_64", "the filter's numbers are those of x86-64")
    def test_a_filter_that_answers_ENOSYS_is_told_from_an_old_kernel(self):
        code, said = self.doctor(deny("io_uring_setup", errno.ENOSYS))
        self.assertEqual((code, said["backend"]), (0, "epoll"))
        self.assertRegex(said["reason"], "failed with ENOSYS: a seccomp filter answers so")

    @unittest.skipUnless(os.uname().machine == "x86_64", "the filter's numbers are those of x86-64")
    def test_a_filter_that_lets_io_uring_through_is_not_blamed(self):
        if not self.works_here():
            self.skipTest("io_uring cannot be used here anyway")
        _, said = self.doctor(deny("io_uring_enter", errno.EINVAL), GYRE_BACKEND="epoll")
        self.assertEqual(said["seccomp"], "mode 2: a filter is active, and it allows io_uring")

    def test_io_uring_asked_for_and_refused_is_an_error(self):
        if os.uname().machine != "x86_64":
            self.skipTest("the filter's numbers are those of x86-64")
        code, said = self.doctor(deny("io_uring_setup", errno.EPERM), GYRE_BACKEND="io_uring")
        self.assertEqual((code, said["backend"]), (1, "none"))
        self.assertRegex(said["reason"],
                         "^io_uring was asked for by GYRE_BACKEND, but io_uring_setup failed with EPERM")

    def test_without_descriptors_there_is_no_backend(self):
        code, said = self.doctor(limit(resource.RLIMIT_NOFILE, 4))  # leaves one descriptor, which the loader needs
        self.assertEqual((code, said["backend"]), (1, "none"))
        self.assertRegex(said["reason"], "^no backend: .* failed with EMFILE: this process is out of descriptors")


if __name__ == "__main__":
    unittest.main()
