// gyre/stream.hpp: byte streams of any kind.
//
// May not know: where the bytes come from.
//
//   byte_stream  the concept
//   copy         from one stream to another
#pragma once

#include <gyre/stream/byte_stream.hpp>
#include <gyre/stream/copy.hpp>
