// tests/http/compressible_text.hpp: texts that compress well, bytes that do not, and streams that are compressed.
#pragma once

#include <gyre/http/compress.hpp>
#include <gyre/http/router.hpp>

#include <cstddef>
#include <random>
#include <string>

namespace gyre_test {

inline std::string make_text(std::size_t size) {
  std::string text;
  for (unsigned i = 0; text.size() < size; ++i)
    text += "line " + std::to_string(i * 7919) + " of many that are alike\n";
  text.resize(size);
  return text;
}
inline const std::string page = make_text(10'000);
inline const std::string book = make_text(300'000);

inline std::string make_noise(std::size_t size) {
  std::mt19937 random(1);
  std::string noise;
  while (noise.size() < size) noise += static_cast<char>(random());
  return noise;
}

/// Streams `body`, compressed for clients that accept it.
template <class Body>
gyre::http::router compressed_stream(Body body) {
  gyre::http::router routes;
  routes.use(gyre::http::compress());
  routes.get("/", [body](gyre::http::request&) { return gyre::http::response::stream(body, "text/plain"); });
  return routes;
}

}  // namespace gyre_test
