#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/summary/shared/summary_proto.hpp"

namespace troupe::ops::scalar_summary_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  const auto &tags = at.input(0), &values = at.input(1);
  if (tags.dims() != values.dims())
    return invalid("tags and values must have one shape, got ", tags.dims(), " and ",
                   values.dims());
  std::string summary;
  for (int64_t i = 0; i < tags.elements(); ++i) {
    std::string number;
    put_float(number, summary_field::number, static_cast<float>(widen(values.data<T>()[i])));
    put_summary_value(summary, tags.data<std::string>()[i], number);
  }
  return put_summary_output(at, std::move(summary));
}

} // namespace

extern constexpr kernel_def scalar_summary_cpu{
    .op = "ScalarSummary",
    .run = {{dtype::f16, run<float16>},
            {dtype::bf16, run<bfloat16>},
            {dtype::f32, run<float>},
            {dtype::f64, run<double>},
            {dtype::i8, run<int8_t>},
            {dtype::i16, run<int16_t>},
            {dtype::i32, run<int32_t>},
            {dtype::i64, run<int64_t>},
            {dtype::u8, run<uint8_t>},
            {dtype::u16, run<uint16_t>},
            {dtype::u32, run<uint32_t>},
            {dtype::u64, run<uint64_t>}},
};

} // namespace troupe::ops::scalar_summary_cpu
