// Records of CSV: all fields are there, or an error.
#include "troupe/tests/fuzz/byte_op.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace troupe;
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodeCSV(bytes, f32[0], string[""], i64[0])
)"};
  decode(data, size);
  return 0;
}
