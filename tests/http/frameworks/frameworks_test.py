#!/usr/bin/env python3
"""Compares how gyre and the frameworks of other languages answer the same requests.

Usage: frameworks_test.py PROGRAM [--record]

PROGRAM is gyre_framework_application. Fails when gyre gives another answer than most of the others, and
docs/http-framework-differences.md has no reason for it. FastAPI, Express, Fastify, Go and nginx are started where they
are installed, unless GYRE_RECORDED_PEERS is set. The answers of the others come from answers.json, which --record
writes: it names the versions that gave them.

    python3 -m venv FOLDER && FOLDER/bin/pip install fastapi uvicorn python-multipart
    npm install --prefix FOLDER express cookie-parser fastify @fastify/cookie @fastify/formbody @fastify/static
    GYRE_PEERS_PYTHON=FOLDER/bin/python NODE_PATH=FOLDER/node_modules frameworks_test.py PROGRAM
"""

import collections
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parents[1] / "programs")]

import cases  # noqa: E402

RECORDED = HERE / "answers.json"
DOCUMENT = HERE.parents[2] / "docs" / "http-framework-differences.md"
PATIENCE = 2  # seconds; an answer that waits for the rest of a body does not come


class Server:
    """A process that prints its port."""

    def __init__(self, command, **environment):
        self.process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env={**os.environ, **environment})
        self.port = int(self.process.stdout.readline() or 0)
        if not self.port:
            self.end()
            raise RuntimeError(f"{command[0]} has not started")

    def end(self):
        self.process.terminate()
        self.process.wait(10)
        self.process.stdout.close()


def nginx(directory):
    """nginx as a server of the files only. A shell prints its port and ends it."""
    from support import free_port
    port = free_port()
    folder = directory.parent / "nginx"
    folder.mkdir()
    (folder / "nginx.conf").write_text(f"""
        daemon off; master_process off; pid {folder}/pid; error_log /dev/null;
        events {{ }}
        http {{ access_log off; include /etc/nginx/mime.types; server {{ listen 127.0.0.1:{port};
          location /static/ {{ alias {directory}/; }} }} }}""")
    return Server(["sh", "-c", f"nginx -p {folder} -c {folder}/nginx.conf & p=$!; trap 'kill $p; exit' TERM; "
                   f"until nc -z 127.0.0.1 {port}; do sleep 0.05; done; echo {port}; wait"])


def go_application():
    from peers import built
    return built(HERE / "application.go")


def output_of(*command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def installed():
    """The version and the command of each framework that can be started here."""
    found = {}
    if os.environ.get("GYRE_RECORDED_PEERS"):
        return found
    python = os.environ.get("GYRE_PEERS_PYTHON", sys.executable)
    version = output_of(python, "-c", "import fastapi, uvicorn, multipart, starlette; "
                        "print(fastapi.__version__, 'on Starlette', starlette.__version__, 'and uvicorn', "
                        "uvicorn.__version__)")
    if version:
        found["FastAPI"] = version, [python, HERE / "fastapi_application.py"]
    for name in ("express", "fastify"):
        version = output_of("node", "-p", f"require('{name}/package.json').version + ' on Node.js ' + process.version")
        if version:
            found[name.capitalize()] = version, ["node", HERE / f"{name}_application.cjs"]
    version = output_of("go", "env", "GOVERSION")
    if version:
        found["Go"] = version, [go_application()]
    return found


def answer_of(port, case):
    """What the server answers, in the terms of the comparison."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as connection:
            sender = threading.Thread(target=send, args=(connection, case.head() + case.body))
            sender.start()
            response = http.client.HTTPResponse(connection, method=case.method)
            response.begin()
            body = response.read()
            sender.join()
    except TimeoutError:
        return "none in time"
    except (OSError, http.client.HTTPException):
        return "the connection ends"
    said = [str(response.status)]
    for name in case.compared:
        said.append(f"{name}: {normal(name, response.getheader(name, 'none'))}")
    if response.status < 300 and case.method != "HEAD":
        said.append(body.decode("latin-1"))
    return "; ".join(said)


def send(connection, message):
    try:
        connection.sendall(message)
    except OSError:  # it has answered, and closed
        pass


def normal(name, value):
    if name == "allow":
        return ", ".join(sorted(word.strip() for word in value.split(",")))
    if name == "content-type":
        return value.split(";")[0].lower()
    if name == "location":
        return re.sub(r"^http://127\.0\.0\.1(:\d+)?", "", value)
    return value


def answers_of(server, selected):
    try:
        return {case.name: answer_of(server.port, case) for case in selected}
    finally:
        server.end()


def usual(case, others):
    """The answers that most of the others give."""
    counts = collections.Counter(answers[case.name] for answers in others.values() if case.name in answers)
    return {answer for answer, count in counts.items() if count == max(counts.values())}


def explained():
    """The names of the requests in the table of the document."""
    rows = [line.split(" | ")[0].removeprefix("| ") for line in DOCUMENT.read_text().splitlines() if line[:2] == "| "]
    return rows[1:]


def faults(own, others):
    unused = set(explained())
    for case in cases.ALL:
        expected = usual(case, others)
        differs, has_reason = own[case.name] not in expected, case.name in unused
        unused.discard(case.name)
        if differs == has_reason:
            continue
        said = "\n".join(f"    {name:8} {answers[case.name]!r}" for name, answers in others.items()
                         if case.name in answers)
        yield (f"{case.name}: {'gyre differs from most' if differs else 'gyre no longer differs'}\n"
               f"    gyre     {own[case.name]!r}\n{said}")
    yield from (f"{name}: the document names no request of cases.py" for name in unused)


def main():
    program, record = sys.argv[1], "--record" in sys.argv[2:]
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder) / "files"
        directory.mkdir()
        cases.fill(directory)
        own = answers_of(Server([program, directory]), cases.ALL)
        live = {}
        for name, (version, command) in installed().items():
            live[name] = {"version": version, "answers": answers_of(Server([*command, directory]), cases.ALL)}
        os.environ["PATH"] += ":/usr/sbin"
        if shutil.which("nginx") and shutil.which("nc") and not os.environ.get("GYRE_RECORDED_PEERS"):
            version = subprocess.run(["nginx", "-v"], capture_output=True, text=True).stderr.strip().split("/")[-1]
            live["nginx"] = {"version": version, "answers": answers_of(nginx(directory), cases.FILES)}
    if record:
        RECORDED.write_text(json.dumps({**recorded, **live}, indent=1, ensure_ascii=False) + "\n")
    everybody = {**recorded, **live}
    found = list(faults(own, {name: each["answers"] for name, each in everybody.items()}))
    missing = sorted(set(everybody) - set(live))
    print(*found, f"{len(cases.ALL)} requests, {len(explained())} differences with a reason. "
          f"Asked: {', '.join(live) or 'nobody'}. Recorded: {', '.join(missing) or 'nobody'}.", sep="\n")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
