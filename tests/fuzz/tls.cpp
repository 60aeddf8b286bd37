// The bytes of a caller during a TLS handshake, before it is authenticated.
#include "troupe/serialization/tls/tls.hpp"

#include "tests/fuzz/fuzz.hpp"
#include "tests/support/certificates.hpp"

#include <algorithm>

namespace troupe::fuzz::tls {

FUZZ_TARGET(tls) {
  static test::test_authority authority;
  static const auto identity =
      *tls_identity::load({authority.task("worker", 0), "", task_name{"worker", 0}});
  auto input = fuzz::bytes(data, size);
  auto session = identity->accept(
      [&](std::span<std::byte> to) {
        auto part = std::min(to.size(), input.size());
        std::ranges::copy(input.first(part), to.begin());
        input = input.subspan(part);
        return static_cast<ssize_t>(part);
      },
      size % 2 == 0);
  fuzz::require(!session->continue_handshake().ok());
  return 0;
}

} // namespace troupe::fuzz::tls
