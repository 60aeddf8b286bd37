// PNG files: accepted bytes are an image.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::decode_png {

FUZZ_TARGET(decode_png) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodePng(bytes)
)"};
  for (const auto& image : decode(data, size))
    fuzz::require(image.rank() == 3 && image.elements() > 0);
  return 0;
}

} // namespace troupe::fuzz::decode_png
