// tests/packages/plugins/plugin_host.cpp: loads and unloads the two plugins whose paths are given, which have gyre in
// them. The program itself has no gyre, or a third copy whose symbols it exports.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <thread>

#ifdef HOST_HAS_GYRE
#include <gyre/gyre.hpp>
#endif

namespace {

struct plugin {
  void* handle = nullptr;
  int (*work)(int (*inside)()) = nullptr;
  void (*end)() = nullptr;
};

void check(bool holds, const char* what) {
  if (holds) return;
  const char* const why = ::dlerror();
  std::fprintf(stderr, "plugin_host: %s %s\n", what, why == nullptr ? "" : why);
  std::exit(1);
}

plugin load(const char* path, int scope) {
  plugin made{.handle = ::dlopen(path, RTLD_NOW | scope)};
  check(made.handle != nullptr, "a plugin is not loaded:");
  made.work = reinterpret_cast<int (*)(int (*)())>(::dlsym(made.handle, "plugin_work"));
  made.end = reinterpret_cast<void (*)()>(::dlsym(made.handle, "plugin_end"));
  check(made.work != nullptr && made.end != nullptr, "a plugin lacks its functions:");
  return made;
}

bool is_loaded(const char* path) {
  void* const found = ::dlopen(path, RTLD_NOW | RTLD_NOLOAD);
  if (found != nullptr) ::dlclose(found);  // this also unloads what has become unused since
  return found != nullptr;
}

plugin first;
plugin second;

int work_of_second() { return second.work(nullptr); }
int work_of_first() { return first.work(work_of_second); }

// Each plugin has a loop on this thread, inside of the previous one. That is an error for two loops of one copy.
int work_of_all() {
#ifdef HOST_HAS_GYRE
  const auto calls = []() -> gyre::task<int> {
    co_await gyre::yield();
    co_return work_of_first();
  };
  return gyre::run(calls);
#else
  return work_of_first();
#endif
}

// Uses both plugins on a thread that ends, because a thread keeps memory for the coroutines of its copies.
void use(const char* what) {
  std::thread([what] { check(work_of_all() == 10, what); }).join();
}

}  // namespace

int main(int /*count*/, char** arguments) {
  const char* const* const paths = arguments + 1;
  for (const int scope : {RTLD_LOCAL, RTLD_GLOBAL}) {
    // Unloaded while their pools have threads: they stay, and are used again.
    for (int round = 0; round < 2; ++round) {
      first = load(paths[0], scope);
      second = load(paths[1], scope);
      use("the plugins do not work:");
      ::dlclose(first.handle);
      ::dlclose(second.handle);
      check(is_loaded(paths[0]) && is_loaded(paths[1]), "a plugin is unloaded although its pool has threads");
    }
    // Unloaded without threads: they go.
    first = load(paths[0], scope);
    second = load(paths[1], scope);
    use("the plugins do not work again:");
    first.end();
    second.end();
    ::dlclose(first.handle);
    ::dlclose(second.handle);
    check(!is_loaded(paths[0]) && !is_loaded(paths[1]), "a plugin stays loaded although its pools were ended");
    // The handlers for fork have gone, too.
    if (const pid_t child = ::fork(); child == 0) {
      ::_exit(0);
    } else {
      int status = 0;
      check(::waitpid(child, &status, 0) == child && status == 0, "a child cannot be forked");
    }
  }
  std::puts("gyre 0.1.0: 42");
  return 0;
}
