// node_http: "Hello, World!" by Node's http module.
const server = require("node:http").createServer((request, response) => {
  response.setHeader("Content-Type", "text/plain; charset=utf-8");
  response.end("Hello, World!");
});
server.listen(0, "127.0.0.1", () => console.log(`listening on 127.0.0.1:${server.address().port}`));
