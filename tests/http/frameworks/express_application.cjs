// The routes of application.cpp, written with Express. Usage: node express_application.cjs DIRECTORY. Prints the port.
const express = require("express");
const { Readable } = require("stream");

const app = express();
const text = (response, body) => response.type("text/plain").send(body);
const valuesOfA = (fields) => [].concat(fields?.a ?? []).map((value) => value + "|").join("");

app.use(require("cookie-parser")());
app.get("/hello", (request, response) => text(response, "hello"));
app.get("/users/:name", (request, response) => text(response, "user " + request.params.name));
app.post("/users/search", (request, response) => text(response, "search"));
app.post("/app/login", (request, response) => text(response, "login"));
app.get("/app{/*rest}", (request, response) => text(response, "page"));
const item = (request, response) => text(response, request.method + " " + request.params.id);
app.route("/items/:id").get(item).put(item).delete(item);
app.get("/query", (request, response) => text(response, valuesOfA(request.query)));
app.post("/form", express.urlencoded(), (request, response) => text(response, valuesOfA(request.body)));
app.post("/echo", express.text({ type: () => true }), (request, response) => text(response, request.body ?? ""));
app.get("/cookie", (request, response) => {
  const value = request.cookies.a ?? "";
  text(response, typeof value === "string" ? value : "j:" + JSON.stringify(value));
});
app.get("/redirect", (request, response) => response.redirect(302, "/hello"));
app.get("/redirect/odd", (request, response) => response.redirect(302, '/a b/ä?q="x"'));
app.get("/fail", () => { throw new Error("a fault of the handler"); });
app.get("/stream/fail", (request, response, next) => {
  const source = new Readable({ read() { this.destroy(new Error("the source of the body is gone")); } });
  source.on("error", next).pipe(response.type("text/plain"));
});
app.get("/empty", (request, response) => response.status(204).end());
app.post("/reject", (request, response) => response.status(403).type("text/plain").send("no"));
app.get("/server", (request, response) => text(response.set("Server", "mine"), "named"));
app.use("/static", express.static(process.argv[2]));
app.use((error, request, response, next) =>
  response.headersSent ? response.destroy() : response.status(error.status ?? 500).type("text/plain").send("failed"));

const server = app.listen(0, "127.0.0.1", () => console.log(server.address().port));
