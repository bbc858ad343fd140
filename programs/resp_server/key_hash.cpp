// programs/resp_server/key_hash.cpp: the key of a hash.
#include "programs/resp_server/key_hash.hpp"

#include <random>

namespace resp {

key_hash key_hash::with_seed(const std::optional<std::uint64_t>& seed) {
  if (seed) return {*seed, *seed};
  std::random_device random;
  const auto word = [&] { return (static_cast<std::uint64_t>(random()) << 32) | random(); };
  return {word(), word()};
}

}  // namespace resp
