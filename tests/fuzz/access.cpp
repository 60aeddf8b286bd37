// Access lists.
#include "troupe/serialization/config/access.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::access {

FUZZ_TARGET(access) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  if (auto list = access_list::parse(text, "fuzz"))
    (void)list->rights_of_client("alice");
  return 0;
}

} // namespace troupe::fuzz::access
