// Names of certificates: each accepted name has only one written form.
#include "troupe/serialization/tls/certificate_name.hpp"

#include "tests/fuzz/fuzz.hpp"

namespace troupe::fuzz::name_of_certificate {

FUZZ_TARGET(certificate_name) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  if (auto name = troupe::certificate_name::parse(text))
    fuzz::require(to_string(*name) == text);
  return 0;
}

} // namespace troupe::fuzz::name_of_certificate
