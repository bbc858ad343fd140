// gyre/stream.hpp: byte streams of any kind.
//
// Must not depend on: the origin of the bytes.
//
//   byte_stream    the concept; readable_stream, writable_stream, half_closable_stream
//   copy           copies from one stream to another; copy_bidirectional
//   any_stream     holds a byte stream of any type
//   memory_stream  an in-process connection with two ends
//   stream_reader  reads lines, records, whole streams
//   stream_writer  buffers writes, and waits when the buffer is full
#pragma once

#include <gyre/stream/any_stream.hpp>
#include <gyre/stream/byte_stream.hpp>
#include <gyre/stream/copy.hpp>
#include <gyre/stream/memory_stream.hpp>
#include <gyre/stream/stream_reader.hpp>
#include <gyre/stream/stream_writer.hpp>
