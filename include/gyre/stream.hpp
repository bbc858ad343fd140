// gyre/stream.hpp: byte streams of any kind.
//
// May not know: where the bytes come from.
//
//   byte_stream    the concept; readable_stream, writable_stream, half_closable_stream
//   copy           from one stream to another; copy_bidirectional
//   any_stream     a byte stream of any type, behind one type
//   memory_stream  two ends of a connection without a kernel
//   stream_reader  lines, records, whole streams
//   stream_writer  writing without waiting, and waiting when too much has gathered
#pragma once

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/byte_stream.hpp>
#include <gyre/stream/copy.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>
