// DecodeRaw: interprets bytes as numbers.
#include "troupe/runtime/graph/infer.hpp"

namespace troupe::ops::decode_raw_op {
namespace {

result<shapes> infer(const infer_context& at) {
  const auto& dims = at.input(0);
  if (!dims.has_rank())
    return shapes{dims};
  std::vector<int64_t> extents{dims.extents().begin(), dims.extents().end()};
  extents.push_back(unknown_extent);
  TROUPE_ASSIGN(auto decoded, partial_shape::make(extents));
  return shapes{decoded};
}

} // namespace

extern constexpr op_def decode_raw{
    .name = "DecodeRaw",
    .doc = "Takes the bytes of each string for the elements of a vector.\n\n"
           "All strings have the same length, which is a multiple of the element's size. "
           "little_endian says which byte of an element comes first.",
    .inputs = {{"bytes", "string"}},
    .outputs = {{"output", "out_type"}},
    .attrs = {{"out_type", (numbers | one_of(dtype::boolean))}, {"little_endian", true}},
    .infer = infer,
    .no_gradient = "bytes have none",
    .example = R"(
y = DecodeRaw(string["\x01\x00\x02\x01", "ab\x00\x00"]) out_type=u16
z = DecodeRaw(string("\x3f\x80\x00\x00")) out_type=f32 little_endian=false
fetch y = u16[[1, 258], [25185, 0]]
fetch z = f32[1]
)",
};

} // namespace troupe::ops::decode_raw_op
