// The routes of application.cpp, written with Go's net/http. Usage: application DIRECTORY. Prints the port.

//go:debug httpmuxgo121=0
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
)

func text(w http.ResponseWriter, body string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	io.WriteString(w, body)
}

func valuesOf(all []string) string {
	var out strings.Builder
	for _, value := range all {
		out.WriteString(value + "|")
	}
	return out.String()
}

func main() {
	log.SetOutput(io.Discard)
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request)) { http.HandleFunc(pattern, f) }
	say := func(body string) func(w http.ResponseWriter, r *http.Request) {
		return func(w http.ResponseWriter, r *http.Request) { text(w, body) }
	}
	handle("GET /hello", say("hello"))
	handle("GET /users/{name}", func(w http.ResponseWriter, r *http.Request) { text(w, "user "+r.PathValue("name")) })
	handle("POST /users/search", say("search"))
	handle("POST /app/login", say("login"))
	handle("GET /app/{rest...}", say("page"))
	item := func(w http.ResponseWriter, r *http.Request) { text(w, r.Method+" "+r.PathValue("id")) }
	handle("GET /items/{id}", item)
	handle("PUT /items/{id}", item)
	handle("DELETE /items/{id}", item)
	handle("GET /query", func(w http.ResponseWriter, r *http.Request) { text(w, valuesOf(r.URL.Query()["a"])) })
	handle("POST /form", func(w http.ResponseWriter, r *http.Request) {
		if err := r.ParseForm(); err != nil {
			http.Error(w, "malformed", 400)
			return
		}
		text(w, valuesOf(r.PostForm["a"]))
	})
	handle("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, "malformed", 400)
			return
		}
		text(w, string(body))
	})
	handle("GET /cookie", func(w http.ResponseWriter, r *http.Request) {
		if cookie, err := r.Cookie("a"); err == nil {
			text(w, cookie.Value)
		} else {
			text(w, "")
		}
	})
	handle("GET /redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/hello", 302) })
	handle("GET /redirect/odd", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/a b/ä?q=\"x\"", 302)
	})
	handle("GET /fail", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "failed", 500) })
	handle("GET /stream/fail", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, err := io.Copy(w, failing{})
		if err != nil {
			http.Error(w, "failed", 500)
		}
	})
	handle("GET /empty", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })
	handle("POST /reject", func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 403) })
	handle("GET /server", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Server", "mine")
		text(w, "named")
	})
	http.Handle("GET /static/", http.StripPrefix("/static/", http.FileServer(http.Dir(os.Args[1]))))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, nil))
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
