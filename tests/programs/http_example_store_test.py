"""The examples rest_store and sse_clock do what they say, with independent clients."""

import json
import re
import time
import unittest
from raw_http import all_at_once
from support import Example


JSON = {"Content-Type": "application/json"}


class RestStore(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Example("rest_store"))

    def add(self, text="{}"):
        status, headers, body = self.server.request("POST", "/items", text, JSON)
        self.assertEqual((status, body), (201, text if isinstance(text, bytes) else text.encode()))
        return headers["Location"], headers["ETag"]

    def test_an_item_is_added_read_changed_and_removed(self):
        self.assertEqual(self.server.get("/items"), (200, b"[]"))
        where, tag = self.add('{"name": "Tee ☕"}'.encode())
        self.assertEqual(json.loads(self.server.get("/items")[1]), [where])
        status, headers, body = self.server.request("GET", where)
        self.assertEqual((status, headers["Content-Type"], headers["ETag"]), (200, "application/json", tag))
        self.assertEqual(json.loads(body), {"name": "Tee ☕"})
        status, headers, _ = self.server.request("PUT", where, "[1]", JSON)
        self.assertEqual(status, 200)
        self.assertNotEqual(headers["ETag"], tag)
        self.assertEqual(self.server.get(where), (200, b"[1]"))
        self.assertEqual(self.server.request("DELETE", where)[0], 204)
        for method in ("GET", "DELETE"):
            self.assertEqual(self.server.request(method, where)[0], 404)
        self.assertEqual(self.server.request("PUT", where, "1", JSON)[0], 404)
        self.assertNotEqual(self.add()[0], where)

    def test_conditional_requests(self):
        where, old = self.add()
        new = self.server.request("PUT", where, "1", {**JSON, "If-Match": old})[1]["ETag"]
        self.assertEqual(self.server.request("PUT", where, "2", {**JSON, "If-Match": old})[0], 412)
        self.assertEqual(self.server.request("DELETE", where, headers={"If-Match": old})[0], 412)
        self.assertEqual(self.server.get(where), (200, b"1"))
        status, headers, body = self.server.request("GET", where, headers={"If-None-Match": f'"x", {new}'})
        self.assertEqual((status, headers["ETag"], body), (304, new, b""))
        self.assertEqual(self.server.request("GET", where, headers={"If-None-Match": old})[0], 200)
        self.assertEqual(self.server.request("PUT", where, "3", {**JSON, "If-Match": "*"})[0], 200)

    def test_only_one_of_many_that_change_the_same_state_succeeds(self):
        where, tag = self.add()
        statuses, _ = all_at_once(20, lambda i: self.server.request("PUT", where, str(i), {**JSON, "If-Match": tag})[0])
        self.assertEqual(sorted(statuses), [200] + [412] * 19)

    def test_refuses_what_it_cannot_keep(self):
        for status, headers, body in ((415, {}, "1"), (415, {"Content-Type": "text/plain"}, "1"), (400, JSON, ""),
                                      (400, JSON, b"\xff"), (400, JSON, b"\xc0\xaf"), (400, JSON, b"\xed\xa0\x80"),
                                      (400, JSON, b"\xe2\x82"), (400, JSON, b"\xf4\x90\x80\x80"),
                                      (413, JSON, b"1" * 70_000)):
            with self.subTest(status=status, body=body[:10]):
                self.assertEqual(self.server.request("POST", "/items", body, headers)[0], status)
        self.assertEqual(self.server.get("/items"), (200, b"[]"))

    def test_refuses_other_methods_and_paths(self):
        where, _ = self.add()
        for target, allowed in (("/items", {"GET", "HEAD", "OPTIONS", "POST"}),
                                (where, {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"})):
            status, headers, _ = self.server.request("PATCH", target)
            self.assertEqual((status, set(re.split(", *", headers["Allow"]))), (405, allowed))
        for target in ("/", "/items/", "/items/x", "/items/-1", "/items/1/2"):
            self.assertEqual(self.server.get(target)[0], 404, target)

    def test_takes_bodies_in_chunks_and_keeps_the_connection(self):
        connection = self.server.connect()
        for i in range(20):
            connection.request("POST", "/items", iter([b"[", str(i).encode(), b"]"]), JSON, encode_chunked=True)
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.read()), (201, f"[{i}]".encode()))
            connection.request("HEAD", answer.headers["Location"])
            answer = connection.getresponse()
            self.assertEqual((answer.headers["Content-Length"], answer.read()), (str(len(f"[{i}]")), b""))
        connection.close()

    def test_many_add_at_the_same_time(self):
        added, _ = all_at_once(50, lambda i: self.add(str(i))[0])
        self.assertEqual(len(set(added)), 50)
        self.assertEqual(sorted(json.loads(self.server.get("/items")[1])), sorted(added))
        self.assertEqual(self.server.stop(), 0)


class Clock(unittest.TestCase):
    def setUp(self):
        self.server = self.enterContext(Example("sse_clock"))

    def listen(self):
        connection = self.server.connect()
        connection.request("GET", "/events")
        answer = connection.getresponse()
        self.addCleanup(connection.close)
        self.addCleanup(answer.close)
        self.assertEqual((answer.status, answer.headers["Content-Type"]), (200, "text/event-stream"))
        return answer

    def test_shows_a_page(self):
        status, headers, body = self.server.request("GET", "/")
        self.assertEqual((status, headers.get_content_type()), (200, "text/html"))
        self.assertIn(b'EventSource("/events")', body)

    def test_tells_the_time_each_second(self):
        answer, times = self.listen(), []
        for _ in range(2):
            self.assertRegex(answer.readline(), rb"^data: \w+, \d\d \w+ \d+ \d\d:\d\d:\d\d GMT\n$")
            times.append(time.monotonic())
            self.assertEqual(answer.readline(), b"\n")
        self.assertGreater(times[1] - times[0], 0.5)

    def test_tells_many_and_ends_at_a_signal(self):
        answers = [self.listen() for _ in range(50)]
        for answer in answers:
            self.assertTrue(answer.readline().startswith(b"data: "))
        began = time.monotonic()
        self.assertEqual(self.server.stop(), 0)
        self.assertLess(time.monotonic() - began, 8)

    def test_goes_on_when_a_client_leaves(self):
        for _ in range(10):
            with self.server.socket() as peer:
                peer.sendall(b"GET /events HTTP/1.0\r\n\r\n")
                self.assertIn(b"200 OK", peer.recv(1000))
        self.assertEqual(self.server.get("/")[0], 200)


if __name__ == "__main__":
    unittest.main()
