#include "troupe/ops/kernel/copy.hpp"

namespace troupe::ops {
namespace {

constexpr double nanoseconds_per_copy = 0.5;
constexpr int64_t tile = 16;

template <class T>
T* elements(const elements_from& part) {
  return static_cast<T*>(part.source.raw()) + part.first;
}

template <class T>
void copy_run(const T* from, int64_t step, T* to, int64_t count) {
  if (step == 1) {
    std::copy_n(from, count, to);
  } else if (step == 0) {
    std::fill_n(to, count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i] = from[i * step];
  }
}

// Consecutive source elements are one output row apart. The loop goes tile by tile, so that a cache
// line is fully used before its eviction.
template <class T>
void transpose_tiles(kernel_context& at, const strided_iterator& places, const T* from, T* to) {
  auto last = places.rank() - 1;
  auto rows = places.extent(last - 1), columns = places.extent(last), stride = places.step(0);
  auto bands = (rows + tile - 1) / tile, matrices = places.elements() / (rows * columns);
  auto cost = nanoseconds_per_copy * static_cast<double>(tile * columns);
  at.parallel_for(matrices * bands, cost, [&](int64_t begin, int64_t end) {
    for (auto band = begin; band < end; ++band) {
      auto first = band / bands * rows * columns;
      auto top = band % bands * tile, bottom = std::min(top + tile, rows);
      auto* source = from + places.at(first)[0];
      auto* target = to + first;
      for (int64_t first_column = 0; first_column < columns; first_column += tile)
        for (auto row = top; row < bottom; ++row)
          for (auto column = first_column; column < std::min(first_column + tile, columns);
               ++column)
            target[row * columns + column] = source[row + column * stride];
    }
  });
}

// For devices whose memory the host cannot access. A failed launch is reported when the caller
// waits for the device.

char* address(const elements_from& part) {
  return static_cast<char*>(part.source.raw()) +
         part.first * static_cast<int64_t>(size_of(part.source.type()));
}

// The strided_iterator's operands `from_operand` and `to_operand` give the positions in `from` and
// in `to`; -1 stands for consecutive elements.
void launch_copy(const memory_space& in, const strided_iterator& places, elements_from from,
                 int from_operand, elements_from to, int to_operand) {
  strided_copy description{.target = address(to),
                           .source = address(from),
                           .element_bytes = size_of(to.source.type()),
                           .rank = places.rank()};
  int64_t in_order = 1;
  for (int axis = places.rank() - 1; axis >= 0; --axis) {
    auto step = [&](int operand) { return operand < 0 ? in_order : places.stride(axis, operand); };
    description.loops[static_cast<size_t>(axis)] = {places.extent(axis), step(from_operand),
                                                    step(to_operand)};
    in_order *= places.extent(axis);
  }
  static_cast<void>(in.copy(description));
}

void launch_fill(const memory_space& in, const tensor& value, elements_from to, int64_t count) {
  auto bytes = size_of(to.source.type());
  if (value.on_host()) {
    static_cast<void>(in.fill(address(to), value.raw(), bytes, count));
    return;
  }
  strided_copy description{
      .target = address(to), .source = value.raw(), .element_bytes = bytes, .rank = 1};
  description.loops[0] = {count, 0, 1};
  static_cast<void>(in.copy(description));
}

} // namespace

void copy_elements(elements_from from, elements_from to, int64_t count) {
  if (auto* space = to.source.space()) {
    static_cast<void>(space->copy(address(to), address(from),
                                  static_cast<size_t>(count) * size_of(to.source.type())));
    return;
  }
  with_word(to.source.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    std::copy_n(elements<T>(from), count, elements<T>(to));
  });
}

void copy_bytes(kernel_context& at, const tensor& from, const tensor& to) {
  if (auto* space = to.space()) {
    static_cast<void>(space->copy(to.raw(), from.raw(), to.bytes()));
    return;
  }
  const auto* source = static_cast<const char*>(from.raw());
  auto* target = static_cast<char*>(to.raw());
  at.parallel_for(static_cast<int64_t>(to.bytes()), 0.1, [&](int64_t begin, int64_t end) {
    std::memcpy(target + begin, source + begin, static_cast<size_t>(end - begin));
  });
}

void fill_elements(const tensor& value, elements_from to, int64_t count) {
  if (auto* space = to.source.space())
    return launch_fill(*space, value, to, count);
  with_word(to.source.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    std::fill_n(elements<T>(to), count, *static_cast<const T*>(value.raw()));
  });
}

result<tensor> zero_of(dtype type) {
  TROUPE_ASSIGN(auto zero, tensor::make(type, {}));
  if (type != dtype::string)
    std::memset(zero.raw(), 0, zero.bytes());
  return zero;
}

result<tensor*> output_from_input(kernel_context& at, int i) {
  const auto& x = at.input(i);
  TROUPE_ASSIGN(auto* out, at.forward_or_allocate(0, {i}, x.dims()));
  if (out->raw() != x.raw())
    at.parallel_for(x.elements(), nanoseconds_per_copy, [&](int64_t begin, int64_t end) {
      copy_elements({x, begin}, {*out, begin}, end - begin);
    });
  return out;
}

