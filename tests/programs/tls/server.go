// server.go CHAIN KEY: echoes what it receives in one piece, and ends in order.
package main

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
)

func main() {
	pair, err := tls.LoadX509KeyPair(os.Args[1], os.Args[2])
	if err != nil {
		panic(err)
	}
	listener, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}})
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		peer, err := listener.Accept()
		if err != nil {
			return
		}
		line := make([]byte, 1000)
		size, _ := peer.Read(line)
		peer.Write(line[:size])
		peer.Close()
	}
}
