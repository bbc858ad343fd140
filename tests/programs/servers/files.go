// files.go ROOT PORT SECURE_PORT CHAIN KEY: serves the files of a directory over HTTP and HTTPS.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	files := http.NewServeMux()
	files.Handle("/", http.FileServer(http.Dir(os.Args[1])))
	files.Handle("/moved/", http.RedirectHandler("/small", 302))
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[2], files)) }()
	log.Fatal(http.ListenAndServeTLS("127.0.0.1:"+os.Args[3], os.Args[4], os.Args[5], files))
}
