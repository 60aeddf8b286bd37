// BMP files: accepted bytes are an image.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::decode_bmp {

FUZZ_TARGET(decode_bmp) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodeBmp(bytes)
)"};
  for (const auto& image : decode(data, size))
    fuzz::require(image.rank() == 3 && image.elements() > 0);
  return 0;
}

} // namespace troupe::fuzz::decode_bmp
