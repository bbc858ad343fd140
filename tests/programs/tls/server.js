// server.js CHAIN KEY: echoes what it receives in one piece, and ends in order.
const fs = require("fs");
const tls = require("tls");
const [chain, key] = process.argv.slice(2).map((name) => fs.readFileSync(name));
const server = tls.createServer({ cert: chain, key }, (peer) => {
  peer.once("data", (line) => peer.end(line));
  peer.on("error", () => {});
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
