// examples/04_producer_consumer.cpp: a bounded queue between one producer and three workers.
#include <gyre/gyre.hpp>

#include <chrono>
#include <cstdio>
#include <string>

using namespace std::chrono_literals;

namespace {

gyre::task<> work(std::string name, gyre::queue<int>& jobs) {
  for (;;) {
    const int job = co_await jobs.get();  // throws `cancelled` when the group is cancelled
    co_await gyre::sleep(std::chrono::milliseconds(job % 5));
    std::printf("%s did job %d\n", name.c_str(), job);
    jobs.task_done();
  }
}

gyre::task<> run() {
  gyre::queue<int> jobs(4);  // the producer waits while four jobs are queued
  auto body = [&](gyre::task_group& workers) -> gyre::task<> {
    for (const char* name : {"ann", "bob", "cy"}) workers.spawn(work(name, jobs), {.name = name}).detach();
    for (int job = 1; job <= 12; ++job) co_await jobs.put(job);
    co_await jobs.join();  // until every job has been done
    workers.cancel();      // the workers wait for more jobs, and are no longer needed
  };
  co_await gyre::task_group::scope(body);
  std::puts("all done");
}

}  // namespace

int main() { return gyre::run_main(run()); }
