// Examples: all features are decoded, or there is an error.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::parse_example {

FUZZ_TARGET(parse_example) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
batch = Pack(bytes)
y = ParseExample(batch, string{0}[], string("n"), string("s"), string("x"), string("r"), f32[0,
    0], f32(0)) Nsparse=2 Ndense=2 sparse_types=[i64, string] dense_shapes=[[2], [-1]]
)"};
  auto features = decode(data, size);
  fuzz::require(features.empty() || features[0].dims()[0] == features[2].dims()[0]);
  return 0;
}

} // namespace troupe::fuzz::parse_example
