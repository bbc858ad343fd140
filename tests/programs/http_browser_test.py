"""A real browser, headless Chromium, uses gyre serve and examples/sse_clock: pages, ranges, uploads and event
streams."""

import hashlib
import io
import json
import math
import os
import struct
import sys
import tempfile
import unittest
import wave

import chromium
from support import Example, Serve, run, temporary_folder

if not chromium.PROGRAM:
    print("skipped: chromium not installed")
    sys.exit(77)


def a_sound(seconds):
    out = io.BytesIO()
    with wave.open(out, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(48_000)
        one = b"".join(struct.pack("<h", int(9000 * math.sin(i / 17))) for i in range(48_000))
        sound.writeframes(one * seconds)
    return out.getvalue()


class Browser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = cls.enterClassContext(chromium.Page())

    def setUp(self):
        scratch = temporary_folder(self)
        self.root, self.uploads = scratch / "root", scratch / "uploads"
        self.root.mkdir()
        self.uploads.mkdir()
        self.large = os.urandom(32 << 20)
        (self.root / "large").write_bytes(self.large)
        (self.root / "page.html").write_text("<!doctype html><p>scripts may fetch here")
        (self.root / "a b&<ü>.txt").write_text("alpha\n")
        self.scratch = scratch

    def serve(self, *arguments, **options):
        server = self.enterContext(Serve(self.root, *arguments, **options))
        self.base = f"http://127.0.0.1:{server.port}"
        return server

    def test_a_listing_is_a_page_whose_links_lead_to_the_files(self):
        self.serve()
        self.page.open(self.base + "/")
        names = self.page.run("[...document.querySelectorAll('a')].map(a => a.textContent)")
        self.assertIn("large", names)
        self.assertIn("a b&<ü>.txt", names)
        # The page may load nothing, not even with a script. Only its links lead on.
        self.page.open(self.page.run("[...document.querySelectorAll('a')]"
                                     ".find(a => a.textContent.startsWith('a b')).href"))
        self.assertEqual(self.page.run("document.body.textContent"), "alpha\n")
        self.assertEqual(self.page.named("Runtime.exceptionThrown"), [])

    def test_a_listing_is_dumped_without_a_debugger(self):
        self.serve()
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            done = run(chromium.PROGRAM, *chromium.FLAGS, f"--user-data-dir={profile}", "--dump-dom", self.base + "/",
                       timeout=60)
        self.assertIn(b">large</a>", done.stdout)

    def test_a_page_fetches_a_whole_file_and_a_range(self):
        self.serve()
        self.page.open(self.base + "/page.html")
        digest = self.page.run("fetch('large').then(a => a.arrayBuffer()).then(b => crypto.subtle.digest('SHA-256', b))"
                               ".then(d => [...new Uint8Array(d)].map(x => x.toString(16).padStart(2, '0')).join(''))")
        self.assertEqual(digest, hashlib.sha256(self.large).hexdigest())
        part = self.page.run("fetch('large', {headers: {Range: 'bytes=1000-1009'}, cache: 'no-store'})"
                             ".then(async a => [a.status, ...new Uint8Array(await a.arrayBuffer())])")
        self.assertEqual(part, [206, *self.large[1000:1010]])

    def test_a_media_element_reads_by_ranges_and_seeks(self):
        sound = a_sound(300)  # 28 MB: more than the browser loads before it must play that far
        (self.root / "sound.wav").write_bytes(sound)
        (self.root / "index.html").write_text("<!doctype html><video src=sound.wav preload=auto controls></video>")
        self.serve()
        self.page.open(self.base + "/")
        ready = """new Promise((done, failed) => {
          const media = document.querySelector('video');
          const look = () => {
            if (media.readyState >= 2 && !media.seeking) done([media.duration, media.currentTime]);
          };
          for (const each of ['loadeddata', 'seeked', 'canplay']) media.addEventListener(each, look);
          media.addEventListener('error', () => failed(new Error(media.error.message)));
          AT
          look();
        })"""
        self.assertEqual(self.page.run(ready.replace("AT", ""))[0], 300)
        self.assertEqual(self.page.run(ready.replace("AT", "media.currentTime = 290;")), [300, 290])
        statuses = self.page.statuses("/sound.wav")
        self.assertEqual(set(statuses), {206})
        self.assertGreaterEqual(len(statuses), 2)

    def test_a_file_that_the_browser_has_is_not_sent_again(self):
        log = self.enterContext(open(self.scratch / "log", "w+"))
        server = self.serve("--access-log", "json", output=log)
        self.page.open(self.base + "/page.html")
        for _ in range(2):
            size = self.page.run("fetch('large?known', {cache: 'no-cache'})"
                                 ".then(a => a.arrayBuffer()).then(b => b.byteLength)")
            self.assertEqual(size, len(self.large))
        self.assertEqual(server.stop(), 0)
        log.seek(0)
        entries = [json.loads(line) for line in log]
        self.assertEqual([each["status"] for each in entries if "large?known" in json.dumps(each)], [200, 304])

    def test_the_upload_page_sends_a_file_and_shows_how_far_it_is(self):
        self.serve("--upload", self.uploads)
        sent = self.scratch / "sent it.bin"
        sent.write_bytes(self.large)
        self.page.open(self.base + "/_upload")
        self.page.run("""{ window.said = [];
          new MutationObserver(() => said.push(document.querySelector('[role=status]').textContent))
            .observe(document.querySelector('[role=status]'),
                     {childList: true, characterData: true, subtree: true}); }""")
        self.page.choose_file("input[type=file]", sent)
        finished = """new Promise(done => {
          const status = document.querySelector('[role=status]');
          const look = () => { if (/^(Done|Refused|The conn)/.test(status.textContent)) done(status.textContent); };
          new MutationObserver(look).observe(status, {childList: true, characterData: true, subtree: true});
          document.querySelector('button').click();
        })"""
        self.assertEqual(self.page.run(finished), "Done.")
        self.assertEqual(self.page.run("[...document.querySelectorAll('li')].map(each => each.textContent)"),
                         ["sent it.bin"])
        said = self.page.run("said")
        self.assertTrue([each for each in said if each.endswith(" %")], said)
        self.assertTrue((self.uploads / "sent it.bin").read_bytes() == self.large)

    def test_an_upload_that_is_too_large_is_refused_in_words(self):
        self.serve("--upload", self.uploads, "--max-upload", "1mb")
        sent = self.scratch / "sent.bin"
        sent.write_bytes(self.large[:1_500_000])
        self.page.open(self.base + "/_upload")
        self.page.choose_file("input[type=file]", sent)
        said = self.page.run("""new Promise(done => {
          const status = document.querySelector('[role=status]');
          const look = () => { if (/^(Done|Refused|The conn)/.test(status.textContent)) done(status.textContent); };
          new MutationObserver(look).observe(status, {childList: true, characterData: true, subtree: true});
          document.querySelector('button').click();
        })""")
        self.assertEqual(said.strip(), "Refused: the request body exceeds the limit of 1048576 bytes; nothing was kept")
        self.assertEqual(list(self.uploads.iterdir()), [])

    def test_events_come_as_they_happen(self):
        with Example("sse_clock") as server:
            self.page.open(f"http://127.0.0.1:{server.port}/")
            times = self.page.run("""new Promise(done => {
              const seen = new Set();
              const source = new EventSource('/events');
              source.onmessage = event => {
                seen.add(event.data);
                if (seen.size === 3) { source.close(); done([...seen]); }
              };
            })""")
            for each in times:
                self.assertRegex(each, r"^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$")
            self.assertIn(self.page.run("document.querySelector('#time').textContent")[:3], times[0])


if __name__ == "__main__":
    unittest.main()
