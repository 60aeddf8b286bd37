#include "troupe/ops/strings/shared/summarize.hpp"

#include "troupe/ops/kernel/element_types.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::ops {
namespace {

// As few digits as give the number back, but not fewer than six, or fifteen.
void write(std::string& to, double value, int fewest, int most, bool (*exact)(double, double)) {
  char room[40];
  std::snprintf(room, sizeof room, "%.*g", fewest, value);
  if (!exact(std::strtod(room, nullptr), value))
    std::snprintf(room, sizeof room, "%.*g", most, value);
  to += value != value ? "nan" : room;
}

void write(std::string& to, float value) {
  write(to, double{value}, 6, 9,
        [](double a, double b) { return static_cast<float>(a) == static_cast<float>(b); });
}
void write(std::string& to, double value) {
  write(to, value, 15, 17, [](double a, double b) { return a == b; });
}

void write(std::string& to, const std::string& text) {
  to += '"';
  for (char c : text) {
    static constexpr std::string_view special = "\n\r\t\"'\\", letters = "nrt\"'\\";
    auto byte = static_cast<unsigned char>(c);
    char octal[5];
    if (auto known = special.find(c); known != special.npos)
      (to += '\\') += letters[known];
    else if (byte >= ' ' && byte != 127)
      to += c;
    else if (std::snprintf(octal, sizeof octal, "\\%03o", byte) > 0)
      to += octal;
  }
  to += '"';
}

template <class T>
void write_element(std::string& to, const T& value) {
  if constexpr (is_complex<T>) {
    to += '(';
    write(to, value.real());
    to += ',';
    write(to, value.imag());
    to += ')';
  } else if constexpr (is_half<T>) {
    write(to, static_cast<float>(value));
  } else if constexpr (std::is_integral_v<T>) {
    to += std::to_string(value);
  } else {
    write(to, value);
  }
}

using write_fn = void (*)(std::string&, const tensor&, int64_t);

template <class... Ts>
write_fn writer_of(dtype type, type_list<Ts...>) {
  write_fn found = nullptr;
  ((dtype_of<Ts> == type ? void(found = [](std::string& to, const tensor& of,
                                           int64_t i) { write_element(to, of.data<Ts>()[i]); })
                         : void()),
   ...);
  return found;
}

class summary {
public:
  summary(const tensor& of, int64_t ends)
      : of_(of), ends_(ends < 0 ? INT64_MAX : ends),
        write_(writer_of(of.type(), types::numbers + types::boolean + types::string)) {}

  std::string run() {
    put(0, 0, of_.elements());
    return std::move(text_);
  }

private:
  // The `count` elements from `first` on, of the axes from `axis` on.
  void put(int axis, int64_t first, int64_t count) {
    if (axis == of_.rank())
      return write_(text_, of_, first);
    auto extent = of_.dims()[axis], each = extent > 0 ? count / extent : 0;
    auto begin = std::min(ends_, extent), end = extent - std::min(ends_, extent - begin);
    auto part = [&](int64_t i) {
      if (i > 0)
        space(axis);
      put(axis + 1, first + i * each, each);
    };
    text_ += '[';
    for (int64_t i = 0; i < begin; ++i)
      part(i);
    if (begin < end) {
      if (begin > 0)
        space(axis);
      text_ += "...";
    }
    for (auto i = end; i < extent; ++i)
      part(i);
    text_ += ']';
  }

  // Rows stand below each other, with empty lines between matrices.
  void space(int axis) {
    auto deeper = static_cast<size_t>(of_.rank() - 1 - axis);
    text_ += deeper == 0
                 ? " "
                 : std::string(deeper, '\n') + std::string(static_cast<size_t>(axis) + 1, ' ');
  }

  const tensor& of_;
  int64_t ends_;
  write_fn write_;
  std::string text_;
};

} // namespace

std::string summarize(const tensor& what, int64_t ends) { return summary{what, ends}.run(); }

} // namespace troupe::ops
