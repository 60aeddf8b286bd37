#include "troupe/ops/random/shared/generator.hpp"
#include "troupe/ops/random/shared/distributions.cpu.hpp"

namespace troupe::ops::generator_cpu {
namespace {

// -- what is drawn --------------------------------------------------------------------------------

// The words of a block, or pairs of words.
template <class T>
struct whole_draw {
  static constexpr double cost = 10;
  using word = std::make_unsigned_t<T>;
  std::array<word, per_block<T>> words(const philox& numbers, uint64_t index) const {
    auto x = numbers(index);
    if constexpr (per_block<T> == 2)
      return {joined(x[0], x[1]), joined(x[2], x[3])};
    else
      return x;
  }
  std::array<T, per_block<T>> operator()(const philox& numbers, uint64_t index) const {
    return std::bit_cast<std::array<T, per_block<T>>>(words(numbers, index));
  }
};

template <class T>
struct ranged_draw : whole_draw<T> {
  static constexpr double cost = 14;
  using typename whole_draw<T>::word;
  word from, range; // unsigned: the range may exceed T

  ranged_draw(T lowest, T bound)
      : from(static_cast<word>(lowest)),
        range(static_cast<word>(bound) - static_cast<word>(lowest)) {}
  std::array<T, per_block<T>> operator()(const philox& numbers, uint64_t index) const {
    std::array<T, per_block<T>> numbers_drawn;
    std::ranges::transform(this->words(numbers, index), numbers_drawn.begin(), [&](word x) {
      return static_cast<T>(static_cast<word>(from + x % range));
    });
    return numbers_drawn;
  }
};

template <class T>
result<ranged_draw<T>> draw_between(const tensor& lowest, const tensor& bound) {
  if (lowest.rank() != 0 || bound.rank() != 0)
    return invalid("minval and maxval must be scalars, got shapes ", lowest.dims(), " and ",
                   bound.dims());
  auto from = *lowest.data<T>(), to = *bound.data<T>();
  if (from >= to)
    return invalid("minval must be less than maxval, got ", from, " and ", to);
  return ranged_draw<T>{from, to};
}

// -- from where -----------------------------------------------------------------------------------

template <class T, class Draw>
status draw_from(kernel_context& at, tensor& out, const generator_state& state, const Draw& draw) {
  fill_from<T, per_block<T>>(at, out, state.numbers(), state.low, Draw::cost, draw);
  return {};
}

template <class T, class Draw>
status run_stateful_with(kernel_context& at, const Draw& draw) {
  TROUPE_TRY(check_algorithm(at.input(1)));
  TROUPE_ASSIGN(auto dims, drawn_shape(at, 2));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  TROUPE_ASSIGN(auto state, advance(at, static_cast<uint64_t>(out->elements())));
  return draw_from<T>(at, *out, state, draw);
}

template <class T, class Draw>
status run_keyed_with(kernel_context& at, const Draw& draw) {
  const auto &key = at.input(1), &counter = at.input(2);
  if (key.rank() != 1 || key.elements() != 1)
    return invalid("key must be u64[1], got shape ", key.dims());
  if (counter.rank() != 1 || counter.elements() != 2)
    return invalid("counter must be u64[2], got shape ", counter.dims());
  TROUPE_TRY(check_algorithm(at.input(3)));
  TROUPE_ASSIGN(auto dims, drawn_shape(at));
  TROUPE_ASSIGN(auto* out, at.allocate(0, dims));
  const auto* from = counter.data<uint64_t>();
  return draw_from<T>(at, *out, {from[0], from[1], *key.data<uint64_t>()}, draw);
}

template <class T, template <class> class Draw>
status run_stateful(kernel_context& at) {
  return run_stateful_with<T>(at, rounded<T, Draw>{});
}
template <class T, template <class> class Draw>
status run_keyed(kernel_context& at) {
  return run_keyed_with<T>(at, rounded<T, Draw>{});
}

template <class T>
status run_stateful_whole(kernel_context& at) {
  return run_stateful_with<T>(at, whole_draw<T>{});
}
template <class T>
status run_keyed_whole(kernel_context& at) {
  return run_keyed_with<T>(at, whole_draw<T>{});
}

template <class T>
status run_stateful_range(kernel_context& at) {
  TROUPE_ASSIGN(auto draw, draw_between<T>(at.input(3), at.input(4)));
  return run_stateful_with<T>(at, draw);
}
template <class T>
status run_keyed_range(kernel_context& at) {
  TROUPE_ASSIGN(auto draw, draw_between<T>(at.input(4), at.input(5)));
  return run_keyed_with<T>(at, draw);
}

template <template <class> class Draw, class... Ts>
constexpr inplace_vector<typed_kernel, 18> from_generator(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_stateful<Ts, Draw>}...};
}
template <template <class> class Draw, class... Ts>
constexpr inplace_vector<typed_kernel, 18> from_key(type_list<Ts...>) {
  return {{dtype_of<Ts>, run_keyed<Ts, Draw>}...};
}

// -- states ---------------------------------------------------------------------------------------

status skip(kernel_context& at) {
  TROUPE_TRY(check_algorithm(at.input(1)));
  if (at.input(2).rank() != 0)
    return invalid("delta must be a scalar, got shape ", at.input(2).dims());
  auto delta = *at.input(2).data<int64_t>();
  if (delta < 0)
    return invalid("a generator does not go back: delta must be at least 0, got ", delta);
  return advance(at, static_cast<uint64_t>(delta)).status();
}

