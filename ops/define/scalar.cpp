#include "troupe/ops/define/scalar.hpp"

namespace troupe::ops {

double to_double(const tensor& scalar) {
  auto as = [&]<class T>(T) { return static_cast<double>(*scalar.data<T>()); };
  switch (scalar.type()) {
    case dtype::u8: return as(uint8_t{});
    case dtype::u16: return as(uint16_t{});
    case dtype::u32: return as(uint32_t{});
    case dtype::u64: return as(uint64_t{});
    case dtype::i8: return as(int8_t{});
    case dtype::i16: return as(int16_t{});
    case dtype::i32: return as(int32_t{});
    case dtype::i64: return as(int64_t{});
    case dtype::f16: return static_cast<float>(*scalar.data<float16>());
    case dtype::bf16: return static_cast<float>(*scalar.data<bfloat16>());
    case dtype::f32: return as(float{});
    case dtype::f64: return as(double{});
    default: return 0;
  }
}

} // namespace troupe::ops
