// src/sync/mutex.cpp: handing a mutex on.
#include <gyre/sync/mutex.hpp>

namespace gyre {

void mutex::unlock() noexcept {
  if (!locked_) misuse("a mutex was unlocked that is not locked: let a guard of scoped_lock() unlock it");
  holder_ = 0;  // always: the library may be a release build where the program is not
  // To the next one at once: a task that comes in between does not get ahead.
  if (!waiters_.grant_one()) locked_ = false;
}

}  // namespace gyre
