// programs/gyre/serve/encryption_absent.cpp: `gyre serve` where there is no OpenSSL: the flags do not exist.
#include "programs/gyre/serve/encryption.hpp"

namespace programs {

void add_encryption_options(CLI::App& /*app*/, encryption_settings& /*settings*/) {}
std::string check(const encryption_settings& /*settings*/) { return {}; }
std::unique_ptr<encryption> make_encryption(const encryption_settings& /*settings*/) { return nullptr; }

}  // namespace programs