status read_and_skip(kernel_context& at) {
  TROUPE_TRY(check_algorithm(at.input(1)));
  if (at.input(2).rank() != 0)
    return invalid("delta must be a scalar, got shape ", at.input(2).dims());
  TROUPE_ASSIGN(auto* out, at.allocate(0, shape{3}));
  TROUPE_ASSIGN(auto old_state, advance(at, *at.input(2).data<uint64_t>()));
  auto* to = out->data<int64_t>();
  to[0] = static_cast<int64_t>(old_state.low);
  to[1] = static_cast<int64_t>(old_state.high);
  to[2] = static_cast<int64_t>(old_state.key);
  return {};
}

// The generator hashes the two seeds to a key and a counter.
status mix_seeds(kernel_context& at) {
  const auto& seeds = at.input(0);
  TROUPE_TRY(check_seeds(seeds));
  auto seed = to_integers(seeds);
  // TensorFlow's key for this purpose, so that the numbers are equal to its numbers.
  const philox mixer{0x02461e293ec8f720, static_cast<uint64_t>(seed[1])};
  auto mixed = mixer(static_cast<uint64_t>(seed[0]));
  TROUPE_ASSIGN(auto* key, at.allocate(0, shape{1}));
  *key->data<uint64_t>() = joined(mixed[0], mixed[1]);
  TROUPE_ASSIGN(auto* counter, at.allocate(1, shape{2}));
  counter->data<uint64_t>()[0] = 0;
  counter->data<uint64_t>()[1] = joined(mixed[2], mixed[3]);
  return {};
}

status name_algorithm(kernel_context& at, int output) {
  TROUPE_ASSIGN(auto* out, at.allocate(output, {}));
  *out->data<int32_t>() = 1;
  return {};
}

} // namespace

extern constexpr kernel_def rng_skip_cpu{.op = "RngSkip", .run = {{dtype::none, skip}}};

extern constexpr kernel_def rng_read_and_skip_cpu{
    .op = "RngReadAndSkip",
    .run = {{dtype::none, read_and_skip}},
};

extern constexpr kernel_def stateful_uniform_cpu{
    .op = "StatefulUniform",
    .run = from_generator<uniform_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateful_standard_normal_v2_cpu{
    .op = "StatefulStandardNormalV2",
    .run = from_generator<normal_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateful_truncated_normal_cpu{
    .op = "StatefulTruncatedNormal",
    .run = from_generator<truncated_normal_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateful_uniform_full_int_cpu{
    .op = "StatefulUniformFullInt",
    .run = {{dtype::i32, run_stateful_whole<int32_t>},
            {dtype::i64, run_stateful_whole<int64_t>},
            {dtype::u32, run_stateful_whole<uint32_t>},
            {dtype::u64, run_stateful_whole<uint64_t>}},
    .key = "dtype",
};

extern constexpr kernel_def stateful_uniform_int_cpu{
    .op = "StatefulUniformInt",
    .run = {{dtype::i32, run_stateful_range<int32_t>},
            {dtype::i64, run_stateful_range<int64_t>},
            {dtype::u32, run_stateful_range<uint32_t>},
            {dtype::u64, run_stateful_range<uint64_t>}},
    .key = "dtype",
};

extern constexpr kernel_def stateless_random_uniform_v2_cpu{
    .op = "StatelessRandomUniformV2",
    .run = from_key<uniform_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateless_random_normal_v2_cpu{
    .op = "StatelessRandomNormalV2",
    .run = from_key<normal_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateless_truncated_normal_v2_cpu{
    .op = "StatelessTruncatedNormalV2",
    .run = from_key<truncated_normal_draw>(types::floating),
    .key = "dtype",
};

extern constexpr kernel_def stateless_random_uniform_full_int_v2_cpu{
    .op = "StatelessRandomUniformFullIntV2",
    .run = {{dtype::i32, run_keyed_whole<int32_t>},
            {dtype::i64, run_keyed_whole<int64_t>},
            {dtype::u32, run_keyed_whole<uint32_t>},
            {dtype::u64, run_keyed_whole<uint64_t>}},
    .key = "dtype",
};

extern constexpr kernel_def stateless_random_uniform_int_v2_cpu{
    .op = "StatelessRandomUniformIntV2",
    .run = {{dtype::i32, run_keyed_range<int32_t>},
            {dtype::i64, run_keyed_range<int64_t>},
            {dtype::u32, run_keyed_range<uint32_t>},
            {dtype::u64, run_keyed_range<uint64_t>}},
    .key = "dtype",
};

extern constexpr kernel_def stateless_random_get_key_counter_cpu{
    .op = "StatelessRandomGetKeyCounter",
    .run = {{dtype::none, mix_seeds}},
};

extern constexpr kernel_def stateless_random_get_key_counter_alg_cpu{
    .op = "StatelessRandomGetKeyCounterAlg",
    .run = {{dtype::none,
             [](kernel_context& at) -> status {
               TROUPE_TRY(mix_seeds(at));
               return name_algorithm(at, 2);
             }}},
};

extern constexpr kernel_def stateless_random_get_alg_cpu{
    .op = "StatelessRandomGetAlg",
    .run = {{dtype::none, [](kernel_context& at) { return name_algorithm(at, 0); }}},
};

} // namespace troupe::ops::generator_cpu
