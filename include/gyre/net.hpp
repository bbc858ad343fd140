// gyre/net.hpp: TCP and Unix sockets, addresses, names.
//
// Must not depend on: the protocols above them.
//
//   socket_stream    the functions of every connected socket: read_some, read_exactly, receive, write_some, write_all,
//                    send_file, shutdown_write, next_or_stop, close, cancel, abort
//   tcp_stream       a connected TCP socket: connect, from_fd, and its options; connect_options
//   unix_stream      a connected Unix socket: connect, pair, from_fd, passing descriptors; peer_credentials
//   stream_listener  the functions of every listener: accept, serve, stop, finish; serve_options
//   tcp_listener     listens on a port; listen_options
//   unix_listener    listens at a path or an abstract name; unix_listen_options
//   datagram_socket  the functions of every datagram socket: send_to, send, receive_from, receive, cancel
//   udp_socket       datagrams over IP; udp_options
//   unix_datagram    datagrams between processes of one machine
//   datagram_operations  the results of receiving datagrams: received_datagram, datagram_lease
//   descriptor_passing   the result of receiving descriptors: received_descriptors
//   open_connection  a connection as a reader and a writer: open_connection, open_unix_connection, make_connection
//   start_server     a server whose connections are a reader and a writer: start_server, start_unix_server
//   happy_eyeballs   connects to the first address of a host that answers: connect_to_first, interleave_families
//   resolver         resolves names to addresses without blocking the loop: resolve; resolve_options
//   address          an IP address with a port
//   unix_address     the address of a Unix socket
//   host_port        parses the text "host:port"
//   interface_name   the name of a network interface
#pragma once

#include <gyre/net/address.hpp>
#include <gyre/net/happy_eyeballs.hpp>
#include <gyre/net/host_port.hpp>
#include <gyre/net/open_connection.hpp>
#include <gyre/net/resolver.hpp>
#include <gyre/net/start_server.hpp>
#include <gyre/net/tcp_listener.hpp>
#include <gyre/net/tcp_stream.hpp>
#include <gyre/net/udp_socket.hpp>
#include <gyre/net/unix_address.hpp>
#include <gyre/net/unix_datagram.hpp>
#include <gyre/net/unix_listener.hpp>
#include <gyre/net/unix_stream.hpp>
