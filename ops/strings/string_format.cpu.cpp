#include "troupe/ops/strings/shared/summarize.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::string_format_cpu {
namespace {

struct format {
  std::string text, placeholder;
  int64_t summarize;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& format_node = setup.origin;
  return std::shared_ptr<void>{std::make_shared<format>(format{
      format_node.attr<std::string>("template"), format_node.attr<std::string>("placeholder"),
      format_node.attr<int64_t>("summarize")})};
}

status run(kernel_context& at) {
  const auto& settings = at.state<format>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  auto& to = *out->data<std::string>();
  std::string_view remaining = settings.text;
  for (int i = 0; i < at.inputs(); ++i) {
    auto place = remaining.find(settings.placeholder);
    (to += remaining.substr(0, place)) += summarize(at.input(i), settings.summarize);
    remaining.remove_prefix(place + settings.placeholder.size());
  }
  to += remaining;
  return {};
}

} // namespace

extern constexpr kernel_def string_format_cpu{
    .op = "StringFormat",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::string_format_cpu
