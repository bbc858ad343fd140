"""How h11 parses a stream of requests, in the form of verdict.cpp except that texts are bytes here."""

import h11


def judge(stream):
    """Returns the verdict on one connection, on which a server answers each request with 200."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=32_768)
    result = {"requests": [], "end": "done", "reason": "", "status": 0}
    try:
        if stream:  # no data would mean the end of the connection
            connection.receive_data(stream)
            while take_request(connection, result):
                pass
    except h11.RemoteProtocolError as error:
        result.update(end="rejected", reason=str(error), status=error.error_status_hint)
    return result


def take_request(connection, result):
    """Takes one request. Returns False after the last one."""
    body, request = b"", None
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            began = request is not None or connection.trailing_data[0].strip(b"\r\n")
            result["end"] = "more" if began else "done"
            return False
        if isinstance(event, h11.Request):
            request = event
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
        elif isinstance(event, h11.EndOfMessage):
            break
        else:
            raise AssertionError(f"{event!r} was not expected")
    result["requests"].append({
        "method": request.method, "target": request.target, "minor": 0 if request.http_version == b"1.0" else 1,
        "fields": [list(pair) for pair in request.headers], "body": body,
        "trailers": [list(pair) for pair in event.headers]})
    return answer(connection, request, result)


def answer(connection, request, result):
    """Answers the request. Returns False when no request can follow it."""
    if request.method == b"CONNECT":
        result["end"] = "tunnel"
        return False
    connection.send(h11.Response(status_code=200, headers=[("Content-Length", "0")]))
    connection.send(h11.EndOfMessage())
    if connection.our_state is h11.MUST_CLOSE or connection.their_state is not h11.DONE:
        result["end"] = "closed"
        return False
    connection.start_next_cycle()
    return True
