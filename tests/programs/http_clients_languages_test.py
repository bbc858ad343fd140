"""The HTTP clients of common languages get the same results from gyre serve."""

import http.client
import json
import os
import select
import subprocess
import unittest
from pathlib import Path

from client_checks import Answer, Checks, WithServer, digest_of, fields_of, form_of, needs, needs_module
from peers import built

CLIENTS = Path(__file__).parent / "clients"


class HttpClient(Checks, WithServer):
    def start(self):
        self.connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=60)

    def end(self):
        self.connection.close()

    def answer(self, method, path, fields, body=None):
        self.connection.request(method, path, body, fields)
        response = self.connection.getresponse()
        return Answer(response.status, fields_of(response.getheaders()), digest_of(response.read()))

    def ask(self, method, path, fields, count):
        return [self.answer(method, path, fields) for _ in range(count)]

    def upload(self, path, name):
        body, kind = form_of(path, name)
        return self.answer("POST", "/_upload", {"Content-Type": kind, "Accept": "application/json"}, body)


@needs_module("httpx")
class Httpx(Checks, WithServer):
    def start(self):
        import httpx
        self.client = httpx.Client(timeout=60, trust_env=False)

    def end(self):
        self.client.close()

    def answer(self, method, path, fields, **more):
        response = self.client.request(method, self.url(path), headers=fields, **more)
        return Answer(response.status_code, fields_of(response.headers.items()), digest_of(response.content))

    def ask(self, method, path, fields, count):
        return [self.answer(method, path, fields) for _ in range(count)]

    def upload(self, path, name):
        with open(path, "rb") as file:
            return self.answer("POST", "/_upload", {"Accept": "application/json"}, files={"file": (name, file)})


@needs_module("aiohttp")
class Aiohttp(Checks, WithServer):
    async def answers(self, method, path, fields, count, make_form=lambda: None):
        import aiohttp
        answers = []
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as session:
            for _ in range(count):
                async with session.request(method, self.url(path), headers=fields, data=make_form()) as response:
                    content = await response.read()
                    answers.append(Answer(response.status, fields_of(response.headers.items()), digest_of(content)))
        return answers

    def ask(self, method, path, fields, count):
        import asyncio
        return asyncio.run(self.answers(method, path, fields, count))

    def upload(self, path, name):
        import aiohttp
        import asyncio
        with open(path, "rb") as file:
            def make_form():
                form = aiohttp.FormData()
                form.add_field("file", file, filename=name)
                return form
            return asyncio.run(self.answers("POST", "/_upload", {"Accept": "application/json"}, 1, make_form))[0]


class InAnotherProcess(Checks):
    """A client that reads requests as lines of JSON and writes answers in the same way."""
    @classmethod
    def begin(cls, *command):
        cls.command = command
        cls.client = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env={**os.environ, "NO_PROXY": "*"})

    @classmethod
    def tearDownClass(cls):
        cls.client.stdin.close()
        try:
            cls.client.wait(20)
        except subprocess.TimeoutExpired:
            cls.client.kill()
            cls.client.wait()
        cls.client.stdout.close()

    def answer(self, method, path, fields, **more):
        self.client.stdin.write(json.dumps({"method": method, "url": self.url(path), "fields": fields, **more}) + "\n")
        self.client.stdin.flush()
        self.assertTrue(select.select([self.client.stdout], [], [], 60)[0], "no answer in time")
        line = self.client.stdout.readline()
        self.assertTrue(line, "the client has ended")
        return Answer(**json.loads(line))

    def ask(self, method, path, fields, count):
        return [self.answer(method, path, fields) for _ in range(count)]

    def upload(self, path, name):
        return self.answer("POST", "/_upload", {"Accept": "application/json"}, upload=str(path), name=name)

    def test_many_requests_on_one_connection(self):
        self.tearDownClass()
        self.begin(*self.command)  # a process without a connection, whose earlier requests would count
        super().test_many_requests_on_one_connection()


@needs("node")
class NodeFetch(InAnotherProcess, WithServer):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begin("node", str(CLIENTS / "requests.mjs"))


@needs("go")
class GoNetHttp(InAnotherProcess, WithServer):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.begin(str(built(CLIENTS / "requests.go")))


if __name__ == "__main__":
    unittest.main()
