"""The examples of the cookbook that need a library or a server, against the real ones."""

import contextlib
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from support import BIN, Example, free_port, run, temporary_folder

JSON = {"Content-Type": "application/json"}


def needs(name):
    return unittest.skipUnless(Path(BIN, name).exists(), f"{name} is not built: its library is not installed")


def wait_until(condition, what):
    deadline = time.monotonic() + 30
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not start")
        time.sleep(0.02)


def end(process):
    process.send_signal(signal.SIGINT)  # for PostgreSQL: a fast shutdown
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def redis_server(test):
    port = free_port()
    server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "",
                               "--appendonly", "no"], stdout=subprocess.DEVNULL)
    test.addCleanup(end, server)
    wait_until(lambda: run("redis-cli", "-p", port, "ping").stdout == b"PONG\n", "redis-server")
    return port


def postgresql_programs():
    """The folder with initdb and postgres. Debian does not put them on the path."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb")) or [shutil.which("initdb")]
    return found[-1] and Path(found[-1]).parent


def start_postgresql(folder, cleanup):
    """Starts a server on a Unix socket in the folder."""
    user = {}
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        shutil.chown(folder, "postgres", "postgres")
    programs = postgresql_programs()
    made = run(programs / "initdb", "-D", folder / "data", "-A", "trust", "-U", "gyre", "--no-sync", "-E", "UTF8",
               "--locale=C", cwd=folder, **user)
    if made.returncode != 0:
        raise AssertionError(made.stderr.decode())
    server = subprocess.Popen([programs / "postgres", "-D", folder / "data", "-k", folder, "-h", "", "-F"], cwd=folder,
                              stderr=subprocess.DEVNULL, **user)
    cleanup(end, server)
    wait_until(lambda: run(programs / "pg_isready", "-h", folder, "-U", "gyre").returncode == 0, "PostgreSQL")


class Notes:
    """What both services over a database do."""

    def test_a_note_is_added_read_listed_and_removed(self):
        self.assertEqual(self.server.get("/notes"), (200, b"[]"))
        text = 'Tee ☕ "grün"\n'
        status, headers, _ = self.server.request("POST", "/notes", json.dumps({"text": text}).encode(), JSON)
        where = headers["Location"]
        self.assertEqual((status, where), (201, "/notes/1"))
        self.assertEqual(json.loads(self.server.get(where)[1]), {"id": 1, "text": text})
        self.assertEqual(json.loads(self.server.get("/notes")[1]), [{"id": 1, "text": text}])
        self.assertEqual(self.server.request("DELETE", where)[0], 204)
        for method in ("GET", "DELETE"):
            self.assertEqual(self.server.request(method, where)[0], 404)

    def test_what_is_no_note_is_refused(self):
        for body in ("", "{", "{}", '{"text": null}'):
            self.assertEqual(self.server.request("POST", "/notes", body, JSON)[0], 400, body)
        self.assertEqual(self.server.request("POST", "/notes", "text=a", {})[0], 415)
        self.assertEqual(self.server.get("/notes/one")[0], 404)
        self.assertEqual(self.server.get("/notes"), (200, b"[]"))

    def test_many_clients_at_once_lose_nothing(self):
        def add(number):
            return self.server.request("POST", "/notes", json.dumps({"text": str(number)}), JSON)[0]
        with ThreadPoolExecutor(16) as pool:
            self.assertEqual(set(pool.map(add, range(200))), {201})
        kept = json.loads(self.server.get("/notes")[1])
        self.assertEqual({each["text"] for each in kept}, {str(number) for number in range(200)})


@needs("rest_sqlite")
class RestSqlite(Notes, unittest.TestCase):
    def setUp(self):
        self.file = temporary_folder(self) / "notes.db"
        self.server = self.enterContext(Example("rest_sqlite", self.file, "--listen", "127.0.0.1:0", listen=()))

    def test_notes_survive_a_restart(self):
        self.server.request("POST", "/notes", '{"text": "kept"}', JSON)
        self.assertEqual(self.server.stop(), 0)
        with Example("rest_sqlite", self.file, "--listen", "127.0.0.1:0", listen=()) as again:
            self.assertEqual(json.loads(again.get("/notes/1")[1])["text"], "kept")


@needs("rest_postgresql")
@unittest.skipUnless(postgresql_programs(), "the server of PostgreSQL is not installed")
class RestPostgresql(Notes, unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        start_postgresql(cls.folder, cls.addClassCleanup)

    def setUp(self):
        self.execute("DROP TABLE IF EXISTS notes")
        where = f"host={self.folder} user=gyre dbname=postgres"
        self.server = self.enterContext(Example("rest_postgresql", where, "--listen", "127.0.0.1:0", listen=()))

    def execute(self, statements):
        done = run("psql", "-h", self.folder, "-U", "gyre", "postgres", "-qc", statements)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_query_that_waits_delays_no_other_client_and_ends_when_its_client_leaves(self):
        with ThreadPoolExecutor(1) as pool:
            locked = pool.submit(self.execute, "BEGIN; LOCK TABLE notes; SELECT pg_sleep(1); COMMIT")
            time.sleep(0.4)
            with contextlib.closing(self.server.connect()) as leaves:
                leaves.request("GET", "/notes")
                self.assertEqual(self.server.get("/notes/one")[0], 404)  # needs no query
                self.assertFalse(locked.done())
            locked.result()
        self.assertEqual(self.server.get("/notes"), (200, b"[]"))

    def test_the_service_connects_again_after_the_database_has_closed_its_connections(self):
        self.assertEqual(self.server.get("/notes")[0], 200)
        self.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%json_agg%'"
                     " AND pid <> pg_backend_pid()")
        self.assertEqual([self.server.get("/notes")[0] for _ in range(2)], [500, 200])


@needs("redis_client")
@unittest.skipUnless(shutil.which("redis-server"), "there is no redis-server")
class RedisClient(unittest.TestCase):
    def test_commands_of_several_tasks_share_a_connection(self):
        done = run(BIN / "redis_client", f"127.0.0.1:{redis_server(self)}")
        expected = b"OK 12 0\n200 visits\nERR value is not an integer or out of range\n"
        self.assertEqual((done.returncode, done.stdout), (0, expected), done.stderr)

    def test_a_server_that_is_not_there_is_an_error(self):
        done = run(BIN / "redis_client", f"127.0.0.1:{free_port()}")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"Connection refused", done.stderr)


if __name__ == "__main__":
    unittest.main()
