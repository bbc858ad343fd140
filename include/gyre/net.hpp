// gyre/net.hpp: TCP and Unix sockets, addresses, names.
//
// Must not depend on: the protocols above them.
//
//   address       an IP address with a port
//   host_port     parses the text "host:port"
//   resolver      resolves names to addresses without blocking the loop
//   tcp_stream    a connected TCP socket
//   open_connection  a reader and a writer
//   start_server     a server whose connections are a reader and a writer
//   happy_eyeballs   connects to the first address of a host that answers
//   tcp_listener  accepts connections, and serves them
//   unix_address, unix_stream, unix_listener   the same for Unix sockets
//   udp_socket, unix_datagram   datagrams
//   descriptor_passing   sends descriptors over a Unix socket
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
