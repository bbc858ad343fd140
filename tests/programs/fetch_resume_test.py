"""gyre fetch --resume: servers whose partial responses are not what was asked for."""

import time
import unittest

from fetch_test import fetch
from scripted import Scripted, read_head
from support import temporary_folder


class Resume(unittest.TestCase):
    def setUp(self):
        self.out = temporary_folder(self)
        self.file = bytes(range(256)) * 40
        self.had = 1000
        self.validator = '"v1"'
        self.total = ""
        self.asked = []

    def resume(self, answer, *flags):
        """Continues a file of which `had` bytes are there. `answer(first)` returns the head's lines and the body."""

        def serve(peer, _):
            lines = dict(line.split(": ", 1) for line in read_head(peer).split("\r\n")[1:] if ": " in line)
            self.asked.append(lines.get("Range"))
            if "Range" in lines:
                head, body = answer(int(lines["Range"].removeprefix("bytes=").removesuffix("-")))
            else:
                head, body = ["200 OK", 'ETag: "new"'], self.file
            head.append(f"Content-Length: {len(body)}")
            peer.sendall("HTTP/1.1 {}\r\n\r\n".format("\r\n".join(head)).encode() + body)

        with Scripted(serve) as server:
            url = f"http://127.0.0.1:{server.port}/big"
            self.facts = f"gyre fetch, unfinished\n{url}\n{self.validator}\n{self.total}\n"
            (self.out / "big.part").write_bytes(self.file[: self.had])
            (self.out / "big.part.from").write_text(self.facts)
            return fetch("-O", "-C", *flags, "--output-dir", self.out, url)

    def assert_complete(self, outcome):
        code, _, said = outcome
        self.assertEqual(code, 0, said)
        self.assertEqual((self.out / "big").read_bytes(), self.file)
        self.assertEqual([each.name for each in self.out.iterdir()], ["big"])

    def part(self, first, last, total=None):
        range_line = f"Content-Range: bytes {first}-{last}/{total or len(self.file)}"
        return ["206 Partial Content", 'ETag: "v1"', range_line], self.file[first : last + 1]

    def test_a_server_that_sends_less_than_was_asked_for_is_asked_for_the_rest(self):
        end = len(self.file) - 1
        self.assert_complete(self.resume(lambda first: self.part(first, min(first + 3999, end))))
        self.assertEqual(self.asked, ["bytes=1000-", "bytes=5000-", "bytes=9000-"])

    def test_the_time_limit_is_for_all_parts_together(self):
        def answer(first):
            time.sleep(0.05)
            return self.part(first, first)

        code, _, said = self.resume(answer, "-m", "0.5")
        self.assertEqual(code, 28, said)
        self.assertLess(len(self.asked), 20)

    def test_a_part_of_another_version_is_not_appended(self):
        def answer(first):
            head, body = self.part(first, len(self.file) - 1)
            return [*head[:1], *others, head[2]], bytes(len(body))

        for others in (['ETag: "v2"'], ['ETag: W/"v1"'], ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], []):
            with self.subTest(others):
                self.asked.clear()
                self.assert_complete(self.resume(answer))
                self.assertEqual(self.asked, ["bytes=1000-", None])

    def test_a_part_of_a_representation_of_another_size_is_not_appended(self):
        self.total = len(self.file) - 1
        self.assert_complete(self.resume(lambda first: self.part(first, len(self.file) - 1)))
        self.assertEqual(self.asked, ["bytes=1000-", None])

    def cut_off(self, *fields):
        """Fetches a file whose server breaks off, and returns whether the next call asks for the rest."""
        self.asked.clear()

        def serve(peer, _):
            head = read_head(peer)
            self.asked.append("Range:" in head)
            lines = "\r\n".join(["HTTP/1.1 200 OK", *fields, f"Content-Length: {len(self.file)}"])
            peer.sendall(lines.encode() + b"\r\n\r\n" + self.file[:100])

        with Scripted(serve) as server:
            url = f"http://127.0.0.1:{server.port}/big"
            for _ in range(2):
                self.assertEqual(fetch("-O", "-C", "--output-dir", self.out, url)[0], 18)
        return self.asked[1]

    def test_only_what_identifies_the_bytes_is_a_reason_to_ask_for_the_rest(self):
        date = "Date: Sun, 06 Nov 1994 08:49:37 GMT"
        self.assertTrue(self.cut_off('ETag: "v1"'))
        self.assertFalse(self.cut_off('ETag: W/"v1"', date, "Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT"))
        self.assertTrue(self.cut_off(date, "Last-Modified: Sun, 06 Nov 1994 08:48:37 GMT"))
        for changed in ("08:48:38", "08:49:37", "08:49:38"):  # the file may have changed again since
            self.assertFalse(self.cut_off(date, f"Last-Modified: Sun, 06 Nov 1994 {changed} GMT"), changed)
        self.assertFalse(self.cut_off("Last-Modified: Sun, 06 Nov 1994 07:49:37 GMT"))
        self.assertFalse(self.cut_off(date, "Last-Modified: yesterday"))

    def test_a_part_from_elsewhere_or_of_unknown_place_is_not_appended(self):
        for value in ("bytes 999-10239/10240", "bytes 1000-10239/*", "bytes 1000-10240/10240", "bytes 1000-", "", "x"):
            with self.subTest(value):
                self.asked.clear()
                fields = ["206 Partial Content", 'ETag: "v1"', f"Content-Range: {value}"]
                self.assert_complete(self.resume(lambda _, fields=fields: (list(fields), self.file[1000:])))
                self.assertEqual(self.asked, ["bytes=1000-", None])

    def test_an_answer_that_is_neither_a_part_nor_the_whole_changes_no_file(self):
        (self.out / "big").write_text("of before")
        for status in ("201 Created", "203 Transformed", "204 No Content", "302 Found", "304 Not Modified"):
            with self.subTest(status):
                body = b"" if status[:3] in ("204", "304") else b"moved"
                code, _, said = self.resume(lambda _, status=status, body=body: ([status, 'ETag: "v1"'], body))
                self.assertEqual((code, (self.out / "big").read_text()), (33, "of before"), said)
                self.assertIn(f"the server answered {status[:3]} ", said)
                self.assertIn("when it was asked for the rest of the file", said)
                self.assertEqual((self.out / "big.part").read_bytes(), self.file[: self.had])
                self.assertEqual((self.out / "big.part.from").read_text(), self.facts)

    def test_a_part_with_another_number_of_bytes_than_it_announces_is_refused(self):
        def answer(first):
            head, body = self.part(first, len(self.file) - 1)
            return head, body + b"more"

        code, _, said = self.resume(answer)
        self.assertEqual(code, 18)
        self.assertIn("the server sent another number of bytes than it announced", said)
        self.assertEqual(list(self.out.iterdir()), [])
        self.assert_complete(self.resume(answer, "--retry", "1"))
        self.assertEqual(self.asked, ["bytes=1000-", "bytes=1000-", None])


if __name__ == "__main__":
    unittest.main()
