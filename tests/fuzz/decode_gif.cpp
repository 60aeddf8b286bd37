// GIF files: accepted bytes are an image, or several.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::decode_gif {

FUZZ_TARGET(decode_gif) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodeGif(bytes)
)"};
  for (const auto& image : decode(data, size))
    fuzz::require(image.rank() == 4 && image.dims()[3] == 3 && image.elements() > 0);
  return 0;
}

} // namespace troupe::fuzz::decode_gif
