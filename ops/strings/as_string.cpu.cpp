#include "troupe/ops/kernel/element_types.hpp"
#include "troupe/runtime/graph/graph.hpp"

#include <cstdio>

namespace troupe::ops::as_string_cpu {
namespace {

// A printf format, without the length modifier and the conversion letter.
struct number_format {
  std::string flags;
  char real;
};

result<std::shared_ptr<void>> prepare(const kernel_setup& setup) {
  const auto& string_node = setup.origin;
  auto precision = string_node.attr<int64_t>("precision"),
       width = string_node.attr<int64_t>("width");
  number_format format{"%", string_node.attr<bool>("shortest")     ? 'g'
                            : string_node.attr<bool>("scientific") ? 'e'
                                                                   : 'f'};
  if (width >= 0)
    format.flags += concat(string_node.attr<std::string>("fill"), width);
  if (precision >= 0)
    format.flags += concat('.', precision);
  return std::shared_ptr<void>{std::make_shared<number_format>(std::move(format))};
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" // prepare() has built the format
template <class T>
void print(std::string& to, const std::string& format, T value) {
  char room[64];
  auto length = std::snprintf(room, sizeof room, format.c_str(), value);
  if (length < static_cast<int>(sizeof room)) {
    to.append(room, static_cast<size_t>(std::max(length, 0)));
    return;
  }
  auto begin = to.size();
  to.resize(begin + static_cast<size_t>(length) + 1);
  std::snprintf(to.data() + begin, static_cast<size_t>(length) + 1, format.c_str(), value);
  to.pop_back();
}
#pragma GCC diagnostic pop

template <class T>
status run(kernel_context& at) {
  const auto& format = at.state<number_format>();
  TROUPE_ASSIGN(auto* out, at.allocate(0, at.input(0).dims()));
  const auto* from = at.input(0).data<T>();
  auto* to = out->template data<std::string>();
  auto real = format.flags + format.real,
       whole = format.flags + (std::is_signed_v<T> ? "lld" : "llu");
  at.parallel_for(out->elements(), 150, [&](int64_t begin, int64_t end) {
    for (auto i = begin; i < end; ++i) {
      if constexpr (std::is_same_v<T, std::string>) {
        to[i] = from[i];
      } else if constexpr (std::is_same_v<T, bool>) {
        to[i] = from[i] ? "true" : "false";
      } else if constexpr (is_complex<T>) {
        to[i] = '(';
        print(to[i], real, static_cast<double>(from[i].real()));
        to[i] += ',';
        print(to[i], real, static_cast<double>(from[i].imag()));
        to[i] += ')';
      } else if constexpr (std::is_integral_v<T>) {
        using widest = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
        print(to[i], whole, static_cast<widest>(from[i]));
      } else {
        print(to[i], real, static_cast<double>(widen(from[i])));
      }
    }
  });
  return {};
}

template <class... Ts>
constexpr inplace_vector<typed_kernel, 18> table(type_list<Ts...>) {
  return {{dtype_of<Ts>, run<Ts>}...};
}

} // namespace

extern constexpr kernel_def as_string_cpu{
    .op = "AsString",
    .run = table(types::numbers + types::boolean + types::string),
    .prepare = prepare,
};

} // namespace troupe::ops::as_string_cpu
