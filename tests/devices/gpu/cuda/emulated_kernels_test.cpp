// The kernels of devices/gpu/cuda on an emulated grid: the elements that they access, for any
// shape.
#define TROUPE_GPU_GRID "tests/simulated_gpu/grid.hpp"
#include "tests/simulated_gpu/simulated_bias.hpp"
#include "tests/support/catch.hpp"
#include "troupe/devices/gpu/cuda/add_bias.cuda.cu"
#include "troupe/devices/gpu/cuda/combine.cuda.cu"
#include "troupe/devices/gpu/cuda/copy.cuda.cu"

#include <cstring>
#include <numeric>
#include <random>

namespace troupe::test::emulated_kernels_test {

namespace {

struct any_copy {
  strided_copy copy = {};
  std::vector<std::byte> from, to, expected;
};

// Lays out an array of these extents in any order of axes, with gaps, some axes reversed; sources
// may repeat. Returns the number of elements that it spans, and the position of element (0, 0, ..).
std::pair<int64_t, int64_t> lay_out(std::mt19937& dice, std::span<strided_copy::loop> loops,
                                    int64_t strided_copy::loop::*step, bool source) {
  std::vector<size_t> order(loops.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (source || dice() % 4 == 0)
    std::ranges::shuffle(order, dice);
  int64_t span = 1, first = 0;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    auto& loop = loops[*axis];
    if (source && dice() % 8 == 0) {
      loop.*step = 0;
      continue;
    }
    auto gap = dice() % 3 == 0 ? static_cast<int64_t>(dice() % 5) : 0;
    loop.*step = span;
    span *= loop.extent + gap;
    if (source && dice() % 6 == 0) {
      first += (loop.extent - 1) * (loop.*step);
      loop.*step = -(loop.*step);
    }
  }
  return {span, first};
}

void copy_plainly(const strided_copy& copy, int axis, int64_t from, int64_t to,
                  const std::byte* source, std::byte* target) {
  if (axis == copy.rank) {
    auto bytes = static_cast<int64_t>(copy.element_bytes);
    std::memcpy(target + to * bytes, source + from * bytes, copy.element_bytes);
    return;
  }
  const auto& loop = copy.loops[static_cast<size_t>(axis)];
  for (int64_t i = 0; i < loop.extent; ++i)
    copy_plainly(copy, axis + 1, from + i * loop.source_stride, to + i * loop.target_stride, source,
                 target);
}

any_copy make_copy(std::mt19937& dice) {
  any_copy new_copy;
  auto& copy = new_copy.copy;
  copy.element_bytes = size_t{1} << dice() % 5;
  copy.rank = static_cast<int>(dice() % 5);
  auto loops = std::span{copy.loops}.first(static_cast<size_t>(copy.rank));
  auto large = dice() % 2; // whether two axes are large enough for tiles
  for (auto& loop : loops)
    loop.extent = 1 + static_cast<int64_t>(dice() % 6);
  for (size_t i = 0; i < 2 * large && i < loops.size(); ++i)
    loops[loops.size() - 1 - i].extent = 10 + static_cast<int64_t>(dice() % 60);
  auto [source, first] = lay_out(dice, loops, &strided_copy::loop::source_stride, true);
  auto [target, start] = lay_out(dice, loops, &strided_copy::loop::target_stride, false);
  auto shift = dice() % 3; // views begin anywhere
  new_copy.from.resize((static_cast<size_t>(source) + shift) * copy.element_bytes);
  for (auto& byte : new_copy.from)
    byte = static_cast<std::byte>(dice());
  new_copy.to.resize((static_cast<size_t>(target) + shift) * copy.element_bytes);
  new_copy.expected = new_copy.to;
  auto offset = shift * copy.element_bytes;
  copy.source = new_copy.from.data() + offset + static_cast<size_t>(first) * copy.element_bytes;
  copy.target = new_copy.to.data() + offset;
  copy_plainly(copy, 0, 0, 0, static_cast<const std::byte*>(copy.source),
               new_copy.expected.data() + offset);
  return new_copy;
}

template <class T>
std::vector<T> any_values(std::mt19937& dice, size_t count) {
  std::vector<T> values(count);
  for (auto& value : values)
    value = static_cast<T>(static_cast<float>(dice() % 17) - 8);
  return values;
}

template <class T>
void check_combine(dtype type, std::mt19937& dice) {
  auto count = size_t{1} + dice() % 400;
  std::vector<std::vector<T>> parts;
  for (size_t i = 0; i < 1 + dice() % 5; ++i)
    parts.push_back(any_values<T>(dice, count));
  std::vector<const void*> from;
  for (const auto& part : parts)
    from.push_back(part.data());
  for (auto combination : {reduction::sum, reduction::product, reduction::min, reduction::max}) {
    auto average = combination == reduction::sum && dice() % 2;
    std::vector<T> to(count);
    REQUIRE(gpu::launch_combine(to.data(), from, static_cast<int64_t>(count), type, combination,
                                average, nullptr) == gpu::cudaSuccess);
    for (size_t i = 0; i < count; ++i) {
      auto expected = static_cast<compute_type<T>>(parts[0][i]);
      for (size_t k = 1; k < parts.size(); ++k) {
        auto operand = static_cast<compute_type<T>>(parts[k][i]);
        expected = combination == reduction::sum       ? expected + operand
                   : combination == reduction::product ? expected * operand
                   : combination == reduction::min     ? std::min(expected, operand)
                                                       : std::max(expected, operand);
      }
      if (average)
        expected = expected / static_cast<compute_type<T>>(parts.size());
      REQUIRE(static_cast<compute_type<T>>(to[i]) ==
              static_cast<compute_type<T>>(static_cast<T>(expected)));
    }
  }
}

} // namespace

TEST_CASE("a GPU's strided copies write exactly their elements, from and to any layout") {
  auto base = std::random_device{}();
  for (unsigned round = 0; round < 400; ++round) {
    INFO("seed " << base + round);
    std::mt19937 dice{base + round};
    auto tested = make_copy(dice);
    REQUIRE(gpu::launch_copy(tested.copy, nullptr) == gpu::cudaSuccess);
    REQUIRE(tested.to == tested.expected);
  }
}

TEST_CASE("a GPU's fills write exactly their elements") {
  for (size_t bytes : {1, 2, 4, 8, 16})
    for (size_t count : {0, 1, 63, 64, 65, 192, 1000}) {
      std::vector<std::byte> to((count + 1) * bytes, std::byte{7});
      std::vector<std::byte> element(bytes);
      for (size_t i = 0; i < bytes; ++i)
        element[i] = static_cast<std::byte>(100 + i);
      REQUIRE(gpu::launch_fill(to.data(), element.data(), bytes, static_cast<int64_t>(count),
                               nullptr) == gpu::cudaSuccess);
      for (size_t i = 0; i < count * bytes; ++i)
        REQUIRE(to[i] == element[i % bytes]);
      for (size_t i = 0; i < bytes; ++i)
        REQUIRE(to[count * bytes + i] == std::byte{7});
    }
}

TEST_CASE("devices of one GPU combine their parts to the result of one device") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  for (int round = 0; round < 10; ++round) {
    check_combine<float16>(dtype::f16, dice);
    check_combine<bfloat16>(dtype::bf16, dice);
    check_combine<float>(dtype::f32, dice);
    check_combine<double>(dtype::f64, dice);
    check_combine<int32_t>(dtype::i32, dice);
    check_combine<int64_t>(dtype::i64, dice);
  }
}

