// JPEG files: accepted bytes are an image.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::decode_jpeg {

FUZZ_TARGET(decode_jpeg) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodeJpeg(bytes) try_recover_truncated=true channels=3
)"};
  for (const auto& image : decode(data, size))
    fuzz::require(image.rank() == 3 && image.dims()[2] == 3);
  return 0;
}

} // namespace troupe::fuzz::decode_jpeg
