#include "troupe/ops/pool/shared/pooling.cpu.hpp"
#include "troupe/ops/quantized/shared/quantized_pooling.hpp"

namespace troupe::ops::quantized_max_pool_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  TROUPE_TRY(keep_range(at));
  return max_pool<T>(at);
}

} // namespace

extern constexpr kernel_def quantized_max_pool_cpu{
    .op = "QuantizedMaxPool",
    .run = {{dtype::u8, run<uint8_t>}, {dtype::i8, run<int8_t>}},
    .prepare = prepare_pool<quantized_pool>,
};

} // namespace troupe::ops::quantized_max_pool_cpu
