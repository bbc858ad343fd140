// gyre/gyre.hpp: the runtime, sockets, files and processes. To keep compile times low, include single headers.
//
// Not included: gyre/http.hpp, gyre/testing.hpp, and the headers of gyre/interop/, each of which needs another library.
#pragma once

#include <gyre/coro.hpp>
#include <gyre/fs.hpp>
#include <gyre/io.hpp>
#include <gyre/loop.hpp>
#include <gyre/net.hpp>
#include <gyre/process.hpp>
#include <gyre/runtime.hpp>
#include <gyre/stream.hpp>
#include <gyre/sync.hpp>
#include <gyre/tasks.hpp>
