#include "troupe/ops/kernel/cached_attr.hpp"
#include "troupe/ops/kernel/first_failure.hpp"
#include "troupe/ops/kernel/strided_iterator.hpp"
#include "troupe/ops/kernel/text.hpp"

namespace troupe::ops::substr_cpu {
namespace {

// The start of each character, and the end of the last one.
void find_characters(std::string_view text, std::vector<int64_t>& begins) {
  begins.clear();
  for (size_t i = 0; i < text.size(); ++i)
    if (i == 0 || begins_character(text[i]))
      begins.push_back(static_cast<int64_t>(i));
  begins.push_back(static_cast<int64_t>(text.size()));
}

// Sets `begin` and `end` to the bounds of the substring in a string of `size` units.
status place(int64_t pos, int64_t length, int64_t size, int64_t& begin, int64_t& end) {
  begin = pos < 0 ? std::max<int64_t>(pos, -size - 1) + size : pos;
  if (begin < 0 || begin > size)
    return invalid("pos ", pos, " lies outside of a string of length ", size);
  end = begin + std::clamp<int64_t>(length, 0, size - begin);
  return {};
}

template <class T>
status run(kernel_context& at) {
  const auto &input = at.input(0), &pos = at.input(1), &length = at.input(2);
  if (!(pos.dims() == length.dims()))
    return invalid("pos and len must have one shape, got ", pos.dims(), " and ", length.dims());
  TROUPE_ASSIGN(auto dims, broadcast(input.dims(), pos.dims()));
  TROUPE_ASSIGN(auto unit, text_unit_of(at.state<std::string>()));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  auto plan = strided_iterator::broadcast(dims, input.dims(), pos.dims());
  const auto* texts = input.data<std::string>();
  const auto *positions = pos.data<T>(), *lengths = length.data<T>();
  auto* to = out->template data<std::string>();
  first_failure failed;
  at.parallel_for(out->elements(), 60, [&](int64_t first, int64_t last) {
    std::vector<int64_t> characters;
    plan.runs(first, last, [&](int64_t i, const strided_iterator::offsets& where, int64_t count) {
      for (int64_t k = 0; k < count; ++k) {
        const auto& text = texts[where[0] + k * plan.step(0)];
        auto place_of = where[1] + k * plan.step(1);
        if (unit == text_unit::character)
          find_characters(text, characters);
        auto size = unit == text_unit::character ? characters.size() - 1 : text.size();
        int64_t begin = 0, end = 0;
        if (auto is_valid = place(positions[place_of], lengths[place_of],
                                  static_cast<int64_t>(size), begin, end);
            !is_valid)
          return failed.note(i + k, std::move(is_valid));
        if (unit == text_unit::character) {
          begin = characters[static_cast<size_t>(begin)];
          end = characters[static_cast<size_t>(end)];
        }
        to[i + k] = text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
      }
    });
  });
  return failed.take();
}

} // namespace

extern constexpr kernel_def substr_cpu{
    .op = "Substr",
    .run = {{dtype::i32, run<int32_t>}, {dtype::i64, run<int64_t>}},
    .prepare = cache_attr<std::string, "unit">,
};

} // namespace troupe::ops::substr_cpu
