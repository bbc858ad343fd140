"""gyre fetch -o and -O: which files are written, replaced, locked and left."""

import os
import resource
import signal
import stat
import subprocess
import threading
import time
import unittest

from fetch_test import fetch
from scripted import Scripted, read_head
from support import BIN, temporary_folder


class Files(unittest.TestCase):
    def setUp(self):
        self.out = temporary_folder(self)
        self.url = self.serve(lambda peer, _: self.answer(peer, b"hello"))

    def serve(self, answer):
        server = self.enterContext(Scripted(answer))
        return f"http://127.0.0.1:{server.port}/x"

    def answer(self, peer, body):
        head = read_head(peer)
        peer.sendall(f"HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode())
        if not head.startswith("HEAD"):
            peer.sendall(body)

    def names(self):
        return sorted(each.name for each in self.out.iterdir())

    def start(self, url, *flags, **options):
        fetching = subprocess.Popen([BIN / "gyre", "fetch", "-s", *flags, url], cwd=self.out, **options)
        self.addCleanup(lambda: fetching.poll() is None and (fetching.kill(), fetching.wait()))
        return fetching

    def wait_until(self, condition):
        end = time.monotonic() + 20
        while not condition():
            self.assertLess(time.monotonic(), end)

    def test_an_ordinary_file_keeps_its_mode_and_its_content_until_the_new_one_is_complete(self):
        begun, go_on = threading.Event(), threading.Event()

        def serve(peer, _):
            read_head(peer)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nnew")
            begun.set()
            go_on.wait(20)
            peer.sendall(b"er\n")

        for mode in (0o600, 0o664, 0o755):
            begun.clear(), go_on.clear()
            file = self.out / "x"
            file.write_text("old")
            file.chmod(mode)
            fetching = self.start(self.serve(serve), "-O")
            begun.wait(20)
            self.assertEqual(file.read_text(), "old")
            self.wait_until(lambda: "x.part" in self.names() and (self.out / "x.part").read_text())
            self.assertEqual(stat.S_IMODE((self.out / "x.part").stat().st_mode), mode)
            go_on.set()
            self.assertEqual(fetching.wait(20), 0)
            self.assertEqual((file.read_text(), stat.S_IMODE(file.stat().st_mode)), ("newer\n", mode))
            self.assertEqual(self.names(), ["x"])

    def test_links_and_files_with_several_names_are_written_through(self):
        (self.out / "target").write_text("old content")
        (self.out / "link").symlink_to("target")
        (self.out / "dangling").symlink_to("created")
        os.link(self.out / "target", self.out / "second")
        for name in ("link", "second", "dangling"):
            before = os.lstat(self.out / name)
            self.assertEqual(fetch("-s", "-o", self.out / name, self.url)[0], 0)
            self.assertEqual(os.lstat(self.out / name).st_ino, before.st_ino)
            self.assertEqual((self.out / name).read_text(), "hello")
            (self.out / "target").write_text("old content")
        self.assertEqual(self.names(), ["created", "dangling", "link", "second", "target"])

    def test_what_cannot_be_written_is_left_alone(self):
        (self.out / "folder").mkdir()
        code, _, said = fetch("-o", self.out / "folder", self.url)
        self.assertEqual((code, "Is a directory" in said, self.names()), (23, True, ["folder"]), said)
        if os.geteuid() != 0:
            (self.out / "x").write_text("old")
            (self.out / "x").chmod(0o400)
            self.assertEqual(fetch("-o", self.out / "x", self.url)[0], 23)
            self.assertEqual((self.out / "x").read_text(), "old")

    @unittest.skipIf(os.geteuid() != 0, "only root makes devices")
    def test_a_device_stays_a_device(self):
        device = self.out / "null"
        os.mknod(device, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
        full = self.out / "full"
        os.mknod(full, 0o666 | stat.S_IFCHR, os.makedev(1, 7))
        self.assertEqual(fetch("-s", "-o", device, self.url)[0], 0)
        self.assertEqual(fetch("-s", "-o", full, self.url)[0], 23)
        for each in (device, full):
            self.assertTrue(stat.S_ISCHR(os.lstat(each).st_mode))
        self.assertEqual(self.names(), ["full", "null"])

    def test_a_fifo_gets_the_bytes_when_its_reader_comes(self):
        fifo = self.out / "fifo"
        os.mkfifo(fifo)
        fetching = self.start(self.url, "-o", str(fifo))
        self.assertEqual(fifo.read_bytes(), b"hello")
        self.assertEqual(fetching.wait(20), 0)
        self.assertTrue(stat.S_ISFIFO(os.lstat(fifo).st_mode))
        waiting = self.start(self.url, "-o", str(fifo))
        waiting.send_signal(signal.SIGINT)
        self.assertIn(waiting.wait(20), (130, -signal.SIGINT))

    def test_the_time_limit_is_for_the_reader_of_a_pipe_too(self):
        url = self.serve(lambda peer, _: self.answer(peer, b"x" * 1_000_000))
        for name in ("absent", "idle"):
            os.mkfifo(self.out / name)
        ends = [*os.pipe(), os.open(self.out / "idle", os.O_RDWR)]  # readers that do not read
        for each in ends:
            self.addCleanup(os.close, each)
        fetches = [(name, self.start(url, "-m", "2", "--retry", "3", *flags, stdout=ends[1], stderr=subprocess.PIPE))
                   for name, *flags in (("absent", "-o", "absent"), ("idle", "-o", "idle"), ("standard output",))]
        for name, fetching in fetches:
            _, said = fetching.communicate(timeout=20)
            self.assertEqual((fetching.returncode, said.decode()),
                             (28, f"gyre fetch: {url}: write {name}: timed out after 2 s\n"))

    def test_bytes_that_a_pipe_has_taken_are_not_sent_again(self):
        def serve(peer, _):
            read_head(peer)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")

        fifo = self.out / "fifo"
        os.mkfifo(fifo)
        fetching = self.start(self.serve(serve), "--retry", "3", "-o", str(fifo))
        self.assertEqual(fifo.read_bytes(), b"abc")
        self.assertEqual(fetching.wait(20), 18)

    def test_a_dash_is_standard_output(self):
        self.assertEqual(fetch("-o", "-", self.url, cwd=self.out), (0, b"hello", ""))
        self.assertEqual(fetch("-o", "-", self.url, self.url, cwd=self.out), (0, b"hellohello", ""))
        self.assertEqual(fetch("-s", "-o", "./-", self.url, cwd=self.out), (0, b"", ""))
        self.assertEqual(self.names(), ["-"])
        self.assertEqual(fetch("-o", "", self.url, cwd=self.out)[0], 2)

    def test_the_head_goes_into_the_file(self):
        head = "HTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\nConnection: close\r\n\r\n"
        for flags, expected in ((("-I",), head), (("-i",), head + "hello")):
            self.assertEqual(fetch("-s", "-O", *flags, self.url, cwd=self.out), (0, b"", ""))
            self.assertEqual((self.out / "x").read_bytes().decode(), expected)

    def test_not_modified_leaves_every_file_as_it_is(self):
        def serve(peer, _):
            read_head(peer)
            peer.sendall(b'HTTP/1.1 304 Not Modified\r\nETag: "v"\r\n\r\n')

        (self.out / "target").write_text("of before")
        (self.out / "link").symlink_to("target")
        url = self.serve(serve)
        for name in ("target", "link", "absent"):
            self.assertEqual(fetch("-o", name, "-H", 'If-None-Match: "v"', url, cwd=self.out),
                             (0, b"", f"{name}: not modified\n"))
        self.assertEqual((self.out / "target").read_text(), "of before")
        self.assertEqual(self.names(), ["link", "target"])

    def test_a_file_of_the_user_is_not_taken_for_a_part(self):
        for name in ("x.part", "x.part.from"):
            (self.out / name).write_text("of the user")
            for flags in ((), ("-C",)):
                self.assertEqual(fetch("-s", "-O", *flags, self.url, cwd=self.out)[0], 0)
                self.assertEqual((self.out / name).read_text(), "of the user")
            self.assertEqual(self.names(), ["x", name])
            (self.out / name).unlink()
        (self.out / "x.part").symlink_to("elsewhere")
        self.assertEqual(fetch("-s", "-O", "-C", self.url, cwd=self.out)[0], 0)
        self.assertEqual(self.names(), ["x", "x.part"])

    def test_two_fetches_of_one_name_leave_a_whole_file(self):
        go_on = [threading.Event(), threading.Event()]
        sent = [threading.Event(), threading.Event()]
        halves = [(b"A" * 5000, b"a" * 5000), (b"B" * 3000, b"b" * 3000)]

        def serve(peer, number):
            read_head(peer)
            first, second = halves[number]
            peer.sendall(f"HTTP/1.1 200 OK\r\nETag: \"v{number}\"\r\nContent-Length: {2 * len(first)}\r\n\r\n".encode())
            peer.sendall(first)
            sent[number].set()
            go_on[number].wait(20)
            peer.sendall(second)

        for order in ((0, 1), (1, 0)):
            url = self.serve(serve)
            fetches = []
            for number in (0, 1):
                fetches.append(self.start(url, "-O", "-C"))
                sent[number].wait(20)
                self.wait_until(lambda number=number: len([
                    each for each in self.out.iterdir()
                    if each.name != "x.part.from" and each.stat().st_size > 0]) > number)
            for number in order:
                go_on[number].set()
                self.assertEqual(fetches[number].wait(20), 0)
                self.assertEqual((self.out / "x").read_bytes(), b"".join(halves[number]))
            self.assertEqual(self.names(), ["x"])
            (self.out / "x").unlink()
            for each in (*go_on, *sent):
                each.clear()

    def test_a_part_that_is_no_longer_its_own_gets_no_name(self):
        begun, go_on = threading.Event(), threading.Event()

        def serve(peer, _):
            read_head(peer)
            peer.sendall(b'HTTP/1.1 200 OK\r\nETag: "v"\r\nContent-Length: 6\r\n\r\nnew')
            begun.set()
            go_on.wait(20)
            peer.sendall(b"er\n")

        part = self.out / "x.part"
        def fetch_there():
            self.assertEqual(fetch("-s", "-o", part, self.url)[0], 0)

        for replace in (lambda: part.write_text("of the user"), lambda: part.symlink_to("elsewhere"), fetch_there,
                        lambda: None):
            begun.clear(), go_on.clear()
            fetching = self.start(self.serve(serve), "-O", stderr=subprocess.PIPE)
            begun.wait(20)
            self.wait_until(lambda: "x.part.from" in self.names())
            part.unlink()
            replace()
            there = os.path.lexists(part)
            go_on.set()
            _, said = fetching.communicate(timeout=20)
            self.assertEqual((fetching.returncode, self.names()), (23, ["x.part"] if there else []), said)
            self.assertIn(b"x.part has been removed or replaced meanwhile", said)
            part.unlink(missing_ok=True)

    def test_names_that_are_too_long_for_the_files_beside_them_are_written(self):
        def cut_off(peer, _):
            read_head(peer)
            peer.sendall(b'HTTP/1.1 200 OK\r\nETag: "v"\r\nContent-Length: 6\r\n\r\nabc')

        url = self.serve(cut_off)
        for length in (245, 246, 250, 251, 255):
            name = "n" * length
            self.assertEqual(fetch("-s", "-o", name, self.url, cwd=self.out), (0, b"", ""))
            self.assertEqual(self.names(), [name])
            (self.out / name).unlink()
            self.assertEqual(fetch("-s", "-o", name, url, cwd=self.out)[0], 18)
            self.assertEqual(self.names(), [name + ".part", name + ".part.from"] if length == 245 else [])
            for each in self.out.iterdir():
                each.unlink()

    def test_a_full_disk_leaves_nothing_that_is_in_the_way_later(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8))

        code, _, said = fetch("-s", "-O", self.url, cwd=self.out, preexec_fn=limit_files)
        self.assertEqual((code, self.names()), (23, []), said)
        self.assertIn("x.part.from: No space left on device", said)

    def test_a_file_with_a_random_name_does_not_stay(self):
        def serve(peer, _):
            read_head(peer)
            peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc")

        (self.out / "x.part").write_text("of the user")
        self.assertEqual(fetch("-s", "-O", "--retry", "1", self.serve(serve), cwd=self.out)[0], 18)
        self.assertEqual(self.names(), ["x.part"])


if __name__ == "__main__":
    unittest.main()
