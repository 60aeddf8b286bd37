#include "troupe/ops/strings/shared/summarize.hpp"

#include "troupe/ops/kernel/element_types.hpp"

#include <cstdio>
#include <cstdlib>

namespace troupe::ops {
namespace {

// The fewest digits that reproduce the number, but at least `fewest`.
void write(std::string& to, double value, int fewest, int max_digits,
           bool (*exact)(double, double)) {
  char room[40];
  std::snprintf(room, sizeof room, "%.*g", fewest, value);
  if (!exact(std::strtod(room, nullptr), value))
    std::snprintf(room, sizeof room, "%.*g", max_digits, value);
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
    if (auto place = special.find(c); place != special.npos)
      (to += '\\') += letters[place];
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
  write_fn writer = nullptr;
  ((dtype_of<Ts> == type ? void(writer = [](std::string& to, const tensor& of,
                                            int64_t i) { write_element(to, of.data<Ts>()[i]); })
                         : void()),
   ...);
  return writer;
}

class summary {
public:
  summary(const tensor& source, int64_t ends)
      : source_(source), ends_(ends < 0 ? INT64_MAX : ends),
        write_(writer_of(source.type(), types::numbers + types::boolean + types::string)) {}

  std::string run() {
    put(0, 0, source_.elements());
    return std::move(text_);
  }

private:
  // The `count` elements from `first` on, of the axes from `axis` on.
  void put(int axis, int64_t first, int64_t count) {
    if (axis == source_.rank())
      return write_(text_, source_, first);
    auto extent = source_.dims()[axis], per_index = extent > 0 ? count / extent : 0;
    auto begin = std::min(ends_, extent), end = extent - std::min(ends_, extent - begin);
    auto part = [&](int64_t i) {
      if (i > 0)
        space(axis);
      put(axis + 1, first + i * per_index, per_index);
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

  // Rows are on separate lines, with empty lines between matrices.
  void space(int axis) {
    auto deeper = static_cast<size_t>(source_.rank() - 1 - axis);
    text_ += deeper == 0
                 ? " "
                 : std::string(deeper, '\n') + std::string(static_cast<size_t>(axis) + 1, ' ');
  }

  const tensor& source_;
  int64_t ends_;
  write_fn write_;
  std::string text_;
};

} // namespace

std::string summarize(const tensor& source, int64_t ends) { return summary{source, ends}.run(); }

} // namespace troupe::ops
