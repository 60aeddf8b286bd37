#include "troupe/ops/strings/shared/summarize.hpp"
#include "troupe/runtime/graph/graph.hpp"

namespace troupe::ops::string_format_cpu {
namespace {

struct format {
  std::string text, placeholder;
  int64_t summarize;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& of = setup.of;
  return std::shared_ptr<void>{std::make_shared<format>(format{of.attr<std::string>("template"),
                                                               of.attr<std::string>("placeholder"),
                                                               of.attr<int64_t>("summarize")})};
}

status run(kernel_context& at) {
  const auto& how = at.state<format>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{}));
  auto& to = *out->data<std::string>();
  std::string_view left = how.text;
  for (int i = 0; i < at.inputs(); ++i) {
    auto place = left.find(how.placeholder);
    (to += left.substr(0, place)) += summarize(at.input(i), how.summarize);
    left.remove_prefix(place + how.placeholder.size());
  }
  to += left;
  return {};
}

} // namespace

extern constexpr kernel_def string_format_cpu{
    .op = "StringFormat",
    .run = {{dtype::none, run}},
    .prepare = prepare,
};

} // namespace troupe::ops::string_format_cpu
