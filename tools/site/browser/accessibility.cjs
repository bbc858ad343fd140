// Looks for faults of accessibility with axe-core, in both schemes, and for pages that are wider than a phone.
const fs = require("fs");
const { withBrowser, urlOf } = require("./browser.cjs");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const PAGES = ["index.html", "guide/ten-minutes.html", "guide/cancellation.html", "guide/http.html",
  "from-asyncio.html", "decisions/0027-what-generates-the-reference.html", "reference/index.html",
  "reference/tasks/index.html", "reference/tasks/task_group.html", "reference/http-client/client_options.html",
  "reference/http-server/response.html", "reference/names.html", "source/include.gyre.tasks.task_group.hpp.html",
  "performance.html", "bench/benchmarks.html"];

(async () => {
  let faults = 0;
  const report = text => { ++faults; console.log(text); };
  await Promise.all(["light", "dark"].map(scheme =>
    withBrowser({ scheme, width: scheme === "light" ? 1400 : 390 }, async page => {
      for (const name of PAGES) {
        await page.goto(urlOf(name));
        await page.evaluate(AXE);
        const found = await page.evaluate(() => axe.run({ resultTypes: ["violations"] }));
        for (const each of found.violations)
          report(`${name}, ${scheme}: ${each.id}: ${each.help}: ` +
            [...new Set(each.nodes.map(node => node.target.join(" ")))].slice(0, 3).join(", "));
        const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (wide > 0) report(`${name}, ${scheme}: ${wide} pixels wider than the window`);
      }
    })));
  console.log(`accessibility: ${PAGES.length} pages in both schemes, ${faults} faults`);
  process.exitCode = faults ? 1 : 0;
})();
