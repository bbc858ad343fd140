// programs/resp_server/command_table.cpp: all commands, and their lookup by name.
#include "programs/resp_server/command.hpp"
#include "programs/resp_server/handlers.hpp"

#include <array>

namespace resp {
namespace {

using enum command_kind;

constexpr std::array table{
    command{"append", 3, append_command, grows, 1, 1, 1},
    command{"client", -2, client_command},
    command{"command", -1, command_command},
    command{"config", -2, config_command},
    command{"dbsize", 1, dbsize_command, reads},
    command{"decr", 2, decr_command, grows, 1, 1, 1},
    command{"decrby", 3, decrby_command, grows, 1, 1, 1},
    command{"del", -2, del_command, writes, 1, -1, 1},
    command{"echo", 2, echo_command},
    command{"exists", -2, exists_command, reads, 1, -1, 1},
    command{"expire", -3, expire_command, writes, 1, 1, 1},
    command{"flushall", -1, flush_command, writes},
    command{"flushdb", -1, flush_command, writes},
    command{"get", 2, get_command, reads, 1, 1, 1},
    command{"getset", 3, getset_command, grows, 1, 1, 1},
    command{"hello", -1, hello_command},
    command{"incr", 2, incr_command, grows, 1, 1, 1},
    command{"incrby", 3, incrby_command, grows, 1, 1, 1},
    command{"info", -1, info_command},
    command{"keys", 2, keys_command, reads},
    command{"mget", -2, mget_command, reads, 1, -1, 1},
    command{"mset", -3, mset_command, grows, 1, -1, 2},
    command{"persist", 2, persist_command, writes, 1, 1, 1},
    command{"pexpire", -3, pexpire_command, writes, 1, 1, 1},
    command{"ping", -1, ping_command},
    command{"pttl", 2, pttl_command, reads, 1, 1, 1},
    command{"quit", -1, quit_command},
    command{"reset", 1, reset_command},
    command{"select", 2, select_command},
    command{"set", -3, set_command, grows, 1, 1, 1},
    command{"setex", 4, setex_command, grows, 1, 1, 1},
    command{"setnx", 3, setnx_command, grows, 1, 1, 1},
    command{"strlen", 2, strlen_command, reads, 1, 1, 1},
    command{"ttl", 2, ttl_command, reads, 1, 1, 1},
    command{"type", 2, type_command, reads, 1, 1, 1},
};

// A perfect hash: each name has its own slot in a small table, by a multiplier that was found at compile time.
constexpr std::size_t slot_bits = 8;
constexpr std::uint8_t no_command = 0xff;
static_assert(table.size() < no_command);

struct name_index {
  std::uint64_t multiplier;
  std::array<std::uint8_t, std::size_t{1} << slot_bits> slots;
  std::array<word, table.size()> words;
};

constexpr std::size_t slot_of(word name, std::uint64_t multiplier) noexcept {
  return static_cast<std::size_t>((name * multiplier) >> (64 - slot_bits));
}

consteval word table_word(std::string_view name) {
  word value = 0;
  for (std::size_t i = name.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(name[i]);
  return value;
}

consteval bool try_multiplier(name_index& index) {
  index.slots.fill(no_command);
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::uint8_t& slot = index.slots[slot_of(index.words[i], index.multiplier)];
    if (slot != no_command) return false;
    slot = static_cast<std::uint8_t>(i);
  }
  return true;
}

consteval name_index make_index() {
  name_index index{};
  for (std::size_t i = 0; i < table.size(); ++i) index.words[i] = table_word(table[i].name);
  index.multiplier = 0x9e3779b97f4a7c15U;
  while (!try_multiplier(index)) index.multiplier = index.multiplier * 6364136223846793005U + 2;
  return index;
}

constexpr name_index names = make_index();

}  // namespace

std::span<const command> all_commands() noexcept { return table; }

const command* find_command(std::string_view name) noexcept {
  const word code = read_word(name);
  const std::size_t i = names.slots[slot_of(code, names.multiplier)];
  return i != no_command && names.words[i] == code ? &table[i] : nullptr;
}

}  // namespace resp
