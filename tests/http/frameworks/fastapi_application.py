"""The routes of application.cpp, written with FastAPI. Usage: fastapi_application.py DIRECTORY. Prints the port."""

import asyncio
import socket
import sys

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse, RedirectResponse, StreamingResponse
from fastapi.staticfiles import StaticFiles

app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, default_response_class=PlainTextResponse)


@app.get("/hello")
async def hello():
    return "hello"


@app.get("/users/{name}")
async def user(name: str):
    return f"user {name}"


@app.post("/users/search")
async def search():
    return "search"


@app.post("/app/login")
async def login():
    return "login"


@app.get("/app/{rest:path}")
async def page(rest: str):
    return "page"


@app.api_route("/items/{id}", methods=["GET", "PUT", "DELETE"])
async def item(request: Request, id: str):
    return f"{request.method} {id}"


@app.get("/query")
async def query(request: Request):
    return "".join(f"{value}|" for value in request.query_params.getlist("a"))


@app.post("/form")
async def form(request: Request):
    return "".join(f"{value}|" for value in (await request.form()).getlist("a"))


@app.post("/echo")
async def echo(request: Request):
    return PlainTextResponse(await request.body())


@app.get("/cookie")
async def cookie(request: Request):
    return request.cookies.get("a", "")


@app.get("/redirect")
async def redirect():
    return RedirectResponse("/hello", 302)


@app.get("/redirect/odd")
async def redirect_odd():
    return RedirectResponse('/a b/ä?q="x"', 302)


@app.get("/fail")
async def fail():
    raise RuntimeError("a fault of the handler")


@app.get("/stream/fail")
async def stream_fail():
    async def pieces():
        raise RuntimeError("the source of the body is gone")
        yield b""
    return StreamingResponse(pieces(), media_type="text/plain")


@app.get("/empty")
async def empty():
    return Response(status_code=204)


@app.post("/reject")
async def reject():
    return PlainTextResponse("no", 403)


@app.get("/server")
async def server():
    return PlainTextResponse("named", headers={"Server": "mine"})


app.mount("/static", StaticFiles(directory=sys.argv[1], html=True))

listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
configuration = uvicorn.Config(app, log_level="critical", access_log=False, timeout_graceful_shutdown=1)
asyncio.run(uvicorn.Server(configuration).serve(sockets=[listener]))
