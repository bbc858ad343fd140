// src/sync/mutex.cpp: stops a program that unlocks a free mutex.
#include <gyre/sync/mutex.hpp>

namespace gyre {

void mutex::stop_not_locked() noexcept {
  misuse("a mutex was unlocked that is not locked: let a guard of scoped_lock() unlock it");
}

}  // namespace gyre
