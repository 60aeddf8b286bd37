#include "troupe/runtime/types/held_bytes.hpp"

#include "tests/support/catch.hpp"

#include <string>

namespace troupe::test::held_bytes_test {

TEST_CASE("a tensor of strings holds their characters, too") {
  CHECK(held_bytes(tensor{}) == 0);
  CHECK(held_bytes(tensor::vector<float>({1, 2, 3})) == 3 * sizeof(float));
  auto texts = tensor::vector<std::string>({std::string(1000, 'x'), ""});
  CHECK(held_bytes(texts) == 2 * sizeof(std::string) + 1000);
}

} // namespace troupe::test::held_bytes_test
