"""Drives a headless Chromium through the DevTools protocol, over a pair of pipes with JSON messages that end with a
NUL."""

import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
         "--disable-sync",
         "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--mute-audio",
         "--autoplay-policy=no-user-gesture-required", "--no-proxy-server",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]


class Page:
    """A browser with one page. `events` is a list of the messages about the page."""

    def __init__(self, seconds=60):
        self.patience = seconds

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        theirs_in, self.out = os.pipe()
        self.input, theirs_out = os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "${@:3}" 3<&$1 4>&$2', "bash", str(theirs_in), str(theirs_out), PROGRAM, *FLAGS,
             f"--user-data-dir={self.profile.name}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(theirs_in, theirs_out), start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(theirs_in)
        os.close(theirs_out)
        self.received, self.events, self.answers, self.number, self.session = b"", [], {}, 0, None
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "DOM"):
                self.call(domain + ".enable")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, AssertionError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # the browser's own session
        except ProcessLookupError:
            pass
        self.process.wait()
        os.close(self.out)
        os.close(self.input)
        self.profile.cleanup()

    def call(self, method, **parameters):
        self.number += 1
        number = self.number
        message = {"id": number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        self.wait_for(lambda: number in self.answers, method)
        answer = self.answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait_for(self, happened, what):
        deadline = time.monotonic() + self.patience
        while not happened():
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise AssertionError(f"{what}: nothing within {self.patience} s; last {self.events[-3:]}")
            piece = os.read(self.input, 1 << 20)
            if not piece:
                raise AssertionError(f"{what}: the browser has ended")
            self.received += piece
            *whole, self.received = self.received.split(b"\0")
            for text in whole:
                message = json.loads(text)
                if "id" in message:
                    self.answers[message["id"]] = message
                else:
                    self.events.append(message)

    def named(self, method):
        return [each["params"] for each in self.events if each["method"] == method]

    def open(self, url):
        self.events.clear()
        self.call("Page.navigate", url=url)
        self.wait_for(lambda: self.named("Page.loadEventFired"), url)

    def run(self, expression):
        """Returns the value of an expression. Promises are awaited."""
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{expression}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def choose_file(self, selector, path):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def statuses(self, ending):
        """Returns the statuses of the responses to requests for URLs with that ending."""
        return [each["response"]["status"] for each in self.named("Network.responseReceived")
                if each["response"]["url"].endswith(ending)]
