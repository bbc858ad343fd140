// The routes of application.cpp, written with Fastify. Usage: node fastify_application.cjs DIRECTORY. Prints the port.
const { Readable } = require("stream");

const app = require("fastify")();
const text = (reply, body) => reply.type("text/plain").send(body);
const valuesOfA = (fields) => [].concat(fields?.a ?? []).map((value) => value + "|").join("");

app.register(require("@fastify/cookie"));
app.register(require("@fastify/formbody"));
app.register(require("@fastify/static"), { root: process.argv[2], prefix: "/static/" });
app.register(async (echo) => {
  echo.removeAllContentTypeParsers();
  echo.addContentTypeParser("*", { parseAs: "string" }, (request, body, done) => done(null, body));
  echo.post("/echo", (request, reply) => text(reply, request.body ?? ""));
});
app.get("/hello", (request, reply) => text(reply, "hello"));
app.get("/users/:name", (request, reply) => text(reply, "user " + request.params.name));
app.post("/users/search", (request, reply) => text(reply, "search"));
app.post("/app/login", (request, reply) => text(reply, "login"));
app.get("/app/*", (request, reply) => text(reply, "page"));
app.route({
  method: ["GET", "PUT", "DELETE"],
  url: "/items/:id",
  handler: (request, reply) => text(reply, request.method + " " + request.params.id),
});
app.get("/query", (request, reply) => text(reply, valuesOfA(request.query)));
app.post("/form", (request, reply) => text(reply, valuesOfA(request.body)));
app.get("/cookie", (request, reply) => text(reply, request.cookies.a ?? ""));
app.get("/redirect", (request, reply) => reply.redirect("/hello", 302));
app.get("/redirect/odd", (request, reply) => reply.redirect('/a b/ä?q="x"', 302));
app.get("/fail", async () => { throw new Error("a fault of the handler"); });
app.get("/stream/fail", (request, reply) =>
  text(reply, new Readable({ read() { this.destroy(new Error("the source of the body is gone")); } })));
app.get("/empty", (request, reply) => reply.code(204).send());
app.post("/reject", (request, reply) => text(reply.code(403), "no"));
app.get("/server", (request, reply) => text(reply.header("Server", "mine"), "named"));

app.listen({ port: 0, host: "127.0.0.1" }).then(() => console.log(app.server.address().port));
