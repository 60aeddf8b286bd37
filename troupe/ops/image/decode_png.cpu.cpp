#include "troupe/ops/image/shared/image_file.hpp"
#include "troupe/ops/image/shared/png.cpu.hpp"
#include "troupe/runtime/graph/graph.hpp"
#include "troupe/runtime/graph/kernel.hpp"

namespace troupe::ops::decode_png_cpu {
namespace {

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  return std::shared_ptr<void>{std::make_shared<png_options>(png_options{
      static_cast<int>(setup.of.attr<int64_t>("channels")), setup.of.attr<dtype>("dtype")})};
}

status run(kernel_context& at) {
  if (at.input(0).rank() != 0)
    return invalid("contents must be a scalar, got shape ", at.input(0).dims());
  const auto& how = at.state<png_options>();
  std::string_view file = *at.input(0).data<std::string>();
  if (is_jpeg(file) && how.type == dtype::u8) {
    TROUPE_ASSIGN(auto image, read_jpeg(file, {.channels = how.channels}, at.memory(), at.stop()));
    at.set_output(0, std::move(image));
    return {};
  }
  TROUPE_ASSIGN(auto image, read_png(file, how, at.memory()));
  at.set_output(0, std::move(image));
  return {};
}

} // namespace

extern constexpr kernel_def decode_png_cpu{
    .op = "DecodePng",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::decode_png_cpu
