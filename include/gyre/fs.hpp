// gyre/fs.hpp: files and directories.
//
// Must not depend on: sockets. No call of these headers blocks the loop: the ring performs it, or a
// thread of io::blocking_pool.
//
//   file             an open file, pipe or terminal
//   open_options     the options for opening it
//   status           the metadata of a file: kind, size, permissions, times
//   path_operations  renaming, removing, making directories and links
//   directory        the entries of a directory, in batches
//   standard_streams the standard input and output, and pipes, as files
//   whole_file       a file read or written as a whole
//   copy             a file copied by the kernel
//   watcher          reports changes in directories
#pragma once

#include <gyre/fs/copy.hpp>
#include <gyre/fs/directory.hpp>
#include <gyre/fs/file.hpp>
#include <gyre/fs/open_options.hpp>
#include <gyre/fs/path_operations.hpp>
#include <gyre/fs/standard_streams.hpp>
#include <gyre/fs/status.hpp>
#include <gyre/fs/watcher.hpp>
#include <gyre/fs/whole_file.hpp>