void fill_zeros(kernel_context& at, const tensor& to) {
  if (auto* space = to.space()) {
    constexpr std::array<char, 16> zero{};
    static_cast<void>(space->fill(to.raw(), zero.data(), size_of(to.type()), to.elements()));
    return;
  }
  with_word(to.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    auto* target = static_cast<T*>(to.raw());
    at.parallel_for(to.elements(), 0.2, [&](int64_t begin, int64_t end) {
      std::fill(target + begin, target + end, T{});
    });
  });
}

void copy_strided(kernel_context& at, const strided_iterator& places, elements_from from,
                  const tensor& to) {
  if (to.elements() == 0)
    return;
  if (auto* space = to.space())
    return launch_copy(*space, places, from, 0, {to}, -1);
  with_word(to.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    auto* source = elements<T>(from);
    auto* target = static_cast<T*>(to.raw());
    if (places.rank() >= 2 && places.step(0) > 1 && places.stride(places.rank() - 2, 0) == 1)
      return transpose_tiles<T>(at, places, source, target);
    at.parallel_for(places.elements(), nanoseconds_per_copy, [&](int64_t begin, int64_t end) {
      places.runs(begin, end,
                  [&](int64_t i, const strided_iterator::offsets& where, int64_t count) {
                    copy_run(source + where[0], places.step(0), target + i, count);
                  });
    });
  });
}

void copy_to_strided(kernel_context& at, const strided_iterator& places, const tensor& from,
                     elements_from to) {
  if (from.elements() == 0)
    return;
  if (auto* space = to.source.space())
    return launch_copy(*space, places, {from}, -1, to, 0);
  with_word(from.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    auto* source = static_cast<const T*>(from.raw());
    auto* target = elements<T>(to);
    at.parallel_for(places.elements(), nanoseconds_per_copy, [&](int64_t begin, int64_t end) {
      places.runs(begin, end,
                  [&](int64_t i, const strided_iterator::offsets& where, int64_t count) {
                    if (places.step(0) == 1)
                      std::copy_n(source + i, count, target + where[0]);
                    else
                      for (int64_t k = 0; k < count; ++k)
                        target[where[0] + k * places.step(0)] = source[i + k];
                  });
    });
  });
}

void copy_between(kernel_context& at, const strided_iterator& places, elements_from from,
                  elements_from to) {
  if (auto* space = to.source.space())
    return launch_copy(*space, places, from, 0, to, 1);
  with_word(from.source.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    auto* source = elements<T>(from);
    auto* target = elements<T>(to);
    at.parallel_for(places.elements(), nanoseconds_per_copy, [&](int64_t begin, int64_t end) {
      places.runs(begin, end, [&](int64_t, const strided_iterator::offsets& where, int64_t count) {
        for (int64_t k = 0; k < count; ++k)
          target[where[1] + k * places.step(1)] = source[where[0] + k * places.step(0)];
      });
    });
  });
}

void take_blocks(kernel_context& at, const tensor& from, std::span<const int64_t> places,
                 int64_t length, const tensor& to) {
  with_word(to.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    auto* source = static_cast<const T*>(from.raw());
    auto* target = static_cast<T*>(to.raw());
    auto cost = 3 + nanoseconds_per_copy * static_cast<double>(length);
    auto count = static_cast<int64_t>(places.size());
    at.parallel_for(count, cost, [&](int64_t begin, int64_t end) {
      for (auto i = begin; i < end; ++i)
        if (auto place = places[static_cast<size_t>(i)]; place >= 0)
          std::copy_n(source + place * length, length, target + i * length);
        else
          std::fill_n(target + i * length, length, T{});
    });
  });
}

// Threads divide the columns into bands; they do not divide the blocks, because several may have
// one destination.
void put_blocks(kernel_context& at, const tensor& from, std::span<const int64_t> places,
                int64_t length, const tensor& to) {
  constexpr int64_t columns = 512;
  with_word(to.type(), [&](auto word_type) {
    using T = typename decltype(word_type)::type;
    auto* source = static_cast<const T*>(from.raw());
    auto* target = static_cast<T*>(to.raw());
    auto width = std::min(columns, length);
    auto cost = (3 + nanoseconds_per_copy * static_cast<double>(width)) *
                static_cast<double>(places.size());
    at.parallel_for((length + columns - 1) / columns, cost, [&](int64_t begin, int64_t end) {
      auto first = begin * columns, count = std::min(end * columns, length) - first;
      for (size_t i = 0; i < places.size() && !(i % 100'000 == 99'999 && at.stopped()); ++i)
        if (places[i] >= 0)
          std::copy_n(source + static_cast<int64_t>(i) * length + first, count,
                      target + places[i] * length + first);
    });
  });
}

} // namespace troupe::ops