TEST_CASE("a GPU adds the bias to each channel, for any position of the channel axis") {
  auto seed = std::random_device{}();
  INFO("seed " << seed);
  std::mt19937 dice{seed};
  for (bool rectify : {false, true})
    for (int64_t outer : {1, 7, 300})
      for (int64_t channels : {1, 5, 64})
        for (int64_t inner : {1, 3}) {
          auto values = any_values<float>(dice, static_cast<size_t>(outer * channels * inner));
          auto bias = any_values<float>(dice, static_cast<size_t>(channels));
          auto expected = values;
          gpu::biased_result to{.values = values.data(),
                                .type = dtype::f32,
                                .outer = outer,
                                .channels = channels,
                                .inner = inner};
          gpu::epilogue epilogue_options{.bias = bias.data(), .rectify = rectify};
          REQUIRE(gpu::launch_add_bias(to, epilogue_options, nullptr) == gpu::cudaSuccess);
          to.values = expected.data();
          REQUIRE(gpu::add_bias_on_host(to, epilogue_options));
          REQUIRE(values == expected);
        }
}

TEST_CASE("an emulated grid exposes missing waits between threads") {
  constexpr unsigned threads = 64;
  struct sum {
    static void kernel(bool waits, int* out) {
      __shared__ int partial_sums[threads];
      partial_sums[threadIdx.x] = static_cast<int>((threadIdx.x + 1) * (blockIdx.x + 1));
      for (unsigned half = threads / 2; half > 0; half /= 2) {
        if (waits)
          __syncthreads();
        if (threadIdx.x < half)
          partial_sums[threadIdx.x] += partial_sums[threadIdx.x + half];
      }
      if (threadIdx.x == 0)
        out[blockIdx.x] = partial_sums[0];
    }
  };
  constexpr int right = threads * (threads + 1) / 2;
  int mismatches = 0;
  for (int round = 0; round < 20; ++round) {
    std::array<int, 3> out{};
    gpu::run_grid(3, threads, [&] { sum::kernel(true, out.data()); });
    const std::array expected{right, 2 * right, 3 * right};
    REQUIRE(out == expected);
    gpu::run_grid(3, threads, [&] { sum::kernel(false, out.data()); });
    mismatches += out != expected;
  }
  CHECK(mismatches > 0);
}

} // namespace troupe::test::emulated_kernels_test
