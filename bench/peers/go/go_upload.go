// go_upload: files received by Go's net/http on one core. Usage: go_upload FOLDER
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
)

func save(folder string, body io.Reader) error {
	file, err := os.Create(filepath.Join(folder, "received"))
	if err != nil {
		return err
	}
	if _, err = io.Copy(file, body); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

func receive(folder string, r *http.Request) error {
	if r.Method == http.MethodPut {
		return save(folder, r.Body)
	}
	form, err := r.MultipartReader()
	if err != nil {
		return err
	}
	for {
		part, err := form.NextPart()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err = save(folder, part); err != nil {
			return err
		}
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := receive(os.Args[1], r); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})))
}
