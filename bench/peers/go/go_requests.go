// go_requests: GET requests by Go's net/http. Arguments: PORT CONNECTIONS SECONDS.
package main

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

func main() {
	runtime.GOMAXPROCS(1)
	connections, _ := strconv.Atoi(os.Args[2])
	limit, _ := strconv.ParseFloat(os.Args[3], 64)
	url := "http://127.0.0.1:" + os.Args[1] + "/"
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	begin := time.Now()
	end := begin.Add(time.Duration(limit * float64(time.Second)))
	var requests atomic.Int64
	var all sync.WaitGroup
	for i := 0; i < connections; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for time.Now().Before(end) {
				response, err := client.Get(url)
				if err != nil {
					log.Fatal(err)
				}
				size, err := io.Copy(io.Discard, response.Body)
				response.Body.Close()
				if err != nil || size != 13 {
					log.Fatal(err, size)
				}
				requests.Add(1)
			}
		}()
	}
	all.Wait()
	var used syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	fmt.Printf("{\"requests\": %d, \"seconds\": %f, \"user\": %f, \"system\": %f}\n", requests.Load(),
		time.Since(begin).Seconds(), seconds(used.Utime), seconds(used.Stime))
}
