// programs/encryption/encryption_absent.cpp: servers where there is no OpenSSL: the flags do not exist.
#include "programs/encryption/encryption.hpp"

namespace programs {

void add_encryption_options(command& /*app*/, encryption_settings& /*settings*/) {}
std::string check(const encryption_settings& /*settings*/) { return {}; }
std::unique_ptr<encryption> make_encryption(const encryption_settings& /*settings*/) { return nullptr; }

}  // namespace programs
