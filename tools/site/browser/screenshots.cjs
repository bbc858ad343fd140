// Writes pictures of pages, narrow and wide, light and dark: screenshots.cjs FOLDER PAGE...
const path = require("path");
const { withBrowser, urlOf } = require("./browser.cjs");

(async () => {
  const [folder, ...names] = process.argv.slice(2);
  for (const [width, height] of [[390, 844], [1400, 900]])
    for (const scheme of ["light", "dark"])
      await withBrowser({ width, height, scheme }, async page => {
        for (const name of names) {
          await page.goto(urlOf(name));
          await page.waitForTimeout(300);
          const file = `${name.split("#")[0].replace(/\//g, ".").replace(/\.html$/, "")}-${width}-${scheme}.png`;
          await page.screenshot({ path: path.join(folder, file) });
          const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
          if (wide > 0) console.log(`${name} at ${width}: ${wide} pixels wider than the window`);
        }
      });
})();
