// Uses the site, opened as files, with the keyboard only. Fails when the first key does not lead to the link that skips
// the navigation, or when the first result of a search is not the page of the reference that is expected.
const { withBrowser, urlOf } = require("./browser.cjs");

const EXPECTED = {
  task_group: "tasks/task_group.html",
  timeout: "cancellation/timeout.html",
  rate_limit: "http-server/rate_limit.html",
  retry_policy: "http-client/client_options.html",
  exchange_observer: "http-server/exchange_observer.html",
  tcp_listener: "sockets/tcp_listener.html",
  to_thread: "loops/to_thread.html",
  as_expected: "tasks/as_expected.html",
  event_stream: "http-server/server_sent_events.html",
  broadcast: "synchronization/broadcast.html",
  interval: "cancellation/interval.html",
  for_each_concurrent: "tasks/for_each_concurrent.html",
  "gyre::http::router": "http-server/router.html",
  async_scope: "tasks/async_scope.html",
  server_limits: "http-server/server_limits.html",
};

withBrowser({}, async page => {
  let failures = 0;
  await page.goto(urlOf("index.html"));
  await page.keyboard.press("Tab");
  const skip = await page.evaluate(() => {
    const { className, hash } = document.activeElement;
    return { className, target: document.getElementById(hash.slice(1)) !== null };
  });
  if (!skip.className.includes("md-skip") || !skip.target) {
    ++failures;
    console.log(`the first element that Tab reaches is ${skip.className}, not the link to the content`);
  }
  for (const [at, [name, expected]] of [...Object.entries(EXPECTED)].entries()) {
    await page.keyboard.press(at % 2 ? "/" : "s");
    await page.waitForFunction(() => document.activeElement.classList.contains("md-search__input"));
    await page.keyboard.press("Control+A");
    await page.keyboard.type(name);
    await page.waitForFunction(word => {
      const first = document.querySelector(".md-search-result__link");
      return first && decodeURIComponent(first.href).includes(`h=${word.split("::").pop()}`) ||
        first && decodeURIComponent(first.href.replace(/\+/g, " ")).includes(word.split("::").join(" "));
    }, name, { timeout: 5000 }).catch(() => {});
    const found = await page.evaluate(() =>
      [...document.querySelectorAll(".md-search-result__link")].slice(0, 3).map(each => each.href.split("?")[0]));
    const first = (found[0] || "nothing").replace(/^.*\/build\/site\//, "");
    if (first !== `reference/${expected}`) {
      ++failures;
      console.log(`${name}: first found is ${first}, not reference/${expected}`);
    }
    await page.keyboard.press("Escape");
  }
  console.log(`search: ${Object.keys(EXPECTED).length} names, ${failures} failures`);
  process.exitCode = failures ? 1 : 0;
});
