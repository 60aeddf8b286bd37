// TensorProtos: an accepted tensor is the same after writing and reading.
#include "tests/fuzz/byte_op.hpp"

namespace troupe::fuzz::parse_tensor {

FUZZ_TARGET(parse_tensor) {
  static fuzz::byte_op decode{R"(
bytes = Placeholder dtype=string shape=[]
y = ParseTensor(bytes) out_type=f32
)"};
  static fuzz::byte_op write{R"(
bytes = Placeholder dtype=string shape=[]
tensor = ParseTensor(bytes) out_type=f32
y = SerializeTensor(tensor)
)"};
  auto read = decode(data, size);
  if (read.empty())
    return 0;
  auto written = write(data, size);
  fuzz::require(written.size() == 1);
  const auto& text = *written[0].data<std::string>();
  auto decoded_again = decode(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  fuzz::require(decoded_again.size() == 1 && identical(read[0], decoded_again[0]));
  return 0;
}

} // namespace troupe::fuzz::parse_tensor
