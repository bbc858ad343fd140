// Makes the requests that come as lines of JSON, with Go's net/http; each answer is a line of JSON.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"os"
	"strings"
)

type wanted struct {
	Method, Url, Upload, Name string
	Fields                    map[string]string
}

type got struct {
	Status int               `json:"status"`
	Fields map[string]string `json:"fields"`
	Digest string            `json:"digest"`
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// The form is made while it is sent: its length is not known before, so that it is sent in chunks.
func form(path, name string) (io.Reader, string) {
	in, out := io.Pipe()
	writer := multipart.NewWriter(out)
	go func() {
		file, err := os.Open(path)
		check(err)
		defer file.Close()
		part, err := writer.CreateFormFile("file", name)
		check(err)
		_, err = io.Copy(part, file)
		check(err)
		check(writer.Close())
		out.Close()
	}()
	return in, writer.FormDataContentType()
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var w wanted
		check(json.Unmarshal(lines.Bytes(), &w))
		var body io.Reader
		var kind string
		if w.Upload != "" {
			body, kind = form(w.Upload, w.Name)
		}
		request, err := http.NewRequest(w.Method, w.Url, body)
		check(err)
		for name, value := range w.Fields {
			request.Header.Set(name, value)
		}
		if kind != "" {
			request.Header.Set("Content-Type", kind)
		}
		response, err := http.DefaultClient.Do(request)
		check(err)
		digest := sha256.New()
		_, err = io.Copy(digest, response.Body)
		check(err)
		response.Body.Close()
		g := got{response.StatusCode, map[string]string{}, fmt.Sprintf("%x", digest.Sum(nil))}
		for name := range response.Header {
			g.Fields[strings.ToLower(name)] = response.Header.Get(name)
		}
		if response.Close {
			g.Fields["connection"] = "close"
		}
		line, err := json.Marshal(g)
		check(err)
		fmt.Println(string(line))
	}
}
