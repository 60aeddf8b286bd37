// What a caller sends in a handshake of TLS, before it is believed.
#include "troupe/serialization/tls/tls.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/certificates.hpp"

#include <algorithm>

namespace troupe::fuzz::tls {

FUZZ_TARGET(tls) {
  static test::test_authority authority;
  static const auto identity =
      *tls_identity::load({authority.task("worker", 0), "", task_name{"worker", 0}});
  auto rest = fuzz::bytes(data, size);
  auto session = identity->answer(
      [&](std::span<std::byte> to) {
        auto part = std::min(to.size(), rest.size());
        std::ranges::copy(rest.first(part), to.begin());
        rest = rest.subspan(part);
        return static_cast<ssize_t>(part);
      },
      size % 2 == 0);
  fuzz::require(!session->shake_hands().ok());
  return 0;
}

} // namespace troupe::fuzz::tls
