"""server.py CHAIN KEY: echoes what it receives in one piece, and ends in order."""

import socket
import ssl
import sys

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1], sys.argv[2])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    peer = listener.accept()[0]
    with context.wrap_socket(peer, server_side=True) as secure:
        secure.sendall(secure.recv(1000))
        secure.unwrap()
