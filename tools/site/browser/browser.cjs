// Opens pages of the site in a headless Chromium. Needs playwright-core (npm) and chromium (Debian).
const fs = require("fs");
const os = require("os");
const path = require("path");
const { chromium } = require("playwright-core");

const SITE = path.resolve(__dirname, "../../../build/site");

// Calls `use(page of the browser)` for a width, a scheme ("light", "dark") and an empty profile.
async function withBrowser(options, use) {
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "gyre-browser-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync"],
    viewport: { width: options.width || 1400, height: options.height || 900 },
    colorScheme: options.scheme || "light",
    reducedMotion: "reduce",
    serviceWorkers: "block",
  });
  try {
    const page = context.pages()[0] || await context.newPage();
    return await use(page);
  } finally {
    await context.close();
    fs.rmSync(profile, { recursive: true, force: true });
  }
}

const urlOf = name => `file://${SITE}/${name}`;

module.exports = { withBrowser, urlOf, SITE };
