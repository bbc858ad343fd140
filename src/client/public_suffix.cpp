// src/client/public_suffix.cpp: asks the list that libpsl was built with.
#include "public_suffix.hpp"

#ifdef GYRE_WITH_LIBPSL
#include <libpsl.h>

#include <string>
#endif

namespace gyre::http {

bool is_known_public_suffix(std::string_view domain) {
#ifdef GYRE_WITH_LIBPSL
  if (const psl_ctx_t* const list = psl_builtin(); list != nullptr)
    return psl_is_public_suffix(list, std::string(domain).c_str()) != 0;
#endif
  return !domain.contains('.');
}

}  // namespace gyre::http
