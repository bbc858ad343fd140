// go_http: "Hello, World!" by Go's net/http. Argument: the number of cores, defaults to 1.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime"
)

func main() {
	cores := 1
	if len(os.Args) > 1 {
		fmt.Sscan(os.Args[1], &cores)
	}
	runtime.GOMAXPROCS(cores)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "Hello, World!")
	})))
}
