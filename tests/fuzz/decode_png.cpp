// PNG files: what is taken is an image.
#include "troupe/tests/fuzz/byte_op.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace troupe;
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodePng(bytes)
)"};
  for (const auto& image : decode(data, size))
    fuzz::require(image.rank() == 3 && image.elements() > 0);
  return 0;
}
