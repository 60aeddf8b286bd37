#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/ops/kernel/text.hpp"
#include "troupe/ops/strings/shared/map.cpu.hpp"

namespace troupe::ops::string_to_number_cpu {
namespace {

template <class T>
status run(kernel_context& at) {
  return map_strings<T>(at, [](const std::string& text) -> result<T> {
    if (auto value = number_from<T>(text))
      return *value;
    return invalid('\'', text, "' is not a number of type ", dtype_of<T>);
  });
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def string_to_number_cpu{
    .op = "StringToNumber",
    .run = table(type_list<float, double, int32_t, int64_t, uint32_t, uint64_t>{}),
    .key = "out_type",
};

} // namespace troupe::ops::string_to_number_cpu
