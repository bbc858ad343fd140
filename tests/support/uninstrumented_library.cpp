// tests/support/uninstrumented_library.cpp: reports of the thread sanitizer that are not true. libstdc++.so counts the
// references to an exception with atomic operations that the sanitizer does not see, so when two threads have held an
// exception, the read by one seems to race with the release by the other, which frees it.

extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() { return "race:^std::__exception_ptr::exception_ptr::_M_release"; }
