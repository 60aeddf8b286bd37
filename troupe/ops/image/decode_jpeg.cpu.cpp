#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/image/shared/jpeg.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::decode_jpeg_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& of = setup.of;
  return std::shared_ptr<void>{std::make_shared<jpeg_options>(
      jpeg_options{.channels = static_cast<int>(of.attr<int64_t>("channels")),
                   .ratio = static_cast<int>(of.attr<int64_t>("ratio")),
                   .fancy_upscaling = of.attr<bool>("fancy_upscaling"),
                   .recover_truncated = of.attr<bool>("try_recover_truncated"),
                   .acceptable_fraction = of.attr<double>("acceptable_fraction"),
                   .fast_dct = of.attr<std::string>("dct_method") != "INTEGER_ACCURATE"})};
}

status run(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  const auto& how = at.state<jpeg_options>();
  std::string_view file = *at.input(0).data<std::string>();
  TROUPE_ASSIGN(auto image, is_png(file) ? read_png(file, {.channels = how.channels}, at.memory())
                                         : read_jpeg(file, how, at.memory(), at.stop()));
  at.set_output(0, std::move(image));
  return {};
}

} // namespace

extern constexpr kernel_def decode_jpeg_cpu{
    .op = "DecodeJpeg",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::decode_jpeg_cpu
