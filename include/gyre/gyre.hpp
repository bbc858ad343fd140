// gyre/gyre.hpp: the whole library. A file that cares for its compile time includes single headers instead.
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
