// programs/common/system_files.hpp: where a system keeps what a static executable needs of it.
#pragma once

namespace programs {

/// Called first by a program that may be a static executable, and so may run on another distribution than the one that
/// built it. Names of hosts then come from /etc/hosts and the DNS, not from the plugins that /etc/nsswitch.conf lists,
/// because a plugin belongs to another libc. The authorities of TLS come from the system's file, unless SSL_CERT_FILE
/// or SSL_CERT_DIR names others. A no-op in a program that is not static. Thread: before the program has others.
void adapt_to_system() noexcept;

/// True if the environment, or one of the usual places, has a file with the certificates of authorities.
[[nodiscard]] bool system_has_authorities() noexcept;

}  // namespace programs
