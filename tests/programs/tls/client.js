// client.js PORT AUTHORITIES: gets /large twice, the second time with the session of the first.
const fs = require("fs");
const tls = require("tls");
const [port, authorities] = process.argv.slice(2);

function get(session, then) {
  let next = session;
  const pieces = [];
  const peer = tls.connect({ port: Number(port), host: "127.0.0.1", servername: "server.test",
                             ca: fs.readFileSync(authorities), session }, () => {
    peer.write("GET /large HTTP/1.0\r\nHost: localhost\r\n\r\n");
  });
  peer.on("session", (given) => { next = given; });
  peer.on("data", (piece) => pieces.push(piece));
  peer.on("end", () => {
    const text = Buffer.concat(pieces);
    then(text.length - text.indexOf("\r\n\r\n") - 4, peer.isSessionReused(), next);
  });
}

get(undefined, (size, first, session) => {
  get(session, (again, reused) => {
    console.log(`${Math.min(size, again)} bytes, ${!first && reused ? "resumed" : "anew"}`);
  });
});
