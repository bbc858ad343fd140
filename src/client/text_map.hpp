// src/client/text_map.hpp: a hash table by text, searched without a copy of the text.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gyre::http {

struct text_hash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

template <class T>
using text_map = std::unordered_map<std::string, T, text_hash, std::equal_to<>>;

}  // namespace gyre::http
