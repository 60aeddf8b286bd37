// Records of CSV: all fields are decoded, or there is an error.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::decode_csv {

FUZZ_TARGET(decode_csv) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = DecodeCSV(bytes, f32[0], string[""], i64[0])
)"};
  decode(data, size);
  return 0;
}

} // namespace troupe::fuzz::decode_csv
