// Makes the requests that come as lines of JSON, with Node's fetch; each answer is a line of JSON.
import { createHash } from "node:crypto";
import { openAsBlob } from "node:fs";
import { createInterface } from "node:readline";

for await (const line of createInterface({ input: process.stdin })) {
  const wanted = JSON.parse(line);
  const options = { method: wanted.method, headers: wanted.fields, redirect: "manual" };
  if (wanted.upload) {
    options.body = new FormData();
    options.body.append("file", await openAsBlob(wanted.upload), wanted.name);
  }
  const answer = await fetch(wanted.url, options);
  const digest = createHash("sha256");
  if (answer.body) for await (const piece of answer.body) digest.update(piece);
  console.log(JSON.stringify({ status: answer.status, fields: Object.fromEntries(answer.headers), digest: digest.digest("hex") }));
}
