// client.go PORT AUTHORITIES: gets /large twice, the second time with the session of the first.
package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"os"
)

func get(port string, settings *tls.Config) (int, bool) {
	peer, err := tls.Dial("tcp", "127.0.0.1:"+port, settings)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer peer.Close()
	fmt.Fprint(peer, "GET /large HTTP/1.0\r\nHost: localhost\r\n\r\n")
	text, err := io.ReadAll(peer) // fails for an end without close_notify
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	return len(text) - bytes.Index(text, []byte("\r\n\r\n")) - 4, peer.ConnectionState().DidResume
}

func main() {
	authorities, _ := os.ReadFile(os.Args[2])
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(authorities)
	settings := &tls.Config{RootCAs: pool, ServerName: "server.test", ClientSessionCache: tls.NewLRUClientSessionCache(4)}
	size, first := get(os.Args[1], settings)
	again, resumed := get(os.Args[1], settings)
	word := "anew"
	if resumed && !first {
		word = "resumed"
	}
	fmt.Printf("%d bytes, %s\n", min(size, again), word)
}
